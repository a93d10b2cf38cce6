/**
 * The port to an external API: one file per provider, no retries in it. A provider says what it
 * promises (data), renders one write, reads one answer, and looks without writing. It never judges:
 * verdicts belong to `lib/domain`. May import `lib/domain` and `lib/platform`, never the ledger.
 */
import type * as z from 'zod';
import type { Environment, FrozenRequest, Intent, JsonObject } from '../domain/intent.ts';
import type { ProviderPromise } from '../domain/promise.ts';
import type { AnswerReader } from '../domain/write-result.ts';

/** A record at the provider, structured; every text in it is hostile data. */
export interface ProviderRecord {
  /** A string always, also where the provider shows a number. */
  readonly externalId: string;
  readonly account: string;
  /** Our reference as the provider shows it, or null. */
  readonly reference: string | null;
  readonly content: JsonObject;
  /** Until when it can be cancelled there, ms; only where the provider says so. */
  readonly cancelUntil?: number;
  /** The provider lists it as refused: it is there and has no effect. */
  readonly withoutEffect?: boolean;
}

/** Whether a first write is in order, as the provider's own records say. */
export type Check =
  | { readonly kind: 'ready'; readonly cancelUntil: number | null; readonly facts: JsonObject }
  /** `reason` is one word of the adapter's own, never provider text. */
  | { readonly kind: 'not_ready'; readonly reason: string; readonly facts: JsonObject }
  | { readonly kind: 'failed'; readonly error: string };

/** Where a write goes; both are part of what was approved. */
export interface Place {
  readonly account: string;
  readonly environment: Environment;
}

/** What a look outside gave. A failed lookup is never zero records. */
export type Lookup =
  | {
      readonly kind: 'seen';
      readonly records: readonly ProviderRecord[];
      /** All pages, all statuses, the range of every attempt. */
      readonly complete: boolean;
      /** The read probe proved the right account and environment. */
      readonly authorised: boolean;
    }
  | { readonly kind: 'failed'; readonly error: string };

/** One GET below the route's base URL; redirects are failures. */
export type ReadOnce = (
  path: string,
) => Promise<
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | { readonly kind: 'failed'; readonly error: string }
>;

export interface LookContext extends Place {
  readonly get: ReadOnce;
}

export interface Provider {
  readonly name: string;
  /** Kind of effect, part of the binding of an external id. */
  readonly kind: string;
  /** Exact shape of the payload; unknown fields are refused. */
  readonly payload: z.ZodType<JsonObject>;
  /** Whether an effect may hang under a parent there (a reply under a post). */
  readonly takesParent: boolean;
  readonly promise: ProviderPromise;
  /** Our reference there: depends on the intent alone. */
  readonly reference: (intent: Pick<Intent, 'id' | 'key' | 'payload'>) => string;
  /** Renders the write once, at acceptance; the bytes are frozen with the intent. */
  readonly write: (payload: JsonObject, reference: string, place: Place) => FrozenRequest;
  readonly readAnswer: AnswerReader;
  /** Everything there that may be this intent's effect; absent where the provider offers no search. */
  readonly find?: (look: LookContext, intent: Intent) => Promise<Lookup>;
  /** Readback. `externalId` is null when the provider gave none. */
  readonly read: (look: LookContext, intent: Intent, externalId: string | null) => Promise<Lookup>;
  /** Asked before the first write, read-only: deadlines, shipping, the state there. Absent: nothing to ask. */
  readonly check?: (look: LookContext, intent: Intent) => Promise<Check>;
  /** What the provider shows of a payload, for telling twins; absent: the whole payload. */
  readonly shownContent?: (payload: JsonObject) => JsonObject;
  /** Whether a record may be this intent's effect (identity, not content). */
  readonly match: (intent: Intent, record: ProviderRecord) => boolean;
  /** Named checks of one record against the intent; all must hold. */
  readonly verify: (intent: Intent, record: ProviderRecord) => Readonly<Record<string, boolean>>;
}

/** Keeps an adapter honest at compile time and freezes it. */
export function defineProvider(provider: Provider): Provider {
  return Object.freeze(provider);
}

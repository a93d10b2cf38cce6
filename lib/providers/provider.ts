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
  /** When it was made, by the provider's clock, ms. Where no reference shows, it must lie in the range searched. */
  readonly createdAt?: number;
  /** Where everybody can see it. */
  readonly url?: string;
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

/** Where a write goes and what it hangs under. */
export interface Target extends Place {
  readonly parent: string | null;
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
export type ReadOnce = (path: string) => Promise<ReadAnswer>;

export type ReadAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: string;
      /** The field as it came; a look that met one is not followed by another before. Adapters need not read it. */
      readonly retryAfter?: string;
    }
  | { readonly kind: 'failed'; readonly error: string };

export interface LookContext extends Place {
  readonly get: ReadOnce;
  /** So many calls follow, as a search learns on its way: the account's minute has room for all of them or for none. */
  readonly expect?: (calls: number) => void;
  /**
   * One GET of a public URL as a stranger makes it: no credentials, hosts that the route names only (else
   * `failed: host_not_allowed`), redirects are failures.
   */
  readonly visit: (url: string) => Promise<ReadAnswer>;
  /** The time in which an effect of any attempt may have been made, ms, both ends included. */
  readonly range: { readonly from: number; readonly to: number };
  /** Where the route's API is. */
  readonly baseUrl: string;
  /** When the look began, by our clock, ms. */
  readonly startedAt: number;
  /** L in force on the route, ms; null where none is promised. */
  readonly visibilityLagMs: number | null;
}

/**
 * One POST of JSON below the route's base URL that opens a session and has no other effect there; redirects are
 * failures. It is not a write: what it does is lost with its answer, and nothing is in doubt.
 */
export type AskForSession = (path: string, body: string) => Promise<SessionAnswer>;

export type SessionAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: string;
      /** From `Retry-After`; null where it names none. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'failed'; readonly error: string };

/** What stands for a secret in a write. A failure is one word of the adapter's own, never provider text. */
export type Opening =
  | {
      readonly kind: 'open';
      /** Credentials: sent with writes, and in no record. */
      readonly headers: Readonly<Record<string, string>>;
      /** Not to be used from then on, ms. */
      readonly until: number;
    }
  /** Nobody asks again before `retryAfterMs` is over. */
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs: number };

export interface Sessions {
  /** Asked before a claim, while nothing is in doubt. Refused: a session of any other account than the route's. */
  readonly open: (
    secret: string,
    place: Place & { readonly ask: AskForSession; readonly now: number },
  ) => Promise<Opening>;
  /** Whether an answer to a write says that its session has ended. */
  readonly isOver: (status: number, body: unknown) => boolean;
}

/**
 * What makes the accounts of two routes one: their name alone; their name and the origin of their API, whatever the
 * routes call their environment; or these two and the environment, because the records there name it.
 */
export type OneAccount = 'by_name' | 'by_origin' | 'by_environment';

export interface Provider {
  readonly name: string;
  /** Adapters of one family write into the same accounts, and a record there is of one intent; absent: its name. */
  readonly family?: string;
  /** Absent: `by_origin`. */
  readonly oneAccount?: OneAccount;
  /** Kind of effect, part of the binding of an external id. */
  readonly kind: string;
  /** Exact shape of the payload; unknown fields are refused. */
  readonly payload: z.ZodType<JsonObject>;
  /** Whether an effect may hang under a parent there (a reply under a post). */
  readonly takesParent: boolean;
  /** Hosts whose public pages its verification may visit, of a route's base URL: `publicHosts` must name one of them. */
  readonly publicPages?: (baseUrl: URL) => readonly string[];
  readonly promise: ProviderPromise;
  /** Our reference there: depends on the intent alone. */
  readonly reference: (intent: Pick<Intent, 'id' | 'key' | 'payload'>) => string;
  /** Renders the write once, at acceptance; the bytes are frozen with the intent. */
  readonly write: (payload: JsonObject, reference: string, target: Target) => FrozenRequest;
  readonly readAnswer: AnswerReader;
  /** How the secret becomes credentials of a write; absent: it is sent as a bearer token. */
  readonly session?: Sessions;
  /** Everything there that may be this intent's effect; absent where the provider offers no search. */
  readonly find?: (look: LookContext, intent: Intent) => Promise<Lookup>;
  /** Readback. `externalId` is null when the provider gave none. */
  readonly read: (look: LookContext, intent: Intent, externalId: string | null) => Promise<Lookup>;
  /** Asked before the first write, read-only: deadlines, shipping, the state there. Absent: nothing to ask. */
  readonly check?: (look: LookContext, intent: Intent) => Promise<Check>;
  /**
   * The effect that this one changes, by its external id (the order of a cancellation). It must be one of the intent
   * that `corrects` names; absent: it changes none.
   */
  readonly concerns?: (payload: JsonObject) => string;
  /** What the provider shows of a payload, for telling twins; absent: the whole payload. */
  readonly shownContent?: (payload: JsonObject) => JsonObject;
  /** Whether a record may be this intent's effect (identity, not content). */
  readonly match: (intent: Intent, record: ProviderRecord) => boolean;
  /**
   * Where identity is content: what of a record agrees (`author`, `payload`, `parent`), as people are shown it. A
   * word stands for a comparison that cannot be made.
   */
  readonly reasons?: (intent: Intent, record: ProviderRecord) => Readonly<Record<string, boolean | string>>;
  /**
   * Named checks of one record against the intent; all must hold. One that only a readback makes (`publicUrl`) is left
   * out of what a search found.
   */
  readonly verify: (intent: Intent, record: ProviderRecord) => Readonly<Record<string, boolean>>;
}

/** Keeps an adapter honest at compile time and freezes it. */
export function defineProvider(provider: Provider): Provider {
  return Object.freeze(provider);
}

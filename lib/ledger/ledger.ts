/**
 * The durable record, as a port. The ledger decides: every change of an intent is one conditional
 * update, every claim of uniqueness is one conditional put. Reads of single items are consistent;
 * `due`, `list` only propose, whoever decides reads the item again. May import `lib/domain`.
 */
import type { Environment, Intent, IntentRef, JsonObject } from '../domain/intent.ts';
import type { OutsideEvent } from './outside-event.ts';

export type { OutsideEvent } from './outside-event.ts';

/** Under which condition a changed intent may be written. */
export type Guard =
  /** Nothing was written since it was read. */
  | { readonly kind: 'unchanged' }
  /**
   * Attempt `number` is mine, has no result and is still the one that is out, and nothing was seen outside since it was
   * read; whatever else was written.
   */
  | { readonly kind: 'still_out'; readonly number: number; readonly token: string };

export type Saved =
  | { readonly kind: 'saved'; readonly intent: Intent }
  | { readonly kind: 'lost'; readonly current: Intent | undefined };

/** One external record, wherever it is referred to; no tenant and no route in it. */
export interface Binding {
  readonly provider: string;
  readonly account: string;
  readonly environment: Environment;
  readonly kind: string;
  readonly externalId: string;
}

/** An account at a provider. */
export type Account = Pick<Binding, 'provider' | 'account' | 'environment'>;

export interface Minute {
  /** Minutes since the epoch. */
  readonly minute: number;
  /** How many calls the minute may hold when the wanted ones are made. */
  readonly upTo: number;
}

/** Clocks may be apart by so many minutes; a count further ahead was somebody's mistake, and is begun anew. */
export const MINUTES_AHEAD = 10;

export interface Evidence {
  /** `search`, `conflict`, `approval`, `webhook`, `decision`, ...: one word per sort of fact. */
  readonly kind: string;
  readonly id: string;
  readonly at: number;
  /** Allow-listed facts, at most 4 KB. */
  readonly facts: JsonObject;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; null on the last page. */
  readonly cursor: string | null;
}

export interface Freeze {
  readonly by: string;
  readonly why: string;
  readonly at: number;
}

/** Who stopped or let go last, and why. */
export interface RouteState extends Freeze {
  readonly frozen: boolean;
}

export interface Ledger {
  /** Put if absent, by tenant and id. An intent stored by this very call counts as created. */
  readonly create: (
    intent: Intent,
  ) => Promise<
    | { readonly kind: 'created'; readonly intent: Intent }
    | { readonly kind: 'exists'; readonly intent: Intent }
  >;
  readonly read: (ref: IntentRef) => Promise<Intent | undefined>;
  /** The intent and whether its route, or everything, is frozen, in one consistent read. */
  readonly readForSend: (
    ref: IntentRef,
    route: string,
  ) => Promise<{ readonly intent: Intent | undefined; readonly frozen: boolean }>;
  /** Writes what differs between `before` and `after` under the guard; `version` grows by one. */
  readonly save: (before: Intent, after: Intent, guard: Guard) => Promise<Saved>;
  /** Put if absent or mine. */
  readonly bind: (
    binding: Binding,
    owner: IntentRef,
  ) => Promise<{ readonly kind: 'mine' } | { readonly kind: 'taken' }>;
  /** Whose record it is, if anybody's. */
  readonly boundTo: (binding: Binding) => Promise<IntentRef | undefined>;
  /** Put if absent, mine, or held by `from`; `key` stands for what twins share. */
  readonly hold: (
    key: string,
    owner: IntentRef,
    from: IntentRef | null,
  ) => Promise<{ readonly kind: 'mine' } | { readonly kind: 'taken'; readonly by: IntentRef }>;
  /**
   * Counts the calls of one search that is about to begin at an account, and answers how many: `calls`, or where that is
   * null as many as the last one there took. Null: the minute has no room, nothing is counted. Into an empty minute a
   * search of any size is let.
   */
  readonly beginSearch: (
    account: Account,
    wanted: Minute & { readonly calls: number | null },
  ) => Promise<number | null>;
  /** Counts more calls of a search; false: no room. */
  readonly takeCalls: (account: Account, wanted: Minute & { readonly calls: number }) => Promise<boolean>;
  /** How many calls a search takes there, as one of them found out. */
  readonly endSearch: (account: Account, calls: number) => Promise<void>;
  /** Append-only: put if absent. */
  readonly addEvidence: (ref: IntentRef, evidence: Evidence) => Promise<void>;
  readonly evidence: (ref: IntentRef, limit: number, cursor: string | null) => Promise<Page<Evidence>>;
  readonly countConflicts: (ref: IntentRef) => Promise<number>;
  /** Refs due at `now` in one shard, oldest first. */
  readonly due: (
    shard: number,
    now: number,
    limit: number,
    cursor: string | null,
  ) => Promise<Page<IntentRef>>;
  /** Put if absent by endpoint and id; answers what stands. */
  readonly takeEvent: (event: OutsideEvent) => Promise<OutsideEvent>;
  /** Writes on `changes` as read; false when somebody else was first. */
  readonly saveEvent: (before: OutsideEvent, after: OutsideEvent) => Promise<boolean>;
  /** Events to be matched again by `now`, oldest first. */
  readonly dueEvents: (now: number, limit: number) => Promise<readonly OutsideEvent[]>;
  /**
   * A unit's intents that people should look at, longest waiting first. `doubtful`: unknown, handed over,
   * with an incident, or open with a conflict; `approved`: every other open one that somebody signed.
   */
  readonly attention: (
    tenant: string,
    unit: string,
    list: AttentionList,
    limit: number,
    cursor: string | null,
  ) => Promise<Page<Intent>>;
  /** A unit's intents of one UTC day (`YYYY-MM-DD`), newest first. */
  readonly list: (
    tenant: string,
    unit: string,
    day: string,
    limit: number,
    cursor: string | null,
  ) => Promise<Page<Intent>>;
  /** Stops sends of a route (`*`: of everything). Already frozen stays as it was. Answers what stands. */
  readonly freeze: (route: string, freeze: Freeze) => Promise<RouteState>;
  /** Lets them go on. */
  readonly thaw: (route: string, thaw: Freeze) => Promise<RouteState>;
}

export type AttentionList = 'doubtful' | 'approved';

/** Number of shards of the due index. */
export const DUE_SHARDS = 4;

/** The store did not answer or refused; what was written is not known. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable';
}

/** A cursor that this ledger did not give out. */
export class BadCursor extends Error {
  override readonly name = 'BadCursor';
}

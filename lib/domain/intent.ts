/**
 * The bottom layer: what an intent is. Plain readonly data; no I/O, no clock, nothing async.
 * Everything in `lib/domain` is a pure function of its arguments; time arrives as `now`, ms since the epoch.
 */
import type { Approval, Signature } from './approval.ts';
import type { Proposal } from './decision.ts';
import type { Attempt, Handover, Receipt, SearchFacts } from './facts.ts';
import type { PromiseClass } from './promise.ts';

export type { Attempt, Handover, HandoverReason, Receipt, SearchFacts, Verdict } from './facts.ts';

export const STATES = [
  'awaiting_approval',
  'ready',
  'sending',
  'acknowledged',
  'unknown',
  'absent',
  'handover',
  'confirmed',
  'rejected',
  'closed',
] as const;

export type IntentState = (typeof STATES)[number];
export type Environment = 'test' | 'production';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** The address of an intent in the ledger. The tenant comes from the caller's token, never from a body. */
export interface IntentRef {
  readonly tenant: string;
  readonly intentId: string;
}

/** The bytes of the write, frozen with the intent so that every attempt sends the same. No secrets. */
export interface FrozenRequest {
  readonly method: 'POST' | 'PUT';
  /** Path and query below the route's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is to be made once this intent is confirmed: an intent of its own, under its own route's policy. */
export interface FollowUp {
  readonly route: string;
  readonly payload: JsonObject;
}

export interface Intent {
  readonly id: string;
  readonly tenant: string;
  readonly unit: string;
  readonly environment: Environment;
  readonly action: string;
  readonly key: string;

  readonly route: string;
  readonly provider: string;
  readonly account: string;
  readonly parent: string | null;
  readonly payload: JsonObject;
  readonly frozen: FrozenRequest;
  /** `<version>:<sha256 hex>` */
  readonly fingerprint: string;
  readonly payloadDigest: string;
  readonly promiseClass: PromiseClass;
  readonly submitToken: string;
  readonly submittedBy: string;
  readonly traceIds: Readonly<Record<string, string>>;
  /** The intent that this one corrects or compensates; it waits until that one is settled. */
  readonly corrects: string | null;
  /** `then` on the wire. */
  readonly followWith: FollowUp | null;
  readonly createdAt: number;
  /** Not before, ms. */
  readonly plannedAt: number;
  /** The last moment for a write, exclusive, ms. */
  readonly sendBy: number;

  /** The approval in force, or the last one; null where there was none. */
  readonly approval: Approval | null;

  readonly state: IntentState;
  /** Grows by one with every write. */
  readonly version: number;
  /** When the next run is due; null only in a settled state. */
  readonly dueAt: number | null;
  /** Runs of the machine started so far. */
  readonly runs: number;
  /** Runs started since the last step that changed anything. */
  readonly idleRuns: number;
  readonly attempts: readonly Attempt[];
  /** Withdrawn: no write may leave any more. */
  readonly noMoreWrites: boolean;
  /** Positive evidence: something was seen outside, when. Once set it is never cleared by the machine. */
  readonly seenAt: number | null;
  /** An id seen outside but not verified. */
  readonly acknowledgedId: string | null;
  /** Searches since the intent last became unknown other than by age, and since when it is searched for. */
  readonly searches: number;
  readonly searchingSince: number | null;
  /** How often its next search was held back since the last one, and how many calls it needs as far as that is known. */
  readonly heldBack: { readonly times: number; readonly calls: number | null } | null;
  /** Since when it is undetermined what is outside, however often it was looked at since. */
  readonly unknownSince: number | null;
  readonly lastSearch: SearchFacts | null;
  /** When absence was first proved since the last claim. */
  readonly absentSince: number | null;
  readonly readbacks: number;
  /** Set by the step that decides; `handedOver` once the state says so too. */
  readonly handover: Handover | null;
  readonly conflictAt: number | null;
  readonly externalId: string | null;
  readonly receipt: Receipt | null;
  readonly outcome: 'no_effect' | 'attested' | 'undetermined' | null;
  /** The id that people stated with outcome `attested`, if they knew one. */
  readonly attestedId: string | null;
  /** A second effect of a confirmed intent, seen by the audit; or that the audit of a settled one saw too little to tell. */
  readonly incident: Handover | null;
  /** Evidence of an effect came although none was believed to exist; a look must support it before it counts. */
  readonly contraryAt: number | null;
  /** Start of the last search that was complete and authorised. */
  readonly trustedSearchAt: number | null;
  /** Until when the provider can cancel what was seen, ms. */
  readonly cancelUntil: number | null;
  /** When the provider last said that a first write is in order. */
  readonly checkedAt: number | null;
  /** The twin with the same shown content, or the intent to be corrected, that this one waits for. */
  readonly waitsFor: string | null;
  /** The follow-up, once it was created. */
  readonly followUp: string | null;

  /** Who works on it. */
  readonly owner: Signature | null;
  /** A decision of one person that needs a second one. */
  readonly proposal: Proposal | null;
  /** Until when a person said to wait, ms. */
  readonly waitUntil: number | null;
  /** When people looked who declared that there is no effect outside. It does not age. */
  readonly declaredAbsentAt: number | null;
  /** Ids that people settled as surplus; they are bound here and no longer count against the one kept. */
  readonly surplus: readonly string[];
  /** Token of the last write; tells our own repeated write from a rival's. */
  readonly writeToken: string;
}

/** External ids that are, or may be, effects of this intent. */
export function effectsOf(intent: Intent): readonly string[] {
  const told = [intent.externalId, intent.acknowledgedId, intent.attestedId].filter((id) => id !== null);
  const found = [...(intent.handover?.candidates ?? []), ...(intent.incident?.candidates ?? [])];
  return [...new Set([...told, ...intent.surplus, ...found])];
}

/** In place of the id of an intent that is another unit's: that it waits is told, for whom is not. */
export const ELSEWHERE = 'elsewhere';

export function lastAttempt(intent: Pick<Intent, 'attempts'>): Attempt | undefined {
  return intent.attempts.at(-1);
}

/** An attempt is proved harmless only by a result that says so. */
export function provedNotExecuted(attempt: Attempt): boolean {
  return attempt.result?.kind === 'rejected';
}

/** Some attempt may have had an effect. */
export function inDoubt(intent: Pick<Intent, 'attempts'>): boolean {
  return intent.attempts.some((attempt) => !provedNotExecuted(attempt));
}

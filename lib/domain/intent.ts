/**
 * The bottom layer: what an intent is. Plain readonly data; no I/O, no clock, nothing async.
 * Everything in `lib/domain` is a pure function of its arguments; time arrives as `now`, ms since the epoch.
 */
import type { Approval } from './approval.ts';
import type { PromiseClass } from './promise.ts';
import type { WriteResult } from './write-result.ts';

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

export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** Unique per claim; the result is written only under it. */
  readonly token: string;
  readonly claimedAt: number;
  /** The last moment at which the first byte may leave, exclusive, ms. */
  readonly sendBefore: number;
  /** Version of the permission under which it was claimed. */
  readonly permission: string;
  readonly result?: WriteResult;
  /** When a take-over declared the worker of this attempt lost. A result may still arrive. */
  readonly lostAt?: number;
}

export type Verdict = 'found' | 'many' | 'absent' | 'wait' | 'inconclusive';

/** One search at the provider, as recorded. */
export interface SearchFacts {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly verdict: Verdict;
  readonly complete: boolean;
  readonly authorised: boolean;
  /** External ids of matching records, at most 20. */
  readonly candidates: readonly string[];
  /** Reference, account and environment searched for at that time. */
  readonly reference: string;
  readonly account: string;
  readonly environment: Environment;
  /** Class of failure when the lookup failed; never provider text. */
  readonly error?: string;
}

export type HandoverReason =
  | 'many'
  | 'mismatch'
  | 'found_but_gone'
  | 'bound_elsewhere'
  | 'blind'
  | 'exhausted'
  | 'readback_unavailable'
  | 'budget_spent'
  | 'not_repeatable'
  | 'contrary_evidence'
  | 'second_effect'
  | 'cannot_run';

export interface Handover {
  readonly reason: HandoverReason;
  /** External ids seen, at most 20. */
  readonly candidates: readonly string[];
  readonly at: number;
}

/** Proof by readback; only a receipt makes an intent confirmed. */
export interface Receipt {
  readonly schema: 'kakutei-receipt/v1';
  readonly externalId: string;
  readonly checks: Readonly<Record<string, boolean>>;
  readonly readAt: number;
  /** sha256 hex of the canonical payload. */
  readonly payloadDigest: string;
  readonly promiseClass: PromiseClass;
  /** Whether a complete search was part of the proof. */
  readonly searchedWhole: boolean;
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
  /** Searches since the intent last became unknown, and since when. */
  readonly searches: number;
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
  /** A second effect of a confirmed intent, seen by the audit. */
  readonly incident: Handover | null;
  /** Token of the last write; tells our own repeated write from a rival's. */
  readonly writeToken: string;
}

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

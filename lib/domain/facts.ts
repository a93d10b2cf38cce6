/** What an intent keeps of its attempts, of looks outside, of hand-overs and of its proof. */
import type { Environment } from './intent.ts';
import type { PromiseClass } from './promise.ts';
import type { WriteResult } from './write-result.ts';

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
  /** Reference, account and environment searched for at that time; no reference where the provider shows none. */
  readonly reference: string | null;
  readonly account: string;
  readonly environment: Environment;
  /** Class of failure when the lookup failed; never provider text. */
  readonly error?: string;
  /** Until when what was found can be cancelled there, ms; only where the provider says so. */
  readonly cancelUntil?: number;
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
  | 'audit_incomplete'
  | 'twin_undetermined'
  | 'cannot_compensate'
  | 'reopened'
  | 'cannot_run';

export interface Handover {
  readonly reason: HandoverReason;
  /** External ids seen, at most 20. */
  readonly candidates: readonly string[];
  readonly at: number;
  /** `mismatch`: names of the checks of the readback that did not hold. */
  readonly failedChecks?: readonly string[];
}

/** Proof by readback; only a receipt makes an intent confirmed. */
export interface Receipt {
  readonly schema: 'kakutei-receipt/v1';
  readonly externalId: string;
  /** Where everybody can see it; null where the provider has no public page. */
  readonly url: string | null;
  readonly checks: Readonly<Record<string, boolean>>;
  readonly readAt: number;
  /** sha256 hex of the canonical payload. */
  readonly payloadDigest: string;
  readonly promiseClass: PromiseClass;
  /** Whether a complete search was part of the proof. */
  readonly searchedWhole: boolean;
}

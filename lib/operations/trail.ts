/** What a caller or an operator is shown of an intent: its exact state, in figures and in words; never a guess. */
import type { Intent, IntentState, Json } from '../domain/intent.ts';
import { errorKinds, reportOf } from '../domain/report.ts';
import { utc } from '../platform/clock.ts';
import { explain } from './explanation.ts';

export interface IntentView {
  readonly id: string;
  readonly key: string;
  readonly route: string;
  readonly state: IntentState;
  readonly report: 'confirmed' | 'rejected' | 'unconfirmed';
  readonly attempts: number;
  readonly errorKinds: readonly string[];
  /** Different requests that came under the same key. */
  readonly conflicts: number;
  /** Null unless confirmed. */
  readonly externalId: string | null;
  /** An id seen outside but not verified. */
  readonly acknowledgedId: string | null;
  readonly receipt: Json;
  /** When the next look is due, UTC; null when none is. */
  readonly nextAt: string | null;
  readonly explanation: string;
  readonly version: number;
}

export function viewOf(intent: Intent, conflicts: number): IntentView {
  return {
    id: intent.id,
    key: intent.key,
    route: intent.route,
    state: intent.state,
    report: reportOf(intent),
    attempts: intent.attempts.length,
    errorKinds: errorKinds(intent),
    conflicts,
    externalId: intent.state === 'confirmed' ? intent.externalId : null,
    acknowledgedId: intent.acknowledgedId,
    receipt: receiptOf(intent),
    nextAt: intent.dueAt === null ? null : utc(intent.dueAt),
    explanation: explain(intent),
    version: intent.version,
  };
}

/** The receipt as a document; null before there is one. */
export function receiptOf(intent: Intent): Json {
  if (intent.receipt === null) return null;
  const { readAt, ...rest } = intent.receipt;
  return { ...rest, intentId: intent.id, fingerprint: intent.fingerprint, readAt: utc(readAt) };
}

/** What the intent itself tells of its attempts, for the evidence trail. */
export function attemptsOf(intent: Intent): Json[] {
  return intent.attempts.map(({ token, result, ...attempt }) => ({
    ...attempt,
    claimedAt: utc(attempt.claimedAt),
    sendBefore: utc(attempt.sendBefore),
    ...(attempt.lostAt === undefined ? {} : { lostAt: utc(attempt.lostAt) }),
    evidenceId: token,
    result: result === undefined ? null : { ...result, at: utc(result.at), ...startedOf(result) },
  }));
}

function startedOf(result: { readonly kind: string; readonly startedAt?: number }): { startedAt?: string } {
  return result.startedAt === undefined ? {} : { startedAt: utc(result.startedAt) };
}

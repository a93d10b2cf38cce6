/** What a caller or an operator is shown of an intent: its exact state, in figures and in words; never a guess. */
import type { Decision } from '../domain/decision.ts';
import type { HandoverReason, Intent, IntentState, Json } from '../domain/intent.ts';
import { errorKinds, reportOf } from '../domain/report.ts';
import type { WriteResult } from '../domain/write-result.ts';
import { utc } from '../platform/clock.ts';
import { explain, type Language } from './explanation.ts';

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
  /** The follow-up that was ordered with it; null when none was. */
  readonly then: FollowUpView | null;
  /** Id of the intent that this one corrects. */
  readonly corrects: string | null;
  /** Id of the intent that has to settle first. */
  readonly waitsFor: string | null;
  /** Who works on it, and since when, UTC. */
  readonly owner: { readonly by: string; readonly at: string } | null;
  /** A decision of one person that waits for a second one. */
  readonly proposal: ProposalView | null;
  /** Why a person is asked; null where none is. */
  readonly reason: HandoverReason | null;
  /** How a closed one ended; null elsewhere. */
  readonly outcome: Intent['outcome'];
  readonly explanation: string;
  readonly version: number;
}

export interface FollowUpView {
  readonly route: string;
  /** `not_created`: this intent ended otherwise than confirmed. */
  readonly state: 'waiting' | 'created' | 'not_created';
  readonly id: string | null;
}

export interface ProposalView {
  readonly id: string;
  readonly decision: Json;
  readonly by: string;
  readonly reason: string;
  /** Exclusive, UTC. */
  readonly until: string;
}

export function viewOf(intent: Intent, conflicts: number, language: Language = 'en'): IntentView {
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
    reason: reasonOf(intent),
    outcome: intent.outcome,
    ...tiesOf(intent),
    explanation: explain(intent, language),
    version: intent.version,
  };
}

/** Why people are asked: the hand-over's word, or that of a second effect. */
function reasonOf({ state, handover, incident }: Intent): HandoverReason | null {
  return (state === 'handover' ? handover?.reason : incident?.reason) ?? null;
}

/** What ties it to other intents and to people. */
function tiesOf(intent: Intent): Pick<IntentView, 'then' | 'corrects' | 'waitsFor' | 'owner' | 'proposal'> {
  const { corrects, waitsFor, owner } = intent;
  return {
    // biome-ignore lint/suspicious/noThenProperty: what comes next, as callers know it; never awaited.
    then: followUpOf(intent),
    corrects,
    waitsFor,
    owner: owner === null ? null : { by: owner.by, at: utc(owner.at) },
    proposal: proposalOf(intent),
  };
}

function followUpOf({ followWith, followUp, state }: Intent): FollowUpView | null {
  if (followWith === null) return null;
  const { route } = followWith;
  if (followUp !== null) return { route, state: 'created', id: followUp };
  const ended = state === 'rejected' || state === 'closed';
  return { route, state: ended ? 'not_created' : 'waiting', id: null };
}

function proposalOf({ proposal }: Intent): ProposalView | null {
  if (proposal === null) return null;
  const { id, by, reason, until } = proposal;
  return { id, decision: decisionJson(proposal.decision), by, reason, until: utc(until) };
}

/** Its moments in UTC, as they are sent. */
export function decisionJson(decision: Decision): Json {
  if ('lookedAt' in decision) return { ...decision, lookedAt: utc(decision.lookedAt) };
  return decision.kind === 'wait_until' ? { ...decision, until: utc(decision.until) } : { ...decision };
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
    result: result === undefined ? null : { ...result, at: utc(result.at), ...momentsOf(result) },
  }));
}

function momentsOf(result: WriteResult): { startedAt?: string; notBefore?: string } {
  if (result.kind !== 'unknown') return {};
  const { startedAt, notBefore } = result;
  return { startedAt: utc(startedAt), ...(notBefore === undefined ? {} : { notBefore: utc(notBefore) }) };
}

/** What a recorded look makes of an intent. */
import type { Handover, Intent, Receipt, SearchFacts } from './intent.ts';
import { isAuditIncomplete } from './judge-audit.ts';
import { SETTLED } from './lifecycle-states.ts';

export function takeSearch(
  intent: Intent,
  event: { facts: SearchFacts; dueAt: number; handover?: Handover },
): Intent {
  const { facts } = event;
  const counted = { ...looked(intent, facts), dueAt: event.dueAt };
  const seenAt = facts.candidates.length > 0 ? (intent.seenAt ?? facts.startedAt) : intent.seenAt;
  if (event.handover !== undefined) return { ...counted, seenAt, handover: event.handover };
  if (facts.verdict === 'found') {
    const acknowledgedId = intent.acknowledgedId ?? facts.candidates[0] ?? null;
    return { ...counted, seenAt, acknowledgedId, state: 'acknowledged', readbacks: 0 };
  }
  if (facts.verdict !== 'absent') return { ...counted, seenAt };
  const absentSince = intent.absentSince ?? facts.startedAt;
  // Absent once more: what keeps it from being sent is met when its runs come back, and they do so ever later.
  const dueAt = intent.absentSince === null ? event.dueAt : Math.max(intent.dueAt ?? 0, facts.endedAt);
  return { ...counted, state: 'absent', absentSince, unknownSince: null, dueAt };
}

/** One search more; what it may be trusted for is kept apart from what it found. */
function looked(intent: Intent, facts: SearchFacts): Intent {
  const trusted = facts.complete && facts.authorised;
  return {
    ...intent,
    searches: intent.searches + 1,
    lastSearch: facts,
    trustedSearchAt: trusted ? facts.startedAt : intent.trustedSearchAt,
    cancelUntil: facts.cancelUntil ?? intent.cancelUntil,
  };
}

export function confirm(intent: Intent, event: { receipt: Receipt; dueAt: number | null }): Intent {
  const { receipt, dueAt } = event;
  return {
    ...intent,
    state: 'confirmed',
    externalId: receipt.externalId,
    receipt,
    handover: null,
    searches: 0,
    dueAt: intent.contraryAt === null ? dueAt : receipt.readAt,
  };
}

/** The look supports nothing new; `dueAt` null ends the looking. */
export function noContradiction(intent: Intent, event: { facts: SearchFacts; dueAt: number | null }): Intent {
  const over = event.dueAt === null && SETTLED.includes(intent.state);
  // Before a settled state nothing is over: what contradicts it goes on to forbid writes.
  const dueAt = event.dueAt ?? (over && !isFollowUpPending(intent) ? null : event.facts.endedAt);
  const incident = over && isAuditIncomplete(intent) ? null : intent.incident;
  return { ...looked(intent, event.facts), incident, contraryAt: over ? null : intent.contraryAt, dueAt };
}

/** Nobody knows whether there is more. What disputes an end without an effect goes on disputing it. */
export function auditIncomplete(intent: Intent, event: { facts: SearchFacts; incident: Handover }): Intent {
  // A second effect that was found says more.
  const isFound = intent.incident !== null && !isAuditIncomplete(intent);
  return {
    ...looked(intent, event.facts),
    incident: isFound ? intent.incident : event.incident,
    contraryAt: intent.state === 'confirmed' ? null : intent.contraryAt,
    dueAt: isFollowUpPending(intent) ? event.incident.at : null,
  };
}

/** What is to follow it was not made yet: it stays due until it is. */
export function isFollowUpPending(intent: Intent): boolean {
  return intent.state === 'confirmed' && intent.followWith !== null && intent.followUp === null;
}

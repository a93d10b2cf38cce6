/** What callers and people do to an intent from outside its runs. None of it lets a byte out. */
import type { Signature } from './approval.ts';
import { type Decision, decidableIn } from './decision.ts';
import { type Intent, inDoubt } from './intent.ts';
import { isAuditIncomplete } from './judge-audit.ts';
import { type Refusal, SETTLED, toUnknown, WAITING } from './lifecycle-states.ts';

export function revoke(intent: Intent, event: { revoked: Signature }): Intent | Refusal {
  if (intent.approval === null || intent.approval.revoked !== null) return 'nothing_to_revoke';
  const after = { ...intent, approval: { ...intent.approval, revoked: event.revoked } };
  // What was decided for people stays so: the hand-over is not lost in a wait.
  return WAITING.includes(intent.state) && intent.handover === null
    ? { ...after, state: 'awaiting_approval', dueAt: unpermittedUntil(intent) }
    : after;
}

/** Nothing is due while nobody permits it, but what contradicts it is looked into all the same. */
function unpermittedUntil(intent: Intent): number | null {
  return intent.contraryAt === null ? intent.sendBy : intent.dueAt;
}

/** Where nothing is unsettled outside it ends at once; elsewhere the looking goes on and no write follows it. */
export function withdraw(intent: Intent): Intent {
  const after = { ...intent, noMoreWrites: true };
  const idle = [...WAITING, 'awaiting_approval'].includes(intent.state) && intent.handover === null;
  // Evidence that contradicts the emptiness is looked into first.
  return idle && intent.contraryAt === null && intent.seenAt === null
    ? { ...after, state: 'closed', outcome: 'no_effect', dueAt: null }
    : after;
}

/**
 * Wakes what may be looked at, and of settled ones those whose audit saw too little. Bytes may be out while `sending`:
 * its lease decides, not a wish.
 */
export function lookAgain(intent: Intent, event: { dueAt: number }, now: number): Intent | Refusal {
  if (SETTLED.includes(intent.state)) {
    if (!isAuditIncomplete(intent)) return 'settled';
    return { ...intent, searches: 0, searchingSince: now, dueAt: event.dueAt };
  }
  if (intent.state === 'sending') return intent;
  if (intent.state !== 'handover') return { ...intent, dueAt: event.dueAt };
  // Nothing was ever in doubt: there is nothing to look for.
  const untouched = !inDoubt(intent) && intent.seenAt === null;
  if (untouched) return { ...intent, state: 'ready', handover: null, waitUntil: null, dueAt: event.dueAt };
  return { ...toUnknown(intent, now), dueAt: event.dueAt };
}

/** A conflict on an unsettled intent wakes a search; a settled one stays as it is. */
export function conflict(intent: Intent, _event: unknown, now: number): Intent {
  if (SETTLED.includes(intent.state)) return { ...intent, conflictAt: now };
  const wake = intent.state === 'unknown' || intent.state === 'acknowledged';
  return { ...intent, conflictAt: now, dueAt: wake ? now : intent.dueAt };
}

/** Carries out a decision that `decisionRefusal` let pass. */
export function decide(
  intent: Intent,
  event: { decision: Decision; dueAt: number },
  now: number,
): Intent | Refusal {
  const { decision, dueAt } = event;
  if (!decidableIn(decision.kind).includes(intent.state)) return 'not_in_this_state';
  if (intent.state === 'confirmed') return endIncident(intent, decision);
  const after = { ...intent, waitUntil: null, dueAt };
  switch (decision.kind) {
    case 'attach_external_id':
      return settleOn(after, decision.externalId, now);
    case 'settle_many': {
      const surplus = [...new Set([...intent.surplus, ...decision.surplus])].filter(
        (id) => id !== decision.keep,
      );
      return { ...settleOn(after, decision.keep, now), surplus };
    }
    case 'declare_absent': {
      const { lookedAt } = decision;
      return { ...after, state: 'absent', handover: null, absentSince: lookedAt, declaredAbsentAt: lookedAt };
    }
    case 'wait_until':
      return { ...after, waitUntil: decision.until };
    case 'close': {
      const attestedId = decision.outcome === 'attested' ? decision.externalId : null;
      const { outcome } = decision;
      // What still disputes it is looked into all the same.
      const lookAt = intent.contraryAt === null ? null : now;
      return { ...after, state: 'closed', outcome, attestedId, handover: null, dueAt: lookAt };
    }
    case 'reopen': {
      const handover = { reason: 'reopened', candidates: [], at: now } as const;
      // Its end was told, and may have been acted upon: it is looked into again, and never sent again.
      return {
        ...after,
        state: 'handover',
        outcome: null,
        attestedId: null,
        contraryAt: null,
        incident: null,
        noMoreWrites: true,
        handover,
      };
    }
  }
}

/** The second effect is people's affair from here on: its record, if there is one, is bound here and counts no more. */
function endIncident(intent: Intent, decision: Decision): Intent | Refusal {
  if (intent.incident === null || decision.kind !== 'settle_many') return 'not_in_this_state';
  return { ...intent, incident: null, surplus: [...new Set([...intent.surplus, ...decision.surplus])] };
}

/** A person's id is verified like any other before it confirms. */
function settleOn(intent: Intent, externalId: string, now: number): Intent {
  return {
    ...intent,
    state: 'acknowledged',
    acknowledgedId: externalId,
    seenAt: intent.seenAt ?? now,
    handover: null,
    readbacks: 0,
  };
}

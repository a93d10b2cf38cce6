/** What is to be said of an intent, decided before any language is. Reads the intent alone; no clock. */
import type { Decision } from '../domain/decision.ts';
import { ELSEWHERE, type HandoverReason, type Intent, inDoubt, lastAttempt } from '../domain/intent.ts';
import { isAuditIncomplete } from '../domain/judge-audit.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import type { Saying } from './explanation-en.ts';
import { followUp, people } from './phrases-people.ts';

/** One sentence to be said, with its facts. */
export interface Phrase {
  readonly say: Saying;
  readonly at?: number;
  readonly count?: number;
  readonly id?: string;
  readonly who?: string;
  readonly reason?: HandoverReason;
  readonly decision?: Decision['kind'];
  /** Names of checks, as adapters give them. */
  readonly checks?: readonly string[];
}

/** Known facts first, then what else bears on it, then the one next step. */
export function phrasesOf(intent: Intent): Phrase[] {
  return [...known(intent), ...around(intent), ...people(intent), ...followUp(intent), next(intent)];
}

function known(intent: Intent): Phrase[] {
  const count = intent.attempts.length;
  switch (intent.state) {
    case 'awaiting_approval':
      return [{ say: 'nothing_unsettled' }, { say: permission(intent) }];
    case 'ready':
      return count === 0 ? unsent(intent) : [{ say: notExecuted(count), count }];
    case 'sending':
      return [{ say: 'under_way', count }];
    case 'acknowledged':
      return [{ say: 'acknowledged' }];
    case 'unknown':
      return [{ say: 'undetermined' }, ...(intent.seenAt === null ? [] : [{ say: 'seen' } as const])];
    case 'absent':
      return absent(intent);
    case 'handover':
      return handedOver(intent);
    case 'confirmed':
      return [confirmed(intent)];
    case 'rejected':
      return [{ say: notSent(intent) ? 'not_sent' : 'refused' }];
    case 'closed':
      return [{ say: CLOSED[intent.outcome ?? 'undetermined'] }];
  }
}

const CLOSED = {
  no_effect: 'closed_no_effect',
  attested: 'closed_attested',
  undetermined: 'closed_undetermined',
} as const;

/** Whether a permission holds is judged at every use and not here: what is said leaves that open. */
function permission(intent: Intent): Saying {
  if (intent.approval === null) return 'permission_missing';
  if (intent.approval.revoked !== null) return 'approval_revoked';
  return isDueEarly(intent) ? 'approval_given' : 'approval_not_enough';
}

/** Due before its end: something came that is to be looked at. */
function isDueEarly(intent: Intent): boolean {
  return intent.dueAt !== null && intent.dueAt < intent.sendBy;
}

function unsent(intent: Intent): Phrase[] {
  const planned = intent.plannedAt > intent.createdAt;
  return [{ say: 'accepted' }, ...(planned ? [{ say: 'planned', at: intent.plannedAt } as const] : [])];
}

function notExecuted(count: number): Saying {
  return count === 1 ? 'one_not_executed' : 'all_not_executed';
}

function absent(intent: Intent): Phrase[] {
  const at = intent.declaredAbsentAt;
  const how: Phrase = at === null ? { say: 'absent' } : { say: 'declared_absent', at };
  const maySend = !intent.noMoreWrites && intent.contraryAt === null && intent.handover === null;
  return maySend ? [how, { say: 'may_be_sent_again' }] : [how];
}

function handedOver(intent: Intent): Phrase[] {
  const isOpen = inDoubt(intent) && intent.absentSince === null && intent.seenAt === null;
  const decide: Phrase = { say: 'must_decide', reason: intent.handover?.reason ?? 'cannot_run' };
  return isOpen ? [{ say: 'undetermined_still' }, decide] : [decide];
}

function confirmed(intent: Intent): Phrase {
  if (isAuditIncomplete(intent)) return { say: 'confirmed_unaudited' };
  if (intent.incident !== null) return { say: 'confirmed_incident' };
  const count = intent.surplus.length;
  return count === 0 ? { say: checked(intent) } : { say: 'confirmed_kept', count };
}

/** What was looked at, and no more: a readback by id says nothing of a second effect. */
function checked({ receipt, trustedSearchAt }: Intent): Saying {
  if (receipt === null || receipt.searchedWhole) return 'confirmed';
  const since = trustedSearchAt !== null && trustedSearchAt >= receipt.readAt;
  return since ? 'confirmed_searched_since' : 'confirmed_by_id';
}

function notSent(intent: Intent): boolean {
  const result = lastAttempt(intent)?.result;
  return result?.kind === 'rejected' && result.proof === 'not_sent';
}

function waiting(waitsFor: string, corrects: string | null): Phrase {
  if (waitsFor === ELSEWHERE) return { say: 'waits_elsewhere' };
  return { say: waitsFor === corrects ? 'waits_for_original' : 'waits_for_twin', id: waitsFor };
}

/** What else is known of the outside and of other intents. */
function around(intent: Intent): Phrase[] {
  const { state, handover, waitsFor, corrects, contraryAt, trustedSearchAt, cancelUntil } = intent;
  const open = !SETTLED.includes(state);
  const doubtful = state === 'unknown' || (state === 'handover' && inDoubt(intent));
  const all: (Phrase | false)[] = [
    handover !== null &&
      open &&
      state !== 'handover' && { say: 'about_to_hand_over', reason: handover.reason },
    ...failedChecks(intent),
    waitsFor !== null && open && waiting(waitsFor, corrects),
    corrects !== null && !(open && waitsFor === corrects) && { say: 'corrects', id: corrects },
    contraryAt !== null && NO_EFFECT_BELIEVED.includes(state) && { say: 'contrary' },
    isHeldBack(intent) && { say: 'held_back' },
    doubtful &&
      (trustedSearchAt === null
        ? { say: 'no_trusted_search' }
        : { say: 'trusted_search', at: trustedSearchAt }),
    cancelUntil !== null &&
      (state === 'handover' || intent.incident !== null) && { say: 'cancellable', at: cancelUntil },
    intent.conflictAt !== null && open && { say: 'conflict' },
  ];
  return all.filter((each) => each !== false);
}

/** What a mismatch is: which checks do not hold. A page alone may only be late. */
function failedChecks({ handover, state }: Intent): Phrase[] {
  const checks = handover?.failedChecks ?? [];
  if (checks.length === 0 || SETTLED.includes(state)) return [];
  const onlyPage = checks.every((name) => name === 'publicUrl');
  return [{ say: 'failed_checks', checks }, ...(onlyPage ? [{ say: 'only_the_page' } as const] : [])];
}

/** A look is due and waits for a later minute. */
function isHeldBack({ heldBack, dueAt, state }: Intent): boolean {
  return heldBack !== null && dueAt !== null && state !== 'handover' && state !== 'sending';
}

const NO_EFFECT_BELIEVED: readonly Intent['state'][] = [
  'awaiting_approval',
  'ready',
  'absent',
  'rejected',
  'closed',
];

function next(intent: Intent): Phrase {
  const { state, dueAt, waitUntil } = intent;
  if (isAuditIncomplete(intent) && dueAt === null) return { say: 'next_unaudited' };
  if (intent.incident !== null && !isAuditIncomplete(intent)) return { say: 'next_incident' };
  if (dueAt === null) return { say: state === 'closed' ? 'next_reopen' : 'next_none' };
  switch (state) {
    case 'awaiting_approval':
      return { say: isDueEarly(intent) || intent.noMoreWrites ? 'next_by' : 'next_closes', at: dueAt };
    case 'handover':
      return waitUntil === null
        ? { say: 'next_person', at: dueAt }
        : { say: 'next_wait_until', at: waitUntil };
    case 'confirmed':
      return {
        say: intent.followWith !== null && intent.followUp === null ? 'next_by' : 'next_audit',
        at: dueAt,
      };
    case 'rejected':
    case 'closed':
      return { say: 'next_look', at: dueAt };
    default:
      return { say: 'next_by', at: dueAt };
  }
}

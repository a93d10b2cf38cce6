/**
 * The life of an intent: one table of events, the states in which each applies, and what it does.
 * `transition` is pure; the ledger writes what it returns with one conditional update. The machine
 * moves a settled state only toward doubt. No open intent is without `dueAt`.
 */
import {
  type Attempt,
  type Handover,
  type Intent,
  type IntentState,
  inDoubt,
  lastAttempt,
  type Receipt,
  type SearchFacts,
} from './intent.ts';
import type { LifeEvent } from './life-event.ts';
import { conflict, lookAgain, revoke, withdraw } from './lifecycle-people.ts';
import { recordResult } from './lifecycle-result.ts';
import { ANY, OPEN, type Refusal, SETTLED, toUnknown, WAITING } from './lifecycle-states.ts';
import type { WriteResult } from './write-result.ts';

export type Transition =
  | { readonly kind: 'moved'; readonly intent: Intent }
  | { readonly kind: 'refused'; readonly reason: Refusal };

type Rule<E extends LifeEvent> = {
  readonly in: readonly IntentState[];
  readonly apply: (intent: Intent, event: E, now: number) => Intent | Refusal;
};
type Rules = { readonly [K in LifeEvent['kind']]: Rule<Extract<LifeEvent, { kind: K }>> };

const RULES: Rules = {
  claimed: { in: ['ready', 'unknown', 'absent'], apply: claim },
  resent_first: { in: ['sending'], apply: resendFirst },
  result: { in: ANY, apply: recordResult },
  lease_over: {
    in: ['sending'],
    apply: (i, e, now) => ({ ...toUnknown(loseLast(i, now), now), dueAt: e.dueAt }),
  },
  searched: { in: ['unknown'], apply: takeSearch },
  read_back: {
    in: ['acknowledged'],
    apply: (i, e) => ({ ...i, readbacks: i.readbacks + 1, dueAt: e.dueAt }),
  },
  verified: { in: ['acknowledged'], apply: confirm },
  must_hand_over: {
    in: ['ready', 'unknown', 'acknowledged', 'absent'],
    apply: (i, e) => ({ ...i, handover: e.handover, dueAt: e.dueAt }),
  },
  handed_over: {
    in: ['ready', 'unknown', 'acknowledged', 'absent'],
    apply: (i, e) =>
      i.handover === null ? 'nothing_to_hand_over' : { ...i, state: 'handover', dueAt: e.dueAt },
  },
  deferred: {
    in: [...WAITING, 'awaiting_approval', 'handover', ...SETTLED],
    apply: (i, e) => ({ ...i, dueAt: e.dueAt }),
  },
  aged: { in: ['absent'], apply: (i, e, now) => ({ ...toUnknown(i, now), dueAt: e.dueAt }) },
  approved: {
    in: OPEN,
    apply: (i, e, now) => ({
      ...i,
      approval: e.approval,
      dueAt: i.state === 'awaiting_approval' ? now : i.dueAt,
    }),
  },
  revoked: { in: OPEN, apply: revoke },
  withdrawn: { in: OPEN, apply: withdraw },
  permission_lapsed: {
    in: WAITING,
    apply: (i) => ({ ...i, state: 'awaiting_approval', dueAt: i.sendBy }),
  },
  permitted: {
    in: ['awaiting_approval'],
    apply: (i, e, now) => ({
      ...(inDoubt(i) ? toUnknown(i, now) : { ...i, state: 'ready' }),
      dueAt: e.dueAt,
    }),
  },
  time_over: {
    in: ['awaiting_approval', 'ready', 'absent'],
    apply: (i) => ({ ...i, state: 'closed', outcome: 'no_effect', dueAt: null }),
  },
  budget_spent: { in: ['ready'], apply: (i) => ({ ...i, state: 'rejected', dueAt: null }) },
  look_again: { in: OPEN, apply: lookAgain },
  conflicted: { in: ANY, apply: conflict },
  run_started: {
    in: ANY,
    apply: (i, e) => ({ ...i, runs: i.runs + 1, idleRuns: i.idleRuns + 1, dueAt: e.dueAt }),
  },
  cannot_run: {
    in: ['awaiting_approval', 'ready', 'acknowledged', 'unknown', 'absent'],
    apply: (i, e, now) => ({
      ...i,
      state: 'handover',
      dueAt: e.dueAt,
      handover: { reason: 'cannot_run', candidates: [], at: now },
    }),
  },
  audited: {
    in: ['confirmed'],
    apply: (i, e) => ({ ...i, lastSearch: e.facts, searches: i.searches + 1, dueAt: e.dueAt }),
  },
  second_effect: {
    in: ['confirmed'],
    apply: (i, e) => ({ ...i, lastSearch: e.facts, incident: e.incident, dueAt: null }),
  },
  contradicted: {
    in: ['rejected', 'closed'],
    apply: (i, e) => ({ ...i, state: 'handover', outcome: null, handover: e.handover, dueAt: e.dueAt }),
  },
  not_contradicted: {
    in: ['rejected', 'closed'],
    apply: (i, e) => ({ ...i, lastSearch: e.facts, searches: i.searches + 1, dueAt: e.dueAt }),
  },
};

/** The event kinds, in the order in which the table declares them. */
export const EVENT_KINDS = Object.keys(RULES) as LifeEvent['kind'][];

/** What `event` makes of `intent` at `now`, or the named reason why it does not apply. */
export function transition(intent: Intent, event: LifeEvent, now: number): Transition {
  const rule = RULES[event.kind] as Rule<LifeEvent>;
  if (!rule.in.includes(intent.state)) {
    return { kind: 'refused', reason: SETTLED.includes(intent.state) ? 'settled' : 'not_in_this_state' };
  }
  const after = rule.apply(intent, event, now);
  if (typeof after === 'string') return { kind: 'refused', reason: after };
  const idleRuns = event.kind === 'run_started' || event.kind === 'conflicted' ? after.idleRuns : 0;
  return { kind: 'moved', intent: { ...after, idleRuns } };
}

function claim(intent: Intent, event: { attempt: Attempt; dueAt: number }): Intent {
  const attempts = [...intent.attempts, event.attempt];
  return { ...intent, state: 'sending', attempts, handover: null, absentSince: null, dueAt: event.dueAt };
}

function resendFirst(
  intent: Intent,
  event: { result: WriteResult; attempt: Attempt; dueAt: number },
): Intent | Refusal {
  const last = lastAttempt(intent);
  if (last === undefined || last.number !== event.attempt.number - 1) return 'no_such_attempt';
  if (last.result !== undefined) return 'has_result';
  const settled = { ...last, result: event.result };
  return {
    ...intent,
    attempts: [...intent.attempts.slice(0, -1), settled, event.attempt],
    dueAt: event.dueAt,
  };
}

function loseLast(intent: Intent, now: number): Intent {
  const last = lastAttempt(intent);
  if (last === undefined || last.result !== undefined) return intent;
  return { ...intent, attempts: [...intent.attempts.slice(0, -1), { ...last, lostAt: now }] };
}

function takeSearch(
  intent: Intent,
  event: { facts: SearchFacts; dueAt: number; handover?: Handover },
): Intent {
  const { facts } = event;
  const counted = { ...intent, searches: intent.searches + 1, lastSearch: facts, dueAt: event.dueAt };
  const seenAt = facts.candidates.length > 0 ? (intent.seenAt ?? facts.startedAt) : intent.seenAt;
  if (event.handover !== undefined) return { ...counted, seenAt, handover: event.handover };
  if (facts.verdict === 'found') {
    const acknowledgedId = intent.acknowledgedId ?? facts.candidates[0] ?? null;
    return { ...counted, seenAt, acknowledgedId, state: 'acknowledged', readbacks: 0 };
  }
  if (facts.verdict !== 'absent') return { ...counted, seenAt };
  return { ...counted, state: 'absent', absentSince: intent.absentSince ?? facts.startedAt };
}

function confirm(intent: Intent, event: { receipt: Receipt; dueAt: number | null }): Intent {
  const { receipt, dueAt } = event;
  return {
    ...intent,
    state: 'confirmed',
    externalId: receipt.externalId,
    receipt,
    handover: null,
    searches: 0,
    dueAt,
  };
}

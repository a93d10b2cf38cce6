/**
 * The life of an intent: one table of events, the states in which each applies, and what it does.
 * `transition` is pure; the ledger writes what it returns with one conditional update. The machine
 * moves a settled state only toward doubt. No open intent is without `dueAt`.
 */
import { type Intent, type IntentState, inDoubt } from './intent.ts';
import type { LifeEvent } from './life-event.ts';
import { claim, loseLast, resendFirst } from './lifecycle-attempts.ts';
import { countsAfter } from './lifecycle-counts.ts';
import { BELIEVED_EMPTY, takeEvidence } from './lifecycle-evidence.ts';
import {
  auditIncomplete,
  confirm,
  isFollowUpPending,
  noContradiction,
  takeSearch,
} from './lifecycle-looks.ts';
import { conflict, decide, lookAgain, revoke, withdraw } from './lifecycle-people.ts';
import { recordResult } from './lifecycle-result.ts';
import { ANY, age, OPEN, type Refusal, SETTLED, toUnknown, WAITING } from './lifecycle-states.ts';

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
  refused_outside: {
    in: ['unknown', 'acknowledged'],
    apply: (i, e) => ({ ...i, state: 'rejected', lastSearch: e.facts ?? i.lastSearch, dueAt: null }),
  },
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
    apply: (i, e) => ({ ...i, waitsFor: e.waitsFor ?? null, dueAt: e.dueAt }),
  },
  held_back: {
    in: [...WAITING, 'awaiting_approval', 'unknown', 'acknowledged', ...SETTLED],
    apply: (i, e) => ({
      ...i,
      heldBack: { times: (i.heldBack?.times ?? 0) + 1, calls: e.calls ?? i.heldBack?.calls ?? null },
      dueAt: e.dueAt,
    }),
  },
  checked: {
    in: WAITING,
    apply: (i, e, now) => ({ ...i, checkedAt: now, cancelUntil: e.cancelUntil, dueAt: e.dueAt }),
  },
  aged: { in: ['absent'], apply: age },
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
    // A correction looks at its original again at once: what made it wait may be over.
    apply: (i, _, now) => ({
      ...i,
      state: 'awaiting_approval',
      dueAt: i.corrects === null ? i.sendBy : now,
    }),
  },
  permitted: {
    in: ['awaiting_approval'],
    apply: (i, e, now) => ({
      ...(inDoubt(i) && i.declaredAbsentAt === null
        ? toUnknown(i, now)
        : { ...i, state: inDoubt(i) ? 'absent' : 'ready', waitsFor: null }),
      dueAt: e.dueAt,
    }),
  },
  time_over: {
    in: ['awaiting_approval', 'ready', 'absent'],
    apply: (i) => ({ ...i, state: 'closed', outcome: 'no_effect', dueAt: null }),
  },
  budget_spent: { in: ['ready'], apply: (i) => ({ ...i, state: 'rejected', dueAt: null }) },
  look_again: { in: ANY, apply: lookAgain },
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
  followed_up: {
    in: ['confirmed'],
    apply: (i, e) => ({ ...i, followUp: e.followUp, dueAt: i.contraryAt === null ? e.dueAt : i.dueAt }),
  },
  audited: {
    in: ['confirmed'],
    apply: noContradiction,
  },
  second_effect: {
    in: ['confirmed'],
    apply: (i, e) => ({
      ...i,
      lastSearch: e.facts,
      incident: e.incident,
      contraryAt: null,
      dueAt: isFollowUpPending(i) ? e.incident.at : null,
    }),
  },
  audit_incomplete: { in: SETTLED, apply: auditIncomplete },
  contradicted: {
    in: [...BELIEVED_EMPTY, 'rejected', 'closed'],
    apply: (i, e) => ({
      ...i,
      state: 'handover',
      outcome: null,
      incident: null,
      contraryAt: null,
      seenAt: i.seenAt ?? e.handover.at,
      handover: e.handover,
      dueAt: e.dueAt,
    }),
  },
  not_contradicted: {
    in: [...BELIEVED_EMPTY, 'rejected', 'closed'],
    apply: noContradiction,
  },
  evidence_came: { in: ANY, apply: takeEvidence },
  owned: { in: ANY, apply: (i, e) => ({ ...i, owner: e.owner }) },
  proposed: { in: ['handover', 'confirmed'], apply: (i, e) => ({ ...i, proposal: e.proposal }) },
  decided: { in: ['handover', 'closed', 'confirmed'], apply: decide },
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
  return { kind: 'moved', intent: { ...after, ...countsAfter(intent, event, after) } };
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Decision, Proposal } from '../../lib/domain/decision.ts';
import { type Intent, type IntentState, STATES } from '../../lib/domain/intent.ts';
import type { LifeEvent } from '../../lib/domain/life-event.ts';
import { EVENT_KINDS, transition } from '../../lib/domain/lifecycle.ts';
import type { WriteResult } from '../../lib/domain/write-result.ts';
import {
  ACKNOWLEDGED,
  APPROVAL,
  attemptOf,
  IN_STATE,
  intentOf,
  NOT_SENT,
  NOW,
  REFUSED,
  searchOf,
  UNKNOWN_RESULT,
} from '../support/kit.ts';

const dueAt = NOW + 60_000;
const handover = { reason: 'many', candidates: ['R-1', 'R-2'], at: NOW } as const;
const receipt = IN_STATE.confirmed.receipt;
if (receipt === null) throw new Error('The confirmed sample has no receipt.');

type Row = { readonly event: LifeEvent; readonly to?: (intent: Intent) => Intent };

/** Attempt 1 has its result still to come, in every state that has attempts. */
const open = (intent: Intent): Intent => ({ ...intent, attempts: [attemptOf(1)] });
/** Attempt 1 is in doubt and attempt 2 is out. */
const second = (intent: Intent): Intent => ({
  ...intent,
  attempts: [attemptOf(1, { result: UNKNOWN_RESULT }), attemptOf(2)],
});
const pending = (intent: Intent): Intent => (intent.state === 'handover' ? intent : { ...intent, handover });
const result = (number: number, outcome: WriteResult): LifeEvent => ({
  kind: 'result',
  number,
  result: outcome,
  dueAt,
  retryAt: NOW + 100,
});

const decided = (decision: Decision): Row => ({ event: { kind: 'decided', decision, dueAt } });
const PROPOSAL: Proposal = {
  id: 'p-1',
  decision: { kind: 'declare_absent', lookedAt: NOW },
  by: 'otto',
  reason: 'the supplier says so',
  at: NOW,
  until: NOW + 1,
};

const ROWS: Readonly<Record<string, Row>> = {
  claimed: { event: { kind: 'claimed', attempt: attemptOf(2), dueAt } },
  resent_first: { event: { kind: 'resent_first', result: UNKNOWN_RESULT, attempt: attemptOf(2), dueAt } },
  'result acknowledged': { event: result(1, ACKNOWLEDGED), to: open },
  'result refused': { event: result(1, REFUSED), to: open },
  'result not_sent': { event: result(1, NOT_SENT), to: open },
  'result unknown': { event: result(1, UNKNOWN_RESULT), to: open },
  'result that something exists': {
    event: result(1, { ...UNKNOWN_RESULT, exists: true } as WriteResult),
    to: open,
  },
  'result refused, second': { event: result(2, REFUSED), to: second },
  'result not_sent, second': { event: result(2, NOT_SENT), to: second },
  'result not_sent, withdrawn': {
    event: result(1, NOT_SENT),
    to: (i) => ({ ...open(i), noMoreWrites: true }),
  },
  'result of no attempt': { event: result(7, UNKNOWN_RESULT), to: open },
  lease_over: { event: { kind: 'lease_over', dueAt } },
  'searched found': {
    event: { kind: 'searched', facts: searchOf({ verdict: 'found', candidates: ['R-9'] }), dueAt },
  },
  'searched absent': { event: { kind: 'searched', facts: searchOf({ verdict: 'absent' }), dueAt } },
  'searched wait': { event: { kind: 'searched', facts: searchOf(), dueAt } },
  'searched inconclusive': {
    event: { kind: 'searched', facts: searchOf({ verdict: 'inconclusive' }), dueAt },
  },
  'searched many': {
    event: {
      kind: 'searched',
      facts: searchOf({ verdict: 'many', candidates: ['R-1', 'R-2'] }),
      dueAt,
      handover,
    },
  },
  refused_outside: { event: { kind: 'refused_outside', facts: searchOf() } },
  read_back: { event: { kind: 'read_back', dueAt } },
  verified: { event: { kind: 'verified', receipt, dueAt: null } },
  must_hand_over: { event: { kind: 'must_hand_over', handover, dueAt } },
  handed_over: { event: { kind: 'handed_over', dueAt }, to: pending },
  'handed_over, no reason': { event: { kind: 'handed_over', dueAt }, to: (i) => ({ ...i, handover: null }) },
  deferred: { event: { kind: 'deferred', dueAt } },
  'deferred, for a twin': { event: { kind: 'deferred', dueAt, waitsFor: 'int_1' } },
  held_back: { event: { kind: 'held_back', dueAt, calls: 12 } },
  checked: { event: { kind: 'checked', cancelUntil: NOW + 1, dueAt } },
  aged: { event: { kind: 'aged', dueAt } },
  approved: { event: { kind: 'approved', approval: APPROVAL } },
  revoked: {
    event: { kind: 'revoked', revoked: { by: 'ann', at: NOW } },
    to: (i) => ({ ...i, approval: APPROVAL }),
  },
  'revoked, none given': { event: { kind: 'revoked', revoked: { by: 'ann', at: NOW } } },
  withdrawn: { event: { kind: 'withdrawn' } },
  permission_lapsed: { event: { kind: 'permission_lapsed' } },
  permitted: { event: { kind: 'permitted', dueAt } },
  'permitted, in doubt': {
    event: { kind: 'permitted', dueAt },
    to: (i) => ({ ...i, attempts: IN_STATE.unknown.attempts }),
  },
  'permitted, declared absent': {
    event: { kind: 'permitted', dueAt },
    to: (i) => ({ ...i, attempts: IN_STATE.unknown.attempts, declaredAbsentAt: NOW }),
  },
  time_over: { event: { kind: 'time_over' } },
  budget_spent: { event: { kind: 'budget_spent' } },
  look_again: { event: { kind: 'look_again', dueAt } },
  conflicted: { event: { kind: 'conflicted' } },
  run_started: { event: { kind: 'run_started', dueAt } },
  cannot_run: { event: { kind: 'cannot_run', dueAt } },
  audited: { event: { kind: 'audited', facts: searchOf(), dueAt: null } },
  second_effect: {
    event: { kind: 'second_effect', facts: searchOf(), incident: { ...handover, reason: 'second_effect' } },
  },
  audit_incomplete: {
    event: {
      kind: 'audit_incomplete',
      facts: searchOf(),
      incident: { ...handover, reason: 'audit_incomplete' },
    },
  },
  'look_again, audit incomplete': {
    event: { kind: 'look_again', dueAt },
    to: (i) => ({ ...i, incident: { reason: 'audit_incomplete', candidates: [], at: NOW } }),
  },
  contradicted: { event: { kind: 'contradicted', handover, dueAt } },
  not_contradicted: { event: { kind: 'not_contradicted', facts: searchOf(), dueAt: null } },
  followed_up: { event: { kind: 'followed_up', followUp: 'int_2', dueAt: null } },
  'evidence of an effect': { event: { kind: 'evidence_came', seen: true, externalId: 'R-7', dueAt: NOW } },
  'evidence of no effect': { event: { kind: 'evidence_came', seen: false, externalId: null, dueAt: NOW } },
  'evidence of what is known': {
    event: { kind: 'evidence_came', seen: true, externalId: 'R-1', dueAt: NOW },
  },
  owned: { event: { kind: 'owned', owner: { by: 'otto', at: NOW } } },
  proposed: { event: { kind: 'proposed', proposal: PROPOSAL } },
  'decided attach_external_id': decided({ kind: 'attach_external_id', externalId: 'R-9' }),
  'decided declare_absent': decided({ kind: 'declare_absent', lookedAt: NOW }),
  'decided settle_many': decided({ kind: 'settle_many', keep: 'R-1', surplus: ['R-2'] }),
  'decided wait_until': decided({ kind: 'wait_until', until: dueAt }),
  'decided close': decided({ kind: 'close', outcome: 'undetermined' }),
  'decided reopen': decided({ kind: 'reopen' }),
};

function cell(row: Row, state: IntentState): string {
  const before = (row.to ?? ((i: Intent) => i))(IN_STATE[state]);
  const after = transition(before, row.event, NOW);
  if (after.kind === 'refused') return `!${after.reason}`;
  checkWhole(after.intent);
  return after.intent.state === state ? '=' : after.intent.state;
}

/** What holds in every state that any event can lead to. */
function checkWhole(intent: Intent): void {
  const settled = ['confirmed', 'rejected', 'closed'].includes(intent.state);
  if (!settled) expect(intent.dueAt, `an open intent is due: ${intent.state}`).not.toBeNull();
  if (intent.state === 'confirmed') {
    expect(intent.receipt).not.toBeNull();
    expect(intent.externalId).not.toBeNull();
  } else expect(intent.externalId, `only confirmed has an external id: ${intent.state}`).toBeNull();
  if (intent.state === 'handover') expect(intent.handover).not.toBeNull();
  if (intent.state === 'closed') expect(intent.outcome).not.toBeNull();
  if (intent.state === 'sending') expect(intent.attempts.at(-1)?.result).toBeUndefined();
}

describe('the lifecycle table', () => {
  const written = readFileSync(new URL('./lifecycle.table.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/ {2,}/));

  it('names every event kind', () => {
    const named = new Set(Object.values(ROWS).map((row) => row.event.kind));
    expect([...named].sort()).toEqual([...EVENT_KINDS].sort());
  });

  it('has one column a state and one row a case, none missing and none more', () => {
    expect(written[0]).toEqual(['event', ...STATES]);
    expect(written.slice(1).map((line) => line[0])).toEqual(Object.keys(ROWS));
  });

  it.each(Object.entries(ROWS))('%s does in every state what the table says', (name, row) => {
    const line = written.find((each) => each[0] === name) ?? [];
    expect(STATES.map((state) => `${state}: ${cell(row, state)}`)).toEqual(
      STATES.map((state, at) => `${state}: ${line[at + 1] ?? '(missing)'}`),
    );
  });
});

describe('what a transition leaves behind', () => {
  const moved = (intent: Intent, event: LifeEvent): Intent => {
    const after = transition(intent, event, NOW);
    if (after.kind === 'refused') throw new Error(after.reason);
    return after.intent;
  };

  it('a refusal of attempt 2 proves nothing about attempt 1', () => {
    const after = moved(second(IN_STATE.sending), result(2, REFUSED));
    expect(after.state).toBe('unknown');
  });

  it('a late success is kept on its attempt and wakes a look', () => {
    const taken = moved(IN_STATE.sending, { kind: 'lease_over', dueAt });
    const after = moved(taken, result(1, ACKNOWLEDGED));
    expect(after).toMatchObject({
      state: 'unknown',
      dueAt: NOW,
      seenAt: ACKNOWLEDGED.at,
      acknowledgedId: 'R-1',
    });
    expect(after.attempts[0]).toMatchObject({ lostAt: NOW, result: ACKNOWLEDGED });
  });

  it('a late success voids a hand-over that was only decided, so that it is looked at first', () => {
    const before = intentOf({ ...pending(IN_STATE.unknown), attempts: [attemptOf(1, { lostAt: NOW })] });
    expect(moved(before, result(1, ACKNOWLEDGED)).handover).toBeNull();
  });

  it('a late failure is a note and moves nothing', () => {
    const taken = moved(IN_STATE.sending, { kind: 'lease_over', dueAt });
    const after = moved(taken, result(1, NOT_SENT));
    expect({ ...after, attempts: [] }).toEqual({ ...taken, attempts: [] });
  });

  it('a result is taken once', () => {
    const settled = moved(IN_STATE.sending, result(1, UNKNOWN_RESULT));
    expect(transition(settled, result(1, ACKNOWLEDGED), NOW)).toEqual({
      kind: 'refused',
      reason: 'has_result',
    });
  });

  it('an id that the POST gave stands, also when a search finds another', () => {
    const unknown = intentOf({ ...IN_STATE.unknown, acknowledgedId: 'R-1', seenAt: NOW });
    const facts = searchOf({ verdict: 'found', candidates: ['R-2'] });
    expect(moved(unknown, { kind: 'searched', facts, dueAt }).acknowledgedId).toBe('R-1');
  });

  it('a conflict wakes what is being reconciled and leaves the lease of a sender alone', () => {
    expect(moved(IN_STATE.unknown, { kind: 'conflicted' }).dueAt).toBe(NOW);
    const sending = { ...IN_STATE.sending, dueAt };
    expect(moved(sending, { kind: 'conflicted' }).dueAt).toBe(dueAt);
  });

  it('looking again at what was never in doubt makes it ready: there is nothing to look for', () => {
    const untouched = { ...IN_STATE.handover, attempts: [] };
    expect(moved(untouched, { kind: 'look_again', dueAt }).state).toBe('ready');
  });

  it('a hand-over that was decided is lost neither by a revocation nor by a withdrawal', () => {
    const decided = { ...IN_STATE.absent, handover, approval: APPROVAL };
    const revoked = moved(decided, { kind: 'revoked', revoked: { by: 'ann', at: NOW } });
    expect(revoked).toMatchObject({ state: 'absent', handover });
    expect(moved(decided, { kind: 'withdrawn' })).toMatchObject({
      state: 'absent',
      noMoreWrites: true,
      handover,
    });
    expect(moved(revoked, { kind: 'handed_over', dueAt }).state).toBe('handover');
  });

  it.each([
    [
      'a look that contradicting evidence asked for',
      { contraryAt: NOW, seenAt: NOW, dueAt: NOW + 1000 },
      NOW + 1000,
    ],
    ['nothing', { dueAt: NOW + 1000 }, IN_STATE.ready.sendBy],
  ])('a revocation leaves due what it was: %s', (_, change, due) => {
    for (const state of ['ready', 'absent'] as const) {
      const before = { ...IN_STATE[state], ...change, approval: APPROVAL };
      const after = moved(before, { kind: 'revoked', revoked: { by: 'otto', at: NOW } });
      expect([after.state, after.dueAt]).toEqual(['awaiting_approval', due]);
    }
  });

  it('that another id was told is kept through every doubt until one is confirmed', () => {
    const told = { contraryAt: NOW, seenAt: NOW, acknowledgedId: 'R-1' };
    const out = { ...IN_STATE.sending, ...told };
    expect(moved(out, result(1, UNKNOWN_RESULT)).contraryAt).toBe(NOW);
    expect(moved(out, { kind: 'lease_over', dueAt }).contraryAt).toBe(NOW);
    const handed = { ...IN_STATE.handover, ...told };
    const another = { kind: 'evidence_came', seen: true, externalId: 'R-2', dueAt } as const;
    expect(moved({ ...handed, contraryAt: null }, another).contraryAt).toBe(NOW);
    expect(
      moved({ ...IN_STATE.acknowledged, ...told }, { kind: 'verified', receipt, dueAt: null }),
    ).toMatchObject({
      contraryAt: NOW,
      dueAt: receipt.readAt,
    });
  });

  it('looking again starts the count of searches anew only from handover', () => {
    const tired = { searches: 20 };
    expect(moved({ ...IN_STATE.handover, ...tired }, { kind: 'look_again', dueAt }).searches).toBe(0);
    expect(moved({ ...IN_STATE.unknown, ...tired }, { kind: 'look_again', dueAt }).searches).toBe(20);
  });

  it('absence that nobody used is searched for again, and its searches go on being counted', () => {
    const old = { ...IN_STATE.absent, searches: 7, dueAt: NOW + 9 };
    expect(moved(old, { kind: 'aged', dueAt: NOW })).toMatchObject({
      ...{ state: 'unknown', searches: 7, searchingSince: NOW, dueAt: NOW + 9 },
    });
    expect(moved({ ...old, dueAt: null }, { kind: 'aged', dueAt })).toMatchObject({ dueAt });
  });

  const incomplete = { reason: 'audit_incomplete', candidates: [], at: NOW } as const;
  const told = { kind: 'audit_incomplete', facts: searchOf(), incident: incomplete } as const;

  it.each<[IntentState, number | null, string]>([
    ['confirmed', null, 'whether there is a second effect is told by the incident alone'],
    ['rejected', NOW, 'what disputes its end goes on holding back what waits for it'],
    ['closed', NOW, 'what disputes its end goes on holding back what waits for it'],
  ] as const)(
    'an audit that saw too little leaves %s as it is, told and disputed since %j, because %s',
    (state, contraryAt) => {
      expect(moved({ ...IN_STATE[state], contraryAt: NOW, dueAt }, told)).toMatchObject({
        ...{ state, incident: incomplete, contraryAt, dueAt: null },
      });
    },
  );

  it('an audit that saw too little never takes the place of a second effect that was found', () => {
    const second = { reason: 'second_effect', candidates: ['R-2'], at: NOW } as const;
    expect(moved({ ...IN_STATE.confirmed, incident: second }, told).incident).toEqual(second);
  });

  it('people who look again find an audit that saw too little from its beginning, and a whole look ends it', () => {
    const waiting = { ...IN_STATE.closed, incident: incomplete, contraryAt: NOW, searches: 20, dueAt: null };
    const woken = moved(waiting, { kind: 'look_again', dueAt });
    expect(woken).toMatchObject({ searches: 0, searchingSince: NOW, incident: incomplete, dueAt });
    const seen = { facts: searchOf(), dueAt: null } as const;
    expect(moved(woken, { kind: 'not_contradicted', ...seen })).toMatchObject({
      incident: null,
      contraryAt: null,
    });
    expect(
      moved({ ...IN_STATE.confirmed, incident: incomplete }, { kind: 'audited', ...seen }).incident,
    ).toBeNull();
    const later = { kind: 'audited', facts: searchOf(), dueAt } as const;
    expect(moved({ ...IN_STATE.confirmed, incident: incomplete }, later).incident).toEqual(incomplete);
  });

  it('absence is dated once, and forgotten with the next claim', () => {
    const absent = moved(IN_STATE.unknown, {
      kind: 'searched',
      facts: searchOf({ verdict: 'absent', startedAt: 5 }),
      dueAt,
    });
    expect(absent.absentSince).toBe(5);
    const again = moved(moved(absent, { kind: 'aged', dueAt }), {
      kind: 'searched',
      facts: searchOf({ verdict: 'absent', startedAt: 9 }),
      dueAt,
    });
    expect(again.absentSince).toBe(5);
    expect(moved(again, { kind: 'claimed', attempt: attemptOf(2), dueAt }).absentSince).toBeNull();
  });

  it('runs without progress are counted until something moves', () => {
    const idle = moved(moved(IN_STATE.ready, { kind: 'run_started', dueAt }), { kind: 'run_started', dueAt });
    expect(idle).toMatchObject({ runs: 3, idleRuns: 2 });
    expect(moved(idle, { kind: 'deferred', dueAt }).idleRuns).toBe(0);
  });

  it('absent, too old, and absent again is no progress; a look that shows anything else is', () => {
    const absence = { kind: 'searched', facts: searchOf({ verdict: 'absent' }), dueAt } as const;
    const aged = moved({ ...IN_STATE.absent, absentSince: NOW, idleRuns: 5 }, { kind: 'aged', dueAt });
    expect(moved(aged, absence)).toMatchObject({ state: 'absent', idleRuns: 5 });
    expect(moved({ ...aged, absentSince: null }, absence).idleRuns).toBe(0);
    expect(moved(aged, { kind: 'searched', facts: searchOf(), dueAt }).idleRuns).toBe(0);
    // What keeps it is met no sooner than its runs come back.
    expect(moved({ ...aged, dueAt: dueAt + 9 }, absence).dueAt).toBe(dueAt + 9);
    expect(moved({ ...aged, dueAt: dueAt + 9, absentSince: null }, absence).dueAt).toBe(dueAt);
  });
});

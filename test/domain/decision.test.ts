/** What people may decide, in which state, on what proof; and what a decision makes of an intent. */
import { describe, expect, it } from 'vitest';
import {
  absenceShowsAfter,
  DECISIONS,
  type Decision,
  type DecisionContext,
  type DecisionRefusal,
  decidableIn,
  decisionRefusal,
  dueAfter,
  idsBoundBy,
  idsNamedBy,
  LONGEST_WAIT_UNTIL_MS,
  needsTwo,
  seenIds,
} from '../../lib/domain/decision.ts';
import { type Intent, STATES } from '../../lib/domain/intent.ts';
import type { LifeEvent } from '../../lib/domain/life-event.ts';
import { transition } from '../../lib/domain/lifecycle.ts';
import { newProposal, notSecond, PROPOSAL_MS, standingProposal } from '../../lib/domain/proposal.ts';
import {
  ACKNOWLEDGED,
  APPROVAL,
  attemptOf,
  IN_STATE,
  intentOf,
  NOT_SENT,
  NOW,
  searchOf,
  TIMING,
  UNKNOWN_RESULT,
} from '../support/kit.ts';

const DAY_MS = 86_400_000;
/** Z 15 000 + D 500 + L 300, and no skew. */
const PROMISED: DecisionContext = { timing: TIMING, lag: { applyDelayMs: 500, visibilityLagMs: 300 } };
const SHOWN = NOW + 15_800;
const LATER = NOW + 2 * DAY_MS;

const { handover } = IN_STATE;
const many: Intent = {
  ...handover,
  seenAt: NOW,
  handover: { reason: 'many', candidates: ['R-1', 'R-2'], at: NOW },
};
const untouched: Intent = intentOf({ state: 'handover', handover: { ...reasonOf('cannot_run') } });
const notSent: Intent = { ...untouched, attempts: [attemptOf(1, { result: NOT_SENT })] };

function reasonOf(reason: 'cannot_run') {
  return { reason, candidates: [], at: NOW } as const;
}

const attach: Decision = { kind: 'attach_external_id', externalId: 'R-1' };
const absent = (lookedAt: number): Decision => ({ kind: 'declare_absent', lookedAt });
const settle = (keep: string, ...surplus: string[]): Decision => ({ kind: 'settle_many', keep, surplus });
const waitUntil = (until: number): Decision => ({ kind: 'wait_until', until });
const noEffect = (lookedAt: number): Decision => ({ kind: 'close', outcome: 'no_effect', lookedAt });
const attested = (externalId: string | null): Decision => ({
  kind: 'close',
  outcome: 'attested',
  externalId,
});
const undetermined: Decision = { kind: 'close', outcome: 'undetermined' };
const reopen: Decision = { kind: 'reopen' };

const SECOND = { reason: 'second_effect', candidates: ['R-1', 'R-2'] } as const;

/** One decision of each sort, each of which may stand in the state that it is for. */
const SAMPLES: readonly Decision[] = [
  attach,
  absent(LATER),
  settle('R-1', 'R-2'),
  waitUntil(LATER + 1),
  noEffect(LATER),
  attested('R-1'),
  undetermined,
  reopen,
];

/** Every sort of decision in every state: `!` refused there, `+` it may stand. */
const WHERE = `
                        awaiting_approval  ready  sending  acknowledged  unknown  absent  handover  confirmed  rejected  closed
attach_external_id      !                  !      !        !             !        !       +         !          !         !
declare_absent          !                  !      !        !             !        !       +         !          !         !
settle_many             !                  !      !        !             !        !       +         +          !         !
wait_until              !                  !      !        !             !        !       +         !          !         !
close no_effect         !                  !      !        !             !        !       +         !          !         !
close attested          !                  !      !        !             !        !       +         !          !         !
close undetermined      !                  !      !        !             !        !       +         !          !         !
reopen                  !                  !      !        !             !        !       !         !          !         +
`;
const [columns = [], ...rows] = WHERE.trim()
  .split('\n')
  .map((line) => line.trim().split(/ {2,}/));
const nameOf = (decision: Decision): string =>
  decision.kind === 'close' ? `close ${decision.outcome}` : decision.kind;

/** Where several records were seen: handed over, or after it was confirmed. */
const SETTLEABLE = {
  ...IN_STATE,
  handover: many,
  confirmed: { ...IN_STATE.confirmed, incident: { ...SECOND, at: NOW } },
} as const;

describe('in which states', () => {
  it('the table has every state, and a row for every sort of decision', () => {
    expect(columns).toEqual([...STATES]);
    expect(rows.map(([name]) => name)).toEqual(SAMPLES.map(nameOf));
    expect([...new Set(SAMPLES.map(({ kind }) => kind))]).toEqual(DECISIONS);
  });

  it.each(SAMPLES.map((decision) => ({ name: nameOf(decision), decision })))(
    '$name stands where the table says, and moves the intent nowhere else',
    ({ name, decision }) => {
      const expected = rows.find(([row]) => row === name)?.slice(1);
      const found = STATES.map((state) => {
        const intent = decision.kind === 'settle_many' ? SETTLEABLE[state] : IN_STATE[state];
        const refusal = decisionRefusal(intent, decision, PROMISED, LATER);
        if (refusal === null) {
          const event: LifeEvent = { kind: 'decided', decision, dueAt: LATER };
          expect(transition(intent, event, LATER).kind, state).toBe('moved');
          return '+';
        }
        expect(refusal, state).toBe('not_in_this_state');
        return '!';
      });
      expect(found).toEqual(expected);
      expect(STATES.filter((_, index) => found[index] === '+')).toEqual(decidableIn(decision.kind));
    },
  );
});

interface Row {
  readonly name: string;
  readonly intent: Intent;
  readonly decision: Decision;
  readonly now?: number;
  readonly context?: DecisionContext;
  readonly expected: DecisionRefusal | null;
  readonly because: string;
}

const closed = (change: Partial<Intent> = {}): Intent => ({ ...IN_STATE.closed, ...change });

const ROWS: readonly Row[] = [
  {
    name: 'an id for what was never sent',
    intent: untouched,
    decision: attach,
    expected: 'nothing_was_sent',
    because: 'a record out there cannot be ours',
  },
  {
    name: 'an id for what was not sent from here, and yet was seen',
    intent: { ...untouched, seenAt: NOW },
    decision: attach,
    expected: null,
    because: 'a signed event may tell of it before our own record does',
  },
  {
    name: 'an id that was settled as surplus',
    intent: { ...handover, surplus: ['R-1'] },
    decision: attach,
    expected: 'kept_is_surplus',
    because: 'it is left out of every look and would never verify',
  },
  {
    name: 'an id that nobody saw before',
    intent: handover,
    decision: { kind: 'attach_external_id', externalId: 'R-99' },
    expected: null,
    because: 'a person may know more than the machine, and the readback judges',
  },
  {
    name: 'absence of what was never sent',
    intent: untouched,
    decision: absent(LATER),
    expected: 'nothing_was_sent',
    because: 'there is nothing whose absence could open a resend',
  },
  {
    name: 'absence where every attempt is proved not sent',
    intent: notSent,
    decision: absent(LATER),
    expected: 'nothing_was_sent',
    because: 'it was never in doubt',
  },
  {
    name: 'absence of what was seen',
    intent: { ...handover, seenAt: NOW },
    decision: absent(LATER),
    expected: 'something_seen',
    because: 'what was once seen is never absent',
  },
  {
    name: 'absence against evidence that no look has judged yet',
    intent: { ...handover, contraryAt: NOW },
    decision: absent(LATER),
    expected: 'something_seen',
    because: 'the evidence comes first',
  },
  {
    name: 'absence looked up after the last claim of two, but for the first one only',
    intent: { ...handover, attempts: [1, 2].map((n) => attemptOf(n, { claimedAt: NOW + (n - 1) * 10_000 })) },
    decision: absent(SHOWN + 1),
    expected: 'looked_too_early',
    because: 'the last claim counts',
  },
  {
    name: 'absence looked up before the last claim',
    intent: { ...handover, attempts: [attemptOf(1, { claimedAt: LATER - 1 })] },
    decision: absent(SHOWN + 1),
    expected: 'looked_too_early',
    because: 'something was claimed since the person looked',
  },
  {
    name: 'no effect of what was never sent',
    intent: untouched,
    decision: noEffect(LATER),
    expected: null,
    because: 'nothing can be outside',
  },
  {
    name: 'no effect of what was seen',
    intent: { ...handover, seenAt: NOW },
    decision: noEffect(LATER),
    expected: 'something_seen',
    because: 'the same rule guards the close',
  },
  {
    name: 'an effect attested of what was never sent',
    intent: untouched,
    decision: attested(null),
    expected: 'nothing_was_sent',
    because: 'people cannot state an effect of nothing',
  },
  {
    name: 'an effect attested that was seen although nothing was sent',
    intent: { ...untouched, seenAt: NOW },
    decision: attested('R-1'),
    expected: null,
    because: 'somebody made it, and people say so',
  },
  {
    name: 'undetermined, whatever was seen',
    intent: many,
    decision: undetermined,
    expected: null,
    because: 'it claims nothing',
  },
  {
    name: 'the two of a confirmed one without an incident',
    intent: IN_STATE.confirmed,
    decision: settle('R-1', 'R-2'),
    expected: 'not_in_this_state',
    because: 'there is one effect, and it was read back',
  },
  {
    name: 'that a confirmed one has nothing else, where a second effect was seen',
    intent: SETTLEABLE.confirmed,
    decision: settle('R-1'),
    expected: 'surplus_missing',
    because: 'it is there, and is to be dealt with',
  },
  {
    name: 'that a confirmed one has nothing else, where the audit saw too little',
    intent: {
      ...IN_STATE.confirmed,
      incident: { reason: 'audit_incomplete', candidates: [], at: NOW },
    },
    decision: settle('R-1'),
    expected: null,
    because: 'people looked where the machine could not',
  },
  {
    name: 'of a confirmed one another record than the one that was read back',
    intent: SETTLEABLE.confirmed,
    decision: settle('R-2', 'R-1'),
    expected: 'not_a_candidate',
    because: 'its receipt stands',
  },
  {
    name: 'many, none of them surplus',
    intent: many,
    decision: settle('R-1'),
    expected: 'surplus_missing',
    because: 'then it is one, and one is attached',
  },
  {
    name: 'many, the kept one among the surplus',
    intent: many,
    decision: settle('R-1', 'R-2', 'R-1'),
    expected: 'kept_is_surplus',
    because: 'it cannot be both',
  },
  {
    name: 'many, the kept one settled as surplus before',
    intent: { ...many, surplus: ['R-1'] },
    decision: settle('R-1', 'R-2'),
    expected: null,
    because: 'people may have kept the wrong one',
  },
  {
    name: 'many, a surplus that nobody saw',
    intent: many,
    decision: settle('R-1', 'R-3'),
    expected: 'not_a_candidate',
    because: "a slip of the pen would bind another intent's record",
  },
  {
    name: 'many, a kept one that nobody saw',
    intent: many,
    decision: settle('R-3', 'R-2'),
    expected: 'not_a_candidate',
    because: 'the id would never match',
  },
  {
    name: 'many, of ids that the answer, the search and the hand-over told',
    intent: {
      ...many,
      attempts: [attemptOf(1, { result: { ...ACKNOWLEDGED, externalId: 'R-7' } as never })],
      lastSearch: searchOf({ candidates: ['R-8'] }),
    },
    decision: settle('R-7', 'R-8', 'R-1', 'R-2'),
    expected: null,
    because: 'each of them is on file',
  },
  {
    name: 'many, of what was never sent',
    intent: { ...many, attempts: [], seenAt: null },
    decision: settle('R-1', 'R-2'),
    expected: 'nothing_was_sent',
    because: 'none of them can be ours',
  },
  {
    name: 'reopening what was withdrawn before anything was sent',
    intent: closed({ attempts: [], noMoreWrites: true }),
    decision: reopen,
    expected: 'nothing_was_sent',
    because: 'there is nothing to look for',
  },
  {
    name: 'reopening what is proved not sent',
    intent: closed({ attempts: notSent.attempts }),
    decision: reopen,
    expected: 'nothing_was_sent',
    because: 'looking again would open a write',
  },
  {
    name: 'reopening what was seen although nothing was sent',
    intent: closed({ attempts: [], seenAt: NOW }),
    decision: reopen,
    expected: null,
    because: 'there is something to look for',
  },
];

describe('is refused, or stands', () => {
  it.each(ROWS)('$name: $expected, because $because', (row) => {
    const { intent, decision, now = LATER, context = PROMISED, expected } = row;
    expect(decisionRefusal(intent, decision, context, now)).toBe(expected);
  });

  it('every refusal has a row or a limit', () => {
    const limits = ['not_in_this_state', 'looked_in_the_future', 'until_passed', 'until_too_late'];
    const named = ROWS.flatMap(({ expected }) => expected ?? []);
    const all: Readonly<Record<DecisionRefusal, true>> = {
      not_in_this_state: true,
      nothing_was_sent: true,
      something_seen: true,
      looked_in_the_future: true,
      looked_too_early: true,
      surplus_missing: true,
      kept_is_surplus: true,
      not_a_candidate: true,
      until_passed: true,
      until_too_late: true,
    };
    expect([...new Set([...limits, ...named])].sort()).toEqual(Object.keys(all).sort());
  });
});

const AROUND = [-1, 0, 1] as const;
const lags = (applyDelayMs: number | null, visibilityLagMs: number | null, skewMs = 0): DecisionContext => ({
  timing: { ...TIMING, skewMs },
  lag: { applyDelayMs, visibilityLagMs },
});

/** Last claim + Z + D + L + skew, counted by hand. */
const LOOKS: readonly { context: DecisionContext; after: number; because: string }[] = [
  { context: lags(500, 300), after: NOW + 15_800, because: 'Z 15 000, D 500, L 300' },
  { context: lags(500, 300, 300_000), after: NOW + 315_800, because: 'clocks differ by up to 300 s' },
  { context: lags(60_000, null), after: NOW + 75_000, because: 'no search is promised, so there is no L' },
  { context: lags(null, null), after: NOW + 86_415_000, because: 'a D that nobody names is a day' },
  { context: lags(null, 300, 300_000), after: NOW + 86_715_300, because: 'all of it together' },
];

describe('limits are exclusive', () => {
  for (const sort of [absent, noEffect]) {
    describe.each(LOOKS)(`${nameOf(sort(0))}, $because`, ({ context, after }) => {
      it.each(AROUND)('a look %i ms around the end of the window', (distance) => {
        expect(absenceShowsAfter(handover, context)).toBe(after);
        const refusal = decisionRefusal(handover, sort(after + distance), context, LATER);
        expect(refusal).toBe(distance > 0 ? null : 'looked_too_early');
      });
    });

    it.each(AROUND)(`${nameOf(sort(0))}: a look %i ms around now`, (distance) => {
      const refusal = decisionRefusal(handover, sort(LATER + distance), PROMISED, LATER);
      expect(refusal).toBe(distance > 0 ? 'looked_in_the_future' : null);
    });
  }

  it.each(AROUND)('waiting until %i ms around now', (distance) => {
    const refusal = decisionRefusal(handover, waitUntil(NOW + distance), PROMISED, NOW);
    expect(refusal).toBe(distance > 0 ? null : 'until_passed');
  });

  it.each(AROUND)('waiting until %i ms around the longest time', (distance) => {
    const until = NOW + LONGEST_WAIT_UNTIL_MS + distance;
    expect(decisionRefusal(handover, waitUntil(until), PROMISED, NOW)).toBe(
      distance > 0 ? 'until_too_late' : null,
    );
  });

  it.each(AROUND)('a proposal %i ms around its end', (distance) => {
    const proposal = newProposal({ decision: undetermined, by: 'ann', reason: 'x' }, 'p1', NOW);
    const stands = standingProposal({ proposal }, 'p1', NOW + PROPOSAL_MS + distance);
    expect(stands).toBe(distance < 0 ? proposal : null);
    expect(PROPOSAL_MS).toBe(24 * 3_600_000);
  });
});

describe('two people', () => {
  const proposal = newProposal({ decision: undetermined, by: 'ann', reason: 'x' }, 'p1', NOW);

  it.each<[Decision, boolean, string]>([
    [attach, false, 'a readback judges it'],
    [waitUntil(LATER), false, 'it hides nothing'],
    [reopen, false, 'it moves toward doubt'],
    [absent(LATER), true, 'it can open a second effect'],
    [settle('R-1', 'R-2'), true, 'it takes effects out of sight'],
    [noEffect(LATER), true, 'it can hide an effect'],
    [attested(null), true, 'nothing reads it back'],
    [undetermined, true, 'nobody looks any more'],
  ])('%j needs a second one: %s, because %s', (decision, expected) => {
    expect(needsTwo(decision)).toBe(expected);
  });

  it.each<[string, 'proposer' | 'submitter' | null]>([
    ['ann', 'proposer'],
    ['shop', 'submitter'],
    ['otto', null],
    ['Ann', null],
  ])('%s as the second one: %s', (by, expected) => {
    expect(notSecond(IN_STATE.handover, proposal, by)).toBe(expected);
  });

  it('only the proposal that stands can be agreed to', () => {
    expect(standingProposal({ proposal }, 'p2', NOW)).toBeNull();
    expect(standingProposal({ proposal: null }, 'p1', NOW)).toBeNull();
  });

  const waiting: Intent = { ...handover, proposal, approval: APPROVAL, attempts: [attemptOf(1)] };
  const EVENTS: readonly { event: LifeEvent; stands: boolean; because: string }[] = [
    { event: { kind: 'owned', owner: null }, stands: true, because: 'a note about people' },
    { event: { kind: 'deferred', dueAt: LATER }, stands: true, because: 'a reminder' },
    { event: { kind: 'run_started', dueAt: LATER }, stands: true, because: 'a run that has not looked' },
    { event: { kind: 'conflicted' }, stands: false, because: 'another request came under the key' },
    { event: { kind: 'approved', approval: APPROVAL }, stands: false, because: 'somebody wants it sent' },
    {
      event: { kind: 'revoked', revoked: { by: 'ann', at: NOW } },
      stands: false,
      because: 'nobody wants it sent',
    },
    { event: { kind: 'withdrawn' }, stands: false, because: 'nobody wants it any more' },
    { event: { kind: 'look_again', dueAt: LATER }, stands: false, because: 'a look may show something else' },
    {
      event: { kind: 'evidence_came', seen: true, externalId: 'R-1', dueAt: LATER },
      stands: false,
      because: 'an effect was seen',
    },
    {
      event: { kind: 'result', number: 1, result: ACKNOWLEDGED, dueAt: LATER, retryAt: LATER },
      stands: false,
      because: 'the late answer says that it was done',
    },
    {
      event: { kind: 'result', number: 1, result: UNKNOWN_RESULT, dueAt: LATER, retryAt: LATER },
      stands: false,
      because: 'any late answer is news',
    },
  ];
  it.each(EVENTS)('after $event.kind a proposal stands: $stands, because $because', ({ event, stands }) => {
    const after = transition(waiting, event, NOW + 1);
    if (after.kind === 'refused') throw new Error(after.reason);
    expect(after.intent.proposal).toEqual(stands ? proposal : null);
  });
});

describe('what a decision makes of an intent', () => {
  const decided = (intent: Intent, decision: Decision): Intent => {
    const event: LifeEvent = { kind: 'decided', decision, dueAt: dueAfter(decision, LATER) };
    const after = transition(intent, event, LATER);
    if (after.kind === 'refused') throw new Error(after.reason);
    return after.intent;
  };

  it.each<[string, Intent, Decision, Partial<Intent>]>([
    [
      'an attached id is acknowledged and read back at once',
      handover,
      attach,
      { state: 'acknowledged', acknowledgedId: 'R-1', externalId: null, receipt: null, dueAt: LATER },
    ],
    [
      'declared absence opens the waiting for a send, under the rules of every send',
      handover,
      absent(LATER),
      { state: 'absent', declaredAbsentAt: LATER, absentSince: LATER, handover: null, dueAt: LATER },
    ],
    [
      'of many one is acknowledged, the others are surplus beside those of before',
      { ...many, surplus: ['R-0'] },
      settle('R-1', 'R-2', 'R-2'),
      { state: 'acknowledged', acknowledgedId: 'R-1', surplus: ['R-0', 'R-2'], dueAt: LATER },
    ],
    [
      'waiting keeps the hand-over',
      handover,
      waitUntil(LATER + 5),
      { state: 'handover', waitUntil: LATER + 5, dueAt: LATER + 5, handover: handover.handover },
    ],
    [
      'the second effect of a confirmed one is surplus, and the incident is over',
      SETTLEABLE.confirmed,
      settle('R-1', 'R-2'),
      { state: 'confirmed', externalId: 'R-1', incident: null, surplus: ['R-2'], dueAt: null },
    ],
    [
      'closed without effect',
      handover,
      noEffect(LATER),
      { state: 'closed', outcome: 'no_effect', attestedId: null, dueAt: null },
    ],
    [
      'closed as attested has an id of people and none of ours',
      handover,
      attested('R-1'),
      { state: 'closed', outcome: 'attested', attestedId: 'R-1', externalId: null, receipt: null },
    ],
    [
      'closed undetermined',
      handover,
      undetermined,
      { state: 'closed', outcome: 'undetermined', dueAt: null },
    ],
    [
      'reopened is handed over, with a reminder',
      closed({ outcome: 'attested', attestedId: 'R-1' }),
      reopen,
      { state: 'handover', outcome: null, attestedId: null, noMoreWrites: true, dueAt: LATER + DAY_MS },
    ],
    [
      'of many another one is kept than before',
      { ...many, surplus: ['R-1'] },
      settle('R-1', 'R-2'),
      { state: 'acknowledged', acknowledgedId: 'R-1', surplus: ['R-2'] },
    ],
  ])('%s', (_, intent, decision, expected) => {
    expect(decided({ ...intent, waitUntil: NOW }, decision)).toMatchObject(expected);
    expect(decided(intent, decision).proposal).toBeNull();
  });

  it.each<[Decision, string[], string[], string]>([
    [attach, ['R-1'], [], 'verify binds it once it is read back'],
    [settle('R-1', 'R-2', 'R-3', 'R-2'), ['R-1', 'R-2', 'R-3'], ['R-2', 'R-3'], 'verify binds the kept one'],
    [attested('R-1'), ['R-1'], ['R-1'], 'nothing verifies it afterwards'],
    [attested(null), [], [], 'no id is known'],
    [undetermined, [], [], 'it names none'],
    [absent(LATER), [], [], 'it names none'],
  ])('%j names %j and binds %j, because %s', (decision, named, bound) => {
    expect([idsNamedBy(decision), idsBoundBy(decision)]).toEqual([named, bound]);
  });

  it('ids on file are told once each', () => {
    const told = attemptOf(1, { result: ACKNOWLEDGED });
    const lastSearch = searchOf({ candidates: ['R-2', 'R-3'] });
    expect(seenIds({ ...many, attempts: [told], acknowledgedId: 'R-4', lastSearch })).toEqual([
      'R-4',
      'R-1',
      'R-2',
      'R-3',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import {
  ABSENCE_HOLDS_MS,
  CHECK_HOLDS_MS,
  maySend,
  refusalsOf,
  type SendContext,
  sendBeforeOf,
} from '../../lib/domain/may-send.ts';
import { planOf } from '../../lib/domain/plan.ts';
import { classOf, DAY_MS, keyEndsAt, type ProviderPromise, windowMs } from '../../lib/domain/promise.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import {
  ACKNOWLEDGED,
  attemptOf,
  IN_STATE,
  intentOf,
  NOT_SENT,
  NOW,
  POLICY,
  REFUSED,
  searchOf,
  TIMING,
  UNKNOWN_RESULT,
  WINDOW_MS,
} from '../support/kit.ts';

const LAG = { applyDelayMs: 500, visibilityLagMs: 300 };
const { key, ...rest } = warehouse.promise;
if (key === undefined) throw new Error('The warehouse takes keys.');

const KEYED: ProviderPromise = { ...rest, key, minQuietMs: 100 };
const SHORT_KEY: ProviderPromise = { ...KEYED, key: { ...key, lifetimeMs: DAY_MS } };
const UNIQUE: ProviderPromise = { ...rest, uniqueReference: true, minQuietMs: 100 };
const SEARCHABLE: ProviderPromise = rest;
const { search: _, ...BLIND } = rest;

const context = (change: Partial<SendContext> = {}): SendContext => ({
  policy: POLICY,
  promise: KEYED,
  lag: LAG,
  timing: TIMING,
  frozen: false,
  sawItFail: false,
  originalUnsettled: false,
  needsCheck: false,
  ...change,
});
const until = (ms: number) => ({ ...POLICY, permission: { ...POLICY.permission, until: ms } });

const unknown = IN_STATE.unknown;
const LATER = NOW + 10_000;
/** Looked whole at `at` and found nothing. */
const looked = (at: number, change: Partial<Intent> = {}): Intent => ({
  ...unknown,
  lastSearch: searchOf({ startedAt: at, endedAt: at }),
  ...change,
});
const absentSince = (at: number): Intent => ({
  ...IN_STATE.absent,
  lastSearch: searchOf({ startedAt: at, endedAt: at, verdict: 'absent' }),
});

describe('every reason why not', () => {
  it('is told in the order of precedence, each once', () => {
    const intent = { ...unknown, noMoreWrites: true, sendBy: NOW };
    const blocked = context({ frozen: true, policy: { ...POLICY, attempts: 1 } });
    expect(refusalsOf(intent, blocked, LATER)).toEqual([
      'withdrawn',
      'deadline_passed',
      'frozen',
      'budget_spent',
      'search_first',
    ]);
    expect(refusalsOf(IN_STATE.ready, context(), NOW)).toEqual([]);
  });
});

describe('a write whose answer asked to be left alone', () => {
  const UNTIL = NOW + 120_000;
  const asked = attemptOf(1, { result: { ...UNKNOWN_RESULT, notBefore: UNTIL } });
  const limit = (intent: Intent, given: SendContext) =>
    [-1, 0, 1].map((ms) => maySend({ ...intent, attempts: [asked] }, given, UNTIL + ms));

  it.each<{ name: string; intent: Intent; given: SendContext; because: string }>([
    { name: 'keyed', intent: looked(NOW + 100), given: context(), because: 'a key does not quiet a limiter' },
    {
      name: 'keyed, resend first',
      intent: unknown,
      given: context({ sawItFail: true }),
      because: 'who saw it fail was told to wait',
    },
    {
      name: 'unique',
      intent: looked(NOW + 100),
      given: context({ promise: UNIQUE }),
      because: 'as keyed',
    },
    {
      name: 'searchable, absent',
      intent: absentSince(NOW + 20_000),
      given: context({ promise: SEARCHABLE }),
      because: 'a proved absence opens no send before',
    },
    {
      name: 'blind, declared absent',
      intent: { ...IN_STATE.absent, declaredAbsentAt: NOW },
      given: context({ promise: BLIND }),
      because: 'people declare an absence, not that the limiter has forgotten',
    },
  ])('$name: none before, because $because', ({ intent, given }) => {
    expect(limit(intent, given)).toEqual(['quiet_time', null, null]);
  });

  it('waits for its own pause where that is longer', () => {
    const given = context({ policy: { ...POLICY, pauseMs: 300_000 } });
    const end = UNKNOWN_RESULT.at + 300_000;
    const at = (ms: number) => maySend({ ...looked(NOW + 100), attempts: [asked] }, given, end + ms);
    expect([-1, 0, 1].map(at)).toEqual(['quiet_time', null, null]);
  });

  it('is asked for nothing else first: an approval that ended meanwhile is told before', () => {
    const given = context({ policy: until(UNTIL) });
    expect(limit(looked(NOW + 100), given)).toEqual([
      'quiet_time',
      'permission_missing',
      'permission_missing',
    ]);
    expect(
      refusalsOf({ ...looked(NOW + 100), attempts: [asked] }, context({ policy: until(NOW) }), NOW),
    ).toEqual(['permission_missing', 'quiet_time']);
  });

  it.each<{ sendBy: number; until: number; because: string }>([
    { sendBy: UNTIL + 1, until: UNTIL, because: 'that is what was asked for' },
    { sendBy: UNTIL - 1, until: UNTIL - 1, because: 'past sendBy nothing is left to wait for' },
  ])('an absent one comes back then, because $because', ({ sendBy, until: expected }) => {
    const intent = { ...absentSince(NOW + 20_000), attempts: [asked], sendBy };
    const plan = planOf(intent, context({ promise: SEARCHABLE }), NOW + 30_000);
    expect(plan).toEqual({ do: 'wait', until: expected });
  });
});

describe('may attempt n + 1 be claimed', () => {
  it.each<[string, Intent, SendContext, number, string | null]>([
    ['a ready intent', IN_STATE.ready, context(), NOW, null],
    ['withdrawn', intentOf({ noMoreWrites: true }), context(), NOW, 'withdrawn'],
    ['1 ms before sendBy', intentOf({ sendBy: NOW + 1 }), context(), NOW, null],
    ['at sendBy', intentOf({ sendBy: NOW }), context(), NOW, 'deadline_passed'],
    ['1 ms before plannedAt', intentOf({ plannedAt: NOW + 1 }), context(), NOW, 'too_early'],
    ['at plannedAt', intentOf({ plannedAt: NOW }), context(), NOW, null],
    ['frozen', IN_STATE.ready, context({ frozen: true }), NOW, 'frozen'],
    ['1 ms before the permission ends', IN_STATE.ready, context({ policy: until(NOW + 1) }), NOW, null],
    ['when the permission ends', IN_STATE.ready, context({ policy: until(NOW) }), NOW, 'permission_missing'],
    [
      'budget spent',
      intentOf({ attempts: [1, 2, 3, 4].map((n) => attemptOf(n, { result: NOT_SENT })) }),
      context(),
      LATER,
      'budget_spent',
    ],
    ['something was seen', { ...looked(NOW + 200), seenAt: NOW }, context(), LATER, 'something_seen'],
    [
      'not sent, before the pause is over',
      intentOf({ attempts: [attemptOf(1, { result: NOT_SENT })] }),
      context(),
      NOW + 149,
      'quiet_time',
    ],
    [
      'not sent, after the pause',
      intentOf({ attempts: [attemptOf(1, { result: NOT_SENT })] }),
      context(),
      NOW + 150,
      null,
    ],

    [
      'evidence contradicts that nothing is outside, also before a first attempt',
      intentOf({ contraryAt: NOW }),
      context(),
      NOW,
      'something_seen',
    ],
    ['the original is open', IN_STATE.ready, context({ originalUnsettled: true }), NOW, 'original_unsettled'],
    ['never asked whether it is in order', IN_STATE.ready, context({ needsCheck: true }), NOW, 'check_first'],
    [
      'asked, and the answer still holds',
      intentOf({ checkedAt: NOW - CHECK_HOLDS_MS }),
      context({ needsCheck: true }),
      NOW,
      null,
    ],
    [
      'asked too long ago',
      intentOf({ checkedAt: NOW - CHECK_HOLDS_MS - 1 }),
      context({ needsCheck: true }),
      NOW,
      'check_first',
    ],
    [
      'asked, and the time to cancel is over now',
      intentOf({ checkedAt: NOW, cancelUntil: NOW }),
      context({ needsCheck: true }),
      NOW,
      'check_first',
    ],
    ['a blind one: unknown', unknown, context({ promise: BLIND }), LATER, 'blind'],
    [
      'a blind one: people declared absence',
      { ...IN_STATE.absent, declaredAbsentAt: NOW },
      context({ promise: BLIND, policy: { ...POLICY, repeatOn: [] } }),
      LATER,
      null,
    ],
    [
      'a blind one: people declared absence, and it is doubted again',
      { ...unknown, declaredAbsentAt: NOW },
      context({ promise: BLIND }),
      LATER,
      'blind',
    ],
    ['keyed: unknown, never looked', unknown, context(), LATER, 'search_first'],
    ['keyed: looked and found nothing', looked(NOW + 100), context(), LATER, null],
    ['keyed: looked 1 ms too soon after the claim', looked(NOW + 99), context(), LATER, 'search_first'],
    [
      'keyed: the look was not complete',
      { ...unknown, lastSearch: searchOf({ complete: false }) },
      context(),
      LATER,
      'search_first',
    ],
    [
      'keyed: the look was not authorised',
      { ...unknown, lastSearch: searchOf({ authorised: false }) },
      context(),
      LATER,
      'search_first',
    ],
    [
      'keyed: inside the quiet time',
      looked(NOW + 100),
      context({ promise: { ...KEYED, minQuietMs: 60_000 } }),
      LATER,
      'quiet_time',
    ],
    ['keyed, resend first: saw it fail', unknown, context({ sawItFail: true }), LATER, null],
    [
      'keyed, resend first: saw it fail, route searches first',
      unknown,
      context({ sawItFail: true, policy: { ...POLICY, resend: 'after_search' } }),
      LATER,
      'search_first',
    ],
    ['keyed, resend first: after a take-over', unknown, context({ sawItFail: false }), LATER, 'search_first'],
    [
      'a word that the route does not repeat',
      looked(NOW + 200, {
        attempts: [attemptOf(1, { result: { ...UNKNOWN_RESULT, code: 'status_500' } as never })],
      }),
      context(),
      LATER,
      'not_repeatable',
    ],
    [
      'a refusal that came late stops it as well',
      looked(NOW + 200, { attempts: [attemptOf(1, { result: REFUSED, lostAt: NOW })] }),
      context(),
      LATER,
      'not_repeatable',
    ],
    [
      'a refusal stops the repeating, also with an earlier attempt in doubt',
      looked(NOW + 200, {
        attempts: [attemptOf(1, { result: UNKNOWN_RESULT }), attemptOf(2, { result: REFUSED })],
      }),
      context(),
      LATER,
      'not_repeatable',
    ],
    [
      'a lost attempt is repeated like a lost connection',
      looked(NOW + 200, { attempts: [attemptOf(1, { lostAt: NOW })] }),
      context(),
      LATER,
      null,
    ],
    [
      'an acknowledged attempt is never repeated',
      looked(NOW + 200, { attempts: [attemptOf(1, { result: ACKNOWLEDGED })] }),
      context(),
      LATER,
      'not_repeatable',
    ],
    ['unique: as keyed', looked(NOW + 100), context({ promise: UNIQUE }), LATER, null],
    ['unique: never looked', unknown, context({ promise: UNIQUE }), LATER, 'search_first'],

    ['searchable: unknown', looked(NOW + 100), context({ promise: SEARCHABLE }), LATER, 'window_open'],
    [
      'searchable, resend first is no excuse',
      unknown,
      context({ promise: SEARCHABLE, sawItFail: true }),
      LATER,
      'window_open',
    ],
    [
      'searchable: absent, the search started at the window',
      absentSince(NOW + WINDOW_MS),
      context({ promise: SEARCHABLE }),
      NOW + 20_000,
      'window_open',
    ],
    [
      'searchable: absent, the search started 1 ms later',
      absentSince(NOW + WINDOW_MS + 1),
      context({ promise: SEARCHABLE }),
      NOW + 20_000,
      null,
    ],
    [
      'searchable: absent for exactly the bound',
      absentSince(NOW + 20_000),
      context({ promise: SEARCHABLE }),
      NOW + 20_000 + ABSENCE_HOLDS_MS,
      null,
    ],
    [
      'searchable: absent for longer',
      absentSince(NOW + 20_000),
      context({ promise: SEARCHABLE }),
      NOW + 20_001 + ABSENCE_HOLDS_MS,
      'absence_too_old',
    ],
    ['blind: never by itself', looked(NOW + 200), context({ promise: BLIND }), LATER, 'blind'],
    ['blind: a first attempt', IN_STATE.ready, context({ promise: BLIND }), NOW, null],
    [
      'D unknown makes searchable blind',
      absentSince(NOW + 20_000),
      context({ promise: SEARCHABLE, lag: { ...LAG, applyDelayMs: null } }),
      NOW + 20_000,
      'blind',
    ],
    [
      'C15: a key within its lifetime minus margin',
      looked(NOW + 200),
      context({ promise: SHORT_KEY }),
      NOW + DAY_MS - 15_501,
      null,
    ],
    [
      'C15: a key at its lifetime minus margin is searchable, and the window is open',
      looked(NOW + 200),
      context({ promise: SHORT_KEY, policy: { ...POLICY, sendWithinMs: 2 * DAY_MS } }),
      NOW + DAY_MS - 15_500,
      'window_open',
    ],
  ])('%s', (_, intent, given, now, expected) => {
    const patient = { ...intent, sendBy: intent.sendBy === NOW + DAY_MS ? NOW + 3 * DAY_MS : intent.sendBy };
    expect(maySend(patient, given, now)).toBe(expected);
  });
});

describe('the class that follows from a promise', () => {
  it.each<[string, ProviderPromise, { applyDelayMs: number | null; visibilityLagMs: number | null }, string]>(
    [
      ['a key for ever', KEYED, LAG, 'keyed'],
      ['a key with a lifetime', SHORT_KEY, LAG, 'keyed'],
      [
        'a key in force after the work only',
        { ...KEYED, key: { ...key, inForce: 'after' } },
        LAG,
        'searchable',
      ],
      ['a unique reference', UNIQUE, { applyDelayMs: null, visibilityLagMs: null }, 'unique'],
      ['a search with D and L', SEARCHABLE, LAG, 'searchable'],
      ['a search without L', SEARCHABLE, { ...LAG, visibilityLagMs: null }, 'blind'],
      ['nothing', BLIND, LAG, 'blind'],
    ],
  )('%s', (_, promise, lag, expected) => {
    expect(classOf(promise, TIMING, lag, NOW, NOW)).toBe(expected);
  });

  it('the window is Z + D + L + skew, and unknown when D or L is', () => {
    expect(windowMs({ ...TIMING, skewMs: 300_000 }, LAG)).toBe(15_000 + 500 + 300 + 300_000);
    expect(windowMs(TIMING, { ...LAG, applyDelayMs: null })).toBeNull();
  });

  it('a key with an unknown D keeps a margin of a day', () => {
    expect(keyEndsAt(SHORT_KEY, TIMING, { ...LAG, applyDelayMs: null }, NOW)).toBe(NOW - 15_000);
  });
});

describe('the last moment for the first byte', () => {
  it.each([
    ['own deadline', intentOf(), context(), NOW + 5000, NOW + 5000],
    ['sendBy', intentOf({ sendBy: NOW + 4000 }), context(), NOW + 5000, NOW + 4000],
    ['the permission', intentOf(), context({ policy: until(NOW + 3000) }), NOW + 5000, NOW + 3000],
    [
      'the key of a resend',
      { ...unknown, attempts: [attemptOf(1, { result: UNKNOWN_RESULT, claimedAt: NOW - DAY_MS + 16_500 })] },
      context({ promise: SHORT_KEY }),
      NOW + 5000,
      NOW + 1000,
    ],
  ])('is set by %s when that is first', (_, intent, given, own, expected) => {
    expect(sendBeforeOf(intent, given, own, NOW)).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { DAY_MS } from '../../lib/domain/promise.ts';
import {
  endOfSearch,
  isExhausted,
  isGone,
  type Look,
  MAX_SEARCHES,
  nextLookAt,
  pauseAfter,
  reachesBack,
  verdictOf,
  windowEndsAt,
} from '../../lib/domain/reconciliation.ts';
import { judgeReadback, needsWholeSearch, type Readback } from '../../lib/domain/verification.ts';
import type { WriteResult } from '../../lib/domain/write-result.ts';
import { ACKNOWLEDGED, attemptOf, IN_STATE, NOW, TIMING, UNKNOWN_RESULT, WINDOW_MS } from '../support/kit.ts';

const LAG = { applyDelayMs: 500, visibilityLagMs: 300 };
const END = NOW + WINDOW_MS;
const lookAt = (startedAt: number, change: Partial<Look> = {}): Look => ({
  startedAt,
  failed: false,
  complete: true,
  authorised: true,
  matched: [],
  ...change,
});
const unknown = IN_STATE.unknown;

describe('what a search says', () => {
  it.each<[string, Intent, Look, string]>([
    ['0 inside the window', unknown, lookAt(END - 1), 'wait'],
    ['0, started exactly at its end', unknown, lookAt(END), 'wait'],
    ['0, started 1 ms later', unknown, lookAt(END + 1), 'absent'],
    ['0, later, but something was seen before', { ...unknown, seenAt: NOW }, lookAt(END + 1), 'wait'],
    ['0, incomplete', unknown, lookAt(END + 1, { complete: false }), 'inconclusive'],
    ['0, not authorised', unknown, lookAt(END + 1, { authorised: false }), 'inconclusive'],
    [
      'failed',
      unknown,
      lookAt(END + 1, { failed: true, complete: false, authorised: false }),
      'inconclusive',
    ],
    ['1', unknown, lookAt(NOW, { matched: ['R-1'] }), 'found'],
    [
      '1, incomplete: there may be more',
      unknown,
      lookAt(NOW, { matched: ['R-1'], complete: false }),
      'inconclusive',
    ],
    ['2', unknown, lookAt(NOW, { matched: ['R-1', 'R-2'] }), 'many'],
    [
      '2, incomplete: two are two',
      unknown,
      lookAt(NOW, { matched: ['R-1', 'R-2'], complete: false }),
      'many',
    ],
    [
      '0, late enough for attempt 1 but not for attempt 2',
      {
        ...unknown,
        attempts: [
          attemptOf(1, { result: UNKNOWN_RESULT }),
          attemptOf(2, { claimedAt: NOW + 5000, result: UNKNOWN_RESULT }),
        ],
      },
      lookAt(END + 5000),
      'wait',
    ],
  ])('%s', (_, intent, look, expected) => {
    expect(verdictOf(intent, look, TIMING, LAG)).toBe(expected);
  });

  it('without D or L nothing is ever absent', () => {
    const lag = { ...LAG, visibilityLagMs: null };
    expect(windowEndsAt(unknown, TIMING, lag)).toBeNull();
    expect(verdictOf(unknown, lookAt(NOW + 30 * DAY_MS), TIMING, lag)).toBe('wait');
  });

  it.each([
    ['for_ever', NOW + 900 * DAY_MS, true],
    [60 * DAY_MS, NOW + 60 * DAY_MS - 1, true],
    [60 * DAY_MS, NOW + 60 * DAY_MS, false],
  ] as const)(
    'C31: records listed for %s, looked at %i: reaches back to the first attempt %s',
    (maxAgeMs, at, expected) => {
      const search = { by: 'reference', complete: '', readProbe: '', maxAgeMs } as const;
      expect(reachesBack({ search }, unknown, at)).toBe(expected);
      expect(reachesBack({}, unknown, at)).toBe(false);
    },
  );

  it('what was seen is gone only when a search that started after everything could show shows nothing', () => {
    const seen = { ...unknown, seenAt: NOW + 1000 };
    expect(isGone(seen, NOW + 1000 + WINDOW_MS, TIMING, LAG)).toBe(false);
    expect(isGone(seen, NOW + 1001 + WINDOW_MS, TIMING, LAG)).toBe(true);
    expect(isGone(unknown, NOW + DAY_MS, TIMING, LAG)).toBe(false);
  });
});

describe('absence proved once more', () => {
  const again = { absentSince: NOW, searches: MAX_SEARCHES - 1, searchingSince: NOW - 9 * DAY_MS };

  it.each<[Partial<Intent>, string | undefined, string]>([
    [again, 'cannot_run', 'all its searches were made, and nothing followed'],
    [
      { ...again, searches: MAX_SEARCHES - 2 },
      undefined,
      'what kept it may have passed, however long it took',
    ],
    [{ ...again, absentSince: null }, undefined, 'it is the first time: it may be sent'],
  ])('of %j ends with %j, because %s', (change, end) => {
    const look = { startedAt: NOW, endedAt: NOW };
    expect(endOfSearch({ ...unknown, ...change }, look, 'absent', TIMING, LAG)).toBe(end);
  });
});

describe('when to look again', () => {
  it('doubles from a second to half a day', () => {
    expect([0, 1, 5, 30].map(pauseAfter)).toEqual([1000, 2000, 32_000, DAY_MS / 2]);
  });

  it('does not sleep past the end of the window', () => {
    expect(nextLookAt(6, END, NOW)).toBe(END + 1);
    expect(nextLookAt(0, END, NOW)).toBe(NOW + 1000);
    expect(nextLookAt(6, END, END + 1)).toBe(END + 1 + 64_000);
  });

  it('ends after 20 searches or 7 days', () => {
    expect(isExhausted(MAX_SEARCHES - 1, NOW, NOW + 7 * DAY_MS - 1)).toBe(false);
    expect(isExhausted(MAX_SEARCHES, NOW, NOW)).toBe(true);
    expect(isExhausted(1, NOW, NOW + 7 * DAY_MS)).toBe(true);
  });
});

const FINE = { account: true, sku: true };
const readback = (matched: Readback['matched'], change: Partial<Readback> = {}): Readback => ({
  startedAt: NOW + 1000,
  failed: false,
  complete: true,
  authorised: true,
  matched,
  ...change,
});
const one = (externalId = 'R-1', checks: Record<string, boolean> = FINE) => [{ externalId, checks }];
const failed = readback([], { failed: true, complete: false, authorised: false });
const seen = IN_STATE.acknowledged;

it('a mismatch names the checks that do not hold, that of the id too', () => {
  const judged = (checks: Record<string, boolean>, id = 'R-1') =>
    judgeReadback(seen, readback(one(id, checks)), null, TIMING, LAG);
  expect(judged({ account: true, publicUrl: false, sku: false })).toMatchObject({
    ...{ reason: 'mismatch', failedChecks: ['publicUrl', 'sku'] },
  });
  expect(judged(FINE, 'R-9')).toMatchObject({ reason: 'mismatch', failedChecks: ['externalId'] });
});

describe('what a readback says', () => {
  it.each<[string, Intent, Readback, Readback | null, string]>([
    ['exactly one, every check true', seen, readback(one()), null, 'verified'],
    ['one, another quantity', seen, readback(one('R-1', { sku: false })), null, 'hand_over mismatch'],
    ['one, another account', seen, readback(one('R-1', { account: false })), null, 'hand_over mismatch'],
    ["one, not the POST's id", seen, readback(one('R-9')), null, 'hand_over mismatch'],
    [
      'one, no id was given before',
      {
        ...seen,
        acknowledgedId: null,
        attempts: [attemptOf(1, { result: { ...ACKNOWLEDGED, externalId: null } as WriteResult })],
      },
      readback(one('R-9')),
      null,
      'verified',
    ],
    ['three', seen, readback([...one(), ...one('R-2'), ...one('R-3')]), null, 'hand_over many'],
    ['none yet', seen, readback([]), null, 'later'],
    [
      'none after everything could show',
      seen,
      readback([], { startedAt: NOW + WINDOW_MS + 1 }),
      null,
      'hand_over found_but_gone',
    ],
    ['failed', seen, failed, null, 'later'],
    ['failed for the 20th time', { ...seen, readbacks: 19 }, failed, null, 'hand_over readback_unavailable'],
    ['not authorised', seen, readback(one(), { authorised: false }), null, 'later'],
    [
      'one, while two answers told two ids',
      {
        ...seen,
        attempts: [
          attemptOf(1, { result: ACKNOWLEDGED }),
          attemptOf(2, { result: { ...ACKNOWLEDGED, externalId: 'R-2' } as WriteResult }),
        ],
      },
      readback(one()),
      null,
      'hand_over many',
    ],
    [
      'one, and people settled the other as surplus',
      {
        ...seen,
        surplus: ['R-2'],
        attempts: [
          attemptOf(1, { result: ACKNOWLEDGED }),
          attemptOf(2, { result: { ...ACKNOWLEDGED, externalId: 'R-2' } as WriteResult }),
        ],
      },
      readback(one()),
      readback(one()),
      'verified',
    ],
    [
      'the one that a person named, while an answer told another',
      { ...seen, acknowledgedId: 'R-9' },
      readback(one('R-9')),
      null,
      'hand_over mismatch',
    ],
    ['one, and the whole search shows the same', seen, readback(one()), readback(one()), 'verified'],
    [
      'one, and the whole search shows another too',
      seen,
      readback(one()),
      readback([...one(), ...one('R-2')]),
      'hand_over many',
    ],
    [
      'one, and the whole search shows another instead',
      seen,
      readback(one()),
      readback(one('R-2')),
      'hand_over many',
    ],
    [
      'one, and the whole search was cut short',
      seen,
      readback(one()),
      readback(one(), { complete: false }),
      'later',
    ],
    ['one, and the whole search failed', seen, readback(one()), failed, 'later'],
    ['one, and the whole search shows none', seen, readback(one()), readback([]), 'later'],
  ])('%s', (_, intent, back, whole, expected) => {
    const verdict = judgeReadback(intent, back, whole, TIMING, LAG);
    expect(verdict.kind === 'hand_over' ? `hand_over ${verdict.reason}` : verdict.kind).toBe(expected);
  });

  it('needs a whole search after a second attempt, a take-over or a late answer', () => {
    expect(needsWholeSearch(seen)).toBe(false);
    expect(needsWholeSearch({ attempts: [attemptOf(1), attemptOf(2)] })).toBe(true);
    expect(needsWholeSearch({ attempts: [attemptOf(1, { lostAt: NOW })] })).toBe(true);
  });
});

/** The time that is searched for a post: anchored on what was planned and on what was claimed, both ends included. */
import { describe, expect, it } from 'vitest';
import { canBeOfAnAttempt, searchRange } from '../../lib/domain/reconciliation.ts';
import type { WriteResult } from '../../lib/domain/write-result.ts';
import { ACKNOWLEDGED, attemptOf, NOW, POLICY, TIMING, UNKNOWN_RESULT } from '../support/kit.ts';

const MINUTE = 60_000;
const Z = TIMING.senderLifeMs;
const SKEW_MS = 2000;
const LAG = { applyDelayMs: 60_000 };

interface Row {
  readonly plannedAt: number;
  readonly claims: readonly number[];
  /** The whole range, from and to, before the distrust of the provider's clock. */
  readonly from: number;
  readonly to: number;
  readonly because: string;
}

const BEFORE = 5 * MINUTE;
const AFTER = 30 * MINUTE;
const later = (minutes: number) => NOW + minutes * MINUTE;

describe('the time that is searched', () => {
  it.each<Row>([
    {
      ...{ plannedAt: NOW, claims: [] },
      ...{ from: NOW - BEFORE, to: NOW + AFTER },
      because: 'before the first claim there is only the plan',
    },
    {
      ...{ plannedAt: NOW, claims: [NOW] },
      ...{ from: NOW - BEFORE, to: NOW + Z + AFTER },
      because: 'what was claimed may leave as long as its sender lives',
    },
    {
      ...{ plannedAt: NOW, claims: [later(25)] },
      ...{ from: NOW - BEFORE, to: later(25) + Z + AFTER },
      because: 'a late claim widens it to the end, and the plan keeps its beginning',
    },
    {
      ...{ plannedAt: NOW, claims: [later(1), later(45)] },
      ...{ from: NOW - BEFORE, to: later(45) + Z + AFTER },
      because: 'the range of every attempt is searched',
    },
    {
      ...{ plannedAt: later(60), claims: [NOW] },
      ...{ from: NOW - BEFORE, to: later(60) + AFTER },
      because: 'a claim before the plan counts from the claim, to the plan',
    },
  ])('$because', ({ plannedAt, claims, from, to }) => {
    const attempts = claims.map((claimedAt, n) => attemptOf(n + 1, { claimedAt }));
    const plain = searchRange({ plannedAt, attempts }, POLICY, TIMING, LAG, 0);
    expect(plain).toEqual({ from, to });
    const widened = searchRange({ plannedAt, attempts }, POLICY, TIMING, LAG, SKEW_MS);
    expect(widened).toEqual({ from: from - SKEW_MS, to: to + SKEW_MS });
  });

  it.each<{ lookAfterMs: number; applyDelayMs: number | null; after: number; because: string }>([
    { lookAfterMs: AFTER, applyDelayMs: 60 * MINUTE, after: 60 * MINUTE, because: 'D is longer, and counts' },
    { lookAfterMs: AFTER, applyDelayMs: AFTER + 1, after: AFTER + 1, because: 'by a millisecond' },
    {
      lookAfterMs: 0,
      applyDelayMs: MINUTE,
      after: MINUTE,
      because: 'the policy leaves nothing, and D counts',
    },
    { lookAfterMs: AFTER, applyDelayMs: MINUTE, after: AFTER, because: 'D is shorter: the policy counts' },
    { lookAfterMs: AFTER, applyDelayMs: null, after: AFTER, because: 'D is not promised: the policy counts' },
  ])('it ends no sooner than D allows: $because', ({ lookAfterMs, applyDelayMs, after }) => {
    const intent = { plannedAt: NOW, attempts: [attemptOf(1)] };
    const { to } = searchRange(intent, { ...POLICY, lookAfterMs }, TIMING, { applyDelayMs }, 0);
    expect(to).toBe(NOW + Z + after);
  });

  it('distrust between clocks widens it at both ends, beside that of the clock of the provider', () => {
    const intent = { plannedAt: NOW, attempts: [attemptOf(1)] };
    const deployed = { ...TIMING, skewMs: 5 * MINUTE };
    expect(searchRange(intent, POLICY, deployed, LAG, SKEW_MS)).toEqual({
      from: NOW - BEFORE - 5 * MINUTE - SKEW_MS,
      to: NOW + Z + AFTER + 5 * MINUTE + SKEW_MS,
    });
  });

  it('its sizes are the policy of the route', () => {
    const narrow = { lookBeforeMs: 1000, lookAfterMs: 0 };
    const intent = { plannedAt: NOW, attempts: [attemptOf(1)] };
    const none = { applyDelayMs: 0 };
    expect(searchRange(intent, narrow, TIMING, none, 0)).toEqual({ from: NOW - 1000, to: NOW + Z });
  });
});

const REFUSED: WriteResult = {
  kind: 'rejected',
  ...{ proof: 'refused', code: 'status_403', retryable: false, detail: '', at: NOW },
};

describe('whether a record is old enough to be somebody else’s', () => {
  it.each<{ results: readonly (WriteResult | undefined)[]; from: number | null; because: string }>([
    { results: [], from: null, because: 'nothing was ever claimed: nothing there is ours' },
    { results: [undefined], from: 0, because: 'a claim whose worker died may have had its effect' },
    { results: [UNKNOWN_RESULT], from: 0, because: 'so may one without an answer' },
    { results: [UNKNOWN_RESULT, UNKNOWN_RESULT], from: 0, because: 'the first of two counts' },
    { results: [REFUSED, UNKNOWN_RESULT], from: 10 * MINUTE, because: 'one that was refused made nothing' },
    { results: [ACKNOWLEDGED], from: 0, because: 'as old as the claim' },
    { results: [REFUSED], from: 0, because: 'there is one after all, so the refusal may be wrong' },
  ])('$because', ({ results, from }) => {
    const attempts = results.map((result, n) => ({
      ...attemptOf(n + 1, { claimedAt: later(10 * n) }),
      ...(result === undefined ? {} : { result }),
    }));
    const can = (at: number, skewMs = 0) =>
      canBeOfAnAttempt({ attempts }, at, { ...TIMING, skewMs }, SKEW_MS);
    const first = NOW + (from ?? 0) - SKEW_MS;
    expect([can(first - 1), can(first)]).toEqual([false, from !== null]);
    expect([can(first - MINUTE - 1, MINUTE), can(first - MINUTE, MINUTE)]).toEqual([false, from !== null]);
    expect(can(later(40)), 'no record is too new here: that is the range').toBe(from !== null);
  });
});

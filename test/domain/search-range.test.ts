/** The time that is searched for a post: anchored on what was planned and on what was claimed, both ends included. */
import { describe, expect, it } from 'vitest';
import { searchRange } from '../../lib/domain/reconciliation.ts';
import { attemptOf, NOW, POLICY, TIMING } from '../support/kit.ts';

const MINUTE = 60_000;
const Z = TIMING.senderLifeMs;
const SKEW_MS = 2000;

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
    const plain = searchRange({ plannedAt, attempts }, POLICY, TIMING, 0);
    expect(plain).toEqual({ from, to });
    const widened = searchRange({ plannedAt, attempts }, POLICY, TIMING, SKEW_MS);
    expect(widened).toEqual({ from: from - SKEW_MS, to: to + SKEW_MS });
  });

  it('its sizes are the policy of the route', () => {
    const narrow = { lookBeforeMs: 1000, lookAfterMs: 0 };
    const intent = { plannedAt: NOW, attempts: [attemptOf(1)] };
    expect(searchRange(intent, narrow, TIMING, 0)).toEqual({ from: NOW - 1000, to: NOW + Z });
  });
});

/** How many calls searches may make in a minute, and when one that was held back tries again. */
import { describe, expect, it } from 'vitest';
import { callsUpTo, triesAgainAt } from '../../lib/domain/call-allowance.ts';
import type { Intent } from '../../lib/domain/intent.ts';
import { attemptOf, intentOf, NOW } from '../support/kit.ts';

const MINUTE = 60_000;
const YOUNG = 15 * MINUTE;
const SENT = [attemptOf(1, { claimedAt: NOW })];

const looked = (searches: number, change: Partial<Intent> = {}) =>
  intentOf({ state: 'unknown', attempts: SENT, searches, ...change });
const heldBack = (times: number) => ({ heldBack: { times, calls: null } });

describe('up to how many calls a minute may be filled', () => {
  it.each<{ by: Intent; after?: number; most: number; because: string }>([
    { by: looked(0), most: 300, because: 'what was just sent may take all of it' },
    { by: looked(1), most: 270, because: 'who was not searched for at all goes first' },
    { by: looked(4), most: 180, because: 'the less often, the earlier' },
    {
      by: looked(9),
      most: 180,
      because: 'a young one keeps more than half, however often it was looked for',
    },
    { by: looked(0), after: YOUNG - 1, most: 300, because: 'it is young for a quarter of an hour' },
    { by: looked(0), after: YOUNG, most: 90, because: 'then it waits behind what is young' },
    { by: looked(9), after: YOUNG, most: 90, because: 'as do all that are hard to find' },
    {
      by: looked(9, { attempts: [attemptOf(1), attemptOf(2, { claimedAt: NOW + YOUNG })] }),
      after: YOUNG,
      most: 180,
      because: 'sent again it is young again',
    },
    {
      by: looked(9, { state: 'acknowledged' }),
      after: YOUNG,
      most: 300,
      because: 'an answer is in hand, and its receipt waits for the search',
    },
    { by: looked(0, { state: 'confirmed' }), most: 90, because: 'an audit can wait' },
    {
      by: looked(0, { state: 'confirmed', contraryAt: NOW + YOUNG }),
      after: YOUNG,
      most: 300,
      because: 'an end that evidence disputes is in doubt',
    },
  ])('$most: $because', ({ by, after = 0, most }) => {
    expect(callsUpTo(by, { rateLimitPerMinute: 300 }, NOW + after)).toBe(most);
  });

  it('a promise that names no limit has one', () => {
    expect(callsUpTo(looked(0), {}, NOW)).toBe(600);
  });
});

describe('when one that was held back tries again', () => {
  const minuteOf = (at: number) => Math.floor(at / MINUTE) * MINUTE;

  it.each<{ by: Intent; after?: number; minutes: number; pause?: number; because: string }>([
    { by: looked(0), minutes: 1, because: 'the next minute has room' },
    { by: looked(4, heldBack(9)), minutes: 1, because: 'a young one comes every minute' },
    {
      by: looked(9, { state: 'acknowledged' }),
      after: YOUNG,
      minutes: 1,
      because: 'so does an answer in hand',
    },
    {
      by: looked(4),
      after: YOUNG,
      minutes: 1,
      pause: 16_000,
      because: 'the pause of its searches comes on top',
    },
    {
      by: looked(2, heldBack(4)),
      after: YOUNG,
      minutes: 1,
      pause: 64_000,
      because: 'held back often it comes ever more slowly',
    },
    { by: looked(19), after: YOUNG, minutes: 16, because: 'never longer than a quarter of an hour' },
  ])('$minutes min: $because', ({ by, after = 0, minutes, pause = 0 }) => {
    const now = NOW + after;
    expect(triesAgainAt(by, now)).toBe(minuteOf(now) + minutes * MINUTE + pause);
  });
});

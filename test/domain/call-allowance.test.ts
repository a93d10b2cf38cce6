/** How many calls searches may make in a minute, and when one that was held back tries again. */
import { describe, expect, it } from 'vitest';
import { callsUpTo, triesAgainAt } from '../../lib/domain/call-allowance.ts';

const MINUTE = 60_000;
const looked = (
  searches: number,
  state: 'unknown' | 'confirmed' = 'unknown',
  contraryAt: number | null = null,
) => ({
  ...{ state, searches, contraryAt },
});

describe('up to how many calls a minute may be filled', () => {
  it.each([
    { by: looked(0), most: 300, because: 'what was just sent may take all of it' },
    { by: looked(1), most: 150, because: 'who was not searched for at all goes first' },
    { by: looked(2), most: 100, because: 'the less often, the earlier' },
    { by: looked(4), most: 60, because: 'most of it is kept for others' },
    { by: looked(19), most: 60, because: 'and never more than that' },
    { by: looked(0, 'confirmed'), most: 60, because: 'an audit can wait' },
    { by: looked(0, 'confirmed', 1), most: 300, because: 'an end that evidence disputes is in doubt' },
  ])('$most: $because', ({ by, most }) => {
    expect(callsUpTo(by, { rateLimitPerMinute: 300 })).toBe(most);
  });

  it('a promise that names no limit has one', () => {
    expect(callsUpTo(looked(0), {})).toBe(600);
  });
});

describe('when one that was held back tries again', () => {
  it.each([
    { by: looked(0), now: 0, at: MINUTE, because: 'the next minute has room' },
    { by: looked(3), now: MINUTE - 1, at: MINUTE, because: 'the minute is that of the clock' },
    { by: looked(0), now: MINUTE, at: 2 * MINUTE, because: 'this one is full' },
    { by: looked(4), now: 0, at: MINUTE + 16_000, because: 'the pause of its searches comes on top' },
    { by: looked(19), now: 0, at: 16 * MINUTE, because: 'never longer than a quarter of an hour' },
  ])('$at ms: $because', ({ by, now, at }) => {
    expect(triesAgainAt(by, now)).toBe(at);
  });
});

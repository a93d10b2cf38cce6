/** What looking for posts that cannot be found costs a medium, and that what was just sent does not wait for them. */
import { describe, expect, it } from 'vitest';
import { MAX_SEARCHES } from '../../lib/domain/reconciliation.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { ALLOWED_PER_MINUTE, crowd, loneCost } from '../support/many-runs.ts';
import type { MediumPlay } from '../support/medium-plays.ts';

describe('1 000 posts that cannot be found, and 10 that were just sent', () => {
  it.each<{ play: MediumPlay; lag: number; most: number; writes: number; because: string }>([
    { play: 'cut_after_save', lag: 0, most: 2, writes: 1010, because: 'saved, and listed at once' },
    {
      play: 'cut_after_save',
      lag: 30_000,
      most: 3,
      writes: 1010,
      because: 'saved, and listed after 30 seconds',
    },
    {
      play: 'cut_before_save',
      lag: 30_000,
      most: 5,
      writes: 1020,
      because: 'not saved, and sent again after the window',
    },
  ])(
    '$because: the ten are confirmed within $most minutes, and no minute has more calls than allowed',
    async ({ play, lag: visibilityLagMs, most, writes }) => {
      const cost = await crowd({ lost: 1000, minutes: 20, fresh: 10, play, visibilityLagMs });
      expect(cost.mostCallsPerMinute).toBeLessThanOrEqual(ALLOWED_PER_MINUTE);
      expect(cost.minutesOfTheFresh ?? Infinity).toBeLessThanOrEqual(most);
      expect(cost.writes, 'nothing was sent twice that need not be').toBe(writes);
    },
    120_000,
  );

  it('a control: without the count a minute has more calls than the medium allows', async () => {
    const uncounted = (ledger: Ledger): Ledger => ({ ...ledger, beginSearch: async () => 1000 });
    const cost = await crowd({ lost: 200, minutes: 1, fresh: 1, world: { wrapLedger: uncounted } });
    expect(cost.mostCallsPerMinute).toBeGreaterThan(ALLOWED_PER_MINUTE);
  });
});

describe('one post that cannot be found', () => {
  it.each([
    { others: 0, most: 2, because: 'the account and one page' },
    { others: 90, most: 94, because: 'three pages, and each other post singly' },
    { others: 500, most: 118, because: 'seventeen pages, and at most a hundred singly' },
    { others: 700, most: 121, because: 'twenty pages are the most' },
  ])(
    'among $others others: at most $most calls a search, then people are asked ($because)',
    async ({ others, most }) => {
      const cost = await loneCost(others);
      expect(cost.searches).toBe(MAX_SEARCHES);
      expect(cost.mostCallsOfASearch).toBe(most);
      expect(cost.calls).toBeLessThanOrEqual(MAX_SEARCHES * most);
    },
  );
});

/** What looking for posts that cannot be found costs a medium, and that what was just sent does not wait for them. */
import { describe, expect, it } from 'vitest';
import { callsPerMinute } from '../../lib/domain/call-allowance.ts';
import { MAX_SEARCHES } from '../../lib/domain/reconciliation.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { MEDIUM_PROMISE } from '../../lib/providers/medium-promise.ts';
import { crowd, loneCost } from '../support/many-runs.ts';

const LIMIT = callsPerMinute(MEDIUM_PROMISE);

describe('1 000 posts that cannot be found, and 10 that were just sent', () => {
  it('the ten are confirmed within three minutes, and no minute has more calls than allowed', async () => {
    const cost = await crowd({ lost: 1000, minutes: 20, fresh: 10 });
    expect(cost.mostCallsPerMinute).toBeLessThanOrEqual(LIMIT);
    // The allowance is there to be used: they are looked for as fast as it lets.
    expect(cost.mostCallsPerMinute).toBeGreaterThan(LIMIT * 0.9);
    expect(cost.minutesOfTheFresh ?? Infinity).toBeLessThanOrEqual(3);
    expect(cost.writes, 'nothing was sent twice').toBe(1010);
  }, 120_000);

  it('a control: first come, first served would let them wait', async () => {
    const unfair = (ledger: Ledger): Ledger => ({
      ...ledger,
      beginSearch: (account, wanted) => ledger.beginSearch(account, { ...wanted, upTo: LIMIT }),
    });
    const cost = await crowd({ lost: 1000, minutes: 5, fresh: 10, world: { wrapLedger: unfair } });
    expect(cost.minutesOfTheFresh ?? Infinity).toBeGreaterThan(3);
  }, 120_000);

  it('a control: without the count a minute has more calls than the medium allows', async () => {
    const uncounted = (ledger: Ledger): Ledger => ({ ...ledger, beginSearch: async () => 1000 });
    const cost = await crowd({ lost: 200, minutes: 1, fresh: 1, world: { wrapLedger: uncounted } });
    expect(cost.mostCallsPerMinute).toBeGreaterThan(LIMIT);
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

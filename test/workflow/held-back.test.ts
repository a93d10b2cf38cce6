/** A search for which its account's minute has no room is not made, and costs the intent nothing but time. */
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { explain } from '../../lib/operations/explanation.ts';
import { dryRun } from '../../lib/workflow/dry-run.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import type { MediumPlay } from '../support/medium-plays.ts';
import { mediumWorld } from '../support/medium-world.ts';

const DAY = 86_400_000;

/** A medium whose account has no calls left while `full`; `more` refuses what a begun search takes beside. */
function crowded(script: MediumPlay[], route = {}) {
  const room = { full: false, more: true };
  const wrapLedger = (ledger: Ledger): Ledger => ({
    ...ledger,
    beginSearch: async (...wanted) => (room.full ? null : ledger.beginSearch(...wanted)),
    takeCalls: async (...wanted) => room.more && ledger.takeCalls(...wanted),
  });
  return { room, ...mediumWorld({ script, route, world: { wrapLedger } }) };
}

const LATE = { state: 'confirmed', reason: null, writes: 1, posts: 1 };

describe('a search that is held back', () => {
  it('makes no call, counts as no search, and the next minute finds the post', async () => {
    const s = crowded(['cut_after_save']);
    const intent = await s.sent();
    s.room.full = true;
    await s.w.run(runInput(intent));
    const held = await s.w.read(intent.id);
    expect([held.state, held.searches, s.outside.looks.length]).toEqual(['unknown', 0, 0]);
    expect(await s.searches(intent)).toEqual([]);
    expect((held.dueAt ?? 0) - s.w.clock.now()).toBeLessThanOrEqual(60_000 + s.w.deps.timing.graceMs);
    expect(s.w.logged.map((each) => each.event)).toContain('search_held_back');
    expect(explain(held)).toContain(
      'The next look waits, because the account has had its calls of the minute.',
    );
    s.room.full = false;
    expect(await s.ending(intent)).toEqual(LATE);
  });

  it('in its middle: what it saw until then counts for nothing', async () => {
    const s = crowded(['cut_after_save']);
    const intent = await s.sent();
    s.room.more = false;
    // The first search takes one call, and needs more.
    await s.w.steps['Search']?.(runInput(intent));
    const held = await s.w.read(intent.id);
    expect([held.state, held.searches, s.outside.looks.length]).toEqual(['unknown', 0, 1]);
    s.room.more = true;
    expect(await s.ending(intent)).toEqual(LATE);
  });

  it('never lets a second write out, however long it lasts', async () => {
    const s = crowded(['cut_before_save']);
    const intent = await s.sent();
    s.room.full = true;
    await s.w.untilQuiet(intent.id, DAY / 2, 2000);
    expect([(await s.w.read(intent.id)).state, s.outside.posts.length]).toEqual(['unknown', 1]);
    s.room.full = false;
    expect(await s.ending(intent)).toEqual({ ...LATE, writes: 2 });
  });

  it('for seven days: people are asked', async () => {
    const s = crowded(['cut_after_save']);
    const intent = await s.sent();
    s.room.full = true;
    s.w.clock.advance(7 * DAY);
    expect(await s.ending(intent)).toEqual({ ...LATE, state: 'handover', reason: 'exhausted' });
    expect((await s.searches(intent)).map((each) => each['error'])).toEqual(['calls_used_up']);
  });

  it('before a receipt: a second attempt is not confirmed until the whole was searched', async () => {
    const s = crowded(['cut_before_save', 'plain']);
    const intent = await s.sent();
    s.w.clock.advance(DAY / 24);
    await s.w.steps['Search']?.(runInput(intent));
    expect(await s.w.steps['Send']?.(runInput(intent))).toEqual({ next: 'verify' });
    s.room.full = true;
    expect(await s.w.steps['Verify']?.(runInput(intent))).toMatchObject({
      next: expect.stringMatching(/wait|end/),
    });
    expect(await s.w.read(intent.id)).toMatchObject({ state: 'acknowledged', readbacks: 0, receipt: null });
    s.room.full = false;
    expect(await s.ending(intent)).toEqual({ ...LATE, writes: 2 });
  });

  it('as an audit: the post stays confirmed, and the audit comes later', async () => {
    const s = crowded(['delivered_twice']);
    const intent = await s.sent();
    s.room.full = true;
    await s.w.untilQuiet(intent.id, 30 * 60_000, 2000);
    expect(await s.w.read(intent.id)).toMatchObject({ state: 'confirmed', incident: null });
    s.room.full = false;
    await s.ending(intent);
    expect((await s.w.read(intent.id)).incident?.reason).toBe('second_effect');
  });
});

it('people who ask what a look would find are not held back, and nothing is counted', async () => {
  const s = crowded(['cut_after_save']);
  const intent = await s.sent();
  s.room.full = true;
  const run = await dryRun(s.w.deps)(runInput(intent));
  expect(run?.looked?.facts.verdict).toBe('found');
  const account = { provider: 'medium', account: '900001', environment: intent.environment };
  const minute = { minute: Math.floor(s.w.clock.now() / 60_000), upTo: 1, calls: null };
  expect(await s.w.ledger.beginSearch(account, minute)).toBe(1);
});

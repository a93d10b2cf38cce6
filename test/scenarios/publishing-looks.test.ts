/** Searches that see too little, too much, or another time: only a whole and honest look counts as zero. */
import { describe, expect, it } from 'vitest';
import { NOW } from '../support/kit.ts';
import type { MediumFault } from '../support/medium-plays.ts';
import { type MediumWorldOptions, mediumWorld, TEXT } from '../support/medium-world.ts';

const MINUTE = 60_000;
const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, posts: 1 };

/** 130 other posts around ours, more than four pages of the list. */
async function crowded(options: MediumWorldOptions = {}, fault?: MediumFault) {
  const s = mediumWorld({ script: ['cut_after_save'], ...options });
  const intent = await s.sent();
  for (let n = 0; n < 130; n += 1) {
    // Half of them newer; those of the same parent are read singly, so most are replies.
    const parent = n % 5 === 0 ? null : '37';
    s.outside.add({ text: `Cake ${n}`, parent, createdAt: NOW + (n % 2 === 0 ? 1 : -1) * n * 1000 });
  }
  if (fault !== undefined) s.outside.faults.set(fault, Infinity);
  return { s, end: await s.ending(intent) };
}

describe('C29: more than one page', () => {
  it('every page is turned, and what may match is read by its id', async () => {
    const { s, end } = await crowded();
    expect(end).toEqual(CONFIRMED);
    expect(s.outside.looks.some(({ path }) => path.includes('cursor=120'))).toBe(true);
  });

  it('one that moves to the next page while they are turned counts once', async () => {
    const { end } = await crowded({}, 'overlapping');
    expect(end).toEqual(CONFIRMED);
  });

  it.each<{ fault: MediumFault; because: string }>([
    { fault: 'bad_cursor', because: 'a cursor that expired cuts the list short' },
    { fault: 'endless', because: 'a list without an end is not whole' },
  ])('$fault: nothing is concluded, people decide ($because)', async ({ fault }) => {
    const { end } = await crowded({ script: ['cut_before_save'] }, fault);
    expect(end).toMatchObject({ state: 'handover', reason: 'exhausted', writes: 1, posts: 0 });
  });

  it('more that may match than can be read is not whole', async () => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.sent();
    for (let n = 0; n < 101; n += 1) s.outside.add({ text: `Cake ${n}` });
    expect(await s.ending(intent)).toMatchObject({ state: 'handover', reason: 'exhausted', writes: 1 });
    const [first] = await s.searches(intent);
    expect(first).toMatchObject({ verdict: 'inconclusive', complete: false, authorised: true });
  });
});

describe('C32: a search that failed, or saw another account, is no zero', () => {
  it.each<MediumFault>([
    'list_status',
    'list_unauthorised',
    'list_garbage',
    'list_null',
    'list_without_posts',
    'list_stall',
    'list_of_another',
    'account_status',
    'account_of_another',
    'one_status',
    'one_missing',
  ])('%s: nothing more is written as long as it lasts', async (fault) => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.sent();
    s.outside.add({ text: 'Cake.' });
    s.outside.faults.set(fault, Infinity);
    expect(await s.ending(intent)).toEqual({
      ...{ state: 'handover', reason: 'exhausted', writes: 1, posts: 0 },
    });
    expect(new Set((await s.searches(intent)).map((each) => each['verdict']))).toEqual(
      new Set(['inconclusive']),
    );
  });

  it('and once it works again, the post is found', async () => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const intent = await s.sent();
    s.outside.faults.set('list_status', s.w.clock.now() + 10 * MINUTE);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
  });
});

describe('C28, C36: what was made is not shown yet, or no more', () => {
  it('C36: answered with an id, not there by that id for a minute: read again, never made again', async () => {
    const s = mediumWorld({ route: { visibilityLagMs: 2 * MINUTE } });
    const intent = await s.sent();
    s.outside.faults.set('one_missing', s.w.clock.now() + MINUTE);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
  });

  it('C36: answered with an id, and gone for good: people decide', async () => {
    const s = mediumWorld();
    const intent = await s.sent();
    s.outside.faults.set('one_missing', Infinity);
    expect(await s.ending(intent)).toEqual({ ...CONFIRMED, state: 'handover', reason: 'found_but_gone' });
  });

  it('C28: two reconcilers at once, while the list lags: one post', async () => {
    const lag = { visibilityLagMs: 45_000 };
    const s = mediumWorld({ script: ['cut_after_save'], ...lag, route: lag });
    const intent = await s.sent();
    const input = { tenant: 'acme', intentId: intent.id, route: 'posts' };
    await Promise.all([s.w.run(input), s.w.run(input)]);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
  });
});

describe('C31: every status is asked for', () => {
  it('a draft that was saved is found, and is an effect', async () => {
    const s = mediumWorld({ script: ['draft_saved_unanswered'] });
    expect(await s.ending(await s.sent())).toEqual({ ...CONFIRMED, state: 'handover', reason: 'mismatch' });
    expect(s.outside.looks.filter(({ path }) => path.includes('/posts?'))).not.toHaveLength(0);
    expect(
      s.outside.looks.every(({ path }) => !path.includes('/posts?') || path.includes('include=all')),
    ).toBe(true);
  });
});

describe('C35: the time of a record', () => {
  it.each([-120_000, 120_000])(
    'a medium whose clock is off by %i ms: the post is still found',
    async (skewMs) => {
      const s = mediumWorld({ script: ['cut_after_save'], skewMs });
      expect(await s.ending(await s.sent())).toEqual(CONFIRMED);
    },
  );

  it.each<{ at: number; found: boolean; because: string }>([
    { at: -302, found: true, because: 'the first moment, with two seconds of distrust' },
    { at: -303, found: false, because: 'one second before' },
    { at: 15 + 1800 + 2, found: true, because: 'the last moment: last claim + Z + 30 min + 2 s' },
    { at: 15 + 1800 + 3, found: false, because: 'one second after' },
  ])('an equal post $at s from the claim is a candidate: $found ($because)', async ({ at, found }) => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.sent();
    const other = s.outside.add({ text: TEXT, createdAt: NOW + at * 1000 });
    s.w.clock.advance(1000);
    await s.w.steps['Search']?.({ tenant: 'acme', intentId: intent.id, route: 'posts' });
    const [search] = await s.searches(intent);
    expect(search).toMatchObject({ verdict: found ? 'found' : 'wait', candidates: found ? [other.id] : [] });
    expect(search?.['seen']).toEqual([
      {
        ...{ externalId: other.id, near: !found },
        reasons: { author: true, payload: true, parent: true, window: found, binding: 'free' },
      },
    ]);
  });
});

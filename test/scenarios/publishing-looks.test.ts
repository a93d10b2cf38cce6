/** Searches that see too little, too much, or another time: only a whole and honest look counts as zero. */
import { describe, expect, it } from 'vitest';
import { NOW, TIMING } from '../support/kit.ts';
import type { BookedPost } from '../support/medium-book.ts';
import type { MediumFault, MediumPlay } from '../support/medium-plays.ts';
import { type MediumWorld, type MediumWorldOptions, mediumWorld, TEXT } from '../support/medium-world.ts';

const MINUTE = 60_000;
/** Z 15 000 + D 500 + L 300. */
const WINDOW_MS = 15_800;
const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, posts: 1 };
const UNLIKE = { ...CONFIRMED, state: 'handover', reason: 'mismatch' };
/** Nothing was posted, and nobody could find that out. */
const NOT_KNOWN = { state: 'handover', reason: 'exhausted', writes: 1, posts: 0 };

type Sent = Awaited<ReturnType<MediumWorld['sent']>>;
const searched = (s: MediumWorld, { id }: Pick<Sent, 'id'>) =>
  s.w.steps['Search']?.({ tenant: 'acme', intentId: id, route: 'posts' });

describe('C28: the list shows a post only after a while', () => {
  const lag = { visibilityLagMs: 45_000 };

  it('two reconcilers at once: one post', async () => {
    const s = mediumWorld({ script: ['cut_after_save'], ...lag, route: lag });
    const intent = await s.sent();
    const input = { tenant: 'acme', intentId: intent.id, route: 'posts' };
    await Promise.all([s.w.run(input), s.w.run(input)]);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
  });

  it.each([1, 5, 20])('looked for after %i s: 0 means wait, and is asked for anew', async (seconds) => {
    const s = mediumWorld({ script: ['cut_after_save'], ...lag, route: lag });
    const intent = await s.sent();
    s.w.clock.advance(seconds * 1000);
    await searched(s, intent);
    s.w.clock.advance(60_000);
    await searched(s, intent);
    const verdicts = (await s.searches(intent)).map((each) => each['verdict']);
    expect([verdicts, s.outside.posts.length]).toEqual([['wait', 'found'], 1]);
  });

  it('0 counts only when it was asked for later than claim + W, by the millisecond', async () => {
    const s = mediumWorld({ script: ['cut_before_save'], ...lag, route: lag });
    const intent = await s.sent();
    const end = NOW + WINDOW_MS - 300 + lag.visibilityLagMs;
    for (const at of [end, end + 1]) {
      s.w.clock.advance(at - s.w.clock.now());
      await searched(s, intent);
    }
    const verdicts = (await s.searches(intent)).map((each) => each['verdict']);
    expect(verdicts).toEqual(['wait', 'absent']);
  });
});

/** Ours and 129 others: 35 are newer, so that it stands on the second page of 30. */
async function crowded(options: MediumWorldOptions = {}) {
  const s = mediumWorld({ script: ['cut_after_save'], ...options });
  const intent = await s.sent();
  for (let n = 0; n < 129; n += 1) {
    // Those of the same parent are read singly, so most are replies.
    const parent = n % 5 === 0 ? null : '37';
    s.outside.add({ text: `Cake ${n}`, parent, createdAt: NOW + (35 - n - (n < 35 ? 0 : 1)) * 1000 });
  }
  return { s, intent };
}

describe('C29: more than one page', () => {
  it.each<{ pageSize: number; cursor: string; because: string }>([
    { pageSize: 30, cursor: '30', because: 'the medium gives as many as were asked for' },
    { pageSize: 7, cursor: '35', because: 'the medium gives fewer' },
  ])(
    'the match on a later page is found, and every page is turned: $because',
    async ({ pageSize, cursor }) => {
      const { s, intent } = await crowded({ pageSize });
      expect(await s.ending(intent)).toEqual(CONFIRMED);
      const cursors = s.outside.looks.flatMap(({ path }) => /cursor=(\d+)/.exec(path)?.[1] ?? []);
      expect(cursors).toContain(cursor);
      expect(Math.max(...cursors.map(Number)), 'the last page too').toBeGreaterThanOrEqual(120);
    },
  );

  it('one that moves to the next page while they are turned counts once', async () => {
    const { s, intent } = await crowded();
    s.outside.faults.set('overlapping', Number.POSITIVE_INFINITY);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
  });

  it.each<{ fault: MediumFault; because: string }>([
    { fault: 'bad_cursor', because: 'a cursor that expired cuts the list short' },
    { fault: 'endless', because: 'a list without an end is not whole' },
    { fault: 'long_page', because: 'a page of more than was asked for is not what was promised' },
  ])('$fault: nothing is concluded, people decide ($because)', async ({ fault }) => {
    const { s, intent } = await crowded({ script: ['cut_before_save'] });
    s.outside.faults.set(fault, Number.POSITIVE_INFINITY);
    expect(await s.ending(intent)).toEqual(NOT_KNOWN);
  });

  it('and once cursors hold again, the post is found', async () => {
    const { s, intent } = await crowded();
    s.outside.faults.set('bad_cursor', s.w.clock.now() + 10 * MINUTE);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
    expect((await s.searches(intent))[0]).toMatchObject({ verdict: 'inconclusive', complete: false });
  });

  it('the list leaves texts out: one of 900 characters is read by its id and compared whole', async () => {
    const text = 'Tea and time. '.repeat(65).slice(0, 900);
    const s = mediumWorld({ script: ['cut_after_save'] });
    const intent = await s.sent({ payload: { text, visibility: 'public' } });
    s.outside.add({ text: `${text.slice(0, 899)}!` });
    expect(await s.ending(intent)).toEqual(CONFIRMED);
  });

  it('more that may match than can be read is not whole', async () => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.sent();
    for (let n = 0; n < 101; n += 1) s.outside.add({ text: `Cake ${n}` });
    expect(await s.ending(intent)).toEqual(NOT_KNOWN);
    const [first] = await s.searches(intent);
    expect(first).toMatchObject({ verdict: 'inconclusive', complete: false, authorised: true });
  });
});

describe('C31: every status is asked for', () => {
  it.each<{ change: Partial<BookedPost>; because: string }>([
    { change: { visibility: 'draft' }, because: 'it was saved as a draft' },
    { change: { visibility: 'unlisted' }, because: 'it was taken from the lists' },
    { change: { visibility: 'hidden' }, because: 'the house hides it, by a word of its own' },
    { change: { deleted: true }, because: 'it was deleted a second after it was made' },
  ])(
    'one that is there and not as approved is found, and never posted again: $because',
    async ({ change }) => {
      const s = mediumWorld({ script: ['cut_after_save'] });
      const intent = await s.sent();
      for (const post of s.outside.book()) Object.assign(post, change);
      expect(await s.ending(intent)).toEqual(UNLIKE);
      const lists = s.outside.looks.filter(({ path }) => path.includes('/posts?'));
      expect(lists.length).toBeGreaterThan(0);
      expect(lists.every(({ path }) => path.includes('include=all'))).toBe(true);
    },
  );

  it.each<{ fault: MediumFault; because: string }>([
    { fault: 'list_of_nobody', because: 'no account is named' },
    { fault: 'list_of_another', because: "another's list is named" },
  ])('an empty list for a token without the right to look is no zero: $because', async ({ fault }) => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    s.outside.faults.set(fault, Number.POSITIVE_INFINITY);
    expect(await s.ending(await s.sent())).toEqual({ ...NOT_KNOWN, posts: 1 });
  });
});

describe('C32: a search that failed, or saw another account, is no zero', () => {
  it.each<{ fault: MediumFault; shows: object }>([
    { fault: 'list_unauthorised', shows: { error: 'status_401' } },
    { fault: 'list_forbidden', shows: { error: 'status_403' } },
    { fault: 'list_not_found', shows: { error: 'status_404' } },
    { fault: 'list_too_many', shows: { error: 'status_429' } },
    { fault: 'list_broken', shows: { error: 'status_500' } },
    { fault: 'list_status', shows: { error: 'status_503' } },
    { fault: 'list_stall', shows: { error: 'timeout' } },
    { fault: 'list_garbage', shows: { error: 'bad_answer' } },
    { fault: 'list_null', shows: { error: 'bad_answer' } },
    { fault: 'list_without_posts', shows: { error: 'bad_answer' } },
    { fault: 'list_of_nobody', shows: { error: 'bad_answer' } },
    { fault: 'list_of_another', shows: { complete: true, authorised: false } },
    { fault: 'account_status', shows: { error: 'status_503' } },
    { fault: 'account_of_another', shows: { complete: false, authorised: false } },
    { fault: 'one_status', shows: { complete: false, authorised: true } },
    { fault: 'one_missing', shows: { complete: false, authorised: true } },
  ])('$fault: nothing more is written as long as it lasts, and $shows is kept', async ({ fault, shows }) => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.sent();
    s.outside.add({ text: 'Cake.' });
    s.outside.faults.set(fault, Number.POSITIVE_INFINITY);
    expect(await s.ending(intent)).toEqual(NOT_KNOWN);
    const looks = await s.searches(intent);
    expect(looks.length).toBeLessThanOrEqual(20);
    for (const each of looks) expect(each).toMatchObject({ verdict: 'inconclusive', ...shows });
  });

  it('and once it works again, the post is found', async () => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const intent = await s.sent();
    s.outside.faults.set('list_status', s.w.clock.now() + 10 * MINUTE);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
  });
});

describe('C35: the time of a record', () => {
  it.each<{ at: number; found: boolean; time?: boolean; because: string }>([
    { at: -302, found: true, time: false, because: 'the first moment, with two seconds of distrust' },
    { at: -303, found: false, time: false, because: 'one second before' },
    { at: 15 + 1800 + 2, found: true, because: 'the last moment: last claim + Z + 30 min + 2 s' },
    { at: 15 + 1800 + 3, found: false, because: 'one second after' },
  ])('an equal post $at s from the claim is a candidate: $found ($because)', async (row) => {
    const { at, found, time = true } = row;
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.sent();
    const other = s.outside.add({ text: TEXT, createdAt: NOW + at * 1000 });
    s.w.clock.advance(1000);
    await searched(s, intent);
    const [search] = await s.searches(intent);
    expect(search).toMatchObject({ verdict: found ? 'found' : 'wait', candidates: found ? [other.id] : [] });
    expect(search?.['seen']).toMatchObject([
      {
        ...{ externalId: other.id, near: !found },
        reasons: { author: true, payload: true, parent: true, window: found, time, binding: 'free' },
      },
    ]);
  });

  it.each<{ skewMs: number; play: MediumPlay; end: object; because: string }>([
    { skewMs: 120_000, play: 'cut_after_save', end: CONFIRMED, because: 'it is ahead' },
    { skewMs: 120_000, play: 'plain', end: CONFIRMED, because: 'it is ahead' },
    { skewMs: -120_000, play: 'cut_after_save', end: UNLIKE, because: 'it looks older than our claim' },
    { skewMs: -120_000, play: 'plain', end: CONFIRMED, because: 'its id is the one that we were answered' },
  ])(
    'a clock $skewMs ms off, though two seconds are promised ($play): found, and never posted again, $because',
    async ({ skewMs, play, end }) => {
      const s = mediumWorld({ script: [play], skewMs });
      expect(await s.ending(await s.sent())).toEqual(end);
    },
  );

  it.each<{ lateMs: number; route?: object; policy?: object; because: string }>([
    {
      ...{ lateMs: 45 * MINUTE, route: { applyDelayMs: 60 * MINUTE } },
      because: 'D of the route is an hour, longer than the half hour that is looked after it',
    },
    {
      ...{ lateMs: 40_000, route: { applyDelayMs: MINUTE }, policy: { lookAfterMs: 0 } },
      because: 'D is a minute, and the policy looks no longer than the sender lives',
    },
  ])(
    'a post that is saved late, within D, is found and never posted again: $because',
    async ({ lateMs, route = {}, policy = {} }) => {
      const s = mediumWorld({ script: ['late_save'], lateMs, route, policy });
      expect(await s.ending(await s.sent())).toEqual(CONFIRMED);
    },
  );

  it.each<{ skewMs: number; end: object; because: string }>([
    { skewMs: 120_000, end: CONFIRMED, because: 'it is waited for longer than need be' },
    { skewMs: -120_000, end: UNLIKE, because: 'it should be there by now, so people are asked too early' },
  ])('a public page that lags by a clock $skewMs ms off: $because', async ({ skewMs, end }) => {
    const s = mediumWorld({ skewMs, visibilityLagMs: 20_000, route: { visibilityLagMs: 30_000 } });
    expect(await s.ending(await s.sent())).toEqual(end);
  });

  it.each<{ cutMs: number; skewMs: number; end: object; because: string }>([
    { cutMs: 1000, skewMs: 0, end: CONFIRMED, because: 'whole seconds are within the two that are promised' },
    { cutMs: MINUTE, skewMs: 0, end: UNLIKE, because: 'a whole minute looks older than our claim' },
    { cutMs: MINUTE, skewMs: 5 * MINUTE, end: CONFIRMED, because: 'deployed, clocks are trusted less' },
  ])('cut off to $cutMs ms, it is found and never posted again: $because', async ({ cutMs, skewMs, end }) => {
    const s = mediumWorld({ script: ['cut_after_save'], cutMs });
    s.w.deps.timing = { ...TIMING, skewMs };
    s.w.clock.advance(59_999);
    expect(await s.ending(await s.sent())).toEqual(end);
  });

  it.each<{ play: MediumPlay; end: object }>([
    { play: 'cut_after_save', end: CONFIRMED },
    { play: 'cut_before_save', end: { ...CONFIRMED, writes: 2 } },
  ])(
    '$play, sent 25 minutes after its plan: the time is searched in which it left',
    async ({ play, end }) => {
      const s = mediumWorld({ script: [play], cutMs: MINUTE });
      const intent = await s.submitted({ plannedAt: NOW });
      const input = s.w.queue.shift();
      s.w.clock.advance(25 * MINUTE);
      if (input !== undefined) await s.w.steps['Send']?.(input);
      expect(s.outside.posts.map(({ at }) => at)).toEqual([NOW + 25 * MINUTE]);
      expect(await s.ending(intent)).toEqual(end);
    },
  );

  it('the time that is searched never grows by itself, however often it is looked for', async () => {
    const s = mediumWorld({ script: ['cut_before_save'], policy: { attempts: 1 } });
    const intent = await s.sent();
    s.outside.faults.set('list_status', s.w.clock.now() + 60 * MINUTE);
    await s.ending(intent);
    const ranges = s.outside.looks.flatMap(({ path }) => /since=[^&]+&until=[^&]+/.exec(path)?.[0] ?? []);
    expect(ranges.length).toBeGreaterThan(5);
    expect(new Set(ranges).size).toBe(1);
  });

  it('a clock that is off by more than the search reaches breaks the promise: a near miss, and a second post', async () => {
    const s = mediumWorld({ script: ['cut_after_save'], skewMs: -303_000 });
    const intent = await s.sent();
    expect(await s.ending(intent)).toMatchObject({ writes: 2, posts: 2 });
    const [first] = s.outside.book();
    expect(JSON.stringify((await s.searches(intent))[0]?.['seen'])).toContain(first?.id);
  });
});

describe('C36: what was made is not shown yet, or no more', () => {
  it('answered with an id, the first readbacks say 404: read again, never made again', async () => {
    const s = mediumWorld({ route: { visibilityLagMs: 2 * MINUTE } });
    const intent = await s.sent();
    s.outside.faults.set('one_missing', s.w.clock.now() + MINUTE);
    expect(await s.ending(intent)).toEqual(CONFIRMED);
    const reads = s.outside.looks.filter(({ path }) => path.startsWith('/api/posts/'));
    expect(reads.filter(({ at }) => at < NOW + MINUTE).length).toBeGreaterThanOrEqual(3);
  });

  it('answered with an id, and gone for good: people decide', async () => {
    const s = mediumWorld();
    const intent = await s.sent();
    s.outside.faults.set('one_missing', Number.POSITIVE_INFINITY);
    expect(await s.ending(intent)).toEqual({ ...UNLIKE, reason: 'found_but_gone' });
  });

  it.each<{ fault: MediumFault | 'deleted'; reason: string; because: string }>([
    { fault: 'one_missing', reason: 'exhausted', because: 'by its id it is 404, which is no answer' },
    { fault: 'deleted', reason: 'mismatch', because: 'by its id it is 410' },
    { fault: 'one_deleted', reason: 'mismatch', because: 'by its id it is said to be deleted' },
  ])('the answer was lost, the list shows it, and $because: people decide', async ({ fault, reason }) => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const intent = await s.sent();
    if (fault === 'deleted') for (const post of s.outside.book()) post.deleted = true;
    else s.outside.faults.set(fault, Number.POSITIVE_INFINITY);
    expect(await s.ending(intent)).toEqual({ ...UNLIKE, reason });
  });

  it.each<{ script: MediumPlay[]; because: string }>([
    { script: ['plain'], because: 'its id was answered' },
    { script: ['cut_after_save'], because: 'the list says that something was there' },
  ])(
    'a person deletes it while it is unconfirmed: it is never posted again ($because)',
    async ({ script }) => {
      const lag = { visibilityLagMs: 45_000 };
      const s = mediumWorld({ script, ...lag, route: lag });
      const intent = await s.sent();
      await searched(s, intent);
      for (const post of s.outside.book()) post.deleted = true;
      expect(await s.ending(intent)).toEqual(UNLIKE);
    },
  );

  it('a person deletes another post, while ours is known by its id: no second effect', async () => {
    const s = mediumWorld();
    const intent = await s.sent();
    s.outside.add({ text: 'Cake.', deleted: true });
    expect(await s.ending(intent)).toEqual(CONFIRMED);
    expect((await s.w.read(intent.id)).incident).toBeNull();
  });
});

describe('C37: a failure behind the success', () => {
  it.each<{ play: MediumPlay; because: string }>([
    { play: 'cut_after_save', because: 'the connection is reset' },
    { play: 'too_many_after_save', because: 'it is answered "too many"' },
    { play: 'status_after_save', because: 'it is answered 500' },
  ])('the post is live and $because: confirmed, and no failure is told', async ({ play }) => {
    const s = mediumWorld({ script: [play] });
    const intent = await s.sent();
    expect(await s.ending(intent)).toEqual(CONFIRMED);
    const { handover, outcome, incident, externalId } = await s.w.read(intent.id);
    expect([handover, outcome, incident, externalId]).toEqual([null, null, null, s.outside.book()[0]?.id]);
  });

  it('the post is live and its page cannot be read: no failure, no confirmed id, and people are asked', async () => {
    const s = mediumWorld();
    s.outside.faults.set('page_status', Number.POSITIVE_INFINITY);
    const intent = await s.sent();
    expect(await s.ending(intent)).toEqual({ ...UNLIKE, reason: 'readback_unavailable' });
    const { externalId, acknowledgedId, receipt } = await s.w.read(intent.id);
    expect([externalId, acknowledgedId, receipt]).toEqual([null, s.outside.book()[0]?.id, null]);
  });
});

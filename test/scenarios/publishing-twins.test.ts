/** Two approved posts of equal content on one account: two intents, two posts, one after the other. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { CRASH_MODES, crashes } from '../support/crash.ts';
import type { Rewriting } from '../support/medium-book.ts';
import { type MediumWorld, type MediumWorldOptions, mediumWorld } from '../support/medium-world.ts';

const SECOND = { key: 'post-2' };

function pair(intents: readonly Intent[]) {
  return intents.map(({ state, externalId, waitsFor }) => ({ state, externalId, waitsFor }));
}

async function bothSettled(s: MediumWorld, ids: readonly string[]): Promise<Intent[]> {
  const ended: Intent[] = [];
  for (const id of ids) ended.push(await s.w.untilQuiet(id));
  return ended;
}

describe('two equal posts, each approved', () => {
  it.each<{ text: string; because: string }>([
    { text: 'Tea at five.', because: 'the same text' },
    { text: 'Tea at five. \n', because: 'white space at the end shows nowhere' },
  ])('both are posted, in turn: $because', async ({ text }) => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const first = await s.sent();
    const second = await s.submitted({ ...SECOND, payload: { text, visibility: 'public' } });
    await s.w.run({ tenant: 'acme', intentId: second.id, route: 'posts' });
    expect(pair([await s.w.read(second.id)])).toEqual([
      { state: 'ready', externalId: null, waitsFor: first.id },
    ]);
    expect(s.outside.posts).toHaveLength(1);
    await s.w.run({ tenant: 'acme', intentId: first.id, route: 'posts' });
    const ended = await bothSettled(s, [first.id, second.id]);
    const [one, two] = s.outside.book();
    expect(pair(ended)).toEqual([
      { state: 'confirmed', externalId: one?.id, waitsFor: null },
      { state: 'confirmed', externalId: two?.id, waitsFor: null },
    ]);
    expect([s.outside.posts.length, s.outside.book().length]).toEqual([2, 2]);
  });

  it('a lost answer of the second does not take the post of the first', async () => {
    const s = mediumWorld({ script: ['plain', 'cut_before_save'] });
    const first = await s.submitted();
    await s.w.drain();
    const second = await s.submitted(SECOND);
    const ended = await bothSettled(s, [first.id, second.id]);
    const [one, two] = s.outside.book();
    expect(ended.map((each) => each.externalId)).toEqual([one?.id, two?.id]);
    expect([s.outside.posts.length, s.outside.book().length]).toEqual([3, 2]);
    const seen = JSON.stringify(await s.searches(second));
    expect(seen).toContain('"binding":"elsewhere"');
  });

  it('while people decide about the first, the second waits and is not posted', async () => {
    const s = mediumWorld({ script: ['delivered_twice_unanswered'] });
    const first = await s.submitted();
    await s.w.untilQuiet(first.id);
    const second = await s.submitted(SECOND);
    await s.w.drain();
    for (let minute = 0; minute < 5; minute += 1) {
      s.w.clock.advance(61_000);
      await sweep(s.w.deps).runOnce();
      await s.w.drain();
    }
    const [one, two] = [await s.w.read(first.id), await s.w.read(second.id)];
    expect([one.state, one.handover?.reason, two.state, two.waitsFor]).toEqual([
      ...['handover', 'many', 'ready', first.id],
    ]);
    expect(s.outside.posts).toHaveLength(1);
  });

  it('posts of other content, or under another parent, do not wait', async () => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    await s.sent();
    const others = [{ parent: '37' }, { payload: { text: 'Cake.', visibility: 'public' } }];
    for (const [n, change] of others.entries()) {
      const other = await s.submitted({ ...change, key: `other-${n}` });
      await s.w.run({ tenant: 'acme', intentId: other.id, route: 'posts' });
      expect((await s.w.read(other.id)).state).toBe('confirmed');
    }
  });
});

describe('two posts that may be shown alike', () => {
  const EMOJI = /\p{Extended_Pictographic}/gu;
  const asLink = (target: string) => (text: string) => ({
    text: text.replace(/(?:https?:\/\/)?x\.test\S*/i, 'https://s.test/1'),
    links: [{ shown: 'https://s.test/1', target }],
  });

  it.each<{
    one: string;
    two: string;
    lossy: boolean;
    text: NonNullable<Rewriting['text']>;
    because: string;
  }>([
    {
      ...{ one: 'Sale now 🎉', two: 'Sale now', lossy: true, because: 'emoji are dropped' },
      text: (text) => ({ text: text.replace(EMOJI, '').trimEnd() }),
    },
    {
      ...{
        one: 'Up or down 👍',
        two: 'Up or down ????',
        lossy: true,
        because: 'emoji become question marks',
      },
      text: (text) => ({ text: text.replace(EMOJI, '????') }),
    },
    {
      ...{
        one: 'Read https://x.test/p?utm=k',
        two: 'Read https://x.test/p',
        lossy: true,
        because: 'a query is taken off',
      },
      text: (text) => ({ text: text.replace(/\?utm\S*/, '') }),
    },
    {
      ...{ one: 'Read https://x.test', two: 'Read x.test', lossy: false, because: 'a scheme is added' },
      text: asLink('https://x.test/'),
    },
    {
      ...{
        one: 'Read https://X.test/a',
        two: 'Read X.test/a',
        lossy: false,
        because: 'a scheme is added, with case',
      },
      text: asLink('https://X.test/a'),
    },
  ])('the post of the first never confirms the second: $because', async ({ one, two, lossy, text }) => {
    const s = mediumWorld({ script: ['cut_after_save', 'cut_before_save'], rewriting: { text } });
    const first = await s.sent({ payload: { text: one, visibility: 'public' } });
    const second = await s.sent({ ...SECOND, payload: { text: two, visibility: 'public' } });
    expect(pair([await s.w.read(second.id)])).toEqual([
      { state: 'ready', externalId: null, waitsFor: first.id },
    ]);
    await s.w.run({ tenant: 'acme', intentId: first.id, route: 'posts' });
    for (let minute = 0; minute < 5; minute += 1) {
      s.w.clock.advance(61_000);
      await sweep(s.w.deps).runOnce();
      await s.w.drain();
    }
    const [a, b] = [await s.w.read(first.id), await s.w.read(second.id)];
    // Loss-free, both are posted in their turn; else people look at the first, and the second goes on waiting.
    expect([a.state, b.state]).toEqual(lossy ? ['handover', 'ready'] : ['confirmed', 'confirmed']);
    expect(s.outside.book().map(({ id }) => id)).toEqual(
      lossy ? [expect.any(String)] : [a.externalId, b.externalId],
    );
  });
});

describe('a crash at any boundary', () => {
  const plain: MediumWorldOptions = { script: ['cut_after_save'] };

  /** Both submitted, then the sweep alone; what a point kills never goes on. */
  async function played(point: { at: number; mode: (typeof CRASH_MODES)[number] } | null) {
    const crash = crashes(point === null ? [] : [point]);
    const { live, transport: wrapTransport, ledger: wrapLedger, start: wrapStart } = crash;
    const s = mediumWorld({ ...plain, world: { live, wrapTransport, wrapLedger, wrapStart } });
    const ids: string[] = [];
    for (const key of ['post-1', 'post-2']) {
      for (let time = 0; time < 3; time += 1) {
        const kept = await live(
          s.w
            .submit({ route: 'posts', key, payload: { text: 'Tea.', visibility: 'public' } })
            .catch(() => 'dead' as const),
        );
        if (kept === 'dead' || !('intent' in kept)) continue;
        ids.push(kept.intent.id);
        break;
      }
    }
    const ended = await bothSettled(s, ids);
    return { crash, ended, posts: s.outside.book() };
  }

  it('each has one post of its own, or is with people; never more than two posts', async () => {
    const calls = (await played(null)).crash.names.length;
    expect(calls).toBeGreaterThan(30);
    let confirmed = 0;
    for (const mode of CRASH_MODES) {
      for (let at = 0; at < calls; at += 1) {
        const { crash, ended, posts } = await played({ at, mode });
        const which = `${mode} at ${at} (${crash.names[at]})`;
        expect(crash.hits(), which).toBe(1);
        expect(posts.length, which).toBeLessThanOrEqual(2);
        const ids = ended.flatMap(({ externalId }) => (externalId === null ? [] : [externalId]));
        expect(new Set(ids).size, which).toBe(ids.length);
        const open = ended.filter(({ state }) => state !== 'confirmed' && state !== 'handover');
        expect(open, which).toEqual([]);
        confirmed += ids.length;
      }
    }
    expect(confirmed).toBe(2 * CRASH_MODES.length * calls);
  });
});

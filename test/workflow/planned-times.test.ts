/** When a post may leave at the earliest and at the latest: said by the first submit, and by nobody after it. */
import { describe, expect, it } from 'vitest';
import { manifestOf } from '../../lib/operations/manifest.ts';
import { NOW } from '../support/kit.ts';
import { mediumWorld, POST } from '../support/medium-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('the times of a post', () => {
  it.each<{
    asked: { plannedAt?: number; sendBy?: number };
    plannedAt: number;
    sendBy: number;
    because: string;
  }>([
    { asked: {}, plannedAt: NOW, sendBy: NOW + DAY, because: 'from now on, as long as its route says' },
    {
      ...{ asked: { plannedAt: NOW + HOUR }, plannedAt: NOW + HOUR, sendBy: NOW + HOUR + DAY },
      because: 'from its plan on, as long as its route says',
    },
    {
      ...{ asked: { plannedAt: NOW - HOUR }, plannedAt: NOW - HOUR, sendBy: NOW + DAY },
      because: 'a plan that is past takes nothing from the time to send',
    },
    {
      ...{ asked: { plannedAt: NOW + HOUR, sendBy: NOW + 2 * HOUR }, plannedAt: NOW + HOUR },
      ...{ sendBy: NOW + 2 * HOUR, because: 'both as they were asked for' },
    },
  ])('are $because', async ({ asked, plannedAt, sendBy }) => {
    const s = mediumWorld();
    const intent = await s.submitted(asked);
    expect([intent.plannedAt, intent.sendBy]).toEqual([plannedAt, sendBy]);
    expect(manifestOf(intent).planned_time).toBe(new Date(plannedAt).toISOString());
  });

  it('are fixed by the first submit, and count neither as another request nor in the fingerprint', async () => {
    const s = mediumWorld();
    const first = await s.submitted({ plannedAt: NOW + HOUR });
    const again = await s.w.submit({
      ...{ route: 'posts', key: 'post-1', payload: POST },
      ...{ plannedAt: NOW + 2 * HOUR, sendBy: NOW + 3 * HOUR },
    });
    expect(again).toMatchObject({ kind: 'same', intent: { id: first.id, fingerprint: first.fingerprint } });
    const stored = await s.w.read(first.id);
    expect([stored.plannedAt, stored.sendBy]).toEqual([first.plannedAt, first.sendBy]);
    const other = await s.submitted({ key: 'post-2' });
    expect(other.fingerprint).toBe(first.fingerprint);
  });

  it('a post does not leave before its plan', async () => {
    const s = mediumWorld();
    const intent = await s.submitted({ plannedAt: NOW + DAY });
    await s.w.run({ tenant: 'acme', intentId: intent.id, route: 'posts' });
    expect(s.outside.posts).toEqual([]);
    expect((await s.w.untilQuiet(intent.id)).state).toBe('confirmed');
    expect(s.outside.posts.map(({ at }) => at)).toEqual([expect.toSatisfy((at: number) => at >= NOW + DAY)]);
  });

  it('a post that failed is not written again past its last moment, though it is known not to be there', async () => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.submitted({ sendBy: NOW + 10_000 });
    expect(await s.ending(intent)).toMatchObject({ state: 'closed', writes: 1, posts: 0 });
  });
});

/** Taking an intent back: it stops writes, never the looking, and never claims that nothing happened. */
import { describe, expect, it } from 'vitest';
import { withdraw } from '../../lib/operations/withdraw.ts';
import { POLICY } from '../support/kit.ts';
import { ORDER, type World, world } from '../support/world.ts';

const take = (w: World, id: string) => withdraw(w.deps)({ tenant: 'acme', intentId: id }, 'sales', 'shop');
const searchFirst = { route: { policy: { ...POLICY, resend: 'after_search' as const } } };

describe('withdrawing', () => {
  it('before anything was sent closes it without effect, once', async () => {
    const w = world();
    const { id } = await w.begin();
    expect(await take(w, id)).toMatchObject({
      kind: 'done',
      intent: { state: 'closed', outcome: 'no_effect' },
    });
    expect((await take(w, id)).kind).toBe('done');
    expect((await w.untilQuiet(id)).state).toBe('closed');
    expect(w.outside.posts()).toBe(0);
    const { items } = await w.ledger.evidence({ tenant: 'acme', intentId: id }, 10, null);
    expect(items.map((each) => each.kind)).toEqual(['withdrawal']);
  });

  it('while the result is unknown finds what is outside and confirms it', async () => {
    const w = world({ script: ['lost'], ...searchFirst });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    expect(await take(w, id)).toMatchObject({ kind: 'done', intent: { state: 'unknown' } });
    expect((await w.untilQuiet(id)).state).toBe('confirmed');
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([1, 1]);
  });

  it('while the result is unknown and nothing is outside sends nothing again', async () => {
    const w = world({ script: ['swallowed'], ...searchFirst });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    await take(w, id);
    expect(await w.untilQuiet(id)).toMatchObject({ state: 'closed', outcome: 'no_effect' });
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([1, 0]);
  });

  it('between claim and first byte withholds the byte', async () => {
    const w = world({
      wrapTransport: (transport) => async (request) => {
        await take(w, id);
        return transport(request);
      },
    });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    expect((await w.read(id)).attempts[0]?.result).toMatchObject({ detail: 'withheld:withdrawn' });
    expect(await w.untilQuiet(id)).toMatchObject({ state: 'closed', outcome: 'no_effect' });
    expect(w.outside.posts()).toBe(0);
  });

  it('leaves a settled intent as it is, and another unit finds nothing', async () => {
    const w = world();
    const { id, state } = await w.settle();
    expect([state, (await take(w, id)).kind]).toEqual(['confirmed', 'settled']);
    expect(await withdraw(w.deps)({ tenant: 'acme', intentId: id }, 'rental', 'x')).toEqual({
      kind: 'absent',
    });
  });
});

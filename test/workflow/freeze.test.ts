/** A freeze is in force before the next first byte, and stops nothing but writes. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { EVERYTHING, setFrozen, setRouteFrozen } from '../../lib/operations/freeze.ts';
import { POLICY } from '../support/kit.ts';
import { random } from '../support/schedule.ts';
import { ORDER, type World, world } from '../support/world.ts';

const HAND = { by: 'ann', why: 'test' };
const TRIES = 1000;

async function submitted(w: World): Promise<Intent> {
  const accepted = await w.submit();
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  return accepted.intent;
}

describe('a freeze', () => {
  it(`that came before a first byte was in force for it, in ${TRIES} of ${TRIES} tries at any boundary`, async () => {
    let stopped = 0;
    for (let seed = 0; seed < TRIES; seed += 1) {
      const next = random(seed);
      const at = Math.floor(next() * 9);
      const target = next() < 0.5 ? 'warehouse' : EVERYTHING;
      let calls = 0;
      let postsAtFreeze: number | undefined;
      const w: World = world({
        script: ['unavailable', 'lost'],
        wrapLedger: (ledger) =>
          Object.fromEntries(
            Object.entries(ledger).map(([name, call]) => [
              name,
              async (...args: never[]) => {
                calls += 1;
                if (calls === at + 1) {
                  await setFrozen({ ...w.deps, ledger })(target, true, HAND);
                  postsAtFreeze = w.outside.posts();
                }
                return (call as (...given: never[]) => Promise<unknown>)(...args);
              },
            ]),
          ) as never,
      });
      const intent = await submitted(w);
      const input = w.queue.shift();
      if (input === undefined) throw new Error('no run');
      await w.steps['Send']?.(input);
      if (postsAtFreeze === undefined) continue;
      stopped += 1;
      // Between the last check and the byte there is no await; a freeze lies before or after both.
      expect(w.outside.posts(), `seed ${seed}: frozen before ledger call ${at}`).toBe(postsAtFreeze);
      expect((await w.read(intent.id)).state).not.toBe('rejected');
    }
    expect(stopped).toBeGreaterThan(TRIES / 2);
  });

  it('stops no search and no readback, and what waits goes out when it is lifted', async () => {
    const w = world({ script: ['unavailable'], route: { policy: { ...POLICY, resend: 'after_search' } } });
    const intent = await submitted(w);
    const input = w.queue.shift();
    if (input === undefined) throw new Error('no run');
    await w.steps['Send']?.(input);
    await setRouteFrozen(w.deps)('acme', 'warehouse', true, HAND);
    const gets = w.outside.gets();
    await w.untilQuiet(intent.id, 600_000);
    expect(w.outside.gets()).toBeGreaterThan(gets);
    expect(w.outside.posts()).toBe(1);
    await setRouteFrozen(w.deps)('acme', 'warehouse', false, HAND);
    expect((await w.untilQuiet(intent.id)).state).toBe('confirmed');
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([2, 1]);
  });

  it("is one's own tenant's only", async () => {
    const w = world();
    expect(await setRouteFrozen(w.deps)('umbra', 'warehouse', true, HAND)).toBeUndefined();
    for (const name of ['nothing', EVERYTHING])
      expect(await setRouteFrozen(w.deps)('acme', name, true, HAND)).toBeUndefined();
    const intent = await submitted(w);
    await w.drain();
    expect((await w.read(intent.id)).state).toBe('confirmed');
  });
});

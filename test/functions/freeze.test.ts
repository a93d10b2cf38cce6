/** Freezing over the API: whose route, whose right, and what is answered. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiRig, startApiRig } from '../support/api-rig.ts';

const ANN = { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person' };
const WHY = JSON.stringify({ why: 'a second effect was seen' });
let rig: ApiRig;
beforeAll(async () => {
  rig = await startApiRig();
});
afterAll(() => rig.stop());

describe('a route', () => {
  test('is frozen by hand, stays as it was frozen first, and is let go again', async () => {
    const path = { route: 'free' };
    const frozen = await rig.call('freeze', { path, body: WHY, claims: ANN });
    expect(frozen.json).toMatchObject({
      route: 'free',
      frozen: true,
      by: 'ann',
      why: 'a second effect was seen',
    });
    const again = await rig.call('freeze', { path, body: WHY, claims: { ...ANN, sub: 'otto' } });
    expect(again.json).toEqual(frozen.json);
    const thawed = await rig.call('thaw', { path, body: WHY, claims: { ...ANN, sub: 'otto' } });
    expect(thawed.json).toMatchObject({ route: 'free', frozen: false, by: 'otto' });
  });

  test.each(['umbra-free', 'nothing', '*', ''])('%j is not there for this tenant', async (route) => {
    const answer = await rig.call('freeze', { path: { route }, body: WHY, claims: ANN });
    expect([answer.status, answer.json['type']]).toEqual([422, '/problems/unknown-route']);
    expect(await rig.rows()).not.toContainEqual(expect.objectContaining({ pk: `R#${route}` }));
  });

  test.each(['', '{}', '{"why":""}', '{"why":"x","route":"free"}', JSON.stringify({ why: 'x'.repeat(501) })])(
    'is not frozen with the body %j',
    async (body) => {
      expect((await rig.call('freeze', { path: { route: 'free' }, body, claims: ANN })).status).toBe(400);
    },
  );

  test('is nothing an agent freezes, or lets go', async () => {
    for (const name of ['freeze', 'thaw', 'freeze-all', 'thaw-all']) {
      const answer = await rig.call(name, {
        path: { route: 'free' },
        body: WHY,
        claims: { ...ANN, kind: 'agent' },
      });
      expect([name, answer.status]).toEqual([name, 403]);
    }
  });
});

test('everything is frozen and let go under a name that no route can have', async () => {
  expect((await rig.call('freeze-all', { body: WHY, claims: ANN })).json).toMatchObject({
    route: '*',
    frozen: true,
  });
  expect((await rig.call('thaw-all', { body: WHY, claims: ANN })).json).toMatchObject({
    route: '*',
    frozen: false,
  });
});

/** Corrections and follow-ups over the API: two ways in, one meaning. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type ApiRig, type Call, SHOP, startApiRig } from '../support/api-rig.ts';

let rig: ApiRig;
let orders = 0;

beforeAll(async () => {
  rig = await startApiRig();
});
afterAll(() => rig?.stop());
beforeEach(() => {
  rig.starts.length = 0;
});

const fresh = (): string => {
  orders += 1;
  return `PO-${orders}`;
};
const order = (key: string, route = 'free') => ({
  route,
  payload: { order_id: key, sku: 'TEA-01', quantity: 2 },
});
const idOf = (answer: Answer): string => String(answer.json['id']);

function submit(key: string, more: object = {}, call: Call = {}): Promise<Answer> {
  const body = JSON.stringify({ ...order(key), ...more });
  return rig.call('accept', { headers: { 'idempotency-key': key }, body, ...call });
}
function correct(id: string, key: string, more: object = {}, call: Call = {}): Promise<Answer> {
  const body = JSON.stringify({ ...order(key), ...more });
  return rig.call('correct', { id, headers: { 'idempotency-key': key }, body, ...call });
}

describe('a correction', () => {
  test('is taken by its path: 202 waiting for its original, 200 the same again, no run started', async () => {
    const original = await submit(fresh());
    rig.starts.length = 0;
    const key = fresh();
    const taken = await correct(idOf(original), key);
    expect(taken.json).toMatchObject({
      key,
      state: 'awaiting_approval',
      corrects: idOf(original),
      attempts: 0,
    });
    expect([taken.status, taken.headers['location']]).toEqual([202, `/intents/${idOf(taken)}`]);
    const repeated = await correct(idOf(original), key);
    expect([repeated.status, idOf(repeated)]).toEqual([200, idOf(taken)]);
    expect(rig.starts).toEqual([]);
    await rig.sweep();
    expect(rig.starts.map((start) => start.name)).toContain(`${idOf(taken)}-2`);
  });

  test('is the same one by its body, and another one without it', async () => {
    const original = idOf(await submit(fresh()));
    const key = fresh();
    const taken = await correct(original, key);
    expect(await submit(key, { corrects: original })).toMatchObject({
      status: 200,
      json: { id: idOf(taken) },
    });
    const without = await submit(key);
    expect([without.status, without.json['type']]).toEqual([409, '/problems/key-conflict']);
    const other = await correct(idOf(await submit(fresh())), key);
    expect([other.status, other.json['type']]).toEqual([409, '/problems/key-conflict']);
  });

  test.each<[string, Call, number, string]>([
    ['without a key', { headers: {} }, 400, '/problems/key-missing'],
    ['naming another original in its body', { body: '{"corrects":null}' }, 400, '/problems/invalid-request'],
    ['without a route', { body: '{"payload":{}}' }, 400, '/problems/invalid-request'],
    ['by another unit', { claims: { ...SHOP, unit: 'rental' } }, 404, '/problems/not-found'],
    ['by another tenant', { claims: { ...SHOP, tenant: 'umbra' } }, 404, '/problems/not-found'],
  ])('%s is refused', async (_, call, status, type) => {
    const original = idOf(await submit(fresh()));
    const before = (await rig.rows()).length;
    const answer = await correct(original, fresh(), {}, call);
    expect([answer.status, answer.json['type']]).toEqual([status, type]);
    expect((await rig.rows()).length).toBe(before);
  });

  test('of another’s intent is refused by its body as one that is not there', async () => {
    const theirs = idOf(await submit(fresh(), {}, { claims: { ...SHOP, unit: 'rental' } }));
    const [of, absent] = [fresh(), fresh()];
    const refused = await submit(of, { corrects: theirs });
    expect([refused.status, refused.json['errors']]).toEqual([
      400,
      [{ pointer: '/corrects', detail: 'There is no such intent.' }],
    ]);
    expect((await submit(absent, { corrects: `int_${'0'.repeat(40)}` })).text).toBe(refused.text);
    expect((await submit(absent, { corrects: 'PO-1' })).status).toBe(400);
  });

  test('names a route of the tenant, whose rules it keeps', async () => {
    const original = idOf(await submit(fresh()));
    const key = fresh();
    expect((await correct(original, key, { route: 'nowhere' })).json['type']).toBe('/problems/unknown-route');
    expect((await correct(original, key, { ...order('PO-0'), route: 'keyed' })).json['type']).toBe(
      '/problems/key-mismatch',
    );
  });
});

describe('what follows', () => {
  // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data, never awaited.
  const followedBy = (next: object): object => ({ then: next });
  const then = (route = 'free', payload: object = order('PO-0').payload) => followedBy({ route, payload });

  test('is shown with the order, and stands in its fingerprint', async () => {
    const key = fresh();
    const taken = await submit(key, then());
    expect(taken.json).toMatchObject(followedBy({ route: 'free', state: 'waiting', id: null }));
    expect((await submit(key, then())).status).toBe(200);
    expect((await submit(key, then('free', { ...order('PO-0').payload, quantity: 3 }))).status).toBe(409);
    expect((await submit(key)).status).toBe(409);
  });

  test.each<[string, object, string]>([
    ['an unknown route', then('nowhere'), '/then/route'],
    ['another tenant’s route', then('umbra-free'), '/then/route'],
    ['a payload that its route does not take', then('free', {}), '/then/payload/order_id'],
    ['another key than that of the order', then('keyed'), '/then/payload/order_id'],
    ['a field that nobody knows', followedBy({ ...order('PO-0'), sendBy: null }), '/then'],
  ])('with %s is refused at once', async (_, more, pointer) => {
    const answer = await submit(fresh(), more);
    expect(answer.status).toBe(400);
    expect((answer.json['errors'] as { pointer: string }[]).map((each) => each.pointer)).toContain(pointer);
  });
});

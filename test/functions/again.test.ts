/** Ordering once more over the API: by whom, of what, and under which key. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { type Answer, type ApiRig, type Call, startApiRig } from '../support/api-rig.ts';
import { IN_STATE } from '../support/kit.ts';

const ANN = { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person' };
const WHY = { reason: 'the customer ordered it once more' };
let rig: ApiRig;
let orders = 0;

beforeAll(async () => {
  rig = await startApiRig();
});
afterAll(() => rig?.stop());
beforeEach(() => {
  rig.starts.length = 0;
});

async function submitted(route = 'free', state: Partial<Intent> = endedAs('rejected')): Promise<Intent> {
  orders += 1;
  const key = `PO-${orders}`;
  const body = JSON.stringify({ route, payload: { order_id: key, sku: 'TEA-01', quantity: 2 } });
  const answer = await rig.call('accept', { headers: { 'idempotency-key': key }, body });
  const ledger = await rig.ledger();
  const stored = await ledger.read({ tenant: 'acme', intentId: String(answer.json['id']) });
  if (stored === undefined) throw new Error(answer.text);
  const saved = await ledger.save(stored, { ...stored, ...state }, { kind: 'unchanged' });
  rig.starts.length = 0;
  if (saved.kind !== 'saved') throw new Error('lost');
  return saved.intent;
}
function endedAs(name: 'rejected' | 'confirmed' | 'closed' | 'unknown'): Partial<Intent> {
  const { state, attempts, outcome, externalId, receipt, dueAt } = IN_STATE[name];
  return { state, attempts, outcome, externalId, receipt, dueAt };
}
const ask = (id: string, body: object | string = WHY, call: Call = {}): Promise<Answer> =>
  rig.call('again', {
    id,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    claims: ANN,
    ...call,
  });

describe('an order that has settled', () => {
  test.each(['rejected', 'confirmed', 'closed'] as const)(
    '%s is ordered once more: 202, then 200',
    async (end) => {
      const first = await submitted('free', endedAs(end));
      const made = await ask(first.id);
      expect(made.json).toMatchObject({ key: `${first.key}~2`, route: 'free', state: 'ready', attempts: 0 });
      expect([made.status, made.headers['location']]).toEqual([202, `/intents/${String(made.json['id'])}`]);
      const repeated = await ask(first.id);
      expect([repeated.status, repeated.json['id']]).toEqual([200, made.json['id']]);
      const kept = async (id: string) =>
        ((await rig.call('evidence', { id })).json['items'] as { kind: string }[]).map((each) => each.kind);
      expect(await kept(first.id)).toContain('again');
      expect(await kept(String(made.json['id']))).toEqual(['again']);
    },
  );

  test('starts no run by itself; the sweep starts it', async () => {
    const first = await submitted();
    const made = await ask(first.id);
    expect(rig.starts).toEqual([]);
    await rig.sweep();
    expect(rig.starts.map((start) => start.name)).toContain(`${String(made.json['id'])}-2`);
  });

  test('waits for an approval of its own where its route asks for one, by somebody else', async () => {
    const first = await submitted('signed');
    const made = await ask(first.id);
    const id = String(made.json['id']);
    expect([made.status, made.json['state']]).toEqual([202, 'awaiting_approval']);
    const shown = await rig.call('approval', { id });
    expect(shown.json).toMatchObject({ permitted: false, reason: 'not_approved', approval: null });
    const fingerprint = String(shown.json['fingerprint']);
    const sign = (sub: string) =>
      rig.call('approve', { id, body: JSON.stringify({ fingerprint }), claims: { ...ANN, sub } });
    expect((await sign('ann')).json).toMatchObject({ type: '/problems/not-approver' });
    expect((await sign('otto')).json).toMatchObject({ permitted: true });
  });

  test('goes under the number of the first on a route whose key is a field', async () => {
    const first = await submitted('keyed');
    expect(await ask(first.id)).toMatchObject({ status: 202, json: { key: `${first.key}~2` } });
  });
});

describe('refused', () => {
  test.each<[string, object | string]>([
    ['no reason', {}],
    ['an empty reason', { reason: '' }],
    ['a reason of 501 characters', { reason: 'x'.repeat(501) }],
    ['another payload', { ...WHY, payload: {} }],
    ['a key', { ...WHY, key: 'PO-1~9' }],
    ['what follows', '{"reason":"once more","then":null}'],
    ['no body', ''],
  ])('with %s: nothing is made', async (_, body) => {
    const first = await submitted();
    const before = (await rig.rows()).length;
    const answer = await ask(first.id, body);
    expect([answer.status, answer.json['type']]).toEqual([400, '/problems/invalid-request']);
    expect((await rig.rows()).length).toBe(before);
  });

  test('while it is open: 409, and nothing is stored', async () => {
    const open = await submitted('free', endedAs('unknown'));
    const before = (await rig.rows()).length;
    const answer = await ask(open.id);
    expect([answer.status, answer.json]).toEqual([
      409,
      {
        type: '/problems/not-settled',
        title: 'This intent is not settled.',
        status: 409,
        detail: 'Read it again once it is confirmed, rejected or closed.',
      },
    ]);
    expect((await rig.rows()).length).toBe(before);
  });

  test('for an agent, for another unit or tenant, and for what is not there', async () => {
    const first = await submitted();
    const as = (change: object) => ask(first.id, WHY, { claims: { ...ANN, ...change } });
    expect((await as({ kind: 'agent' })).status).toBe(403);
    expect((await as({ unit: 'rental' })).json['type']).toBe('/problems/not-found');
    expect((await as({ tenant: 'umbra' })).json['type']).toBe('/problems/not-found');
    expect((await ask(`int_${'0'.repeat(40)}`)).status).toBe(404);
    expect((await ask('nothing')).status).toBe(404);
  });

  test('a caller cannot send a key of the server’s', async () => {
    const body = JSON.stringify({ route: 'free', payload: { order_id: 'PO-1', sku: 'TEA-01', quantity: 2 } });
    for (const key of ['PO-1~2', 'PO-1~then-0a1b2c3d4e5f']) {
      const answer = await rig.call('accept', { headers: { 'idempotency-key': key }, body });
      expect(answer.json['type']).toBe('/problems/key-malformed');
    }
  });
});

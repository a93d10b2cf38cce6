/** Approval over the API: what is signed, by whom, and every refusal. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type ApiRig, SHOP, startApiRig } from '../support/api-rig.ts';

const ANN = { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person' };
const OTTO = { ...ANN, sub: 'otto' };
let rig: ApiRig;
let orders = 0;

beforeAll(async () => {
  rig = await startApiRig();
});
afterAll(() => rig.stop());

async function submitted(route = 'signed', quantity = 2): Promise<{ id: string; fingerprint: string }> {
  orders += 1;
  const key = `PO-${orders}`;
  const body = JSON.stringify({ route, payload: { order_id: key, sku: 'TEA-01', quantity } });
  const answer = await rig.call('accept', { headers: { 'idempotency-key': key }, body });
  const id = String(answer.json['id']);
  const shown = await rig.call('approval', { id });
  return { id, fingerprint: String(shown.json['fingerprint']) };
}
const put = (id: string, body: object, claims: object = ANN): Promise<Answer> =>
  rig.call('approve', { id, body: JSON.stringify(body), claims });
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('an approval', () => {
  test('is asked for with the exact request, and starts nothing by itself', async () => {
    const before = rig.starts.length;
    const { id, fingerprint } = await submitted();
    const shown = await rig.call('approval', { id });
    expect(shown.json).toMatchObject({
      id,
      request: {
        route: 'signed',
        account: 'tokyo-1',
        environment: 'test',
        action: 'reserve-signed',
        parent: null,
        payload: { sku: 'TEA-01', quantity: 2 },
      },
      policyVersion: 'p1',
      signaturesNeeded: 1,
      permitted: false,
      reason: 'not_approved',
      approval: null,
    });
    const signed = await put(id, { fingerprint });
    expect([signed.status, signed.json['permitted'], signed.json['reason']]).toEqual([200, true, null]);
    expect(signed.json['approval']).toMatchObject({
      policyVersion: 'p1',
      signatures: [{ by: 'ann' }],
      revoked: null,
    });
    expect(rig.starts).toHaveLength(before);
    await rig.sweep();
    expect(rig.starts.map((start) => start.name)).toContain(`${id}-2`);
  });

  test('by two people where the policy asks for it', async () => {
    const { id, fingerprint } = await submitted('signed-twice', 10);
    expect((await put(id, { fingerprint })).json).toMatchObject({
      signaturesNeeded: 2,
      permitted: false,
      reason: 'second_signature_missing',
    });
    expect((await put(id, { fingerprint }, OTTO)).json).toMatchObject({ permitted: true });
  });

  test('is revoked, and stays in the evidence', async () => {
    const { id, fingerprint } = await submitted();
    await put(id, { fingerprint });
    const revoked = await rig.call('revoke', { id, claims: OTTO });
    expect(revoked.json).toMatchObject({
      permitted: false,
      reason: 'approval_revoked',
      approval: { revoked: { by: 'otto' } },
    });
    const { json } = await rig.call('evidence', { id });
    expect((json['items'] as { kind: string }[]).map((each) => each.kind)).toEqual(['approval', 'approval']);
    expect((await rig.call('revoke', { id, claims: OTTO })).json).toMatchObject({
      status: 400,
      detail: 'There is no approval in force.',
    });
  });

  test.each<[string, (fingerprint: string) => object, object, number, string]>([
    [
      'the submitter',
      (fingerprint) => ({ fingerprint }),
      { ...SHOP, kind: 'person' },
      403,
      '/problems/not-approver',
    ],
    ['another fingerprint', () => ({ fingerprint: `fp1:${'0'.repeat(64)}` }), ANN, 412, '/problems/stale'],
    ['no fingerprint', () => ({}), ANN, 400, '/problems/invalid-request'],
    [
      'an unknown field',
      (fingerprint) => ({ fingerprint, amount: 1 }),
      ANN,
      400,
      '/problems/invalid-request',
    ],
    [
      'a time that is over',
      (fingerprint) => ({ fingerprint, until: inMs(-1) }),
      ANN,
      400,
      '/problems/invalid-request',
    ],
    [
      'a time beyond the policy',
      (fingerprint) => ({ fingerprint, until: inMs(3_700_000) }),
      ANN,
      400,
      '/problems/invalid-request',
    ],
    [
      'a time without a zone',
      (fingerprint) => ({ fingerprint, until: '2099-01-01T00:00:00' }),
      ANN,
      400,
      '/problems/invalid-request',
    ],
    [
      'another tenant',
      (fingerprint) => ({ fingerprint }),
      { ...ANN, tenant: 'umbra' },
      404,
      '/problems/not-found',
    ],
    [
      'another unit',
      (fingerprint) => ({ fingerprint }),
      { ...ANN, unit: 'rental' },
      404,
      '/problems/not-found',
    ],
  ])('is refused for %s', async (_, body, claims, status, type) => {
    const { id, fingerprint } = await submitted();
    const answer = await put(id, body(fingerprint), claims);
    expect([answer.status, answer.json['type']]).toEqual([status, type]);
    expect((await rig.call('approval', { id })).json['approval']).toBeNull();
  });

  test("is never an agent's, whatever its token says", async () => {
    const { id, fingerprint } = await submitted();
    const answer = await put(id, { fingerprint }, { ...ANN, kind: 'agent' });
    expect([answer.status, answer.text]).toEqual([403, '{"message":"Forbidden"}']);
    expect((await rig.call('revoke', { id, claims: { ...ANN, kind: 'agent' } })).status).toBe(403);
  });

  test('is refused on a route with a standing permission, and for a malformed id', async () => {
    const { id, fingerprint } = await submitted('free');
    expect((await put(id, { fingerprint })).json).toMatchObject({
      status: 400,
      detail: 'This route has a standing permission; nothing is approved singly.',
    });
    expect((await put('nothing', { fingerprint })).status).toBe(404);
    expect((await rig.call('approval', { id: 'nothing' })).status).toBe(404);
  });
});

describe('a withdrawal', () => {
  test('closes what was never sent, and is answered the same again', async () => {
    const { id } = await submitted();
    const first = await rig.call('withdraw', { id });
    expect([first.status, first.json['state'], first.json['report']]).toEqual([200, 'closed', 'rejected']);
    expect((await rig.call('withdraw', { id })).json).toEqual(first.json);
    expect((await put(id, { fingerprint: 'fp1:x' })).json).toMatchObject({ status: 400 });
  });

  test.each<[string, object]>([
    ['another tenant', { ...SHOP, tenant: 'umbra' }],
    ['another unit', { ...SHOP, unit: 'rental' }],
  ])('of %s is not found and changes nothing', async (_, claims) => {
    const { id } = await submitted();
    const answer = await rig.call('withdraw', { id, claims });
    expect([answer.status, answer.json['type']]).toEqual([404, '/problems/not-found']);
    expect((await rig.call('show', { id })).json['state']).toBe('awaiting_approval');
  });
});

/** A caller that waits: how long, for what, and what it is told when the time is over. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { preferredWait } from '../../functions/waiting.ts';
import { type ApiRig, startApiRig } from '../support/api-rig.ts';

describe('the preference', () => {
  test.each<[string | undefined, number | null]>([
    [undefined, null],
    ['', null],
    ['wait=0', 0],
    ['wait=5', 5],
    ['Wait = 5', 5],
    ['wait="5"', 5],
    ['respond-async, wait=7', 7],
    ['wait=7;foo=bar', 7],
    ['wait=20', 20],
    ['wait=21', 20],
    ['wait=999999', 20],
    ['wait=9999999', null],
    ['wait=-1', null],
    ['wait=1.5', null],
    ['wait=five', null],
    ['wait', null],
    ['await=5', null],
  ])('%j is %s', (prefer, expected) => {
    expect(preferredWait({ headers: { prefer } })).toBe(expected);
  });
});

describe('an answer that is held', () => {
  let rig: ApiRig;
  beforeAll(async () => {
    rig = await startApiRig();
  });
  afterAll(() => rig.stop());

  const submit = (key: string, prefer?: string) =>
    rig.call('accept', {
      headers: { 'idempotency-key': key, ...(prefer === undefined ? {} : { prefer }) },
      body: JSON.stringify({ route: 'free', payload: { order_id: key, sku: 'TEA-01', quantity: 1 } }),
    });

  test('is the state that stands when the time is over, and says what was applied', async () => {
    const startedAt = performance.now();
    const answer = await submit('W-1', 'wait=1');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000);
    expect([answer.status, answer.json['state'], answer.headers['preference-applied']]).toEqual([
      202,
      'ready',
      'wait=1',
    ]);
  });

  test('comes at once when the intent settles meanwhile', async () => {
    const first = await submit('W-2');
    expect(first.headers['preference-applied']).toBeUndefined();
    const id = String(first.json['id']);
    const ledger = await rig.ledger();
    const stored = await ledger.read({ tenant: 'acme', intentId: id });
    if (stored === undefined) throw new Error('not stored');
    const waiting = rig.call('show', { id, headers: { prefer: 'wait=20' } });
    await ledger.save(stored, { ...stored, state: 'rejected', dueAt: null }, { kind: 'unchanged' });
    const startedAt = performance.now();
    const answer = await waiting;
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect([answer.status, answer.json['state']]).toEqual([200, 'rejected']);
  });

  test('of another unit is not held: it is not there', async () => {
    const { json } = await submit('W-3');
    const claims = { sub: 'x', tenant: 'acme', unit: 'rental', kind: 'service' };
    const startedAt = performance.now();
    expect(
      (await rig.call('show', { id: String(json['id']), headers: { prefer: 'wait=20' }, claims })).status,
    ).toBe(404);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

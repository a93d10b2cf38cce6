/** Who works on an intent, over the API: taking, giving back, taking over, and what stays of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { type Answer, type ApiRig, SHOP, startApiRig } from '../support/api-rig.ts';
import { BASE, problemOf } from './refused-requests.ts';

const ANN = { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person' };
const OTTO = { ...ANN, sub: 'otto' };
const TAKE_OVER = '{"takeOver":true}';
const OWNED = {
  status: 409,
  problem: {
    type: '/problems/owned',
    title: 'Somebody else works on this intent.',
    status: 409,
    detail: 'Read it to see who works on it, or send {"takeOver": true}.',
  },
};
let rig: ApiRig;
let count = 0;

beforeAll(async () => {
  rig = await startApiRig();
});
afterAll(() => rig?.stop());

async function submitted(): Promise<string> {
  count += 1;
  const headers = { 'idempotency-key': `own-${count}` };
  const answer = await rig.call('accept', { headers, body: JSON.stringify({ ...BASE, route: 'free' }) });
  expect(answer.status).toBe(202);
  return String(answer.json['id']);
}

const take = (id: string, claims: object = ANN, body = ''): Promise<Answer> =>
  rig.call('own', { id, claims, body });
const giveBack = (id: string, claims: object = ANN, body = ''): Promise<Answer> =>
  rig.call('disown', { id, claims, body });
const told = ({ status, json }: Answer) => ({ status, problem: json });

async function evidenceOf(id: string): Promise<Record<string, unknown>[]> {
  const { json } = await rig.call('evidence', { id });
  const items = json['items'] as { kind: string; facts: Record<string, unknown> }[];
  return items.filter((item) => item.kind === 'owner').map((item) => item.facts);
}

describe('an intent', () => {
  test('is taken by one person, who is shown to everybody', async () => {
    const id = await submitted();
    const taken = await take(id);
    expect(taken).toMatchObject({ status: 200, headers: { etag: '"2"' }, json: { owner: { by: 'ann' } } });
    expect((await rig.call('show', { id })).json).toEqual(taken.json);
    expect(String(taken.json['explanation'])).toContain('ann has worked on it since');
  });

  test('stays with whoever has it: others get 409, and nothing is changed', async () => {
    const id = await submitted();
    const before = (await take(id)).json;
    for (const refused of [
      await take(id, OTTO),
      await giveBack(id, OTTO),
      await take(id, OTTO, '{"takeOver":false}'),
    ])
      expect(told(refused)).toEqual(OWNED);
    expect((await rig.call('show', { id })).json).toEqual(before);
    expect(await evidenceOf(id)).toHaveLength(1);
  });

  test('is taken over when that is meant, and taken away likewise', async () => {
    const id = await submitted();
    await take(id);
    expect((await take(id, OTTO, TAKE_OVER)).json['owner']).toMatchObject({ by: 'otto' });
    expect((await giveBack(id, ANN, TAKE_OVER)).json['owner']).toBeNull();
  });

  test('taken twice is taken once, given back twice is given back once', async () => {
    const id = await submitted();
    const first = await take(id);
    expect((await take(id)).json).toEqual(first.json);
    expect((await take(id, ANN, TAKE_OVER)).json).toEqual(first.json);
    const back = await giveBack(id);
    expect(back.json).toMatchObject({ owner: null, version: 3 });
    expect((await giveBack(id)).json).toEqual(back.json);
    expect((await giveBack(id, OTTO)).json).toEqual(back.json);
    expect(await evidenceOf(id)).toHaveLength(2);
  });

  test('keeps every change in its evidence: who, what, from whom', async () => {
    const id = await submitted();
    await take(id);
    await take(id, OTTO, TAKE_OVER);
    await giveBack(id, OTTO);
    const at = expect.stringMatching(/Z$/);
    expect(await evidenceOf(id)).toEqual([
      { by: 'ann', did: 'took', from: null, version: 1 },
      { by: 'otto', did: 'took', from: { by: 'ann', at }, version: 2 },
      { by: 'otto', did: 'gave_back', from: { by: 'otto', at }, version: 3 },
    ]);
  });

  test('goes on as before: neither its state nor its next step changes, and no run starts', async () => {
    const id = await submitted();
    const before = (await rig.call('show', { id })).json;
    rig.starts.length = 0;
    const after = (await take(id)).json;
    expect([after['state'], after['nextAt']]).toEqual([before['state'], before['nextAt']]);
    expect(rig.starts).toEqual([]);
  });

  test('is taken by one of several who try at once', async () => {
    const id = await submitted();
    const people = Array.from({ length: 5 }, (_, number) => ({ ...ANN, sub: `person-${number}` }));
    const answers = await Promise.all(people.map((claims) => take(id, claims)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const winner = answers.find(({ status }) => status === 200)?.json['owner'];
    expect((await rig.call('show', { id })).json['owner']).toEqual(winner);
  });

  test.each<Partial<Intent>>([
    { state: 'handover', handover: { reason: 'exhausted', candidates: [], at: 1 } },
    { state: 'rejected', dueAt: null },
  ])('%j can be taken too', async (change) => {
    const id = await submitted();
    const ledger = await rig.ledger();
    const stored = await ledger.read({ tenant: 'acme', intentId: id });
    if (stored === undefined) throw new Error('not stored');
    await ledger.save(stored, { ...stored, ...change }, { kind: 'unchanged' });
    expect((await take(id)).json).toMatchObject({ state: change.state, owner: { by: 'ann' } });
  });
});

describe('nobody takes what is not theirs to take', () => {
  test.each<[string, object]>([
    ['another tenant', { ...ANN, tenant: 'umbra' }],
    ['another unit', { ...ANN, unit: 'rental' }],
  ])('%s is told that there is none', async (_, claims) => {
    const id = await submitted();
    const absent = await take(`int_${'0'.repeat(40)}`);
    expect(told(absent)).toEqual(problemOf('not-found'));
    for (const answer of [await take(id, claims, TAKE_OVER), await giveBack(id, claims, TAKE_OVER)])
      expect([answer.status, answer.headers, answer.text]).toEqual([404, absent.headers, absent.text]);
    expect((await rig.call('show', { id })).json['owner']).toBeNull();
  });

  test('an agent is forbidden, whatever its token says', async () => {
    const id = await submitted();
    for (const name of ['own', 'disown'])
      expect(await rig.call(name, { id, claims: { ...SHOP, kind: 'agent' } })).toMatchObject({ status: 403 });
  });

  test.each(['[]', '{"takeOver":"yes"}', '{"by":"otto"}', 'x'])('the body %s is refused', async (body) => {
    const id = await submitted();
    expect((await take(id, ANN, body)).json).toMatchObject({
      status: 400,
      type: '/problems/invalid-request',
    });
    expect((await giveBack(id, ANN, body)).status).toBe(400);
  });
});

/** Intake: what is taken, what is the same again, what is a conflict, and the exact answer to all that is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Answer, type ApiRig, type Call, type Claims, SHOP, startApiRig } from '../support/api-rig.ts';
import {
  BASE,
  LIMITS,
  PAYLOAD,
  padded,
  problemOf,
  REFUSED_FIELDS,
  REFUSED_JSON,
  REFUSED_KEYS,
  type Refused,
} from './refused-requests.ts';

let rig: ApiRig;
let count = 0;

beforeAll(async () => {
  rig = await startApiRig();
});

afterAll(async () => {
  await rig?.stop();
});

beforeEach(() => {
  rig.starts.length = 0;
  rig.proxy.plan(null);
});

interface Offer {
  readonly key?: string | null;
  readonly claims?: Claims | null;
  readonly text?: string;
  readonly [field: string]: unknown;
}

function submit({ key = 'K-1', claims = SHOP, text, ...body }: Offer): Promise<Answer> {
  const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
  return rig.call('accept', { headers, claims, body: text ?? JSON.stringify({ ...BASE, ...body }) });
}

function freshKey(): string {
  count += 1;
  return `fresh-${count}`;
}

function order(change: object): Offer {
  return { payload: { ...PAYLOAD, ...change } };
}

describe.each([
  ['keys', REFUSED_KEYS],
  ['JSON', REFUSED_JSON],
  ['limits', LIMITS],
  ['fields', REFUSED_FIELDS],
] as const)('refused %s', (_, rows) => {
  test.each(rows)('$title', async ({ key = freshKey(), body = {}, status, problem }: Refused) => {
    const before = (await rig.rows()).length;
    const answer = await submit(typeof body === 'string' ? { key, text: body } : { key, ...body });
    expect({ status: answer.status, problem: answer.json }).toEqual({ status, problem });
    expect(answer.headers).toEqual({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    });
    expect((await rig.rows()).length, 'nothing is stored').toBe(before);
    expect(rig.starts).toEqual([]);
  });
});

test("another tenant's route is refused in the same bytes as one that is not there", async () => {
  const [theirs, absent] = [await submit({ route: 'umbra-free' }), await submit({ route: 'umbra-fre3' })];
  expect({ ...theirs, json: null }).toEqual({ ...absent, json: null });
});

test('bytes that are not UTF-8 are refused, not replaced', async () => {
  const text = JSON.stringify({ ...BASE, payload: { ...PAYLOAD, sku: '?' } });
  const body = Buffer.from(text).map((byte) => (byte === 0x3f ? 0xff : byte));
  const call: Call = {
    headers: { 'idempotency-key': freshKey() },
    body: Buffer.from(body).toString('base64'),
    base64: true,
  };
  const answer = await rig.call('accept', call);
  expect({ status: answer.status, problem: answer.json }).toEqual(
    problemOf('invalid-request', { detail: 'The body is not UTF-8.' }),
  );
});

describe('taken', () => {
  test.each([
    ['255 characters', 'k'.repeat(255), 'k'.repeat(255)],
    ['every other visible character', `!#$%&'()*+-./:;<=>?@[]^_\`{|}aZ9`, `!#$%&'()*+-./:;<=>?@[]^_\`{|}aZ9`],
    ['one pair of quotes is taken off', '"quoted"', 'quoted'],
    ['255 characters in quotes', `"${'q'.repeat(255)}"`, 'q'.repeat(255)],
    ['white space around it is not the key', '  padded\t', 'padded'],
  ])('a key of %s', async (_, key, stored) => {
    const answer = await submit({ key });
    expect({ status: answer.status, key: answer.json['key'] }).toEqual({ status: 202, key: stored });
  });

  test('a new order: 202, where it is, its version as ETag, and one start', async () => {
    const key = freshKey();
    const answer = await submit({ key });
    const id = String(answer.json['id']);
    expect(answer.status).toBe(202);
    expect(answer.headers).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      etag: '"1"',
      location: `/intents/${id}`,
      'content-language': 'en',
      vary: 'accept-language',
    });
    expect(answer.json).toEqual({
      ...{
        id,
        key,
        route: 'free',
        state: 'ready',
        report: 'unconfirmed',
        attempts: 0,
        errorKinds: [],
        conflicts: 0,
      },
      ...{ externalId: null, acknowledgedId: null, receipt: null, version: 1 },
      // biome-ignore lint/suspicious/noThenProperty: a member of the answer, never awaited.
      ...{ then: null, corrects: null, waitsFor: null, owner: null, proposal: null },
      ...{ reason: null, outcome: null },
      nextAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      explanation: expect.stringContaining('Nothing was sent yet.'),
    });
    expect(rig.starts).toEqual([{ name: `${id}-1`, input: { tenant: 'acme', intentId: id, route: 'free' } }]);
  });

  test('the workflow is told ids only: neither the key nor the payload', async () => {
    await submit({ key: 'secret-key', ...order({ sku: 'secret-sku' }) });
    expect(JSON.stringify(rig.starts)).not.toMatch(/secret|TEA/);
    expect(rig.logged()).not.toMatch(/secret-sku|TEA-01/);
  });

  test('a body of exactly 65 536 bytes', async () => {
    expect(await submit({ key: freshKey(), text: padded(65_536) })).toMatchObject({ status: 202 });
  });

  test('a body in base64, as the gateway sends one without a type', async () => {
    const body = Buffer.from(JSON.stringify(BASE)).toString('base64');
    const headers = { 'idempotency-key': freshKey() };
    expect(await rig.call('accept', { headers, body, base64: true })).toMatchObject({ status: 202 });
  });

  test('an order planned for later is stored and due then, and nothing is started', async () => {
    const plannedAt = '2090-01-01T01:00:00+01:00';
    const answer = await submit({ key: freshKey(), plannedAt, sendBy: '2090-01-02T00:00:00Z' });
    expect(answer).toMatchObject({ status: 202, json: { nextAt: '2090-01-01T00:00:00.000Z' } });
    expect(rig.starts).toEqual([]);
  });

  test('trace ids of 128 characters are kept with the intent', async () => {
    const traceIds = { call: 'c'.repeat(128), conversation: 'v', worker: 'w' };
    const { json } = await submit({ key: freshKey(), traceIds });
    const stored = await rig
      .ledger()
      .then((ledger) => ledger.read({ tenant: 'acme', intentId: String(json['id']) }));
    expect(stored?.traceIds).toEqual(traceIds);
  });

  test('on a route whose permission has lapsed it waits, and nothing is started', async () => {
    const answer = await submit({ key: freshKey(), route: 'lapsed' });
    expect(answer).toMatchObject({ status: 202, json: { state: 'awaiting_approval' } });
    expect(rig.starts).toEqual([]);
  });
});

describe('the same key again', () => {
  const SAME: readonly (readonly [string, string])[] = [
    [
      'members in another order',
      '{"payload":{"quantity":2,"order_id":"PO-37","sku":"caf\\u00e9\\nA"},"route":"free"}',
    ],
    ['2.0 for 2', '{"route":"free","payload":{"order_id":"PO-37","sku":"caf\\u00e9\\nA","quantity":2.0}}'],
    ['2e0 for 2', '{"route":"free","payload":{"order_id":"PO-37","sku":"caf\\u00e9\\nA","quantity":2e0}}'],
    ['CRLF for LF', '{"route":"free","payload":{"order_id":"PO-37","sku":"caf\\u00e9\\r\\nA","quantity":2}}'],
    ['CR for LF', '{"route":"free","payload":{"order_id":"PO-37","sku":"caf\\u00e9\\rA","quantity":2}}'],
    [
      'a decomposed letter',
      '{"route":"free","payload":{"order_id":"PO-37","sku":"cafe\\u0301\\nA","quantity":2}}',
    ],
    [
      'a parent of null said aloud',
      '{"parent":null,"route":"free","payload":{"order_id":"PO-37","sku":"caf\\u00e9\\nA","quantity":2}}',
    ],
  ];

  test.each(SAME)('with %s is the same intent: 200, the same id, no second start', async (_, text) => {
    const key = freshKey();
    const first = await submit({ key, ...order({ sku: 'café\nA' }) });
    const again = await submit({ key, text });
    expect([first.status, again.status]).toEqual([202, 200]);
    expect({ ...again, status: 0, text: '' }).toEqual({ ...first, status: 0, text: '' });
    expect(rig.starts).toHaveLength(1);
  });

  test('from three callers of a unit at once: one 202, two 200, one id, one start', async () => {
    const key = freshKey();
    const callers = ['desk', 'worker', 'phone'].map((sub) => submit({ key, claims: { ...SHOP, sub } }));
    const answers = await Promise.all(callers);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 202]);
    expect(new Set(answers.map((answer) => answer.json['id'])).size).toBe(1);
    expect(rig.starts).toHaveLength(1);
  });

  test.each([
    ['another quantity', order({ quantity: 3 })],
    ['another sku', order({ sku: 'TEA-02' })],
    ['a compatibility form of a letter', order({ sku: 'TEA-０1' })],
    ['a blank more', order({ sku: 'TEA-01 ' })],
    ['another account', { route: 'free-osaka' }],
  ])('with %s is a conflict that reveals nothing: 409, evidence stored, no start', async (_, change) => {
    const key = freshKey();
    const first = await submit({ key });
    const second = await submit({ key, ...change });
    expect({ status: second.status, problem: second.json }).toEqual(CONFLICT);
    expect(Object.keys(second.headers).sort()).toEqual(['cache-control', 'content-type']);
    expect(rig.starts).toHaveLength(1);
    const evidence = await evidenceOf(String(first.json['id']));
    expect(evidence).toEqual([expect.objectContaining({ kind: 'conflict' })]);
    expect(JSON.stringify(evidence), 'fingerprints, no payload').not.toMatch(/TEA|PO-37/);
  });

  test('a conflict that comes three times is one, and the first request still stands', async () => {
    const key = freshKey();
    const first = await submit({ key });
    for (let time = 0; time < 3; time += 1) {
      expect(await submit({ key, ...order({ quantity: 3 }) })).toMatchObject({ status: 409 });
    }
    expect(await submit({ key })).toMatchObject({
      status: 200,
      json: { id: first.json['id'], state: 'ready', conflicts: 1 },
    });
  });

  test('a conflict counts also where another write came between', async () => {
    const key = freshKey();
    const { json } = await submit({ key });
    const ref = { tenant: 'acme', intentId: String(json['id']) };
    const ledger = await rig.ledger();
    const stored = await ledger.read(ref);
    if (stored === undefined) throw new Error('Not stored.');
    const before = rig.proxy.bites();
    // The evidence is stored, its answer stays out for as long as the rival writes.
    rig.proxy.plan({ call: 'evidence', fault: 'stalled' });
    const conflict = submit({ key, ...order({ quantity: 3 }) });
    await vi.waitUntil(() => rig.proxy.bites() > before, { timeout: 20_000, interval: 5 });
    expect(await ledger.save(stored, { ...stored, runs: 2 }, { kind: 'unchanged' })).toMatchObject({
      kind: 'saved',
    });
    expect((await conflict).json).toEqual(CONFLICT.problem);
    expect(await submit({ key })).toMatchObject({ json: { conflicts: 1 } });
  });

  test('a conflict on a settled intent is kept, and the intent stays settled', async () => {
    const key = freshKey();
    const { json } = await submit({ key });
    const intentId = String(json['id']);
    const ledger = await rig.ledger();
    const stored = await ledger.read({ tenant: 'acme', intentId });
    if (stored === undefined) throw new Error('Not stored.');
    const settled = { ...stored, state: 'rejected', dueAt: null } as const;
    expect(await ledger.save(stored, settled, { kind: 'unchanged' })).toMatchObject({ kind: 'saved' });
    expect((await submit({ key, ...order({ quantity: 3 }) })).json).toEqual(CONFLICT.problem);
    expect(await submit({ key })).toMatchObject({
      status: 200,
      json: { state: 'rejected', nextAt: null, conflicts: 1 },
    });
    expect(rig.starts).toHaveLength(1);
  });
});

const CONFLICT = problemOf('key-conflict', {
  detail: 'The first request stands. Nothing was sent for this one.',
});

describe('equal keys of others never meet', () => {
  test.each([
    ['another tenant', { claims: { ...SHOP, tenant: 'umbra' }, route: 'umbra-free' }],
    ['another unit', { claims: { ...SHOP, unit: 'events' } }],
    ['another environment', { route: 'free-production' }],
    ['another action', { route: 'keyed', key: 'PO-37' }],
    ['another case', { key: 'po-37' }],
  ])('%s has an intent of its own, whatever it asks for', async (_, other) => {
    const change = { key: 'PO-37', ...order({ quantity: 7 }), ...other };
    const [mine, theirs] = [await submit({ key: 'PO-37' }), await submit(change)];
    expect([200, 202]).toContain(mine.status);
    expect(theirs.status).toBe(202);
    expect(theirs.json['id']).not.toBe(mine.json['id']);
  });
});

describe('callers', () => {
  test.each([
    ['no claims at all', null],
    ['no tenant', { sub: 'shop', unit: 'sales', kind: 'service' }],
    ['no unit', { sub: 'shop', tenant: 'acme', kind: 'service' }],
    ['no subject', { tenant: 'acme', unit: 'sales', kind: 'service' }],
    ['no kind', { sub: 'shop', tenant: 'acme', unit: 'sales' }],
    ['an unknown kind', { ...SHOP, kind: 'robot' }],
    ['an empty tenant', { ...SHOP, tenant: '' }],
    ['a separator in the tenant', { ...SHOP, tenant: 'acme#I#int_0' }],
    ['a separator in the unit', { ...SHOP, unit: 'sales#2026-11-30' }],
  ])('with %s are forbidden, as the gateway says it, and nothing is stored', async (_, claims) => {
    const before = (await rig.rows()).length;
    const answer = await submit({ key: freshKey(), claims });
    expect({ status: answer.status, text: answer.text }).toEqual({
      status: 403,
      text: '{"message":"Forbidden"}',
    });
    expect((await rig.rows()).length).toBe(before);
  });

  test.each(['person', 'service', 'agent'])('of kind %s may submit', async (kind) => {
    expect(await submit({ key: freshKey(), claims: { ...SHOP, kind } })).toMatchObject({ status: 202 });
  });
});

async function evidenceOf(id: string): Promise<unknown> {
  return (await rig.call('evidence', { id })).json['items'];
}

/** Reading, listing and looking again: the caller's own, and nothing that tells of anybody else's. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { type Answer, type ApiRig, type Claims, SHOP, startApiRig } from '../support/api-rig.ts';
import { ACKNOWLEDGED, attemptOf } from '../support/kit.ts';
import { BASE, problemOf } from './refused-requests.ts';

const UMBRA = { ...SHOP, tenant: 'umbra' };
const EVENTS = { ...SHOP, unit: 'events' };
const NOT_FOUND = '{"type":"/problems/not-found","title":"There is no such intent.","status":404}';
const OF_ONE = ['show', 'evidence', 'receipt', 'manifest', 'reconcile'] as const;
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
});

afterEach(() => {
  rig.proxy.plan(null);
  rig.machineAway(false);
});

async function submitted(claims: Claims = SHOP, key?: string): Promise<string> {
  count += 1;
  const body = JSON.stringify({ ...BASE, route: claims.tenant === 'umbra' ? 'umbra-free' : 'free' });
  const headers = { 'idempotency-key': key ?? `read-${count}` };
  const answer = await rig.call('accept', { headers, body, claims });
  expect(answer.status).toBe(202);
  rig.starts.length = 0;
  return String(answer.json['id']);
}

/** Writes a later state of a submitted intent. */
async function moved(intentId: string, change: Partial<Intent>): Promise<void> {
  const ledger = await rig.ledger();
  const stored = await ledger.read({ tenant: 'acme', intentId });
  if (stored === undefined) throw new Error(`Intent ${intentId} is not stored.`);
  const saved = await ledger.save(stored, { ...stored, ...change }, { kind: 'unchanged' });
  expect(saved.kind).toBe('saved');
}

const SEEN = { attempts: [attemptOf(1, { result: ACKNOWLEDGED })], seenAt: 1, acknowledgedId: 'R-1' };
const CONFIRMED: Partial<Intent> = {
  ...SEEN,
  state: 'confirmed',
  dueAt: null,
  externalId: 'R-1',
  receipt: {
    schema: 'kakutei-receipt/v1',
    externalId: 'R-1',
    url: null,
    checks: { account: true, quantity: true },
    readAt: Date.parse('2026-11-30T09:00:01Z'),
    payloadDigest: 'd1',
    promiseClass: 'keyed',
    searchedWhole: true,
  },
};

describe("what is not the caller's own answers as what does not exist", () => {
  test.each(OF_ONE)('%s: byte for byte, header for header', async (name) => {
    const theirs = await submitted(UMBRA, `theirs-${name}`);
    const otherUnit = await submitted(EVENTS, `unit-${name}`);
    const absent = `int_${'0'.repeat(40)}`;
    const malformed = ['', 'int_', '1', absent.toUpperCase(), `${absent}0`, 'x#y', '../int_0', '__proto__'];
    const ids = [absent, theirs, otherUnit, ...malformed];
    const answers = await Promise.all(ids.map((id) => rig.call(name, { id })));
    answers.push(await rig.call(name, {}));
    for (const { status, headers, text } of answers) {
      expect({ status, headers, text }).toEqual({
        status: 404,
        headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
        text: NOT_FOUND,
      });
    }
    expect(rig.starts).toEqual([]);
  });

  test.each(OF_ONE)('%s without claims is forbidden', async (name) => {
    const answer = await rig.call(name, { id: await submitted(), claims: null });
    expect({ status: answer.status, text: answer.text }).toEqual({
      status: 403,
      text: '{"message":"Forbidden"}',
    });
  });

  test.each([
    ['show', 200],
    ['evidence', 200],
    ['receipt', 404],
    ['manifest', 200],
    ['reconcile', 403],
    ['list', 200],
  ])('an agent that calls %s gets %i', async (name, status) => {
    const call = name === 'list' ? {} : { id: await submitted() };
    expect(await rig.call(name, { ...call, claims: { ...SHOP, kind: 'agent' } })).toMatchObject({ status });
    expect(rig.starts).toEqual([]);
  });
});

describe('one intent', () => {
  test('its ETag is its version, and grows with it', async () => {
    const id = await submitted();
    expect(await rig.call('show', { id })).toMatchObject({
      status: 200,
      headers: { etag: '"1"' },
      json: { version: 1 },
    });
    await moved(id, { state: 'unknown' });
    expect(await rig.call('show', { id })).toMatchObject({
      headers: { etag: '"2"' },
      json: { version: 2, state: 'unknown' },
    });
  });

  test('an id that was seen but not verified is never shown as the external id', async () => {
    const id = await submitted();
    await moved(id, { ...SEEN, state: 'acknowledged' });
    expect((await rig.call('show', { id })).json).toMatchObject({
      ...{ state: 'acknowledged', report: 'unconfirmed', attempts: 1 },
      ...{ externalId: null, acknowledgedId: 'R-1', receipt: null },
    });
  });

  test('there is no receipt before it is confirmed, then there is one', async () => {
    const id = await submitted();
    expect((await rig.call('receipt', { id })).text).toBe(NOT_FOUND);
    await moved(id, CONFIRMED);
    const { status, json } = await rig.call('receipt', { id });
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        ...CONFIRMED.receipt,
        schema: 'kakutei-receipt/v2',
        intentId: id,
        key: `read-${count}`,
        ...{ route: 'free', account: 'tokyo-1', environment: 'test', action: 'reserve-freely', parent: null },
        fingerprint: expect.stringMatching(/^fp1:[0-9a-f]{64}$/),
        readAt: '2026-11-30T09:00:01.000Z',
        attempts: 1,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect((await rig.call('show', { id })).json).toMatchObject({
      externalId: 'R-1',
      nextAt: null,
      receipt: {
        ...CONFIRMED.receipt,
        ...{ intentId: id, fingerprint: json['fingerprint'], readAt: json['readAt'] },
      },
    });
  });

  test('its evidence comes in pages, complete and without repeats, and holds no payload', async () => {
    const id = await submitted();
    const ledger = await rig.ledger();
    const ids = Array.from({ length: 5 }, (_, number) => `s-${number}`);
    for (const each of ids) {
      await ledger.addEvidence(
        { tenant: 'acme', intentId: id },
        { kind: 'search', id: each, at: 1000, facts: { candidates: [] } },
      );
    }
    const pages = await allPages('evidence', { id }, 2);
    expect(pages.map((page) => (page.json['items'] as unknown[]).length).slice(0, 3)).toEqual([2, 2, 1]);
    const items = pages.flatMap((page) => page.json['items'] as { id: string }[]);
    expect(items.map((item) => item.id)).toEqual(ids);
    expect(items[0]).toEqual({
      kind: 'search',
      id: 's-0',
      at: '1970-01-01T00:00:01.000Z',
      facts: { candidates: [] },
    });
    expect(pages[0]?.json).toMatchObject({ intentId: id, attempts: [] });
    expect(pages.map((page) => page.text).join()).not.toMatch(/TEA-01|PO-37/);
  });

  test('its attempts are shown with their results', async () => {
    const id = await submitted();
    await moved(id, CONFIRMED);
    expect((await rig.call('evidence', { id })).json['attempts']).toEqual([
      {
        ...{ number: 1, evidenceId: 'a1', permission: 'test-1' },
        ...{ claimedAt: '2026-11-30T09:00:00.000Z', sendBefore: '2026-11-30T09:00:10.000Z' },
        result: { ...ACKNOWLEDGED, at: '2026-11-30T09:00:00.050Z' },
      },
    ]);
  });
});

/** Follows the cursor to its end. */
async function allPages(
  name: string,
  call: { id?: string; claims?: Claims },
  limit: number,
): Promise<Answer[]> {
  const pages: Answer[] = [];
  let cursor: string | null = null;
  do {
    const query: Record<string, string> = { limit: String(limit), ...(cursor === null ? {} : { cursor }) };
    const page = await rig.call(name, { ...call, query });
    expect(page.status).toBe(200);
    pages.push(page);
    cursor = page.json['cursor'] as string | null;
  } while (cursor !== null && pages.length < 20);
  return pages;
}

describe('the list', () => {
  const LISTER = { ...SHOP, unit: 'listing' };

  test("holds the unit's intents of a day, newest first, complete in pages and without repeats", async () => {
    const ids: string[] = [];
    for (let number = 0; number < 7; number += 1) ids.unshift(await submitted(LISTER));
    await submitted(UMBRA);
    await submitted(EVENTS);
    const pages = await allPages('list', { claims: LISTER }, 3);
    expect(idsIn(pages)).toEqual(ids);
    expect(idsIn(await allPages('list', { claims: LISTER }, 100))).toEqual(ids);
    expect(pages[0]?.json['day']).toBe(new Date().toISOString().slice(0, 10));
  });

  test('of another day is empty, and of another unit holds none of these', async () => {
    const id = await submitted(LISTER);
    const query = { day: '2026-01-31' };
    const { json } = await rig.call('list', { query, claims: LISTER });
    expect(json).toEqual({ day: '2026-01-31', items: [], cursor: null });
    expect(idsIn(await allPages('list', { claims: UMBRA }, 100))).not.toContain(id);
    expect(idsIn(await allPages('list', { claims: { ...UMBRA, unit: 'listing' } }, 100))).toEqual([]);
  });

  test('finds one intent by route and key, for its own unit only', async () => {
    const id = await submitted(LISTER, 'by-key');
    const find = (query: Record<string, string>, claims: Claims = LISTER) =>
      rig.call('list', { query, claims });
    expect(idsIn([await find({ route: 'free', key: 'by-key' })])).toEqual([id]);
    for (const [query, claims] of [
      [{ route: 'free', key: 'BY-KEY' }, LISTER],
      [{ route: 'nowhere', key: 'by-key' }, LISTER],
      [{ route: 'free-production', key: 'by-key' }, LISTER],
      [{ route: 'free', key: 'by-key' }, SHOP],
      [
        { route: 'free', key: 'by-key' },
        { ...LISTER, tenant: 'umbra' },
      ],
    ] as const) {
      expect((await find(query, claims)).json).toEqual({ items: [], cursor: null });
    }
  });

  const LIMIT = 'limit must be a whole number from 1 to 100.';
  const KNOWN = 'Known query parameters: day, limit, cursor, route, key.';
  const CURSOR = 'Cannot page on from a cursor that is not ours.';

  test.each([
    [{ day: 'today' }, 'day must be YYYY-MM-DD (UTC).'],
    [{ day: '2026-13-01' }, 'day must be YYYY-MM-DD (UTC).'],
    [{ day: '2026-11-30#x' }, 'day must be YYYY-MM-DD (UTC).'],
    ...['0', '101', '-1', '1.5', '1e1', '', ' 5', '0x10', '9999'].map((limit) => [{ limit }, LIMIT] as const),
    [{ state: 'unknown' }, KNOWN],
    [{ Day: '2026-11-30' }, KNOWN],
    [{ route: 'free' }, 'route and key go together.'],
    [{ key: 'K-1' }, 'route and key go together.'],
    [{ cursor: '' }, CURSOR],
    [{ cursor: 'bm90IGpzb24' }, CURSOR],
    [{ cursor: base64url('null') }, CURSOR],
    [{ cursor: base64url('[]') }, CURSOR],
    [{ cursor: base64url('{"listDay":"umbra#sales#2026-11-30"}') }, CURSOR],
  ] as const)('refuses %j', async (query, detail) => {
    const answer = await rig.call('list', { query });
    expect({ status: answer.status, problem: answer.json }).toEqual(problemOf('invalid-request', { detail }));
  });

  test.each(['1', '100', '007'])('takes a limit of %s', async (limit) => {
    expect(await rig.call('list', { query: { limit } })).toMatchObject({ status: 200 });
  });

  test("a cursor of another unit's list, or of evidence, leads nowhere", async () => {
    const id = await submitted(LISTER);
    await submitted(LISTER);
    const first = await rig.call('list', { query: { limit: '1' }, claims: LISTER });
    const cursor = String(first.json['cursor']);
    for (const [name, call] of [
      ['list', { claims: EVENTS }],
      ['list', { claims: { ...LISTER, tenant: 'umbra' } }],
      ['evidence', { id, claims: LISTER }],
    ] as const) {
      const answer = await rig.call(name, { ...call, query: { cursor } });
      expect({ status: answer.status, problem: answer.json }).toEqual(
        problemOf('invalid-request', { detail: CURSOR }),
      );
    }
  });

  test('a cursor of the own list that was tampered with is refused, not taken for a ledger that is away', async () => {
    const listDay = `acme#sales#${new Date().toISOString().slice(0, 10)}`;
    for (const made of [
      { listDay },
      { listDay, pk: 1, sk: {}, createdAt: 'x' },
      { listDay, more: 'x'.repeat(3000) },
    ]) {
      const cursor = base64url(JSON.stringify(made));
      const answer = await rig.call('list', { query: { cursor } });
      expect({ status: answer.status, problem: answer.json }).toEqual(
        problemOf('invalid-request', { detail: CURSOR }),
      );
    }
  });
});

function idsIn(pages: readonly Answer[]): string[] {
  return pages.flatMap((page) => (page.json['items'] as { id: string }[]).map((item) => item.id));
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

test.each([
  ['show', { limit: '5' }, 'none'],
  ['receipt', { day: '2026-11-30' }, 'none'],
  ['manifest', { day: '2026-11-30' }, 'none'],
  ['evidence', { offset: '5' }, 'limit, cursor'],
  ['evidence', { limit: '5', Cursor: 'x' }, 'limit, cursor'],
])('%s refuses the query %j', async (name, query, known) => {
  const answer = await rig.call(name, { id: await submitted(), query });
  expect({ status: answer.status, problem: answer.json }).toEqual(
    problemOf('invalid-request', { detail: `Known query parameters: ${known}.` }),
  );
});

describe('look again', () => {
  test.each(['', '{}', ' { } '])('with body "%s" starts the next run: 202', async (body) => {
    const id = await submitted();
    const answer = await rig.call('reconcile', { id, body });
    expect(answer).toMatchObject({ status: 202, json: { id, state: 'ready' } });
    expect(rig.starts).toEqual([{ name: `${id}-2`, input: { tenant: 'acme', intentId: id, route: 'free' } }]);
    expect(answer.headers['etag']).toBe((await rig.call('show', { id })).headers['etag']);
  });

  test.each([
    ['unknown', 202],
    ['acknowledged', 202],
    ['absent', 202],
    ['sending', 200],
    ['rejected', 200],
  ] as const)('at an intent that is %s answers %i', async (state, status) => {
    const id = await submitted();
    await moved(id, { ...SEEN, state, ...(state === 'rejected' ? { dueAt: null } : {}) });
    expect(await rig.call('reconcile', { id })).toMatchObject({ status, json: { state } });
    expect(rig.starts).toHaveLength(status === 202 ? 1 : 0);
  });

  test('at a confirmed intent there is nothing to do: 200, nothing is written', async () => {
    const id = await submitted();
    await moved(id, CONFIRMED);
    expect(await rig.call('reconcile', { id })).toMatchObject({
      status: 200,
      json: { state: 'confirmed', version: 2 },
    });
    expect(rig.starts).toEqual([]);
  });

  test.each([
    ['{"look":"now"}', { errors: [{ pointer: '', detail: 'Unknown: look' }] }],
    ['[]', { errors: [{ pointer: '', detail: 'Invalid input: expected object, received array' }] }],
    ['look', { detail: 'The body is not one JSON value.' }],
  ])('refuses the body %s and writes nothing', async (body, extras) => {
    const id = await submitted();
    const answer = await rig.call('reconcile', { id, body });
    expect({ status: answer.status, problem: answer.json }).toEqual(problemOf('invalid-request', extras));
    expect(await rig.call('show', { id })).toMatchObject({ json: { version: 1 } });
    expect(rig.starts).toEqual([]);
  });

  test('with the machine away it is 202 still, and due within a minute', async () => {
    const id = await submitted();
    rig.machineAway(true);
    const { status, json } = await rig.call('reconcile', { id });
    expect(status).toBe(202);
    expect(rig.starts.length, 'the machine was asked').toBeGreaterThan(0);
    expect(Date.parse(String(json['nextAt'])) - Date.now()).toBeLessThanOrEqual(60_000);
  });
});

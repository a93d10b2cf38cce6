/** The queue over the API: whose it is, in which language, and how it is paged. What it says is tested below it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { type Answer, type ApiRig, type Claims, startApiRig } from '../support/api-rig.ts';
import { IN_STATE } from '../support/kit.ts';
import { problemOf } from './refused-requests.ts';

const ANN = { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person' };
const SINCE = Date.parse('2020-01-01T00:00:00Z');
const IDS: string[] = [];
let rig: ApiRig;
let count = 0;

/** Of acme/sales seven, between them as many of another unit, and one of another tenant. */
beforeAll(async () => {
  rig = await startApiRig();
  for (let each = 0; each < 7; each += 1) {
    IDS.push(await stored({ unknownSince: SINCE + each * 1000 }));
    await stored({ unit: 'rental', unknownSince: SINCE + each * 1000 + 500 });
  }
  await stored({ tenant: 'umbra', route: 'umbra-free', account: 'kobe-1', unknownSince: SINCE });
});
afterAll(() => rig?.stop());

/** An intent that the API did not see come, unknown unless told otherwise. */
async function stored(change: Partial<Intent>): Promise<string> {
  count += 1;
  const id = `int_${String(count).padStart(40, '0')}`;
  const fixed = { id, submitToken: id, route: 'free', action: 'reserve-freely' };
  const created = await (await rig.ledger()).create({ ...IN_STATE.unknown, ...fixed, ...change });
  expect(created.kind).toBe('created');
  return id;
}

const ask = (query: Record<string, string> = {}, claims: Claims = ANN, headers = {}): Promise<Answer> =>
  rig.call('queue', { query, claims, headers });
const itemsOf = ({ json }: Answer) => json['items'] as Readonly<Record<string, unknown>>[];
const idsOf = (answer: Answer) => itemsOf(answer).map((item) => item['id']);

describe('what is doubtful', () => {
  test('is the unit’s own, the oldest first', async () => {
    const answer = await ask();
    expect(answer).toMatchObject({ status: 200, json: { list: 'doubtful', cursor: null } });
    expect(idsOf(answer)).toEqual(IDS);
  });

  test('tells age, facts, whether a resend is allowed and why not', async () => {
    const [first] = itemsOf(await ask({ limit: '1' }));
    expect(first).toMatchObject({
      ...{ id: IDS[0], state: 'unknown', report: 'unconfirmed', externalId: null, owner: null },
      since: '2020-01-01T00:00:00.000Z',
      facts: { account: 'tokyo-1', environment: 'test', attempts: [{ number: 1 }], lastSearch: null },
      lastTrustworthySearchAt: null,
      resend: { allowed: false, reasons: expect.arrayContaining(['search_first']) },
      allowedDecisions: [],
    });
    expect(first?.['ageMs']).toBeGreaterThan(0);
  });

  test('comes in full pages, complete and without repeats', async () => {
    const pages: Answer[] = [];
    let cursor: string | null = null;
    do {
      const page = await ask({ limit: '3', ...(cursor === null ? {} : { cursor }) });
      expect(page.status).toBe(200);
      pages.push(page);
      cursor = page.json['cursor'] as string | null;
    } while (cursor !== null && pages.length < 20);
    expect(pages.flatMap(idsOf)).toEqual(IDS);
    expect(pages.slice(0, 2).map((page) => idsOf(page).length)).toEqual([3, 3]);
  });

  test.each<[Claims, number]>([
    [{ ...ANN, unit: 'rental' }, 7],
    [{ ...ANN, tenant: 'umbra' }, 1],
    [{ ...ANN, tenant: 'umbra', unit: 'rental' }, 0],
  ])('of %j is another list', async (claims, expected) => {
    const ids = idsOf(await ask({}, claims));
    expect(ids).toHaveLength(expected);
    expect(ids.filter((id) => IDS.includes(String(id)))).toEqual([]);
  });
});

test('what was approved and is not confirmed in time is a list of its own', async () => {
  const signed = (at: number) => ({
    plannedAt: at,
    approval: {
      fingerprint: 'fp1:x',
      policyVersion: 'p1',
      until: Date.now() + 3_600_000,
      signatures: [{ by: 'ann', at }],
      revoked: null,
    },
    ...({ state: 'ready', route: 'signed', action: 'reserve-signed' } as const),
  });
  const late = await stored(signed(Date.now() - 2 * 3_600_000));
  await stored(signed(Date.now() - 60_000));
  const answer = await ask({ list: 'approved' });
  expect([answer.json['list'], idsOf(answer)]).toEqual(['approved', [late]]);
  expect(idsOf(await ask())).not.toContain(late);
});

describe('its words', () => {
  test.each([
    ['ja-JP, en;q=0.5', 'ja', '未確定'],
    ['en', 'en', 'undetermined'],
  ])('for %s are in %s', async (wish, language, word) => {
    const answer = await ask({ limit: '1' }, ANN, { 'accept-language': wish });
    expect(answer.headers).toMatchObject({ 'content-language': language, vary: 'accept-language' });
    expect(itemsOf(answer)[0]?.['explanation']).toContain(word);
  });

  test('are chosen likewise where one intent is shown', async () => {
    const headers = { 'accept-language': 'ja' };
    const answer = await rig.call('show', { id: String(IDS[0]), headers });
    expect(answer.headers).toMatchObject({ 'content-language': 'ja', vary: 'accept-language' });
    expect(answer.json['explanation']).toContain('Asia/Tokyo');
    const english = await rig.call('show', { id: String(IDS[0]) });
    expect(english.headers['content-language']).toBe('en');
    expect({ ...english.json, explanation: '' }).toEqual({ ...answer.json, explanation: '' });
  });
});

describe('refused', () => {
  test.each<[Record<string, string>, string]>([
    [{ list: 'all' }, 'list must be one of doubtful, approved.'],
    [{ list: '' }, 'list must be one of doubtful, approved.'],
    [{ state: 'unknown' }, 'Known query parameters: list, limit, cursor.'],
    [{ unit: 'rental' }, 'Known query parameters: list, limit, cursor.'],
    [{ limit: '101' }, 'limit must be a whole number from 1 to 100.'],
    [{ cursor: 'bm90IG91cnM' }, 'Cannot page on from a cursor that is not ours.'],
  ])('is the query %j', async (query, detail) => {
    const { status, json } = await ask(query);
    expect({ status, problem: json }).toEqual(problemOf('invalid-request', { detail }));
  });

  test("is a cursor of another tenant's queue, and of the other list", async () => {
    const { cursor } = (await ask({ limit: '1' })).json;
    for (const [query, claims] of [
      [{ cursor: String(cursor) }, { ...ANN, tenant: 'umbra' }],
      [{ cursor: String(cursor), list: 'approved' }, ANN],
    ] as const)
      expect((await ask(query, claims)).status).toBe(400);
  });

  test('is an agent, whatever its token says', async () => {
    expect(await ask({}, { ...ANN, kind: 'agent' })).toMatchObject({ status: 403 });
    expect(await rig.call('queue', { claims: null })).toMatchObject({ status: 403 });
  });
});

/** C19 and C20 through the accept function: no request without one good key, and no key that two owners share. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type ApiRig, type Claims, SHOP, startApiRig } from '../support/api-rig.ts';
import { type ServedApi, serveApi } from '../support/served-api.ts';
import { BASE, PAYLOAD } from './refused-requests.ts';

let rig: ApiRig;
let served: ServedApi;
let count = 0;

beforeAll(async () => {
  rig = await startApiRig();
  served = await serveApi();
});

afterAll(async () => {
  await served?.stop();
  await rig?.stop();
});

beforeEach(() => {
  rig.starts.length = 0;
});

interface Offer {
  readonly headers?: Readonly<Record<string, string>>;
  readonly claims?: Claims;
  readonly [field: string]: unknown;
}

function submit({ headers = {}, claims = SHOP, ...body }: Offer): Promise<Answer> {
  return rig.call('accept', { headers, claims, body: JSON.stringify({ ...BASE, ...body }) });
}

function keyed(key: string, offer: Offer = {}): Promise<Answer> {
  return submit({ ...offer, headers: { 'idempotency-key': key } });
}

function freshKey(): string {
  count += 1;
  return `guard-${count}`;
}

describe('C19: without one good key nothing is stored', () => {
  test.each<{ title: string; offer: Offer; problem: string; because: string }>([
    {
      title: 'no header',
      offer: {},
      problem: 'key-missing',
      because: 'there is no default key that two callers could share',
    },
    {
      title: 'an empty header',
      offer: { headers: { 'idempotency-key': '' } },
      problem: 'key-missing',
      because: 'an empty key would be everybody’s',
    },
    {
      title: 'a pair of quotes with nothing in it',
      offer: { headers: { 'idempotency-key': '""' } },
      problem: 'key-missing',
      because: 'it is the empty key in another spelling',
    },
    {
      title: 'blanks',
      offer: { headers: { 'idempotency-key': ' \t ' } },
      problem: 'key-missing',
      because: 'white space around a header is not part of it',
    },
    {
      title: 'blanks in quotes',
      offer: { headers: { 'idempotency-key': '"  "' } },
      problem: 'key-malformed',
      because: 'a blank is not visible',
    },
    {
      title: '300 characters',
      offer: { headers: { 'idempotency-key': 'k'.repeat(300) } },
      problem: 'key-malformed',
      because: 'cut off, two long keys could become one',
    },
    {
      title: 'two keys in one header',
      offer: { headers: { 'idempotency-key': 'K-1,K-2' } },
      problem: 'key-malformed',
      because: 'nobody may choose between them',
    },
    {
      title: 'the key in the body only',
      offer: { key: 'K-1' },
      problem: 'key-missing',
      because: 'only the header carries it',
    },
    {
      title: 'one key in the header, another in the body',
      offer: { headers: { 'idempotency-key': 'K-1' }, key: 'K-2' },
      problem: 'invalid-request',
      because: 'nobody may choose between them',
    },
    {
      title: 'another key than the field of the payload that is the key',
      offer: { headers: { 'idempotency-key': 'PO-38' }, route: 'keyed' },
      problem: 'key-mismatch',
      because: 'nobody may choose between them',
    },
    {
      title: 'the key in another header',
      offer: { headers: { 'x-idempotency-key': 'K-1', 'idempotency-key-2': 'K-1' } },
      problem: 'key-missing',
      because: 'one name, one meaning',
    },
  ])('$title: $problem, because $because', async ({ offer, problem }) => {
    const before = await rig.rows();
    const answer = await submit(offer);
    expect([answer.status, answer.json['type']]).toEqual([400, `/problems/${problem}`]);
    expect(await rig.rows(), 'nothing is stored').toEqual(before);
    expect(rig.starts).toEqual([]);
  });

  test.each(['Idempotency-Key', 'IDEMPOTENCY-KEY', 'idempotency-key', 'iDeMpOtEnCy-kEy'])(
    'the header may be written %s: over HTTP its name has no case',
    async (name) => {
      const key = freshKey();
      const token = await served.token({ ...SHOP, scope: 'submit' });
      const body = JSON.stringify(BASE);
      const ask = { method: 'POST', path: '/intents', token, body };
      const answer = await served.ask({ ...ask, headers: { [name]: key } });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([202, expect.objectContaining({ key })]);
    },
  );

  test.each(['null', 'undefined', '0', 'false', '[object]'])(
    'the text %s is a key like any other: a second request under it gets 409, never the first answer',
    async (key) => {
      const first = await keyed(key);
      const second = await keyed(key, { payload: { ...PAYLOAD, quantity: 3 } });
      expect([first.status, second.status]).toEqual([202, 409]);
      expect(second.text).not.toContain(String(first.json['id']));
    },
  );
});

describe('C20: one key, two owners', () => {
  const UMBRA = { claims: { ...SHOP, tenant: 'umbra' }, route: 'umbra-free' };

  test.each<{ title: string; other: Offer; because: string }>([
    { title: 'another tenant', other: UMBRA, because: 'a key belongs to a tenant' },
    {
      title: 'another unit',
      other: { claims: { ...SHOP, unit: 'events' } },
      because: 'two departments number their orders alike',
    },
    {
      title: 'another environment',
      other: { route: 'free-production' },
      because: 'what was tried in test was not done in production',
    },
    { title: 'another action', other: { route: 'signed' }, because: 'another action is another effect' },
  ])('$title: an intent of its own, because $because', async ({ other }) => {
    const key = freshKey();
    const [mine, theirs] = [await keyed(key), await keyed(key, other)];
    expect([mine.status, theirs.status]).toEqual([202, 202]);
    expect(theirs.json['id']).not.toBe(mine.json['id']);
    const again = await keyed(key);
    expect([again.status, again.json]).toEqual([200, mine.json]);
  });

  test('another account of the supplier is a conflict, because the effect may stand in the first', async () => {
    const key = freshKey();
    const statuses = [await keyed(key), await keyed(key, { route: 'free-osaka' })].map((each) => each.status);
    expect(statuses).toEqual([202, 409]);
  });

  test.each(['show', 'evidence', 'receipt', 'approval'])(
    'another tenant that asks %s for the id learns as much as of one that never was',
    async (name) => {
      const { json } = await keyed(freshKey());
      const [theirs, absent] = await Promise.all(
        [String(json['id']), `int_${'0'.repeat(40)}`].map((id) =>
          rig.call(name, { id, claims: UMBRA.claims }),
        ),
      );
      expect(theirs?.status).toBe(404);
      expect(theirs).toEqual(absent);
    },
  );

  test('a conflict reads the same whatever was stored and whatever was offered', async () => {
    const offers: readonly (readonly [Offer, Offer])[] = [
      [{}, { payload: { ...PAYLOAD, quantity: 3 } }],
      [{ payload: { order_id: 'X', sku: 'secret', quantity: 9 } }, {}],
      [{ claims: { ...SHOP, sub: 'desk' } }, { claims: { ...SHOP, sub: 'phone' }, route: 'free-osaka' }],
      [UMBRA, { ...UMBRA, payload: { ...PAYLOAD, quantity: 3 } }],
    ];
    const conflicts: Answer[] = [];
    for (const [first, second] of offers) {
      const key = freshKey();
      expect((await keyed(key, first)).status).toBe(202);
      conflicts.push(await keyed(key, second));
    }
    expect(conflicts[0]?.status).toBe(409);
    expect(new Set(conflicts.map((each) => JSON.stringify(each))).size).toBe(1);
  });
});

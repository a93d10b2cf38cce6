/**
 * `POST /webhooks/{endpoint}` as it is deployed. The events here are signed by the scheme's own words, without the
 * library that the product checks them with.
 */
import { createHash, createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ENV } from '../../lib/platform/names.ts';
import { type ApiRig, startApiRig } from '../support/api-rig.ts';

const secretOf = (word: string) => `whsec_${createHash('sha256').update(word).digest('base64')}`;
const OLD = secretOf('the old one');
const NEW = secretOf('the new one');
const STRANGE = secretOf('nobody knows it');
const MINUTE = 60_000;

interface Sent {
  readonly endpoint?: string;
  readonly id?: string;
  readonly at?: number;
  readonly secret?: string;
  /** What is signed. */
  readonly body?: string;
  /** What arrives, where that is something else. */
  readonly arrives?: string;
  readonly base64?: boolean;
  /** Merged over the three headers; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

let rig: ApiRig;
let count = 0;

beforeAll(async () => {
  rig = await startApiRig();
  const file = process.env[ENV.routes] ?? '';
  const config = JSON.parse(readFileSync(file, 'utf8')) as { tenants: { tenant: string }[] };
  const webhooks = [
    { endpoint: 'tokyo', routes: ['free', 'keyed'], secretRefs: ['local:old', 'local:new'] },
    { endpoint: 'torn', routes: ['free'], secretRefs: ['local:missing', 'local:new'] },
  ];
  const tenants = config.tenants.map((each) => (each.tenant === 'acme' ? { ...each, webhooks } : each));
  writeFileSync(file, JSON.stringify({ tenants }));
  const secrets = join(dirname(file), 'secrets.json');
  writeFileSync(secrets, JSON.stringify({ old: OLD, new: NEW }));
  process.env[ENV.secrets] = secrets;
});

afterAll(async () => {
  delete process.env[ENV.secrets];
  await rig?.stop();
});

beforeEach(() => {
  count += 1;
  rig.starts.length = 0;
});

afterEach(() => {
  vi.useRealTimers();
  rig.proxy.plan(null);
});

const eventId = () => `evt-${count}`;

function bodyOf(told: object = {}, type = 'order.created'): string {
  const place = { account: 'tokyo-1', environment: 'test', kind: 'reservation' };
  const data = { ...place, reference: null, external_id: `R-${count}`, ...told };
  return JSON.stringify({ type, timestamp: '2026-11-30T09:00:00.000Z', data });
}

async function send(sent: Sent = {}): Promise<APIGatewayProxyStructuredResultV2> {
  const { endpoint = 'tokyo', id = eventId(), at = Date.now(), secret = NEW, body = bodyOf() } = sent;
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    ...sent.headers,
  };
  const event = {
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
    pathParameters: { endpoint },
    body: sent.base64 === true ? Buffer.from(body).toString('base64') : (sent.arrives ?? body),
    isBase64Encoded: sent.base64 === true,
    requestContext: {},
  } as unknown as APIGatewayProxyEventV2;
  const { handler } = await import('../../functions/take-evidence.ts');
  return handler(event);
}

async function submit(): Promise<string> {
  const payload = { order_id: `PO-${count}`, sku: 'TEA-01', quantity: 2 };
  const headers = { 'idempotency-key': `PO-${count}` };
  const answer = await rig.call('accept', { headers, body: JSON.stringify({ route: 'free', payload }) });
  expect(answer.status).toBe(202);
  return String(answer.json['id']);
}

async function stateOf(id: string) {
  const intent = await (await rig.ledger()).read({ tenant: 'acme', intentId: id });
  if (intent === undefined) throw new Error('There is no such intent.');
  return intent;
}

const rowsOf = async (prefix: string) =>
  (await rig.rows()).filter((row) => String(row['pk']).startsWith(prefix));
const eventRows = async () => (await rowsOf('H#')).filter((row) => row['id'] === eventId());

async function webhookEvidence(id: string) {
  const { json } = await rig.call('evidence', { id });
  return (json['items'] as { kind: string; facts: Record<string, unknown> }[]).filter(
    ({ kind }) => kind === 'webhook',
  );
}

describe('what is signed', () => {
  test.each([false, true])(
    'is stored, given to its intent, and answered 204 (base64: %j)',
    async (base64) => {
      const id = await submit();
      const answer = await send({ body: bodyOf({ reference: id }), base64 });
      expect(answer).toEqual({ statusCode: 204, headers: { 'cache-control': 'no-store' } });
      const [event] = await eventRows();
      expect(event).toMatchObject({ endpoint: 'tokyo', matchedTo: { tenant: 'acme', intentId: id } });
      expect(event).not.toHaveProperty('dueShard');
      const { contraryAt, dueAt } = await stateOf(id);
      expect([contraryAt, dueAt]).toEqual([expect.any(Number), contraryAt]);
      expect(await webhookEvidence(id)).toMatchObject([{ facts: { type: 'order.created', seen: true } }]);
      // It starts nothing: the sweep takes up what it woke.
      expect(rig.starts).toHaveLength(1);
    },
  );

  test.each([
    ['the old secret', OLD],
    ['the new secret', NEW],
  ])('with %s counts while both are live', async (_, secret) => {
    expect((await send({ secret })).statusCode).toBe(204);
    expect(await eventRows()).toHaveLength(1);
  });

  test('twice, as while a sender changes its secret, counts by either signature', async () => {
    const body = bodyOf();
    const at = Date.now();
    const stamp = String(Math.floor(at / 1000));
    const by = (secret: string) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${eventId()}.${stamp}.${body}`).digest('base64')}`;
    };
    const signatures = `v1a,bm90aGluZw== ${by(STRANGE)} ${by(NEW)}`;
    expect((await send({ at, body, headers: { 'webhook-signature': signatures } })).statusCode).toBe(204);
  });

  test('an id that its sender writes as a long number is kept digit by digit', async () => {
    const id = await submit();
    const body = bodyOf({ reference: id, external_id: 0 }).replace(':0}', ':9007199254740993123}');
    expect((await send({ body })).statusCode).toBe(204);
    expect(await webhookEvidence(id)).toMatchObject([{ facts: { externalId: '9007199254740993123' } }]);
  });

  test('delivered five times it is one event and one fact', async () => {
    const id = await submit();
    const body = bodyOf({ reference: id });
    for (let time = 0; time < 5; time += 1) expect((await send({ body })).statusCode).toBe(204);
    expect(await eventRows()).toHaveLength(1);
    expect(await webhookEvidence(id)).toHaveLength(1);
  });

  test('with a body that a sender has added to, it is taken', async () => {
    expect((await send({ body: bodyOf({ colour: 'red' }, 'order.packed') })).statusCode).toBe(204);
    expect(await eventRows()).toMatchObject([{ type: 'order.packed', seen: false }]);
  });
});

const ago = (ms: number) => () => ({ at: Date.now() - ms });
const without = (name: string) => () => ({ headers: { [name]: undefined } });

describe('C48 (f): what is not signed', () => {
  test.each<[string, () => Sent]>([
    ['an endpoint that there is not', () => ({ endpoint: 'osaka' })],
    ['a secret that is not live', () => ({ secret: STRANGE })],
    ['no id', without('webhook-id')],
    ['no time', without('webhook-timestamp')],
    ['no signature', without('webhook-signature')],
    ['a signature of another version', () => ({ headers: { 'webhook-signature': 'v2,AAAA' } })],
    ['a time that is no number', () => ({ headers: { 'webhook-timestamp': 'now' } })],
    ['a body that was changed on the way', () => ({ arrives: bodyOf({ account: 'osaka-1' }) })],
    ['another id than the signed one', () => ({ headers: { 'webhook-id': 'evt-other' } })],
    ['a time over five minutes ago', ago(5 * MINUTE + 2000)],
    ['a time over five minutes ahead', ago(-5 * MINUTE - 2000)],
    ['no body shape either', () => ({ secret: STRANGE, body: 'hello' })],
  ])('%s: 401, byte for byte the same, and nothing stored', async (_, sent) => {
    const before = await rig.rows();
    expect(await send(sent())).toEqual({
      statusCode: 401,
      headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
      body: '{"type":"/problems/bad-signature","title":"The signature does not hold.","status":401}',
    });
    expect(await rig.rows()).toEqual(before);
  });

  test('while one live secret cannot be read, the other still counts', async () => {
    expect((await send({ endpoint: 'torn' })).statusCode).toBe(204);
    expect(rig.logged()).toContain('webhook_secret_bad');
  });

  test('while one live secret cannot be read, no signature is called wrong', async () => {
    const before = await rig.rows();
    const answer = await send({ endpoint: 'torn', secret: OLD });
    expect([answer.statusCode, answer.headers?.['retry-after']]).toEqual([503, '5']);
    expect(await rig.rows()).toEqual(before);
  });
});

describe('what is signed and has no form', () => {
  test.each<[string, string]>([
    ['no JSON', '{'],
    ['a member twice', bodyOf().replace('"type"', '"type":"a.b","type"')],
    ['no data', '{"type":"order.created","timestamp":"2026-11-30T09:00:00Z"}'],
    ['a type in words', bodyOf({}, 'an order was created')],
    ['an environment that there is not', bodyOf({ environment: 'staging' })],
    ['an id in fractions', bodyOf({ external_id: 1.5 })],
    ['an account too long', bodyOf({ account: 'a'.repeat(129) })],
  ])('%s: 400, and nothing stored', async (_, body) => {
    const before = await rig.rows();
    const answer = await send({ body });
    expect([answer.statusCode, JSON.parse(answer.body ?? '{}')]).toMatchObject([
      400,
      { type: '/problems/invalid-request' },
    ]);
    expect(await rig.rows()).toEqual(before);
  });

  test('more than 64 KB: 413, signed or not, known or not', async () => {
    const body = bodyOf({ padding: 'x'.repeat(65_536) });
    const answers = [await send({ body }), await send({ body, endpoint: 'osaka', secret: STRANGE })];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([413, 413]);
    expect(answers[0]).toEqual(answers[1]);
  });
});

describe('with the ledger away', () => {
  test('nothing is acknowledged that is not stored', async () => {
    rig.proxy.plan({ call: 'other_put', fault: 'refused', times: Number.POSITIVE_INFINITY });
    const before = rig.proxy.bites();
    const answer = await send();
    expect(rig.proxy.bites()).toBeGreaterThan(before);
    expect([answer.statusCode, answer.headers?.['retry-after']]).toEqual([503, '5']);
    rig.proxy.plan(null);
    expect(await eventRows()).toEqual([]);
  });

  test('a repeat of one that was stored and not acknowledged is taken', async () => {
    rig.proxy.plan({ call: 'other_put', fault: 'answer_lost' });
    const before = rig.proxy.bites();
    await send();
    expect(rig.proxy.bites()).toBe(before + 1);
    expect((await send()).statusCode).toBe(204);
    expect(await eventRows()).toHaveLength(1);
  });

  test('what is stored is acknowledged, and the sweep does the rest', async () => {
    const id = await submit();
    rig.proxy.plan({ call: 'evidence', fault: 'refused', times: Number.POSITIVE_INFINITY });
    const before = rig.proxy.bites();
    expect((await send({ body: bodyOf({ reference: id }) })).statusCode).toBe(204);
    expect(rig.proxy.bites()).toBeGreaterThan(before);
    rig.proxy.plan(null);
    expect((await stateOf(id)).contraryAt).toBeNull();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MINUTE + 1000 });
    await rig.sweep();
    expect((await stateOf(id)).contraryAt).toBe(Date.now());
    expect(await webhookEvidence(id)).toHaveLength(1);
    expect(await eventRows()).toMatchObject([{ matchedTo: { intentId: id } }]);
  });
});

test('no log line holds a secret, a signature or a body', async () => {
  await send({ body: bodyOf({ reference: 'SIGHTING' }) });
  await send({ secret: STRANGE });
  expect(rig.logged()).not.toMatch(/whsec_|v1,|SIGHTING/);
});

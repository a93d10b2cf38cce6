/** The API with the ledger or the machine away: it never says what it does not know, and it says so in time. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ApiRig, SHOP, startApiRig } from '../support/api-rig.ts';
import { LEDGER_FAULTS, type LedgerFault } from '../support/dynamo-proxy.ts';
import { BASE, problemOf } from './refused-requests.ts';

const FAULTS = Object.keys(LEDGER_FAULTS) as LedgerFault[];
/** The function's own limit is 10 s. */
const IN_TIME_MS = 8000;
const MAY_BE_STORED = problemOf('acceptance-undetermined', {
  detail: 'The ledger did not answer. It may be stored; send it again with the same key.',
});
const ASK_AGAIN = problemOf('acceptance-undetermined', { detail: 'The ledger did not answer. Ask again.' });
let rig: ApiRig;

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
  vi.useRealTimers();
  rig.proxy.plan(null);
  rig.machineAway(false);
});

function submit(key: string) {
  return rig.call('accept', { headers: { 'idempotency-key': key }, body: JSON.stringify(BASE) });
}

async function intentsOf(key: string): Promise<unknown[]> {
  return (await rig.rows()).filter((row) => row['key'] === key && row['sk'] === 'INTENT');
}

describe.each([1, 3])('with %i tries of the SDK', (maxAttempts) => {
  beforeEach(() => rig.restart(maxAttempts));

  test.each(FAULTS)('a ledger that is %s throughout is 503, undetermined, within 8 s', async (fault) => {
    rig.proxy.plan({ call: 'any', fault, times: Number.POSITIVE_INFINITY });
    const before = rig.proxy.bites();
    const startedAt = Date.now();
    const answer = await submit(`away-${fault}-${maxAttempts}`);
    expect(Date.now() - startedAt).toBeLessThan(IN_TIME_MS);
    expect(rig.proxy.bites() - before, 'the ledger was away').toBe(maxAttempts);
    expect({ status: answer.status, problem: answer.json }).toEqual(MAY_BE_STORED);
    expect(answer.headers).toEqual({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '5',
    });
    expect(rig.starts).toEqual([]);
  });

  test.each(FAULTS)(
    'a put that is %s once, then the same key again: one intent and one start',
    async (fault) => {
      const key = `once-${fault}-${maxAttempts}`;
      rig.proxy.plan({ call: 'create', fault });
      const before = rig.proxy.bites();
      const first = await submit(key);
      expect(rig.proxy.bites() - before, 'the put was hit').toBe(1);
      expect(first.status, 'the repeat of the SDK meets its own write').toBe(maxAttempts === 1 ? 503 : 202);
      const second = await submit(key);
      expect([200, 202]).toContain(second.status);
      expect(await submit(key)).toMatchObject({ status: 200, json: { id: second.json['id'] } });
      expect(await intentsOf(key)).toHaveLength(1);
      if (rig.starts.length === 0) {
        // Nobody knew that it was stored, so the sweep starts it.
        vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(String(second.json['nextAt'])) });
        await rig.sweep();
      }
      const started = rig.starts.filter((start) => start.name.startsWith(String(second.json['id'])));
      expect(started).toHaveLength(1);
    },
  );
});

test.each([
  ['show', { id: `int_${'0'.repeat(40)}` }],
  ['evidence', { id: `int_${'0'.repeat(40)}` }],
  ['receipt', { id: `int_${'0'.repeat(40)}` }],
  ['reconcile', { id: `int_${'0'.repeat(40)}` }],
  ['list', {}],
  ['list', { query: { route: 'free', key: 'K-1' } }],
])('%s with the ledger away is 503, never 404 and never empty', async (name, call) => {
  rig.restart(1);
  rig.proxy.plan({ call: 'any', fault: 'refused', times: Number.POSITIVE_INFINITY });
  const before = rig.proxy.bites();
  const answer = await rig.call(name, call);
  expect(rig.proxy.bites() - before, 'the ledger was away').toBeGreaterThan(0);
  expect({ status: answer.status, problem: answer.json }).toEqual(ASK_AGAIN);
  expect(answer.headers['retry-after']).toBe('5');
});

test('health is 200 while the ledger answers and 503 while it does not', async () => {
  rig.restart(1);
  const up = await rig.call('health', { claims: null });
  expect({ status: up.status, text: up.text }).toEqual({ status: 200, text: '{"status":"ok"}' });
  rig.proxy.plan({ call: 'any', fault: 'refused', times: Number.POSITIVE_INFINITY });
  const down = await rig.call('health', { claims: null });
  expect({ status: down.status, text: down.text }).toEqual({
    status: 503,
    text: '{"status":"ledger_unavailable"}',
  });
});

test('a failure is logged by its class: no key, no payload, no address', async () => {
  rig.restart(1);
  rig.proxy.plan({ call: 'any', fault: 'refused', times: 1 });
  await rig.call('accept', {
    headers: { 'idempotency-key': 'secret-key' },
    body: JSON.stringify(BASE),
    claims: SHOP,
  });
  const lines = rig.logged().trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
    ...{ at: expect.any(String), level: 'error', event: 'request_failed', function: 'accept' },
    error: expect.stringMatching(/^LedgerUnavailable\(\w+\)$/),
  });
  expect(rig.logged()).not.toMatch(/secret-key|TEA-01|127\.0\.0\.1/);
});

describe('the machine away', () => {
  test('an order is accepted all the same: 202, due at once, and the sweep starts it', async () => {
    rig.restart(3);
    rig.machineAway(true);
    const answer = await submit('machine-away');
    expect(rig.starts.length, 'the machine was asked').toBeGreaterThan(0);
    expect(answer.status).toBe(202);
    const intentId = String(answer.json['id']);
    const stored = await (await rig.ledger()).read({ tenant: 'acme', intentId });
    expect(stored).toMatchObject({ state: 'ready', attempts: [] });
    expect(stored?.dueAt).toBeLessThanOrEqual(Date.now());
    rig.machineAway(false);
    rig.starts.length = 0;
    await rig.sweep();
    expect(rig.starts).toEqual([
      { name: `${intentId}-2`, input: { tenant: 'acme', intentId, route: 'free' } },
    ]);
  });
});

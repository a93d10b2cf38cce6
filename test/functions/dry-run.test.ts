/** The dry run as it is asked for: its own caller's intents only, and every item of the table stays as it was. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { apiDocument } from '../../functions/api-document.ts';
import { dryRunAnswer } from '../../functions/dry-run-schemas.ts';
import type { Intent } from '../../lib/domain/intent.ts';
import { dryRunView } from '../../lib/operations/dry-run-view.ts';
import { dryRun } from '../../lib/workflow/dry-run.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { type ApiRig, type Call, type Claims, SHOP, startApiRig } from '../support/api-rig.ts';
import { ACKNOWLEDGED, attemptOf, UNKNOWN_RESULT } from '../support/kit.ts';
import { mediumWorld } from '../support/medium-world.ts';
import { contractOf } from '../support/published-contract.ts';
import { BASE, problemOf } from './refused-requests.ts';

const OTTO: Claims = { ...SHOP, sub: 'otto', kind: 'person' };
const contract = contractOf(JSON.stringify(apiDocument()));
let rig: ApiRig;
let count = 0;

beforeAll(async () => {
  rig = await startApiRig();
});

afterAll(async () => {
  await rig?.stop();
});

afterEach(() => rig.proxy.plan(null));

/** Nobody answers at its provider: every look fails. */
async function stored(change: Partial<Intent> = {}): Promise<string> {
  count += 1;
  const body = JSON.stringify({ ...BASE, route: 'free' });
  const answer = await rig.call('accept', { headers: { 'idempotency-key': `dry-${count}` }, body });
  const intentId = String(answer.json['id']);
  const ledger = await rig.ledger();
  const intent = await ledger.read({ tenant: 'acme', intentId });
  if (intent === undefined) throw new Error('The intent is not stored.');
  await ledger.save(intent, { ...intent, ...change }, { kind: 'unchanged' });
  rig.starts.length = 0;
  return intentId;
}

const DRY = '{"dryRun":true}';
const ask = (id: string, call: Call = {}) => rig.call('reconcile', { id, claims: OTTO, body: DRY, ...call });

/** By the published form, and strictly by the schema that it is made from. */
function misfits(value: unknown): unknown[] {
  const media = contract.operations.get('reconcile')?.answer(200, 'application/json');
  if (media === undefined) throw new Error('reconcile is not described');
  return [...contract.misfits(media, value), ...(dryRunAnswer.safeParse(value).error?.issues ?? [])];
}

const UNKNOWN: Partial<Intent> = {
  state: 'unknown',
  attempts: [attemptOf(1, { result: UNKNOWN_RESULT })],
  unknownSince: 1,
};
const CONFIRMED: Partial<Intent> = {
  ...{ state: 'confirmed', dueAt: null, externalId: 'R-1', acknowledgedId: 'R-1', seenAt: 1 },
  attempts: [attemptOf(1, { result: ACKNOWLEDGED })],
};

describe.each([
  ['unknown', UNKNOWN],
  ['confirmed', CONFIRMED],
  ['awaiting_approval', { state: 'awaiting_approval' }],
  ['ready', {}],
] as const)('an intent that is %s', (state, change) => {
  test('is looked at, and no item of the table is another one then', async () => {
    const id = await stored(change);
    const before = await rig.rows();
    const answer = await ask(id);
    expect(answer).toMatchObject({
      status: 200,
      headers: { etag: '"2"', 'cache-control': 'no-store' },
      json: {
        ...{ id, state, version: 2, verdict: 'inconclusive' },
        search: { complete: false, error: 'unreachable', candidates: [] },
      },
    });
    expect(misfits(answer.json)).toEqual([]);
    expect(await rig.rows()).toEqual(before);
    expect(rig.starts).toEqual([]);
  });
});

test('near misses and a single match are of the published form', async () => {
  const s = mediumWorld({ script: ['cut_after_save'] });
  const intent = await s.sent();
  s.outside.add({ text: 'Cake at five.' });
  const run = await dryRun(s.w.deps)(runInput(intent));
  if (run === undefined) throw new Error('There is no such intent.');
  const view: unknown = JSON.parse(JSON.stringify(dryRunView(run)));
  expect(misfits(view)).toEqual([]);
  expect(view).toMatchObject({
    verdict: 'found',
    search: {
      reference: null,
      candidates: [{ checks: expect.any(Object) }],
      seen: [
        { near: false, url: expect.stringMatching(/^http/), createdAt: expect.stringMatching(/Z$/) },
        { near: true },
      ],
    },
    readback: { candidates: [{ url: expect.stringMatching(/^http/) }] },
    next: { do: 'confirm', reason: null },
  });
});

describe('who is not let in', () => {
  test.each<[string, Claims, number]>([
    ['an agent', { ...OTTO, kind: 'agent' }, 403],
    ['another tenant', { ...OTTO, tenant: 'umbra' }, 404],
    ['another unit', { ...OTTO, unit: 'events' }, 404],
  ])('%s', async (_, claims, status) => {
    expect(await ask(await stored(UNKNOWN), { claims })).toMatchObject({ status });
  });

  test('an id that is none answers as one that does not exist', async () => {
    const answers = await Promise.all(['int_', 'x', `int_${'0'.repeat(40)}`].map((id) => ask(id)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });
});

describe('a wish that is not clear', () => {
  const wanted = { detail: 'Known query parameters: none.' };
  const type = (received: string) => ({
    errors: [{ pointer: '/dryRun', detail: `Invalid input: expected boolean, received ${received}` }],
  });
  test.each<[string, Call, object]>([
    ['null', { body: '{"dryRun":null}' }, type('null')],
    ['a text', { body: '{"dryRun":"true"}' }, type('string')],
    ['a number', { body: '{"dryRun":1}' }, type('number')],
    ['another name', { body: '{"dryrun":true}' }, { errors: [{ pointer: '', detail: 'Unknown: dryrun' }] }],
    ['no JSON', { body: 'look' }, { detail: 'The body is not one JSON value.' }],
    ['a query', { body: '', query: { dryRun: 'true' } }, wanted],
    ['a query beside the body', { query: { dryRun: 'false' } }, wanted],
  ])('as %s is refused: nothing is started and nothing written', async (_, call, extras) => {
    const id = await stored(UNKNOWN);
    const before = await rig.rows();
    const answer = await ask(id, call);
    expect({ status: answer.status, problem: answer.json }).toEqual(problemOf('invalid-request', extras));
    expect(await rig.rows()).toEqual(before);
    expect(rig.starts).toEqual([]);
  });

  test('said twice is refused', async () => {
    const id = await stored(UNKNOWN);
    const before = await rig.rows();
    const answer = await ask(id, { body: '{"dryRun":true,"dryRun":false}' });
    expect(answer).toMatchObject({ status: 400, json: { type: '/problems/invalid-request' } });
    expect(await rig.rows()).toEqual(before);
    expect(rig.starts).toEqual([]);
  });
});

test.each([['{"dryRun":false}'], ['{}'], ['']])('the body %j starts a look', async (body) => {
  const id = await stored(UNKNOWN);
  const answer = await ask(id, { body });
  expect(answer).toMatchObject({
    status: 202,
    json: { id, state: 'unknown', explanation: expect.any(String) },
  });
  expect(rig.starts).toHaveLength(1);
});

test('a body in base64 is passed on as it came', async () => {
  const body = Buffer.from(DRY).toString('base64');
  expect(await ask(await stored(UNKNOWN), { body, base64: true })).toMatchObject({ status: 200 });
  expect(rig.starts).toEqual([]);
});

test('the function that answers it lets in nobody more when it is called past the one that asks', async () => {
  const id = await stored(UNKNOWN);
  const past = (claims: Claims | null) => rig.call('dry-run', { id, body: DRY, claims });
  expect(await past(OTTO)).toMatchObject({ status: 200, json: { id } });
  expect(await past(null)).toMatchObject({ status: 403 });
  expect(await past({ ...OTTO, kind: 'agent' })).toMatchObject({ status: 403 });
  expect(await past({ ...OTTO, unit: 'events' })).toMatchObject({ status: 404 });
});

test('with the ledger away it is 503, never 404 and never a verdict', async () => {
  const id = await stored(UNKNOWN);
  rig.restart(1);
  rig.proxy.plan({ call: 'any', fault: 'refused', times: Number.POSITIVE_INFINITY });
  const detail = 'The ledger did not answer. Ask again.';
  const answer = await ask(id);
  expect({ status: answer.status, problem: answer.json }).toEqual(
    problemOf('acceptance-undetermined', { detail }),
  );
});

/** The dry run's endpoint: its own caller's intents only, and every item of the table stays as it was. */
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

const ask = (id: string, call: Call = {}) => rig.call('dry-run', { id, claims: OTTO, ...call });

/** By the published form, and strictly by the schema that it is made from. */
function misfits(value: unknown): unknown[] {
  const media = contract.operations.get('dry-run')?.answer(200, 'application/json');
  if (media === undefined) throw new Error('dry-run is not described');
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
    const answer = await ask(id, { body: '{}' });
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
      seen: [{ near: false }, { near: true }],
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

test.each([
  ['{"dryRun":false}', { errors: [{ pointer: '', detail: 'Unknown: dryRun' }] }],
  ['look', { detail: 'The body is not one JSON value.' }],
])('the body %s is refused', async (body, extras) => {
  const answer = await ask(await stored(UNKNOWN), { body });
  expect({ status: answer.status, problem: answer.json }).toEqual(problemOf('invalid-request', extras));
});

test('a query is refused', async () => {
  const answer = await ask(await stored(UNKNOWN), { query: { dryRun: 'true' } });
  const detail = 'Known query parameters: none.';
  expect({ status: answer.status, problem: answer.json }).toEqual(problemOf('invalid-request', { detail }));
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

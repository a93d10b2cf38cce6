import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type BundleInfo, bundleAll } from '../../cdk/bundle.ts';
import { deployedFunctions } from '../../cdk/deployed.ts';
import { type Endpoint, endpoints } from '../../functions/endpoints.ts';
import { localArn, startLambda } from '../../lib/local/lambda.ts';
import { DRY_RUN, ENV, STEPS, SWEEP } from '../../lib/platform/names.ts';
import { callBundle, type Outcome } from './call-bundle.ts';
import { newFolder, ROOT } from './synthesised.ts';

const MACHINE = 'arn:aws:states:ap-northeast-1:111122223333:stateMachine:Machine';
const NAMES = deployedFunctions().map(({ name }) => name);
const WORKERS = [...Object.values(STEPS).map((step) => step.function), SWEEP.function];
const SMALL: readonly string[] = [STEPS.Send.function, STEPS.Search.function];

let bundles: readonly BundleInfo[];
beforeAll(async () => {
  bundles = await bundleAll({
    names: NAMES,
    functionsDir: join(ROOT, 'functions'),
    outDir: newFolder(),
    routesFile: join(ROOT, 'routes.json'),
  });
}, 60_000);

function bundleOf(name: string): BundleInfo {
  const found = bundles.find((bundle) => bundle.name === name);
  if (found === undefined) throw new Error(`there is no bundle of "${name}"`);
  return found;
}

async function call(name: string, event: unknown, more: Readonly<Record<string, string>> = {}) {
  const access = deployedFunctions().find((spec) => spec.name === name)?.access;
  const outcome = await callBundle(bundleOf(name).dir, event, {
    ...(access?.startsRuns === true ? { [ENV.machineArn]: MACHINE } : {}),
    ...(access?.invokes === undefined ? {} : { [ENV.dryRunArn]: localArn(access.invokes) }),
    ...more,
  });
  expect(outcome.node).toMatch(/^v24\./);
  expect(outcome.kind, JSON.stringify(outcome)).not.toBe('not_loaded');
  return outcome;
}

describe('bundles', () => {
  test('they stand where no node_modules can be found', () => {
    for (const { dir } of bundles) {
      for (let at = dir; at !== dirname(at); at = dirname(at)) {
        expect(existsSync(join(at, 'node_modules')), at).toBe(false);
      }
      expect(existsSync(join(dir, 'routes.json')), dir).toBe(true);
    }
  });

  test.each(NAMES)('%s is small enough to start quickly', (name) => {
    expect(bundleOf(name).bytes).toBeLessThanOrEqual(SMALL.includes(name) ? 500_000 : 600_000);
  });
});

describe('API functions', () => {
  const guarded = endpoints.filter((endpoint) => endpoint.scope !== null);

  test.each(guarded)('$function lets nobody in without a token', async (endpoint) => {
    const outcome = await call(endpoint.function, request(endpoint));
    expect(answerOf(outcome)).toMatchObject({ statusCode: 403, body: '{"message":"Forbidden"}' });
  });

  test.each(guarded)('$function says by a problem that the ledger is away', async (endpoint) => {
    const { statusCode, headers, body } = answerOf(await call(endpoint.function, request(endpoint, CALLER)));
    expect({ statusCode, ...headers }).toMatchObject({
      statusCode: 503,
      'content-type': 'application/problem+json',
      'retry-after': expect.stringMatching(/^\d+$/),
    });
    expect(JSON.parse(body)).toMatchObject({ type: '/problems/acceptance-undetermined', status: 503 });
  });

  test('health answers 503 when the ledger is away', async () => {
    const outcome = await call('health', request({ method: 'GET', path: '/health' }));
    expect(answerOf(outcome)).toMatchObject({ statusCode: 503 });
  });
});

describe('reconcile asks the dry run from its bundle', () => {
  const endpoint = { method: 'POST', path: '/intents/{id}/reconciliation' } as const;
  const event = { ...request(endpoint, CALLER), body: '{"dryRun":true}' };

  test('and passes on what it answers', async () => {
    const dry = { statusCode: 200, headers: { etag: '"7"' }, body: '{"verdict":"found"}' };
    const asked: unknown[] = [];
    const lambda = await startLambda({
      functions: [DRY_RUN],
      invoke: async (name, payload) => {
        asked.push({ name, payload });
        return dry;
      },
    });
    const outcome = await call('reconcile', event, { AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint });
    await lambda.close();
    expect(outcome).toMatchObject({ kind: 'answered', answer: dry });
    expect(asked).toEqual([{ name: DRY_RUN.function, payload: JSON.parse(JSON.stringify(event)) }]);
  });

  test('and has failed where it is not there', async () => {
    expect(answerOf(await call('reconcile', event))).toMatchObject({ statusCode: 500 });
  });

  test('which lets in nobody without a token, and says by a problem that the ledger is away', async () => {
    expect(answerOf(await call('dry-run', request(endpoint)))).toMatchObject({ statusCode: 403 });
    expect(answerOf(await call('dry-run', event))).toMatchObject({ statusCode: 503 });
  });
});

test('openapi answers from its bundle, which carries no client of the cloud', async () => {
  const outcome = await call('openapi', request({ method: 'GET', path: '/openapi.json' }));
  const { statusCode, body } = answerOf(outcome);
  expect({ statusCode, ...JSON.parse(body) }).toMatchObject({ statusCode: 200, openapi: '3.1.0' });
  expect(bundleOf('openapi').bytes).toBeLessThanOrEqual(300_000);
});

describe('steps and sweep', () => {
  test.each(WORKERS)('%s reaches for the ledger and throws when it is away', async (name) => {
    const outcome = await call(name, name === SWEEP.function ? {} : INPUT);
    expect(outcome).toMatchObject({ kind: 'threw', error: expect.stringContaining('ECONNREFUSED') });
  });
});

const INTENT_ID = `int_${'0'.repeat(40)}`;
const INPUT = { tenant: 'acme', intentId: INTENT_ID, route: 'warehouse' };
const CALLER = { sub: 'test', tenant: 'acme', unit: 'sales', kind: 'person' };
const ORDER = { route: 'warehouse', payload: { order_id: 'ORD-1', sku: 'SKU-1', quantity: 1 } };

const answer = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.unknown()).default({}),
  body: z.string(),
});

function answerOf(outcome: Outcome): z.infer<typeof answer> {
  if (outcome.kind !== 'answered') throw new Error(`the bundle did not answer: ${outcome.error}`);
  return answer.parse(outcome.answer);
}

/** An event of the HTTP API, payload version 2.0; without claims it is as if no authoriser had run. */
/** Bodies that get past the first check. */
const BODIES: Readonly<Record<string, string>> = {
  'POST /intents': JSON.stringify(ORDER),
  'POST /intents/{id}/decision': JSON.stringify({ kind: 'reopen', reason: 'test' }),
  'POST /intents/{id}/again': JSON.stringify({ reason: 'test' }),
  'POST /intents/{id}/corrections': JSON.stringify(ORDER),
  'PUT /intents/{id}/approval': JSON.stringify({ fingerprint: 'fp1:0' }),
  ...Object.fromEntries(
    ['PUT /routes/{route}/freeze', 'DELETE /routes/{route}/freeze', 'PUT /freeze', 'DELETE /freeze'].map(
      (each) => [each, JSON.stringify({ why: 'test' })],
    ),
  ),
};

function request({ method, path }: Pick<Endpoint, 'method' | 'path'>, claims?: object) {
  const rawPath = path.replace('{id}', INTENT_ID);
  return {
    version: '2.0',
    routeKey: `${method} ${path}`,
    rawPath,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'ORD-1', 'if-match': '"1"' },
    pathParameters: { id: INTENT_ID, ...(path.includes('{route}') ? { route: 'warehouse' } : {}) },
    requestContext: {
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
      authorizer: claims === undefined ? undefined : { jwt: { claims, scopes: [] } },
      requestId: 'request-1',
      routeKey: `${method} ${path}`,
      stage: '$default',
    },
    body: BODIES[`${method} ${path}`] ?? (method === 'POST' ? '{}' : undefined),
    isBase64Encoded: false,
  };
}

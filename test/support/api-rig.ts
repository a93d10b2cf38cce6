/**
 * The deployed API functions in this process, driven by Lambda's events (payload format 2.0), on DynamoDB Local
 * and an endpoint of Step Functions that only counts. Nothing runs: what is stored is what intake stored. A function
 * asks another over an endpoint of Lambda.
 * One rig per test file: the functions keep their clients for the life of a module.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { vi } from 'vitest';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { type DynamoDb, startDynamoDb } from '../../lib/local/dynamodb.ts';
import { localArn, startLambda } from '../../lib/local/lambda.ts';
import { listenOnLoopback, readBody } from '../../lib/local/loopback.ts';
import { createTable } from '../../lib/local/table.ts';
import { DRY_RUN, ENV } from '../../lib/platform/names.ts';
import { type DynamoProxy, startDynamoProxy } from './dynamo-proxy.ts';

export interface Claims {
  readonly sub?: string;
  readonly tenant?: string;
  readonly unit?: string;
  readonly kind?: string;
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly id?: string;
  /** Path parameters besides `id`. */
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly base64?: boolean;
  /** Null: the authoriser passed no claims. */
  readonly claims?: Claims | null;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Start {
  readonly name: string;
  readonly input: unknown;
}

export interface ApiRig {
  readonly call: (name: string, call?: Call) => Promise<Answer>;
  /** One pass of the sweep function. */
  readonly sweep: () => Promise<unknown>;
  /** StartExecution calls that arrived, failed ones included. */
  readonly starts: Start[];
  /** While true, StartExecution answers 500. */
  readonly machineAway: (away: boolean) => void;
  readonly proxy: DynamoProxy;
  /** Every item of the table, read past all faults. */
  readonly rows: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The ledger that the functions use. */
  readonly ledger: () => Promise<Ledger>;
  /** What the functions logged. */
  readonly logged: () => string;
  /** New clients with this many tries of the SDK, as a new sandbox has them. */
  readonly restart: (maxAttempts: number) => void;
  readonly stop: () => Promise<void>;
}

export const SHOP = { sub: 'shop', tenant: 'acme', unit: 'sales', kind: 'service' };
const TABLE_NAME = 'api';
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
type Handler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

export async function startApiRig(): Promise<ApiRig> {
  const folder = mkdtempSync(join(tmpdir(), 'kakutei-api-'));
  const dynamo = await startDynamoDb();
  const proxy = await startDynamoProxy(dynamo.endpoint);
  const machine = await startCountingMachine();
  const lambda = await startLambda({ functions: [DRY_RUN], invoke: asEvent });
  const client = await tableOn(dynamo);
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  writeFileSync(join(folder, 'routes.json'), JSON.stringify(ROUTES));
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
    AWS_ENDPOINT_URL_SFN: machine.url,
    AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint,
    [ENV.table]: TABLE_NAME,
    [ENV.machineArn]: 'arn:aws:states:us-east-1:000000000000:stateMachine:kakutei',
    [ENV.dryRunArn]: localArn(DRY_RUN.function),
    [ENV.routes]: join(folder, 'routes.json'),
  });
  return {
    call: async (name, call = {}) => answerOf(await asEvent(name, eventOf(call))),
    sweep: async () => {
      const { handler } = (await import('../../functions/sweep.ts')) as {
        handler: (event: unknown) => unknown;
      };
      return handler({});
    },
    starts: machine.starts,
    machineAway: machine.away,
    proxy,
    rows: async () => (await client.send(new ScanCommand({ TableName: TABLE_NAME }))).Items ?? [],
    ledger: async () => (await import('../../functions/wiring.ts')).deps().ledger,
    logged: () => stderr.mock.calls.map(([line]) => String(line)).join(''),
    restart: (maxAttempts) => {
      process.env['AWS_MAX_ATTEMPTS'] = String(maxAttempts);
      vi.resetModules();
    },
    stop: async () => {
      stderr.mockRestore();
      client.destroy();
      await Promise.all([proxy.close(), machine.close(), lambda.close(), dynamo.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function asEvent(name: string, event: unknown): Promise<APIGatewayProxyStructuredResultV2> {
  const { handler } = (await import(`../../functions/${name}.ts`)) as { handler: Handler };
  return handler(event as APIGatewayProxyEventV2);
}

async function tableOn(dynamo: DynamoDb): Promise<DynamoDBDocumentClient> {
  const { endpoint } = dynamo;
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: CREDENTIALS });
  await createTable(client, TABLE_NAME);
  return DynamoDBDocumentClient.from(client);
}

async function startCountingMachine() {
  const starts: Start[] = [];
  let isAway = false;
  const server = createServer(async (request, response) => {
    const body = await readBody(request, 1_048_576);
    const { name, input } = JSON.parse(String(body)) as { name: string; input: string };
    starts.push({ name, input: JSON.parse(input) });
    const answer = isAway
      ? { __type: 'InternalFailure', message: 'away' }
      : { executionArn: `arn:aws:states:us-east-1:000000000000:execution:kakutei:${name}`, startDate: 1 };
    response.writeHead(isAway ? 500 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer));
  });
  const { url, close } = await listenOnLoopback(server, 0);
  const away = (yes: boolean): void => {
    isAway = yes;
  };
  return { url, close, starts, away };
}

function eventOf({
  headers = {},
  query,
  id,
  path,
  body,
  base64 = false,
  claims = SHOP,
}: Call): APIGatewayProxyEventV2 {
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/',
    rawQueryString: '',
    headers,
    ...(query === undefined ? {} : { queryStringParameters: query }),
    ...(id === undefined && path === undefined
      ? {}
      : { pathParameters: { ...path, ...(id === undefined ? {} : { id }) } }),
    ...(body === undefined ? {} : { body }),
    isBase64Encoded: base64,
    requestContext: claims === null ? {} : { authorizer: { jwt: { claims, scopes: [] } } },
  };
  return event as unknown as APIGatewayProxyEventV2;
}

function answerOf({ statusCode, headers = {}, body = '' }: APIGatewayProxyStructuredResultV2): Answer {
  return { status: statusCode, headers, text: body, json: JSON.parse(body) as Answer['json'] };
}

const DID = 'did:plc:abcdefghijklmnopqrstuvwx';

/**
 * Of acme: one route whose key is the order number, and some without a key field, which differ from `free` in
 * one thing each; two that post. Of umbra: one route.
 */
const ROUTES = {
  tenants: [
    {
      tenant: 'acme',
      routes: [
        route('keyed', 'tokyo-1', { keyField: 'order_id' }),
        route('free', 'tokyo-1', { action: 'reserve-freely' }),
        route('free-osaka', 'osaka-1', { action: 'reserve-freely' }),
        route('free-production', 'tokyo-1', {
          ...{ action: 'reserve-freely', environment: 'production' },
          // A warehouse knows no environments: at one address it would be one account in two.
          baseUrl: 'http://127.0.0.1:2',
        }),
        route('lapsed', 'tokyo-1', { action: 'reserve-later' }, '2020-01-01T00:00:00Z'),
        route('posts', '900001', { provider: 'medium', action: 'post', publicHosts: ['127.0.0.1:1'] }),
        route('bluesky', DID, { provider: 'bluesky', action: 'post-there', publicHosts: ['127.0.0.1:1'] }),
        byApproval('signed', 'reserve-signed', null),
        byApproval('signed-twice', 'reserve-signed-twice', { field: 'quantity', amount: 10 }),
      ],
    },
    {
      tenant: 'umbra',
      routes: [route('umbra-free', 'kobe-1', { action: 'reserve-freely' })],
    },
  ],
};

function route(name: string, account: string, change: object, until = '2100-01-01T00:00:00Z'): object {
  return {
    name,
    account,
    provider: 'warehouse',
    environment: 'test',
    action: 'reserve',
    baseUrl: 'http://127.0.0.1:1',
    policy: {
      permission: { kind: 'standing', version: 'test-1', until },
      attempts: 4,
      requestMs: 1000,
      pauseMs: 100,
      resend: 'first',
      repeatOn: ['not_sent'],
      sendWithinMs: 86_400_000,
    },
    applyDelayMs: 500,
    visibilityLagMs: 300,
    ...change,
  };
}

function byApproval(name: string, action: string, twoFrom: object | null): object {
  const permission = { kind: 'approval', version: 'p1', longestMs: 3_600_000, twoFrom };
  const plain = route(name, 'tokyo-1', { action }) as { policy: object };
  return { ...plain, policy: { ...plain.policy, permission } };
}

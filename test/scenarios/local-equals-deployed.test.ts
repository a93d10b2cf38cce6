/** The local stack runs what the template deploys: the same functions, endpoints, machine, table and limits. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deployedFunctions } from '../../cdk/deployed.ts';
import { endpoints } from '../../functions/endpoints.ts';
import { type Gateway, startGateway } from '../../lib/local/gateway.ts';
import { loadHandlers } from '../../lib/local/handlers.ts';
import { listenOnLoopback, readBody } from '../../lib/local/loopback.ts';
import { createSendPool } from '../../lib/local/send-pool.ts';
import { localDefinition } from '../../lib/local/step-functions.ts';
import { createTable } from '../../lib/local/table.ts';
import { newId } from '../../lib/platform/ids.ts';
import { ENV, STEPS } from '../../lib/platform/names.ts';
import { nameOf, ofType, ROOT, synthesised } from '../cdk/synthesised.ts';

const stack = synthesised();

describe('functions', () => {
  test('every deployed function runs locally, and no other', async () => {
    const local = [...(await loadHandlers()).keys(), STEPS.Send.function];
    expect(local.sort()).toEqual(
      functionsInTemplate()
        .map(([name]) => name)
        .sort(),
    );
    expect(
      deployedFunctions()
        .map((each) => each.name)
        .sort(),
    ).toEqual(local);
  });

  test('a local sender lives as long as a deployed one', () => {
    const seconds = Object.fromEntries(functionsInTemplate());
    for (const step of Object.values(STEPS)) expect(seconds[step.function]).toBe(step.timeoutSeconds);
  });

  test('the thread of the local send function runs the deployed handler, which checks its input', async () => {
    Object.assign(process.env, { [ENV.table]: 'unused', [ENV.routes]: join(ROOT, 'routes.json') });
    const pool = createSendPool({ threads: 1, timeoutMs: 10_000 });
    await expect(pool.invoke({ tenant: 'acme' })).rejects.toMatchObject({ name: 'ZodError' });
    await pool.close();
  });
});

function functionsInTemplate(): (readonly [string, number])[] {
  const shape = z.object({ Description: z.string(), Timeout: z.number() });
  return ofType(stack, 'AWS::Lambda::Function').map(([, { Properties }]) => {
    const { Description, Timeout } = shape.parse(Properties);
    return [Description.replace('Kakutei: ', ''), Timeout];
  });
}

test('the local machine is the deployed one with the names of its functions filled in', () => {
  const [, machine] = ofType(stack, 'AWS::StepFunctions::StateMachine')[0] ?? [];
  const { DefinitionString, DefinitionSubstitutions } = z
    .object({ DefinitionString: z.string(), DefinitionSubstitutions: z.record(z.string(), z.unknown()) })
    .parse(machine?.Properties);
  const filled = Object.entries(DefinitionSubstitutions).reduce(
    (text, [placeholder, arn]) => text.replaceAll(`\${${placeholder}}`, functionAt(arn)),
    DefinitionString,
  );
  expect(localDefinition()).toEqual(JSON.parse(filled));
});

/** The function that a reference in the template leads to. */
function functionAt(reference: unknown): string {
  const description = stack.resources.get(nameOf(reference))?.Properties['Description'];
  return z.string().parse(description).replace('Kakutei: ', '');
}

describe('endpoints', () => {
  const SCOPES = ['submit', 'read', 'approve', 'operate', 'admin'];
  const called: string[] = [];
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({
      endpoints,
      port: 0,
      newId,
      jwks: {},
      // A token of the test is its scope.
      verify: async (token) => ({ scope: token }),
      invoke: async (name) => {
        called.push(name);
        return '{}';
      },
    });
  });

  afterAll(() => gateway.close());

  test.each(routesInTemplate())('$route lets in the same scope and calls the same function', async (row) => {
    const [method = '', path = ''] = row.route.split(' ');
    const url = `${gateway.url}${path.replace('{id}', 'int_1')}`;
    const ask = async (token?: string) => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await fetch(url, { method, headers })).status;
    };
    called.length = 0;
    const statuses = await Promise.all(SCOPES.map(ask));
    const letIn = row.scopes ?? SCOPES;
    expect(statuses).toEqual(SCOPES.map((scope) => (letIn.includes(scope) ? 200 : 403)));
    expect(called).toEqual(letIn.map(() => row.function));
    expect(await ask()).toBe(row.scopes === undefined ? 200 : 401);
  });

  test('there is no route more than in the template', () => {
    const template = routesInTemplate().map((row) => row.route);
    expect(endpoints.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(template.sort());
  });
});

function routesInTemplate() {
  return ofType(stack, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => {
    const integration = stack.resources.get(nameOf(Properties['Target']).replace('integrations/', ''));
    return {
      route: z.string().parse(Properties['RouteKey']),
      scopes: z.array(z.string()).optional().parse(Properties['AuthorizationScopes']),
      function: functionAt(integration?.Properties['IntegrationUri']),
    };
  });
}

test('the local table has the keys and the indexes of the deployed one', async () => {
  const [, table] =
    ofType(stack, 'AWS::DynamoDB::GlobalTable')[0] ?? ofType(stack, 'AWS::DynamoDB::Table')[0] ?? [];
  const deployed = shapeOfTable.parse(table?.Properties);
  expect(shapeOfTable.parse(await tableMadeLocally())).toEqual(deployed);
  expect(deployed.GlobalSecondaryIndexes).toHaveLength(3);
});

const keys = z.array(z.object({ AttributeName: z.string(), KeyType: z.string() }));
const byName = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
const shapeOfTable = z.object({
  KeySchema: keys,
  BillingMode: z.string(),
  AttributeDefinitions: z
    .array(z.object({ AttributeName: z.string(), AttributeType: z.string() }))
    .transform((all) => all.sort(byName)),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keys,
        Projection: z.object({ ProjectionType: z.string() }),
      }),
    )
    .transform((all) => all.sort(byName)),
});

/** The request that the local stack makes its table with, as it goes over the wire. */
async function tableMadeLocally(): Promise<unknown> {
  const requests: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body: unknown = JSON.parse(String(await readBody(request, 1_048_576)));
    if (String(request.headers['x-amz-target']).endsWith('CreateTable')) requests.push(body);
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    response.end('{"Table":{"TableStatus":"ACTIVE"}}');
  });
  const { url, close } = await listenOnLoopback(server, 0);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint: url, region: 'us-east-1', credentials });
  await createTable(client, 'kakutei');
  client.destroy();
  await close();
  expect(requests).toHaveLength(1);
  return requests[0];
}

import { connect } from 'node:net';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { afterEach, describe, expect, test } from 'vitest';
import { type Endpoint, endpoints, type Scope } from '../../functions/endpoints.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../lib/local/gateway.ts';
import type { GatewayEvent } from '../../lib/local/gateway-event.ts';
import { createIssuer } from '../../lib/local/tokens.ts';
import { AUDIENCE, hostileTokens, ISSUER, rsaKeys } from './hostile-tokens.ts';

const keys = rsaKeys();
const issuer = await createIssuer({ issuer: ISSUER, audience: AUDIENCE, keys });
const hostile = await hostileTokens(issuer, keys);
const token = issuer.tokens.submitter;
const MAX_BODY_BYTES = 10 * 1024 * 1024;

interface Call {
  readonly name: string;
  readonly event: GatewayEvent;
}

const open: Gateway[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

describe('who may call what', () => {
  const scopes: readonly Scope[] = ['submit', 'read', 'approve', 'operate', 'admin'];
  const matrix = endpoints.flatMap((endpoint) =>
    scopes.map((scope) => ({
      endpoint,
      scope,
      route: `${endpoint.method} ${endpoint.path}`,
      status: endpoint.scope === null || endpoint.scope === scope ? 200 : 403,
    })),
  );

  test.each(matrix)('$route with scope $scope is $status', async ({ endpoint, scope, status }) => {
    const { gateway, calls } = await start();
    const own = { sub: 'x', tenant: 'acme', unit: 'sales', kind: 'person', scope } as const;
    const answer = await call(gateway, endpoint, await issuer.sign(own));
    expect(answer.status).toBe(status);
    expect(calls.map(({ name }) => name)).toEqual(status === 200 ? [endpoint.function] : []);
    if (status === 403) expect(await answer.json()).toEqual({ message: 'Forbidden' });
  });

  test.each(hostile)('a token $name gets $status everywhere and reaches no handler', async (bad) => {
    const { gateway, calls } = await start();
    const guarded = endpoints.filter((endpoint) => endpoint.scope !== null);
    for (const endpoint of guarded) {
      const answer = await call(gateway, endpoint, bad.token);
      expect(answer.status, endpoint.path).toBe(bad.status);
      const words = { 401: 'Unauthorized', 403: 'Forbidden' };
      expect(await answer.json()).toEqual({ message: words[bad.status] });
    }
    expect(guarded.length).toBeGreaterThan(0);
    expect(calls).toEqual([]);
  });

  test('a token too long for any header is refused by the server itself', async () => {
    const { gateway, calls } = await start();
    const answer = await fetch(`${gateway.url}/intents`, {
      headers: { authorization: `Bearer ${'A'.repeat(20_000)}` },
    });
    expect(answer.status).toBe(431);
    expect(calls).toEqual([]);
  });

  test.each([
    ['another scheme', `Basic ${token}`],
    ['two tokens', `Bearer ${token}, Bearer ${token}`],
    ['a bare token', token],
    ['nothing after the scheme', 'Bearer '],
  ])('%s is no token', async (_case, authorization) => {
    const { gateway, calls } = await start();
    const answer = await fetch(`${gateway.url}/intents`, { headers: { authorization } });
    expect(answer.status).toBe(401);
    expect(calls).toEqual([]);
  });

  test('the key set is served without a token', async () => {
    const { gateway } = await start();
    const answer = await fetch(`${gateway.url}/.well-known/jwks.json`);
    expect(await answer.json()).toEqual(issuer.jwks);
  });
});

describe('where a call goes', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/nothing'],
    ['GET', '/intents/'],
    ['GET', '//intents'],
    ['GET', '/intents/a/b'],
    ['GET', '/intents//evidence'],
    ['GET', '/INTENTS'],
    ['DELETE', '/intents'],
    ['PUT', '/intents/a'],
    ['OPTIONS', '/intents'],
    ['POST', '/.well-known/jwks.json'],
  ])('%s %s is 404, with or without a token', async (method, path) => {
    const { gateway, calls } = await start();
    for (const headers of [{}, bearer(token)]) {
      const answer = await fetch(gateway.url + path, { method, headers });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ message: 'Not Found' });
    }
    expect(calls).toEqual([]);
  });

  test('a fixed segment wins over a variable one', async () => {
    const base = { method: 'GET', scope: null } as const;
    const table: Endpoint[] = [
      { ...base, path: '/intents/{id}', function: 'variable' },
      { ...base, path: '/intents/summary', function: 'fixed' },
    ];
    const { gateway, calls } = await start({ endpoints: table });
    await fetch(`${gateway.url}/intents/summary`);
    await fetch(`${gateway.url}/intents/other`);
    expect(calls.map(({ name }) => name)).toEqual(['fixed', 'variable']);
  });

  test('a variable segment is percent-decoded, and one that cannot be is 400', async () => {
    const { gateway, calls } = await start();
    await fetch(`${gateway.url}/intents/a%2Fb%20c`, { headers: bearer(token) });
    expect(calls[0]?.event.pathParameters).toEqual({ id: 'a/b c' });
    const answer = await fetch(`${gateway.url}/intents/%E0%A4%A`, { headers: bearer(token) });
    expect([answer.status, await answer.json()]).toEqual([400, { message: 'Bad Request' }]);
    expect(calls).toHaveLength(1);
  });
});

describe('what a handler gets', () => {
  test('a call arrives in payload format 2.0', async () => {
    const { gateway, calls } = await start();
    const body = '{"route":"warehouse","name":"Ünïcode"}';
    const before = Date.now();
    await fetch(`${gateway.url}/intents?a=1&b=x%20y&a=2`, {
      method: 'POST',
      headers: {
        ...bearer(token),
        'Content-Type': 'application/json; charset=utf-8',
        'Idempotency-Key': 'ORD-1',
        'User-Agent': 'tests',
        Cookie: 'a=1; b=2',
      },
      body,
    });
    const [{ event }] = one(calls);
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'POST /intents',
      rawPath: '/intents',
      rawQueryString: 'a=1&b=x%20y&a=2',
      queryStringParameters: { a: '1,2', b: 'x y' },
      cookies: ['a=1', 'b=2'],
      headers: { 'idempotency-key': 'ORD-1', 'content-type': 'application/json; charset=utf-8' },
      body,
      isBase64Encoded: false,
      requestContext: {
        http: {
          method: 'POST',
          path: '/intents',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'tests',
        },
        requestId: 'id-1',
        routeKey: 'POST /intents',
        stage: '$default',
        time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      },
    });
    expect(event.requestContext.timeEpoch).toBeGreaterThanOrEqual(before);
    expect(event).not.toHaveProperty('pathParameters');
    expect(event.headers).not.toHaveProperty('cookie');
  });

  test('the claims of the token arrive as text, with the scopes beside them', async () => {
    const { gateway, calls } = await start();
    await fetch(`${gateway.url}/intents`, { headers: bearer(token) });
    const [{ event }] = one(calls);
    expect(event.requestContext).toMatchObject({
      authorizer: {
        jwt: {
          claims: { tenant: 'acme', unit: 'sales', kind: 'service', iat: expect.stringMatching(/^\d+$/) },
          scopes: ['submit', 'read'],
        },
      },
    });
  });

  test('an endpoint without a scope gets no claims, even when a token came along', async () => {
    const { gateway, calls } = await start();
    await fetch(`${gateway.url}/health`, { headers: bearer(token) });
    const [{ event }] = one(calls);
    expect(event.requestContext).not.toHaveProperty('authorizer');
    expect(event).not.toHaveProperty('body');
    expect(event).not.toHaveProperty('queryStringParameters');
  });

  test('a header that came twice is one value with a comma', async () => {
    const { gateway, calls } = await start();
    const headers: [string, string][] = [
      ['authorization', `Bearer ${token}`],
      ['x-twice', 'a'],
      ['x-twice', 'b'],
    ];
    const raw = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    await rawCall(gateway, `GET /intents HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${raw}\r\n`);
    const [{ event }] = one(calls);
    expect(event.headers['x-twice']).toBe('a,b');
  });

  test('a body of another type arrives as base64', async () => {
    const { gateway, calls } = await start();
    const body = Buffer.from([0, 255, 128]);
    const headers = { ...bearer(token), 'content-type': 'application/octet-stream' };
    await fetch(`${gateway.url}/intents`, { method: 'POST', headers, body });
    const [{ event }] = one(calls);
    expect([event.body, event.isBase64Encoded]).toEqual([body.toString('base64'), true]);
  });

  test('a body of 10 MB arrives whole; one byte more is 413 and reaches no handler', async () => {
    const { gateway, calls } = await start();
    const post = (size: number) =>
      fetch(`${gateway.url}/intents`, {
        method: 'POST',
        headers: { ...bearer(token), 'content-type': 'text/plain' },
        body: 'x'.repeat(size),
      });
    expect((await post(MAX_BODY_BYTES)).status).toBe(200);
    const answer = await post(MAX_BODY_BYTES + 1);
    expect([answer.status, await answer.json()]).toEqual([413, { message: 'Request Entity Too Large' }]);
    expect(calls.map(({ event }) => event.body?.length)).toEqual([MAX_BODY_BYTES]);
  });

  test('a caller that goes away in the middle of its body reaches no handler', async () => {
    const arrived = Promise.withResolvers<void>();
    const newId = () => {
      arrived.resolve();
      return 'id';
    };
    const { gateway, calls } = await start({ newId });
    const socket = connect(portOf(gateway), '127.0.0.1');
    socket.write(`POST /intents HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n`);
    socket.write(`authorization: Bearer ${token}\r\n\r\nhalf`);
    await arrived.promise;
    socket.destroy();
    await gateway.close();
    expect(calls).toEqual([]);
  });
});

describe('what a caller gets', () => {
  test('a structured result arrives with its status, headers and cookies', async () => {
    const { gateway } = await start({
      invoke: async () => ({
        statusCode: 202,
        headers: { Location: '/intents/int_1', 'Retry-After': 5, 'content-length': '999' },
        cookies: ['a=1', 'b=2'],
        body: '{"id":"int_1"}',
      }),
    });
    const answer = await fetch(`${gateway.url}/health`);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe('/intents/int_1');
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.headers.get('apigw-requestid')).toBe('id-1');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await answer.text()).toBe('{"id":"int_1"}');
  });

  test('a text is a JSON body, and base64 is decoded', async () => {
    const results: (APIGatewayProxyStructuredResultV2 | string)[] = [
      '{"a":1}',
      { body: Buffer.from([0, 255]).toString('base64'), isBase64Encoded: true },
    ];
    const { gateway } = await start({ invoke: async () => results.shift() ?? '' });
    const text = await fetch(`${gateway.url}/health`);
    expect([text.status, text.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await text.json()).toEqual({ a: 1 });
    const bytes = await fetch(`${gateway.url}/health`);
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255]);
  });

  test.each<[string, GatewayOptions['invoke']]>([
    ['throws', () => Promise.reject(new Error('secret detail'))],
    ['throws before it waits', () => raise()],
    ['gives a header that HTTP forbids', async () => ({ headers: { 'x-a': 'b\r\nc: d' } })],
    ['gives a status that HTTP forbids', async () => ({ statusCode: 99 })],
    ['gives nothing', async () => JSON.parse('null')],
  ])('a handler that %s is 500 without detail', async (_case, invoke) => {
    const { gateway } = await start({ invoke });
    const answer = await fetch(`${gateway.url}/health`);
    expect([answer.status, await answer.json()]).toEqual([500, { message: 'Internal Server Error' }]);
  });

  test('a handler that takes too long is 503', async () => {
    const { gateway } = await start({ timeoutMs: 20, invoke: () => new Promise(() => {}) });
    const answer = await fetch(`${gateway.url}/health`);
    expect([answer.status, await answer.json()]).toEqual([503, { message: 'Service Unavailable' }]);
  });

  test('closing ends the connections that callers keep open', async () => {
    const { gateway } = await start();
    const socket = connect(portOf(gateway), '127.0.0.1');
    const ended = new Promise((resolve) => socket.once('close', resolve));
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
    await answered;
    await gateway.close();
    await ended;
    await expect(fetch(`${gateway.url}/health`)).rejects.toThrow();
  });

  test('a port that is taken is refused', async () => {
    const { gateway } = await start();
    const port = portOf(gateway);
    await expect(start({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

async function start(overrides: Partial<GatewayOptions> = {}): Promise<{ gateway: Gateway; calls: Call[] }> {
  const calls: Call[] = [];
  let ids = 0;
  const gateway = await startGateway({
    endpoints,
    port: 0,
    verify: issuer.verify,
    jwks: issuer.jwks,
    invoke: async (name, event) => {
      calls.push({ name, event });
      return { statusCode: 200, body: '{}' };
    },
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    ...overrides,
  });
  open.push(gateway);
  return { gateway, calls };
}

function call(gateway: Gateway, endpoint: Endpoint, bearerToken: string | null): Promise<Response> {
  const url = gateway.url + endpoint.path.replaceAll(/\{\w+\}/g, 'int_1');
  return fetch(url, { method: endpoint.method, headers: bearerToken === null ? {} : bearer(bearerToken) });
}

function bearer(text: string): Record<string, string> {
  return { authorization: `Bearer ${text}` };
}

function one(calls: readonly Call[]): [Call] {
  const [only, ...more] = calls;
  if (only === undefined || more.length > 0) throw new Error(`Expected one call, got ${calls.length}`);
  return [only];
}

function raise(): never {
  throw new Error('secret detail');
}

function portOf(gateway: Gateway): number {
  return Number(new URL(gateway.url).port);
}

/** Bytes as they are, for what `fetch` would tidy up. Resolves when the connection has ended. */
function rawCall(gateway: Gateway, text: string): Promise<unknown> {
  const socket = connect(portOf(gateway), '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume().write(text);
  return closed;
}

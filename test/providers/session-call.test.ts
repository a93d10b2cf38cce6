import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { sessionCall } from '../../lib/providers/session-call.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = (baseUrl: string, path = '/session', timeoutMs = 5000) =>
  sessionCall({ baseUrl, timeoutMs })(path, '{"a":1}');

it('is one POST of JSON on a connection of its own, and the answer comes back as it is', async () => {
  const seen: { method: string | undefined; headers: IncomingMessage['headers']; url: string | undefined }[] =
    [];
  let body = '';
  const url = await serve(async (request, response) => {
    for await (const chunk of request) body += String(chunk);
    seen.push({ method: request.method, headers: request.headers, url: request.url });
    response.writeHead(429, { 'retry-after': '7' }).end('{"error":"x"}');
  });
  expect(await ask(`${url}/prefix`)).toEqual({
    ...{ kind: 'answered', status: 429, body: '{"error":"x"}', retryAfterMs: 7000 },
  });
  expect(seen).toMatchObject([
    {
      method: 'POST',
      url: '/prefix/session',
      headers: { 'content-type': 'application/json', connection: 'close' },
    },
  ]);
  expect(seen[0]?.headers).not.toHaveProperty('authorization');
  expect(body).toBe('{"a":1}');
});

it.each([
  ['a redirect', 'redirected', (_, response) => response.writeHead(307, { location: '/else' }).end()],
  ['too much', 'too_large', (_, response) => response.end('x'.repeat(65_537))],
  ['bytes that are no text', 'not_text', (_, response) => response.end(Buffer.from([0xff]))],
  ['a cut', 'unreachable', (request) => void request.socket.destroy()],
] as [string, string, RequestListener][])('%s is a failure', async (_, error, listener) => {
  let calls = 0;
  const url = await serve((request, response) => {
    calls += 1;
    listener(request, response);
  });
  expect(await ask(url)).toEqual({ kind: 'failed', error });
  expect(calls, 'nothing is repeated or followed').toBe(1);
});

it('a server that does not answer is left at the limit', async () => {
  const url = await serve(() => undefined);
  expect(await ask(url, '/session', 50)).toEqual({ kind: 'failed', error: 'timeout' });
});

it.each(['//elsewhere', '/../x', 'session'])('the path %s is not called', async (path) => {
  let calls = 0;
  const url = await serve((_, response) => {
    calls += 1;
    response.end();
  });
  expect(await ask(url, path)).toEqual({ kind: 'failed', error: 'unreachable' });
  expect(calls).toBe(0);
});

it.each([
  ['Wed, 21 Oct 2026 07:28:00 GMT', null],
  ['-1', null],
  ['0', 0],
])('a time to wait of "%s" is read as %s', async (text, retryAfterMs) => {
  const url = await serve((_, response) => response.writeHead(429, { 'retry-after': text }).end());
  expect(await ask(url)).toMatchObject({ status: 429, retryAfterMs });
});

import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { below, MAX_ANSWER_BYTES, reader } from '../../lib/providers/reader.ts';

const servers: http.Server[] = [];
const seen: http.IncomingMessage[] = [];

/** Answers every request with `play`; returns the base URL. */
async function serve(play: http.RequestListener): Promise<string> {
  const server = http.createServer((request, response) => {
    seen.push(request);
    play(request, response);
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  seen.length = 0;
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const look = (baseUrl: string, path = '/reservations/1', timeoutMs = 2_000) =>
  reader({ baseUrl, headers: { authorization: 'Bearer read' }, timeoutMs })(path);

const failed = (error: string) => ({ kind: 'failed', error });
const ZEROS = gzipSync(Buffer.alloc(50_000_000, 0x30));

describe('one look', () => {
  test('hands on status and body as they came, byte order mark included', async () => {
    const base = await serve((_, response) => response.writeHead(404).end('\ufeff{"error":"none"}'));
    expect(await look(base)).toEqual({ kind: 'answered', status: 404, body: '\ufeff{"error":"none"}' });
  });

  test('is one GET below the prefix of the base URL, with the given fields, on a connection of its own', async () => {
    const base = await serve((_, response) => response.end('{}'));
    await look(`${base}/v1/`, '/reservations?reference=ORD-1..2');
    const sent = seen.map(({ method, url, headers }) => [
      method,
      url,
      headers.authorization,
      headers.connection,
    ]);
    expect(sent).toEqual([['GET', '/v1/reservations?reference=ORD-1..2', 'Bearer read', 'close']]);
  });

  test.for([300, 301, 302, 303, 304, 307, 308])('fails on %i and follows nothing', async (status) => {
    const base = await serve((_, response) => response.writeHead(status, { location: '/elsewhere' }).end());
    expect(await look(base)).toEqual(failed('redirected'));
    expect(seen).toHaveLength(1);
  });

  test.for([
    ['120', '120'],
    ['Mon, 30 Nov 2026 09:01:30 GMT', 'Mon, 30 Nov 2026 09:01:30 GMT'],
    [['120', 'abc'], '120, abc'],
    ['9'.repeat(256), '9'.repeat(256)],
    ['9'.repeat(257), undefined],
  ] as const)('hands on a time to wait of %j as %s', async ([sent, told]) => {
    const base = await serve((_, response) => {
      response.setHeader('retry-after', sent as string | string[]);
      response.writeHead(429).end('{}');
    });
    const answer = { kind: 'answered', status: 429, body: '{}' };
    expect(await look(base)).toEqual(told === undefined ? answer : { ...answer, retryAfter: told });
    expect(seen).toHaveLength(1);
  });

  test('takes a body of exactly the limit', async () => {
    const base = await serve((_, response) => response.end(Buffer.alloc(MAX_ANSWER_BYTES, 0x30)));
    const seen = await look(base);
    expect(seen.kind === 'answered' && seen.body.length).toBe(MAX_ANSWER_BYTES);
  });

  test('fails on one byte more', async () => {
    const base = await serve((_, response) => response.end(Buffer.alloc(MAX_ANSWER_BYTES + 1, 0x30)));
    expect(await look(base)).toEqual(failed('too_large'));
  });

  test('stops reading a body without end, and ends the transfer', async () => {
    const stopped = Promise.withResolvers<void>();
    const base = await serve((_, response) => {
      const more = () => !response.destroyed && response.write('x'.repeat(65_536), () => setImmediate(more));
      response.once('close', stopped.resolve);
      more();
    });
    expect(await look(base)).toEqual(failed('too_large'));
    await stopped.promise;
  });

  test('counts the size after unpacking', async () => {
    const base = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(ZEROS),
    );
    expect(await look(base)).toEqual(failed('too_large'));
  });

  test('fails on a body that is not UTF-8', async () => {
    const base = await serve((_, response) => response.end(Buffer.from([0x22, 0xff, 0x22])));
    expect(await look(base)).toEqual(failed('not_text'));
  });

  test('fails on a body cut before its length', async () => {
    const base = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('[]', () => response.destroy());
    });
    expect(await look(base)).toEqual(failed('unreachable'));
  });

  test('is not repeated after a reset', async () => {
    const base = await serve((request) => request.socket.resetAndDestroy());
    expect(await look(base)).toEqual(failed('unreachable'));
    expect(seen).toHaveLength(1);
  });

  test('fails where nobody listens', async () => {
    const base = await serve(() => {});
    const [server] = servers.splice(0);
    await new Promise((closed) => server?.close(closed));
    expect(await look(base)).toEqual(failed('unreachable'));
  });

  test('fails in time on silence', async () => {
    const base = await serve(() => {});
    expect(await look(base, '/', 150)).toEqual(failed('timeout'));
    expect(seen).toHaveLength(1);
  });

  test('fails in time on a body that stalls', async () => {
    const base = await serve((_, response) => response.writeHead(200).write('['));
    expect(await look(base, '/', 150)).toEqual(failed('timeout'));
    expect(seen).toHaveLength(1);
  });

  test('refuses a path that could leave the base URL, and asks nobody', async () => {
    const base = await serve((_, response) => response.end('{}'));
    expect(await look(`${base}/v1`, '/../admin')).toEqual(failed('bad_path'));
    expect(seen).toHaveLength(0);
  });
});

describe('below', () => {
  test.for([
    ['https://api.test', '/orders', 'https://api.test/orders'],
    ['https://api.test/', '/orders?a=b', 'https://api.test/orders?a=b'],
    ['https://api.test:8443/v1/', '/orders/a%2Fb', 'https://api.test:8443/v1/orders/a%2Fb'],
    ['http://127.0.0.1:1', '/', 'http://127.0.0.1:1/'],
    ['https://api.test/v1', '/a..b/...?next=/../x', 'https://api.test/v1/a..b/...?next=/../x'],
    ['https://api.test/v1', '/@other.test/:80', 'https://api.test/v1/@other.test/:80'],
  ] as const)('joins %s and %s', ([base, path, joined]) => {
    expect(below(base, path).href).toBe(joined);
  });

  test.for([
    '',
    'orders',
    '//other.test/',
    '/\\other.test/',
    '\\\\other.test/',
    '/\t/other.test/',
    'https://other.test/',
    '@other.test/',
    '.other.test/',
    ':80/',
    '/..',
    '/../admin',
    '/a/../../admin',
    '/a/./b',
    '/%2e%2e/admin',
    '/.%2E/admin',
    '/a#b',
    '/a b',
    '/ü',
    '/a\r\nhost: x',
  ])('refuses the path %j', (path) => {
    expect(() => below('https://api.test/v1', path)).toThrow('the path could leave it');
  });

  test.for([
    'ftp://api.test',
    'https://user:secret@api.test',
    'https://api.test?a=b',
    'https://api.test/#a',
    'file:///etc',
  ])('refuses the base URL %s without repeating it', (base) => {
    expect(() => below(base, '/')).toThrow(/^Cannot join below the base URL: it is not plain http\(s\)$/);
  });
});

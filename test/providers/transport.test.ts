/** Real sockets. The server's count of complete bodies is the truth; a report may know less, never the opposite. */
import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { WireReport } from '../../lib/domain/write-result.ts';
import { MAX_ANSWER_BYTES } from '../../lib/providers/reader.ts';
import { sendOnce, type WriteRequest } from '../../lib/providers/transport.ts';
import {
  type Cue,
  type Keys,
  type Peer,
  selfSigned,
  type WireServer,
  wireServer,
} from '../support/wire-server.ts';

/** For what runs to its limit, and for what must not. */
const LIMIT_MS = 200;
const PATIENT_MS = 5_000;
const BODY = '{"item":"Füller","quantity":2}';
/** More than the kernel takes at once. */
const BIG_BODY = JSON.stringify('x'.repeat(12_000_000));

const made = selfSigned();
const trusted: Keys | undefined = 'missing' in made ? undefined : made;
if (trusted !== undefined) {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), trusted.cert]);
}
const noTls = 'missing' in made ? `TLS (skipped: ${made.missing})` : 'TLS';

function write(url: string, more: Partial<WriteRequest> = {}): Promise<WireReport> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'ORD-1' };
  const plain: WriteRequest = {
    url: new URL(url),
    method: 'POST',
    headers,
    body: BODY,
    timeoutMs: PATIENT_MS,
    lastCheck: async () => null,
  };
  return sendOnce({ ...plain, ...more });
}

const open: WireServer[] = [];
async function serve(cue: Cue, keys?: Keys): Promise<WireServer> {
  const server = await wireServer(cue, keys);
  open.push(server);
  return server;
}
afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of open.splice(0)) await server.close();
});

/** What must hold whatever the wire did. */
async function holds(server: WireServer, report: WireReport): Promise<void> {
  await server.allGone();
  expect(server.played(), 'the fault was never hit').toBe(1);
  expect(server.connections()).toBe(1);
  expect(server.posts()).toBeLessThanOrEqual(1);
  if (server.bodyBytes() > 0) expect(report.kind).not.toBe('not_connected');
  if (report.kind === 'not_connected') expect(server.received()).toBe('');
}

const closed: WireReport = { kind: 'sent_no_answer', how: 'closed' };
const timeout: WireReport = { kind: 'sent_no_answer', how: 'timeout' };
const json = { 'content-type': 'application/json' };
function whole(status: number, body: string, headers: Record<string, string> = {}): WireReport {
  return { kind: 'answered', status, headers, body, complete: true };
}
function cut(status: number, headers: Record<string, string> = {}): WireReport {
  return { kind: 'answered', status, headers, body: '', complete: false };
}

const send = (...parts: (string | Buffer)[]) => {
  return ({ stream }: Peer) => {
    for (const part of parts) stream.write(part);
  };
};
const sendAndEnd = (...parts: (string | Buffer)[]) => {
  return (peer: Peer) => {
    send(...parts)(peer);
    peer.stream.end();
  };
};
const sendAndReset = (text: string) => {
  return ({ raw, stream }: Peer) => void stream.write(text, () => setImmediate(() => raw.resetAndDestroy()));
};
const fin = ({ stream }: Peer) => void stream.end();
const reset = ({ raw }: Peer) => void raw.resetAndDestroy();
const silent = () => {};
const repeat = (text: string) => {
  return ({ stream }: Peer) => {
    const again = () => {
      if (!stream.destroyed) stream.write(text, () => setImmediate(again));
    };
    again();
  };
};
const drip = (text: string) => {
  return ({ stream }: Peer) => {
    let sent = 0;
    const timer = setInterval(() => stream.write(text.charAt(sent++)), 25);
    for (const event of ['end', 'error', 'close']) stream.once(event, () => clearInterval(timer));
  };
};

const ID = '{"id":"R-1"}';
const head = (status: string, ...fields: string[]) => `HTTP/1.1 ${[status, ...fields].join('\r\n')}\r\n\r\n`;
const sized = (status: string, body: string | Buffer, ...fields: string[]) =>
  head(status, `content-length: ${Buffer.byteLength(body)}`, ...fields);
const HALF = head('201 Created', 'content-length: 100') + ID;
const MOVED = ['location: /elsewhere', 'content-length: 0'];
const FULL = 'x'.repeat(MAX_ANSWER_BYTES);
const ZIPPED = gzipSync(ID);
const NOT_UTF8 = Buffer.from([0x22, 0xff, 0xfe, 0x22]);

interface Row extends Cue {
  readonly name: string;
  readonly because: string;
  readonly report: WireReport;
  readonly posts: 0 | 1;
  readonly body?: string;
  /** Only the deadline ends it; a timeout always is such a one. */
  readonly toTheLimit?: true;
}

const rows: readonly Row[] = [
  // No status line.
  {
    name: 'reset after the head',
    because: 'bytes left; that the body was not taken cannot be seen from here',
    at: 'head',
    play: reset,
    report: closed,
    posts: 0,
  },
  {
    name: 'FIN after the head, the body still taken',
    because: 'a half-closed peer can have an effect',
    at: 'head',
    play: fin,
    report: closed,
    posts: 1,
  },
  {
    name: 'reset in the middle of the body',
    because: 'a part left, and a part proves nothing',
    at: 'part',
    play: reset,
    report: closed,
    posts: 0,
    body: BIG_BODY,
  },
  {
    name: 'FIN in the middle of the body, which is read no further',
    because: 'a part left, and a part proves nothing',
    at: 'part',
    play: ({ stream }) => {
      stream.pause();
      stream.end();
    },
    report: closed,
    posts: 0,
    body: BIG_BODY,
  },
  {
    name: 'reset after the body',
    because: 'there is an effect',
    at: 'body',
    play: reset,
    report: closed,
    posts: 1,
  },
  {
    name: 'FIN after the body',
    because: 'there is an effect',
    at: 'body',
    play: fin,
    report: closed,
    posts: 1,
  },
  { name: 'silence', because: 'there is an effect', at: 'body', play: silent, report: timeout, posts: 1 },
  {
    name: 'a peer that never reads the body',
    because: 'the limit counts from the first byte, not from the last',
    at: 'part',
    play: ({ stream }) => void stream.pause(),
    report: timeout,
    posts: 0,
    body: BIG_BODY,
  },
  {
    name: 'a status line that drips',
    because: 'progress does not move the limit',
    at: 'body',
    play: drip(head('201 Created', `content-length: ${ID.length}`)),
    report: timeout,
    posts: 1,
  },
  {
    name: 'a head that stalls after its status line',
    because: 'an answer counts once its head is whole',
    at: 'body',
    play: send('HTTP/1.1 201 Created\r\ncontent-'),
    report: timeout,
    posts: 1,
  },
  {
    name: 'a head cut after its status line',
    because: 'an answer counts once its head is whole',
    at: 'body',
    play: sendAndEnd('HTTP/1.1 201 Created\r\ncontent-'),
    report: closed,
    posts: 1,
  },
  {
    name: 'bytes that are not HTTP',
    because: 'nothing was answered',
    at: 'body',
    play: send('SSH-2.0-OpenSSH_9.6\r\n'),
    report: closed,
    posts: 1,
  },
  {
    name: 'bytes that are not HTTP, then FIN',
    because: 'nothing was answered',
    at: 'body',
    play: sendAndEnd('+OK ready\r\n'),
    report: closed,
    posts: 1,
  },
  {
    name: 'both a length and chunks',
    because: 'a body with two ends is not HTTP',
    at: 'body',
    play: send(`${sized('201 Created', ID, 'transfer-encoding: chunked')}${ID}`),
    report: closed,
    posts: 1,
  },
  {
    name: 'a head over 16 KB',
    because: 'it is never read to its end',
    at: 'body',
    play: send(sized('201 Created', ID, `x-filler: ${'x'.repeat(17_000)}`), ID),
    report: closed,
    posts: 1,
  },
  {
    name: '102 for ever',
    because: 'an informational answer is no answer',
    at: 'body',
    play: repeat(head('102 Processing')),
    report: timeout,
    posts: 1,
  },
  {
    name: '103, then silence',
    because: 'an informational answer is no answer',
    at: 'body',
    play: send(head('103 Early Hints', 'link: </a>')),
    report: timeout,
    posts: 1,
  },
  {
    name: '100 unasked, then FIN',
    because: 'an informational answer is no answer',
    at: 'body',
    play: sendAndEnd(head('100 Continue')),
    report: closed,
    posts: 1,
  },
  {
    name: '101',
    because: 'we asked for no other protocol',
    at: 'body',
    play: send(head('101 Switching Protocols', 'connection: upgrade', 'upgrade: h2c')),
    report: closed,
    posts: 1,
  },
  // Whole answers.
  {
    name: '201 with the reservation',
    because: 'the plain case',
    at: 'body',
    play: send(sized('201 Created', ID, 'content-type: application/json', 'x-secret: s'), ID),
    report: whole(201, ID, json),
    posts: 1,
  },
  {
    name: '103, then 201',
    because: 'the hint is passed over',
    at: 'body',
    play: send(head('103 Early Hints', 'link: </a>'), sized('201 Created', ID), ID),
    report: whole(201, ID),
    posts: 1,
  },
  {
    name: '201 before the body is taken',
    because: 'an answer is an answer, also an early one',
    at: 'head',
    play: send(sized('201 Created', ID), ID),
    report: whole(201, ID),
    posts: 1,
  },
  {
    name: '201 in chunks',
    because: 'the last chunk came',
    at: 'body',
    play: send(head('201 Created', 'transfer-encoding: chunked'), `c\r\n${ID}\r\n`, '0\r\n\r\n'),
    report: whole(201, ID),
    posts: 1,
  },
  {
    name: '201, then a second answer nobody asked for',
    because: 'there was one request',
    at: 'body',
    play: send(`${sized('201 Created', ID)}${ID}${head('500 Oops', 'content-length: 0')}`),
    report: whole(201, ID),
    posts: 1,
  },
  {
    name: '201, then a reset',
    because: 'the body was whole',
    at: 'body',
    play: sendAndReset(`${sized('201 Created', ID)}${ID}`),
    report: whole(201, ID),
    posts: 1,
  },
  {
    name: '201 without a length, ended by FIN',
    because: 'FIN is its end',
    at: 'body',
    play: sendAndEnd(head('201 Created', 'connection: close'), ID),
    report: whole(201, ID),
    posts: 1,
  },
  {
    name: '201 without a length, cut by FIN in the middle',
    because: 'it cannot be told from a whole one here; the judge takes what does not parse as cut',
    at: 'body',
    play: sendAndEnd(head('201 Created', 'connection: close'), ID.slice(0, 6)),
    report: whole(201, ID.slice(0, 6)),
    posts: 1,
  },
  {
    name: 'HTTP/1.0 201',
    because: 'old servers answer so',
    at: 'body',
    play: sendAndEnd(`HTTP/1.0 201 Created\r\n\r\n${ID}`),
    report: whole(201, ID),
    posts: 1,
  },
  ...[301, 302, 303, 307, 308].map(
    (status): Row => ({
      name: `${status}`,
      because: 'a redirect is an answer and is never followed',
      at: 'body',
      play: send(head(`${status} Moved`, ...MOVED)),
      report: whole(status, '', { location: '/elsewhere' }),
      posts: 1,
    }),
  ),
  ...[
    ['503 Service Unavailable', { 'retry-after': '1' }],
    ['500 Internal Server Error', {}],
    ['429 Too Many Requests', { 'retry-after': '120' }],
    ['409 Conflict', {}],
    ['404 Not Found', { date: 'Mon, 30 Nov 2026 09:30:00 GMT' }],
  ].map(
    ([status, fields]): Row => ({
      name: `${status}`,
      because: 'a status is reported, not judged, and nothing is repeated',
      at: 'body',
      play: send(
        sized(`${status}`, '{"error":"x"}', ...Object.entries(fields ?? {}).map(([n, v]) => `${n}: ${v}`)),
        '{"error":"x"}',
      ),
      report: whole(Number.parseInt(`${status}`, 10), '{"error":"x"}', {
        ...(fields as Record<string, string>),
      }),
      posts: 1,
    }),
  ),
  {
    name: '429 with two times to wait',
    because: 'as often as it came: the first one alone would be a choice',
    at: 'body',
    play: send(sized('429 Too Many Requests', '{}', 'retry-after: 1', 'retry-after: 120'), '{}'),
    report: whole(429, '{}', { 'retry-after': '1, 120' }),
    posts: 1,
  },
  {
    name: '503 with a time to wait of 257 characters',
    because: 'what is too long is left out',
    at: 'body',
    play: send(sized('503 Service Unavailable', '{}', `retry-after: ${'9'.repeat(257)}`), '{}'),
    report: whole(503, '{}'),
    posts: 1,
  },
  {
    name: '408, then FIN',
    because: 'clients are invited to repeat; this one does not',
    at: 'body',
    play: sendAndEnd(head('408 Request Timeout', 'content-length: 0', 'connection: close')),
    report: whole(408, ''),
    posts: 1,
  },
  {
    name: '200 with an empty body',
    because: 'it is whole; that it says nothing is for the judge',
    at: 'body',
    play: send(head('200 OK', 'content-length: 0')),
    report: whole(200, ''),
    posts: 1,
  },
  {
    name: '204',
    because: 'it has no body',
    at: 'body',
    play: send(head('204 No Content')),
    report: whole(204, ''),
    posts: 1,
  },
  {
    name: 'a byte order mark',
    because: 'the text is handed on as it came',
    at: 'body',
    play: send(sized('201 Created', `\ufeff${ID}`), `\ufeff${ID}`),
    report: whole(201, `\ufeff${ID}`),
    posts: 1,
  },
  {
    name: 'an answer of exactly 1 MB',
    because: 'the limit is the greatest allowed size',
    at: 'body',
    play: send(sized('200 OK', FULL), FULL),
    report: whole(200, FULL),
    posts: 1,
  },
  {
    name: 'fields over 256 characters',
    because: 'a shortened address is another address',
    at: 'body',
    play: send(
      sized('201 Created', ID, `location: /${'x'.repeat(256)}`, 'Content-Type: application/json'),
      ID,
    ),
    report: whole(201, ID, json),
    posts: 1,
  },
  // A status line, and then trouble.
  {
    name: 'a length longer than the body, then FIN',
    because: 'the rest may hold the id',
    at: 'body',
    play: sendAndEnd(HALF),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a length longer than the body, then a reset',
    because: 'the rest may hold the id',
    at: 'body',
    play: sendAndReset(HALF),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a body without length, then a reset',
    because: 'a reset is no end',
    at: 'body',
    play: sendAndReset(head('201 Created', 'connection: close') + ID),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a body that stalls',
    toTheLimit: true,
    because: 'a status was seen, so it is no timeout',
    at: 'body',
    play: send(HALF),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a body that drips',
    toTheLimit: true,
    because: 'progress does not move the limit',
    at: 'body',
    play: (peer) => {
      send(head('503 Service Unavailable', 'retry-after: 1', 'content-length: 100'))(peer);
      drip(ID)(peer);
    },
    report: cut(503, { 'retry-after': '1' }),
    posts: 1,
  },
  {
    name: 'a chunk that is cut',
    because: 'the last chunk never came',
    at: 'body',
    play: sendAndEnd(head('201 Created', 'transfer-encoding: chunked'), `c\r\n${ID.slice(0, 5)}`),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'whole chunks without the last one',
    because: 'the last chunk never came',
    at: 'body',
    play: sendAndEnd(head('201 Created', 'transfer-encoding: chunked'), `c\r\n${ID}\r\n`),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a chunk size that is no number',
    because: 'where the body ends is not known',
    at: 'body',
    play: send(head('201 Created', 'transfer-encoding: chunked'), `zz\r\n${ID}\r\n`),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a body in gzip',
    because: 'identity was asked for, and unpacking has no limit',
    at: 'body',
    play: send(sized('201 Created', ZIPPED, 'content-encoding: gzip'), ZIPPED),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a body over 1 MB',
    because: 'everything has a limit',
    at: 'body',
    play: send(sized('201 Created', `${FULL}x`), `${FULL}x`),
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a body without end',
    because: 'everything has a limit',
    at: 'body',
    play: (peer) => {
      send(head('201 Created'))(peer);
      repeat('x'.repeat(65_536))(peer);
    },
    report: cut(201),
    posts: 1,
  },
  {
    name: 'a body that is not UTF-8',
    because: 'a repaired text is another text',
    at: 'body',
    play: send(sized('201 Created', NOT_UTF8), NOT_UTF8),
    report: cut(201),
    posts: 1,
  },
];

describe.each([
  { over: 'plain TCP', keys: undefined, scheme: 'http', skip: false },
  { over: noTls, keys: trusted, scheme: 'https', skip: trusted === undefined },
])('over $over', ({ keys, scheme, skip }) => {
  test.skipIf(skip).for(rows)('$name: $because', async (row) => {
    const server = await serve(row, keys);
    const report = await write(`${scheme}://localhost:${server.port}/reservations?dry=0`, {
      timeoutMs: row.toTheLimit || row.report === timeout ? LIMIT_MS : PATIENT_MS,
      ...(row.body === undefined ? {} : { body: row.body }),
    });
    expect(report).toEqual(row.report);
    await holds(server, report);
    expect(server.posts()).toBe(row.posts);
  });

  test.skipIf(skip)('a refusal by the last check lets no byte leave', async () => {
    const server = await serve({ at: 'accept', play: silent }, keys);
    const lastCheck = async () => 'approval_expired';
    const report = await write(`${scheme}://localhost:${server.port}/`, { lastCheck });
    expect(report).toEqual({ kind: 'not_connected', detail: 'withheld:approval_expired' });
    await holds(server, report);
  });

  test.skipIf(skip)('a last check that throws is a refusal', async () => {
    const server = await serve({ at: 'accept', play: silent }, keys);
    const lastCheck = () => {
      throw new Error('the ledger is away');
    };
    const report = await write(`${scheme}://localhost:${server.port}/`, { lastCheck });
    expect(report).toEqual({ kind: 'not_connected', detail: 'withheld:check_failed' });
    await holds(server, report);
  });

  test.skipIf(skip)('a last check that hangs is a refusal, also when it says yes later', async () => {
    const server = await serve({ at: 'accept', play: silent }, keys);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const report = await write(`${scheme}://localhost:${server.port}/`, {
      timeoutMs: LIMIT_MS,
      lastCheck: () => promise,
    });
    resolve(null);
    expect(report).toEqual({ kind: 'not_connected', detail: 'withheld:check_timeout' });
    await holds(server, report);
  });

  test.skipIf(skip).for([
    { how: 'resets', play: reset },
    { how: 'says FIN', play: fin },
  ])('a peer that $how while the last check runs was sent nothing', async ({ play }) => {
    const peers: Peer[] = [];
    const server = await serve({ at: 'accept', play: (peer) => void peers.push(peer) }, keys);
    const report = await write(`${scheme}://localhost:${server.port}/`, {
      lastCheck: async () => {
        await server.firstPlayed;
        for (const peer of peers) play(peer);
        return new Promise(() => {});
      },
    });
    expect(report).toEqual({ kind: 'not_connected', detail: 'connect_failed' });
    await holds(server, report);
  });

  test.skipIf(skip)('words spoken before the request are no answer to it', async () => {
    const peers: Peer[] = [];
    const server = await serve({ at: 'accept', play: (peer) => void peers.push(peer) }, keys);
    const report = await write(`${scheme}://localhost:${server.port}/`, {
      lastCheck: async () => {
        await server.firstPlayed;
        for (const { stream } of peers) {
          await new Promise((written) => stream.write(sized('201 Created', ID) + ID, written));
        }
        // Two turns, so that this process has read what it wrote to itself.
        for (let turn = 0; turn < 2; turn += 1) await new Promise((next) => setImmediate(next));
        return null;
      },
    });
    expect(report).toEqual({ kind: 'not_connected', detail: 'connect_failed' });
    await holds(server, report);
  });

  test.skipIf(skip)('an unfinished write is reset, so that the kernel delivers no body later', async () => {
    const server = await serve({ at: 'part', play: ({ stream }) => void stream.pause() }, keys);
    const report = await write(`${scheme}://localhost:${server.port}/`, {
      body: 'x'.repeat(1_000_000),
      timeoutMs: LIMIT_MS,
    });
    expect(report).toEqual(timeout);
    await holds(server, report);
    expect(server.posts()).toBe(0);
  });
});

describe('never connected', () => {
  const notConnected = (detail: string): WireReport => ({ kind: 'not_connected', detail });

  async function freePort(): Promise<number> {
    const server = await wireServer({ at: 'accept', play: silent });
    await server.close();
    return server.port;
  }

  /** Answers every name as told; what is looked up goes no further. */
  function resolveTo(addresses: dns.LookupAddress[] | 'never'): () => number {
    const lookup = vi.spyOn(dns, 'lookup');
    lookup.mockImplementation(((_name: string, _options: unknown, done: (e: null, all: unknown) => void) => {
      if (addresses !== 'never') setImmediate(() => done(null, addresses));
    }) as typeof dns.lookup);
    return () => lookup.mock.calls.length;
  }

  test('a closed port is refused', async () => {
    expect(await write(`http://127.0.0.1:${await freePort()}/`)).toEqual(notConnected('refused'));
  });

  test('a closed port is refused over TLS too', async () => {
    expect(await write(`https://127.0.0.1:${await freePort()}/`)).toEqual(notConnected('refused'));
  });

  test('a name that does not exist is not resolved', async () => {
    const report = await write('http://nonexistent.invalid/');
    expect(report).toEqual(notConnected('name_not_resolved'));
  });

  test('a name server that does not answer is a connect timeout', async () => {
    const asked = resolveTo('never');
    expect(await write('http://provider.test/', { timeoutMs: LIMIT_MS })).toEqual(
      notConnected('connect_timeout'),
    );
    expect(asked()).toBe(1);
  });

  test('localhost refused over IPv4 and IPv6 is refused, also as one error of two', async () => {
    const port = await freePort();
    const asked = resolveTo([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    const report = await write(`http://localhost:${port}/`);
    // Without IPv6 here the second address fails another way; nothing left either way.
    expect([notConnected('refused'), notConnected('connect_failed')]).toContainEqual(report);
    expect(asked()).toBe(1);
  });

  test('two addresses of one name get one connection and one request', async () => {
    const server = await serve({ at: 'body', play: send(sized('201 Created', ID), ID) });
    resolveTo([
      { address: '127.0.0.2', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]);
    const report = await write(`http://provider.test:${server.port}/`);
    expect(report).toEqual(whole(201, ID));
    await holds(server, report);
  });

  test.skipIf(process.platform !== 'linux')('a full backlog is a connect timeout (Linux only)', async () => {
    const script = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
      console.log(this.address().port) })`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(child.stdout, 'data');
    const port = Number(String(line));
    child.kill('SIGSTOP');
    const filling = Array.from({ length: 8 }, () => net.connect(port, '127.0.0.1').on('error', silent));
    await Promise.all(filling.slice(0, 2).map((socket) => once(socket, 'connect')));
    try {
      expect(await write(`http://127.0.0.1:${port}/`, { timeoutMs: LIMIT_MS })).toEqual(
        notConnected('connect_timeout'),
      );
    } finally {
      for (const socket of filling) socket.destroy();
      child.kill('SIGKILL');
    }
  });

  test('TLS to a port that speaks plain text never stands', async () => {
    const server = await serve({ at: 'accept', play: send('220 mail ready\r\n') });
    expect(await write(`https://localhost:${server.port}/`)).toEqual(notConnected('tls_failed'));
    await server.allGone();
    expect([server.played(), server.connections(), server.bodyBytes()]).toEqual([1, 1, 0]);
  });

  test.for([
    { how: 'reset', play: reset, detail: 'tls_failed', timeoutMs: PATIENT_MS },
    { how: 'cut by FIN', play: fin, detail: 'tls_failed', timeoutMs: PATIENT_MS },
    { how: 'met with silence', play: silent, detail: 'connect_timeout', timeoutMs: LIMIT_MS },
  ])('a TLS handshake $how never stands', async ({ play, detail, timeoutMs }) => {
    // Only after the client's first words, so that the TCP connection surely stood.
    const server = await serve({
      at: 'accept',
      play: (peer) => void peer.raw.once('data', () => play(peer)),
    });
    expect(await write(`https://localhost:${server.port}/`, { timeoutMs })).toEqual(notConnected(detail));
    await server.allGone();
    expect([server.played(), server.connections(), server.bodyBytes()]).toEqual([1, 1, 0]);
  });

  test.skipIf(trusted === undefined)('a certificate for another name never stands', async () => {
    const server = await serve({ at: 'accept', play: silent }, trusted);
    const lastCheck = vi.fn(async () => null);
    const report = await write(`https://127.0.0.1:${server.port}/`, { lastCheck });
    expect(report).toEqual(notConnected('tls_failed'));
    expect(lastCheck).not.toHaveBeenCalled();
    await holds(server, report);
  });

  test.skipIf(trusted === undefined)(
    'a self-signed certificate never stands, whatever the environment',
    async () => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      vi.spyOn(process, 'emitWarning').mockImplementation(silent);
      const stranger = selfSigned();
      if ('missing' in stranger) throw new Error(stranger.missing);
      const server = await serve({ at: 'accept', play: silent }, stranger);
      const report = await write(`https://localhost:${server.port}/`);
      vi.unstubAllEnvs();
      expect(report).toEqual(notConnected('tls_failed'));
      await holds(server, report);
    },
  );

  test.for([
    { what: 'another scheme', url: 'ftp://localhost/', more: {} },
    { what: 'credentials in the address', url: 'http://a:b@localhost/', more: {} },
    { what: 'a line break in a field', url: 'http://localhost/', more: { headers: { a: 'b\r\nc: d' } } },
    { what: 'a field that is no name', url: 'http://localhost/', more: { headers: { 'a b': 'c' } } },
    {
      what: 'framing of its own',
      url: 'http://localhost/',
      more: { headers: { 'Transfer-Encoding': 'chunked' } },
    },
    { what: 'a limit that is none', url: 'http://localhost/', more: { timeoutMs: Number.NaN } },
  ])('a request with $what is withheld before it connects', async ({ url, more }) => {
    const connect = vi.spyOn(net.Socket.prototype, 'connect');
    expect(await write(url, more)).toEqual(notConnected('withheld:bad_request'));
    expect(connect).not.toHaveBeenCalled();
  });
});

describe('on accept, with the first byte on its way', () => {
  test.for([
    { how: 'reset', play: reset },
    { how: 'FIN', play: fin },
  ])('$how is closed or not connected, and not connected only with nothing received', async ({ play }) => {
    const server = await serve({ at: 'accept', play });
    const report = await write(`http://127.0.0.1:${server.port}/`);
    expect([closed, { kind: 'not_connected', detail: 'connect_failed' }]).toContainEqual(report);
    await holds(server, report);
  });
});

describe('what is sent', () => {
  test('head and body leave in one go, once, with their own framing', async () => {
    const chunks: string[] = [];
    const listen = ({ stream }: Peer) => void stream.on('data', (chunk) => chunks.push(String(chunk)));
    const server = await serve({ at: 'accept', play: listen });
    const headers = {
      'Idempotency-Key': 'ORD-1',
      'Content-Length': '1',
      Connection: 'keep-alive',
      Host: 'other',
    };
    const report = await write(`http://127.0.0.1:${server.port}/a?b=c#d`, {
      method: 'PUT',
      headers,
      timeoutMs: LIMIT_MS,
    });
    const lines = [
      'PUT /a?b=c HTTP/1.1',
      'idempotency-key: ORD-1',
      `content-length: ${Buffer.byteLength(BODY)}`,
      'connection: close',
      `host: 127.0.0.1:${server.port}`,
      'accept-encoding: identity',
    ];
    expect(chunks).toEqual([`${lines.join('\r\n')}\r\n\r\n${BODY}`]);
    await holds(server, report);
    expect(server.posts()).toBe(1);
  });

  test('an answer that waits behind a stall of this process is still taken', async () => {
    const answer = sized('201 Created', ID) + ID;
    const stall = ({ stream }: Peer) => {
      stream.write(answer);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LIMIT_MS * 2);
    };
    const server = await serve({ at: 'body', play: stall });
    const report = await write(`http://127.0.0.1:${server.port}/`, { timeoutMs: LIMIT_MS });
    expect(report).toEqual(whole(201, ID));
    await holds(server, report);
  });
});

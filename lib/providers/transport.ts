/**
 * The only place that opens sockets for writes. One call is one connection and at most one request on it:
 * no agent, no redirect, no retry, no proxy. It never throws; it reports phases and judges nothing.
 *
 * `not_connected` is a proof, so it is given by phase and never by an error's name: no byte of the request was
 * handed to the socket. From the moment the request is handed over, nothing leads back to it.
 * A status line counts once the whole head has arrived; a head that is cut or over 16 KB is no answer.
 */
import * as http from 'node:http';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { WireReport } from '../domain/write-result.ts';
import { utf8 } from './bounded-fetch.ts';
import { MAX_ANSWER_BYTES, MAX_FIELD_CHARS } from './reader.ts';

export interface WriteRequest {
  /** http or https, without credentials. */
  readonly url: URL;
  readonly method: 'POST' | 'PUT';
  /** Framing fields (host, connection, content-length, accept-encoding) are the transport's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Limit in ms for connecting with TLS, for the last check, and for the answer counted from the first byte. */
  readonly timeoutMs: number;
  /**
   * Awaited once the connection stands, right before the first byte: the name of a refusal, or null to go.
   * A throw is the refusal `check_failed`; no word within the limit is `check_timeout`, whatever comes later.
   */
  readonly lastCheck: () => Promise<string | null>;
}

/**
 * Details of `not_connected`: `name_not_resolved`, `refused`, `connect_timeout`, `connect_failed`, `tls_failed`,
 * `withheld:<refusal>`. An answer that is not `complete` has an empty body.
 */
export type Transport = (request: WriteRequest) => Promise<WireReport>;

/** The TCP socket, and what is spoken on: itself, or TLS over it. */
interface Line {
  readonly raw: net.Socket;
  stream: net.Socket;
}

const MAX_HEAD_BYTES = 16_384;
const MAX_TIMER_MS = 2_147_483_647;
const SHOWN_FIELDS = ['content-type', 'location', 'retry-after', 'date'] as const;
/** With these a peer could read the body's length or the order of the exchange another way than it was meant. */
const REFUSED_FIELDS = [
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
];

export const sendOnce: Transport = async (request) => {
  const head = headOf(request);
  if (head === null) return notConnected('withheld:bad_request');
  const raw = new net.Socket();
  const line: Line = { raw, stream: raw };
  let handedOver = false;
  let finished = false;
  try {
    const refusal = (await connect(line, request)) ?? (await checked(line, request));
    if (refusal !== null) return notConnected(refusal);
    handedOver = true;
    const report = await exchange(line.stream, request, head);
    finished = report.kind === 'answered' && report.complete;
    return report;
  } catch {
    return handedOver ? { kind: 'sent_no_answer', how: 'closed' } : notConnected('connect_failed');
  } finally {
    await end(line, finished);
  }
};

/** Null for a request that cannot be sent as it stands. */
function headOf({ url, headers, body, timeoutMs }: WriteRequest): Record<string, string> | null {
  const plain = /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === '';
  if (!plain || !(timeoutMs >= 1 && timeoutMs <= MAX_TIMER_MS)) return null;
  const fields: Record<string, string> = {};
  try {
    for (const [name, value] of Object.entries(headers)) {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
      fields[name.toLowerCase()] = value;
    }
  } catch {
    return null;
  }
  if (REFUSED_FIELDS.some((name) => name in fields)) return null;
  const length = String(Buffer.byteLength(body));
  const own = {
    host: url.host,
    connection: 'close',
    'content-length': length,
    'accept-encoding': 'identity',
  };
  return { ...fields, ...own };
}

/** Null once the connection stands; for https that includes the verified certificate. */
function connect(line: Line, { url, timeoutMs }: WriteRequest): Promise<string | null> {
  const { raw } = line;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return firstWord<string | null>(timeoutMs, 'connect_timeout', (settle) => {
    // These listeners stay: an error that comes late must not end the process.
    raw.on('error', (error) => settle(line.stream === raw ? whyNot(error) : 'tls_failed'));
    raw.once('close', () => settle(line.stream === raw ? 'connect_failed' : 'tls_failed'));
    raw.once('connect', () => {
      if (url.protocol === 'http:') return settle(null);
      line.stream = secured(raw, host);
      line.stream.on('error', () => settle('tls_failed'));
      line.stream.once('close', () => settle('tls_failed'));
      line.stream.once('secureConnect', () => settle(null));
    });
    raw.connect({ host, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) });
  });
}

function secured(raw: net.Socket, host: string): tls.TLSSocket {
  // Said aloud, because an environment variable can turn the default off.
  const options = { socket: raw, host, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true };
  return tls.connect(net.isIP(host) === 0 ? { ...options, servername: host } : options);
}

function whyNot(error: NodeJS.ErrnoException): string {
  const errors: NodeJS.ErrnoException[] = error instanceof AggregateError ? error.errors : [error];
  if (errors.every(({ code }) => code === 'ECONNREFUSED')) return 'refused';
  return errors.every(({ syscall }) => syscall === 'getaddrinfo') ? 'name_not_resolved' : 'connect_failed';
}

/** Null when the first byte may leave now. */
async function checked({ stream }: Line, { lastCheck, timeoutMs }: WriteRequest): Promise<string | null> {
  const refusal = await firstWord<string | null>(timeoutMs, 'withheld:check_timeout', (settle) => {
    stream.once('end', () => settle('connect_failed'));
    stream.once('close', () => settle('connect_failed'));
    (async () => lastCheck())().then(
      (word) => settle(word === null ? null : `withheld:${word}`),
      () => settle('withheld:check_failed'),
    );
  });
  if (refusal !== null) return refusal;
  // A peer that is gone, or that spoke before it was asked: its words are no answer to this request.
  return stream.destroyed || stream.readableEnded || stream.readableLength > 0 ? 'connect_failed' : null;
}

function exchange(
  stream: net.Socket,
  { url, method, body, timeoutMs }: WriteRequest,
  headers: Record<string, string>,
): Promise<WireReport> {
  let answer: http.IncomingMessage | undefined;
  const late = (): WireReport =>
    answer === undefined ? { kind: 'sent_no_answer', how: 'timeout' } : answered(answer, null);
  return firstWord<WireReport>(timeoutMs, late, (settle) => {
    const path = `${url.pathname}${url.search}`;
    const limits = { maxHeaderSize: MAX_HEAD_BYTES, insecureHTTPParser: false };
    const request = http.request({ method, path, headers, createConnection: () => stream, ...limits });
    const closed = (): WireReport =>
      answer === undefined ? { kind: 'sent_no_answer', how: 'closed' } : answered(answer, null);
    // Also after the status line: node takes a reset for the end of a body without length.
    request.on('error', () => settle(closed()));
    // After the status line the answer's own end counts: this one may come before its last bytes.
    request.once('close', () => answer === undefined && settle(closed()));
    request.once('response', (response) => {
      answer = response;
      collect(response, (bytes) => settle(answered(response, bytes)));
    });
    request.end(body);
  });
}

/** Hands over the whole body, or null for one that was cut or is over the limit. */
function collect(response: http.IncomingMessage, done: (bytes: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) done(null);
    else chunks.push(chunk);
  });
  response.once('end', () =>
    done(response.complete && size <= MAX_ANSWER_BYTES ? Buffer.concat(chunks) : null),
  );
  response.on('error', () => done(null));
  response.once('close', () => done(null));
}

function answered(response: http.IncomingMessage, bytes: Buffer | null): WireReport {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  const body = bytes === null || encoding.toLowerCase() !== 'identity' ? null : utf8(bytes);
  const headers: Record<string, string> = {};
  for (const name of SHOWN_FIELDS) {
    const value = name === 'retry-after' ? every(response, name) : response.headers[name];
    if (value !== undefined && value.length <= MAX_FIELD_CHARS) headers[name] = value;
  }
  return {
    kind: 'answered',
    status: response.statusCode ?? 0,
    headers,
    body: body ?? '',
    complete: body !== null,
  };
}

/** As often as it came: node would keep the first one only. */
function every(response: http.IncomingMessage, name: string): string | undefined {
  return response.headersDistinct[name]?.join(', ');
}

/** The first word counts, later ones are dropped; without one `onLimit` is it. */
function firstWord<T extends WireReport | string | null>(
  limitMs: number,
  onLimit: T | (() => T),
  run: (settle: (word: T) => void) => void,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  return new Promise<T>((settle) => {
    const limit = () => settle(typeof onLimit === 'function' ? onLimit() : onLimit);
    // One more turn: after a stall of this process an answer that is already here is read before it is given up.
    timer = setTimeout(() => setImmediate(limit), limitMs);
    run(settle);
  }).finally(() => clearTimeout(timer));
}

/**
 * A destroyed socket still delivers what the kernel holds; a reset one does not. It waits a turn, because node
 * crashes when a socket is torn down inside a callback of the TLS session on it.
 */
async function end({ raw, stream }: Line, finished: boolean): Promise<void> {
  await new Promise((turn) => setImmediate(turn));
  if (!finished && !raw.connecting && !raw.destroyed) raw.resetAndDestroy();
  stream.destroy();
  raw.destroy();
}

function notConnected(detail: string): WireReport {
  return { kind: 'not_connected', detail };
}

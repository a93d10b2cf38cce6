/**
 * A warehouse that misbehaves on purpose: a real HTTP server over its own book (`warehouse-book.ts`).
 * It keeps two declared bounds whatever it plays: nothing is applied later than `applyDelayMs` after its
 * request arrived whole, and no applied record is hidden longer than `visibilityLagMs`; the other faults of
 * a GET are lies, listed as such. Simulators import node's own modules and zod, nothing of the product.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import {
  type Book,
  faultSchema,
  openBook,
  type Reservation,
  type ReservationRequest,
  type ViewFaultKind,
  WRITE_FAULTS,
  type WriteFaultKind,
} from './warehouse-book.ts';

export interface WarehouseOptions {
  /** Path of the SQLite book; made when it is not there. */
  readonly file: string;
  /** The account that every GET names. */
  readonly account: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  /** D, 500 unless told. */
  readonly applyDelayMs?: number;
  /** L, 300 unless told. */
  readonly visibilityLagMs?: number;
  /** When set, a POST needs it as its bearer token. */
  readonly writeToken?: string;
  /** When set, a GET needs it, or the write token. */
  readonly readToken?: string;
  /** Serves `/control` on the same port, without a token. */
  readonly control?: boolean;
  /** false: no safety against power loss. For benches. */
  readonly durable?: boolean;
}

/** Starts serving; resolves when the port answers. `close` breaks open connections and closes the book. */
export async function startWarehouse(
  options: WarehouseOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const book = openBook(options.file, options.durable);
  const house: House = { ...DEFAULTS, ...options, book, gets: new Map(), timers: new Set() };
  const server = createServer((request, response) => {
    // A broken book is answered like a crash: the connection closes and says nothing.
    route(house, request, response).catch(() => response.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(house.port, house.host, resolve);
  await promise.catch((error: unknown) => {
    book.close();
    throw error;
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const close = async () => {
    for (const timer of house.timers) clearTimeout(timer);
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
    book.close();
  };
  return { url: `http://${house.host}:${port}`, close };
}

const DEFAULTS = { port: 0, host: '127.0.0.1', applyDelayMs: 500, visibilityLagMs: 300, control: false };
const MAX_BODY_BYTES = 65_536;
/** Past this the connection is closed on the sender. */
const MAX_READ_BYTES = 16_777_216;
const MAX_STALL_MS = 30_000;
/** A late commit is aimed at this share of the declared bound, so that a slow timer still keeps it. */
const LATE_SHARE = 0.6;

type House = typeof DEFAULTS &
  WarehouseOptions & {
    readonly book: Book;
    /** GETs of an order per order id, since this start. */
    readonly gets: Map<string, number>;
    readonly timers: Set<NodeJS.Timeout>;
  };

interface Answer {
  readonly status: number;
  /** A string is sent as HTML. */
  readonly body: Readonly<Record<string, unknown>> | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What happens on the wire. */
type Wire =
  | { readonly kind: 'answer' | 'cut'; readonly answer: Answer }
  | { readonly kind: 'close' | 'reset' | 'stall' };

const orderIdSchema = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
const bodySchema = z.strictObject({
  order_id: orderIdSchema,
  // Neither control characters nor lone surrogates: SQLite would not give them back as they came.
  sku: z.string().regex(/^[^\p{Cc}\p{Cs}]{1,64}$/u),
  quantity: z.int().min(1).max(1_000_000),
});
const planSchema = z.union([z.array(faultSchema).min(1).max(10), faultSchema.transform((fault) => [fault])]);

async function route(house: House, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const orderId = path.match(/^\/orders\/([^/]+)$/)?.[1];
  if (path === '/reservations' && request.method === 'POST') return post(house, request, response);
  if (orderId !== undefined && request.method === 'GET') {
    return put(response, view(house, request, orderId));
  }
  if (house.control && path.startsWith('/control/')) {
    return put(response, answer(...(await control(house, request, path))));
  }
  put(response, answer(404, { error: 'not_found' }));
}

async function post(house: House, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await wholeBody(request);
  if (body === 'gone') return;
  const at = Date.now();
  const key = (request.headersDistinct['idempotency-key'] ?? []).join(', ');
  const value = body === 'too_large' ? undefined : parsed(body);
  const orderId = z.object({ order_id: orderIdSchema }).safeParse(value).data?.order_id ?? '';
  const bodyDigest = body === 'too_large' ? '' : createHash('sha256').update(body).digest('hex');
  const number = house.book.recordPost({ orderId, key, at, bodyDigest });
  const reading = readPost(house, request, body, key, value);
  if ('status' in reading) {
    house.book.recordAnswer(number, reading.status);
    return put(response, { kind: 'answer', answer: reading });
  }
  put(response, perform(house, { ...reading, key, at, number }));
}

/** The reservation asked for, or the refusal; a refused POST plays no fault. */
function readPost(
  house: House,
  request: IncomingMessage,
  body: Buffer | 'too_large',
  key: string,
  value: unknown,
): ReservationRequest | Answer {
  if (body === 'too_large') return { status: 413, body: { error: 'too_large' } };
  if (!authorised(request, house.writeToken, [house.writeToken])) return UNAUTHORISED;
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    return { status: 415, body: { error: 'unsupported_media_type' } };
  }
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) return invalid('Idempotency-Key');
  const { success, data, error } = bodySchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  return { orderId: data.order_id, sku: data.sku, quantity: data.quantity };
}

type Posted = ReservationRequest & { readonly key: string; readonly at: number; readonly number: number };

/** Fault, reservation and the answer to be given are stored in one transaction, before anything is answered. */
function perform(house: House, posted: Posted): Wire {
  const { book } = house;
  return book.atomically(() => {
    const fault = book.playWriteFault(posted.orderId);
    const saves = fault === null ? 'now' : WRITE_FAULTS[fault.kind];
    if (saves === 'later') saveLater(house, posted);
    const honest = saves === 'now' ? reserve(house, posted) : NOTHING;
    const wire: Wire =
      fault === null ? { kind: 'answer', answer: honest } : MISBEHAVIOUR[fault.kind](honest, fault.status);
    if ('answer' in wire) book.recordAnswer(posted.number, wire.answer.status);
    return wire;
  });
}

function reserve(house: House, posted: Posted): Answer {
  const reserved = house.book.reserve(posted.key, posted, Date.now());
  if (reserved.kind === 'conflict') {
    return { status: 409, body: { error: 'idempotency_conflict', order_id: posted.orderId } };
  }
  const { reservationId, orderId, sku, quantity } = reserved.reservation;
  return {
    status: reserved.kind === 'created' ? 201 : 200,
    body: { reservation_id: reservationId, order_id: orderId, sku, quantity },
  };
}

function saveLater(house: House, posted: Posted): void {
  const timer = setTimeout(() => {
    house.timers.delete(timer);
    const now = Date.now();
    // A timer that fires after the bound saves nothing: the bound is a promise, the fault is not.
    if (now <= posted.at + house.applyDelayMs) house.book.reserve(posted.key, posted, now);
  }, house.applyDelayMs * LATE_SHARE);
  house.timers.add(timer);
}

/** Kinds that save nothing, or not yet, have no use for the honest answer. */
const MISBEHAVIOUR: Readonly<Record<WriteFaultKind, (honest: Answer, status: number) => Wire>> = {
  status_before_commit: (_honest, status) => failure(status),
  before_reset: () => ({ kind: 'reset' }),
  no_answer_no_save: () => ({ kind: 'stall' }),
  late_commit: () => ({ kind: 'close' }),
  close_after_commit: () => ({ kind: 'close' }),
  stall_after_commit: () => ({ kind: 'stall' }),
  status_after_commit: (_honest, status) => failure(status),
  cut_after_commit: (honest) => ({ kind: 'cut', answer: honest }),
  replay: (honest) => answer(honest.status === 201 ? 200 : honest.status, honest.body),
  garbage_after_commit: (honest) => answer(honest.status, GARBAGE),
  redirect_after_commit: () => answer(307, '', { location: '/reservations' }),
  wrong_id: (honest) => withId(honest, inventedId(JSON.stringify(honest.body))),
  no_id: (honest) => withId(honest, undefined),
};

function withId({ status, body }: Answer, reservation_id: string | undefined): Wire {
  return answer(status, typeof body === 'string' ? body : { ...body, reservation_id });
}

interface Seen {
  readonly all: readonly Reservation[];
  /** Without those that the declared lag may still hide. */
  readonly settled: readonly Reservation[];
  readonly show: (records: readonly Reservation[], suffix?: string) => Wire;
  readonly status: number;
}

function view(house: House, request: IncomingMessage, orderId: string): Wire {
  const tokens = [house.readToken, house.writeToken];
  if (!authorised(request, house.readToken, tokens)) return { kind: 'answer', answer: UNAUTHORISED };
  if (!orderIdSchema.safeParse(orderId).success) return { kind: 'answer', answer: invalid('order_id') };
  house.gets.set(orderId, (house.gets.get(orderId) ?? 0) + 1);
  const all = house.book.reservationsOf(orderId);
  const settledBy = Date.now() - house.visibilityLagMs;
  const settled = all.filter(({ appliedAt }) => appliedAt <= settledBy);
  const show: Seen['show'] = (records, suffix = '') =>
    answer(200, { order_id: orderId, warehouse: house.account + suffix, reservations: records.map(shown) });
  // A lie that would show the truth is kept for a later request, so that every hit was a lie.
  const fault = house.book.playViewFault(orderId, (kind) => {
    if (kind === 'get_lag') return settled.length < all.length;
    return all.length > 0 || !ABOUT_RECORDS.has(kind);
  });
  return fault === null ? show(all) : LIES[fault.kind]({ all, settled, show, status: fault.status });
}

const ABOUT_RECORDS: ReadonlySet<ViewFaultKind> = new Set(['get_three', 'get_empty', 'get_mismatch']);

const LIES: Readonly<Record<ViewFaultKind, (seen: Seen) => Wire>> = {
  get_lag: ({ settled, show }) => show(settled),
  get_three: ({ all, show }) => show([...all, ...invented(all[0], 'a'), ...invented(all[0], 'b')]),
  get_empty: ({ show }) => show([]),
  get_mismatch: ({ all, show }) => show(all.map((it) => ({ ...it, quantity: it.quantity + 1 }))),
  get_wrong_warehouse: ({ all, show }) => show(all, '-other'),
  get_status: ({ status }) => failure(status),
  get_garbage: () => answer(200, GARBAGE),
  get_close: () => ({ kind: 'close' }),
  get_stall: () => ({ kind: 'stall' }),
};

function shown({ reservationId, sku, quantity, appliedAt }: Reservation) {
  const created_at = new Date(appliedAt).toISOString();
  return { reservation_id: reservationId, sku, quantity, created_at };
}

function invented(record: Reservation | undefined, salt: string): Reservation[] {
  if (record === undefined) return [];
  return [{ ...record, reservationId: inventedId(record.reservationId + salt) }];
}

/** 19 digits below every real id, the same for the same seed. */
function inventedId(seed: string): string {
  const hash = createHash('sha256').update(seed).digest().readBigUInt64BE();
  return `R-${1_000_000_000_000_000_000n + (hash % 1_000_000_000_000_000_000n)}`;
}

/** Plans a fault (or a list), ends the faults of an order, or counts. */
async function control(
  house: House,
  request: IncomingMessage,
  path: string,
): Promise<[number, Answer['body']]> {
  const { book } = house;
  if (request.method === 'GET' && path === '/control/stats') return [200, stats(house)];
  const orderId = orderIdSchema.safeParse(path.match(/^\/control\/faults\/([^/]+)$/)?.[1]).data;
  if (orderId === undefined) return [404, { error: 'not_found' }];
  if (request.method === 'DELETE') {
    book.planFaults(orderId, []);
    return [200, { order_id: orderId, faults: [] }];
  }
  if (request.method !== 'PUT') return [405, { error: 'method_not_allowed' }];
  const body = await wholeBody(request);
  const plan = planSchema.safeParse(typeof body === 'string' ? undefined : parsed(body)).data;
  if (plan === undefined) return [400, { error: 'invalid_request', field: 'fault' }];
  book.planFaults(orderId, plan);
  return [200, { order_id: orderId, faults: plan }];
}

/** POSTs and fault hits of the whole book; GETs since this start. */
function stats({ book, gets }: House) {
  const posts = book.postsPerOrder();
  const ids = new Set([...posts.keys(), ...gets.keys()]);
  const counts = (id: string) => ({ posts: posts.get(id) ?? 0, gets: gets.get(id) ?? 0 });
  return {
    posts: book.posts(),
    gets: [...gets.values()].reduce((sum, count) => sum + count, 0),
    byOrder: Object.fromEntries([...ids].map((id) => [id, counts(id)])),
    faults: Object.fromEntries(book.faultHits()),
  };
}

const UNAUTHORISED: Answer = { status: 401, body: { error: 'unauthorised' } };
const NOTHING: Answer = { status: 503, body: '' };
const GARBAGE = '<!doctype html><title>Maintenance</title>';

function answer(status: number, body: Answer['body'], headers: Answer['headers'] = {}): Wire {
  return { kind: 'answer', answer: { status, body, headers } };
}

function failure(status: number): Wire {
  return answer(status, { error: status === 503 ? 'unavailable' : 'internal' });
}

function invalid(field: string): Answer {
  return { status: 400, body: { error: 'invalid_request', field } };
}

function authorised(request: IncomingMessage, needed: string | undefined, good: (string | undefined)[]) {
  if (needed === undefined) return true;
  return good.some((token) => token !== undefined && request.headers.authorization === `Bearer ${token}`);
}

function firstField(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue?.code === 'unrecognized_keys' ? (issue.keys[0] ?? 'body') : String(issue?.path[0] ?? 'body');
}

/** undefined for what is not one JSON value in UTF-8. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** `gone`: the client went before the whole body was here. Too large a body is read to its end, not kept. */
async function wholeBody(request: IncomingMessage): Promise<Buffer | 'too_large' | 'gone'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > MAX_READ_BYTES) return 'gone';
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    }
  } catch {
    return 'gone';
  }
  return bytes > MAX_BODY_BYTES ? 'too_large' : Buffer.concat(chunks);
}

function put(response: ServerResponse, wire: Wire): void {
  switch (wire.kind) {
    case 'close':
      response.destroy();
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'stall': {
      const limit = setTimeout(() => response.destroy(), MAX_STALL_MS);
      response.once('close', () => clearTimeout(limit));
      return;
    }
    case 'cut':
    case 'answer':
      write(response, wire.answer, wire.kind === 'cut');
  }
}

function write(response: ServerResponse, { status, body, headers }: Answer, cut: boolean): void {
  const html = typeof body === 'string';
  const bytes = Buffer.from(html ? body : JSON.stringify(body));
  response.writeHead(status, {
    'content-type': html ? 'text/html' : 'application/json',
    'content-length': bytes.length,
    ...headers,
  });
  if (cut) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  else response.end(bytes);
}

const USAGE =
  'usage: node warehouse.ts --file F --account A [--port P] [--control] [--apply-delay-ms N] ' +
  '[--visibility-lag-ms N] [--with-parent] [--not-durable]';
const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const ARGUMENTS = {
  file: TEXT,
  account: TEXT,
  port: { ...TEXT, default: '0' },
  'apply-delay-ms': { ...TEXT, default: `${DEFAULTS.applyDelayMs}` },
  'visibility-lag-ms': { ...TEXT, default: `${DEFAULTS.visibilityLagMs}` },
  control: FLAG,
  'with-parent': FLAG,
  'not-durable': FLAG,
};

/** The command line and the tokens of the environment as options; throws with one line on bad usage. */
function readCommandLine(args: string[]): { options: WarehouseOptions; withParent: boolean } {
  const { values } = parseArgs({ args, options: ARGUMENTS });
  if (!values.file || !values.account) throw new Error('--file and --account are needed');
  const writeToken = process.env['KAKUTEI_WAREHOUSE_WRITE_TOKEN'];
  const readToken = process.env['KAKUTEI_WAREHOUSE_READ_TOKEN'];
  const options = {
    file: values.file,
    account: values.account,
    port: whole('--port', values.port, 65_535),
    applyDelayMs: whole('--apply-delay-ms', values['apply-delay-ms'], 60_000),
    visibilityLagMs: whole('--visibility-lag-ms', values['visibility-lag-ms'], 60_000),
    control: values.control,
    durable: !values['not-durable'],
    ...(writeToken ? { writeToken } : {}),
    ...(readToken ? { readToken } : {}),
  };
  return { options, withParent: values['with-parent'] };
}

function whole(name: string, text: string, max: number): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > max) {
    throw new Error(`${name} must be a whole number from 0 to ${max}, got "${text}"`);
  }
  return Number(text);
}

/** Serves until a signal or, with --with-parent, until stdin ends: exit 0. Prints one JSON line when ready. */
async function serve(options: WarehouseOptions, withParent: boolean): Promise<void> {
  // Listening for the end comes first: whoever reads the ready line may end us at once.
  const ends = [once(process, 'SIGTERM'), once(process, 'SIGINT')];
  // A pipe ends and closes; a file only ends.
  if (withParent) ends.push(once(process.stdin.resume(), 'end'), once(process.stdin, 'close'));
  const ended = Promise.race(ends).catch(() => {});
  const { url, close } = await startWarehouse(options);
  // The reader of the ready line may be gone already; that is no reason to crash.
  process.stdout.on('error', () => {});
  process.stdout.write(`${JSON.stringify({ ready: true, url, pid: process.pid })}\n`);
  await ended;
  await close();
  process.exit(0);
}

/** Exit 2 for bad usage, 69 when it cannot start. */
async function main(args: string[]): Promise<void> {
  let code = 2;
  try {
    const { options, withParent } = readCommandLine(args);
    code = 69;
    await serve(options, withParent);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
    process.stderr.write(`Cannot start the warehouse: ${reason}${code === 2 ? ` (${USAGE})` : ''}\n`);
    process.exitCode = code;
  }
}

if (import.meta.main) await main(process.argv.slice(2));

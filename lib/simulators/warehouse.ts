/**
 * A warehouse that misbehaves on purpose: a real HTTP server over its own book (`warehouse-book.ts`).
 * It keeps two declared bounds whatever it plays: nothing is applied later than `applyDelayMs` after its
 * request arrived whole, and no applied record is hidden longer than `visibilityLagMs`; the other faults of
 * a GET are lies, listed as such. Simulators import node's own modules and zod, nothing of the product.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { DEFAULTS, runSimulator, type SimulatorOptions } from './command.ts';
import { serve } from './serve.ts';
import {
  type Book,
  faultSchema,
  openBook,
  type Reservation,
  type ReservationRequest,
  WRITE_FAULTS,
} from './warehouse-book.ts';
import { ABOUT_RECORDS, LIES, MISBEHAVIOUR, type Seen } from './warehouse-faults.ts';
import { type Answer, answer, authorised, invalid, parsed, put, type Wire, wholeBody } from './wire.ts';

export type WarehouseOptions = SimulatorOptions;

/** Starts serving; resolves when the port answers. `close` breaks open connections and closes the book. */
export async function startWarehouse(
  options: WarehouseOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const book = openBook(options.file, options.durable);
  const house: House = { ...DEFAULTS, ...options, book, gets: new Map(), timers: new Set() };
  return serve(house, route);
}

/** A late commit is aimed at this share of the declared bound, so that a slow timer still keeps it. */
const LATE_SHARE = 0.6;

type House = typeof DEFAULTS &
  WarehouseOptions & {
    readonly book: Book;
    /** GETs of an order per order id, since this start. */
    readonly gets: Map<string, number>;
    readonly timers: Set<NodeJS.Timeout>;
  };

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

function shown({ reservationId, sku, quantity, appliedAt }: Reservation) {
  const created_at = new Date(appliedAt).toISOString();
  return { reservation_id: reservationId, sku, quantity, created_at };
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

function firstField(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue?.code === 'unrecognized_keys' ? (issue.keys[0] ?? 'body') : String(issue?.path[0] ?? 'body');
}

const UNAUTHORISED: Answer = { status: 401, body: { error: 'unauthorised' } };
const NOTHING: Answer = { status: 503, body: '' };

if (import.meta.main) await runSimulator('warehouse', startWarehouse, process.argv.slice(2));

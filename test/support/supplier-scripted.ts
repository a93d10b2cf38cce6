/**
 * A supplier in memory, on the test's clock: the HTTP contract of the real ones for orders, a script for its POSTs and
 * faults for its looks. It shares nothing with the adapters; its book is the only truth that a test may count.
 */
import * as z from 'zod';
import type { WireReport } from '../../lib/domain/write-result.ts';
import type { Clock } from '../../lib/platform/clock.ts';
import type { ReadOnce } from '../../lib/providers/provider.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import type { Transport, WriteRequest } from '../../lib/providers/transport.ts';
import { type OrderBody, type Saving, type SupplierBook, supplierBook } from './supplier-book.ts';
import { type Play, type PlayName, SUPPLIER_PLAYS } from './supplier-plays.ts';
import { jsonOf, OTHER_ACCOUNT, supplierView } from './supplier-view.ts';

export type ScriptLine = PlayName | { readonly play: PlayName; readonly delayMs: number };

export interface SupplierSettings {
  readonly kind: SupplierKind;
  readonly account: string;
  /** One line a POST; after the last one, plain. */
  readonly script?: readonly ScriptLine[];
  /** How long a saved order is not listed, ms. */
  readonly visibilityLagMs?: number;
  readonly keyLifetimeMs?: number;
}

/** One request of which bytes arrived. */
export interface ArrivedPost {
  readonly at: number;
  readonly play: PlayName;
  readonly body: OrderBody;
  readonly key: string | undefined;
  /** Looks that were answered before it. */
  readonly looksBefore: number;
}

const DAY_MS = 86_400_000;

export type ScriptedSupplier = ReturnType<typeof scriptedSupplier>;

export function scriptedSupplier(clock: Clock, settings: SupplierSettings) {
  const { kind, account, script = [] } = settings;
  const book = supplierBook(kind, settings.keyLifetimeMs ?? DAY_MS);
  const posts: ArrivedPost[] = [];
  const storedErrors = new Map<string, WireReport>();
  const view = supplierView({ kind, account, lagMs: settings.visibilityLagMs ?? 0, book });
  let lines = 0;
  let looks = 0;

  const transport: Transport = async (request) => {
    const line = script[lines] ?? 'plain';
    lines += 1;
    const name = typeof line === 'string' ? line : line.play;
    const play: Play = SUPPLIER_PLAYS[name];
    if (play.answers === 'away') return { kind: 'not_connected', detail: 'refused' };
    const refusal = await request.lastCheck();
    if (refusal !== null) return { kind: 'not_connected', detail: `withheld:${refusal}` };
    const body = bodyOf(kind, request);
    if (body === undefined) return answer(400, { error: 'invalid_request', field: 'body' });
    const key = kind === 'keyed' ? request.headers['idempotency-key'] : undefined;
    posts.push({ at: clock.now(), play: name, body, key, looksBefore: looks });
    book.catchUp(clock.now());
    if (body.account !== account || body.environment !== 'test')
      return answer(403, { error: 'wrong_account' });
    const stored = storedErrors.get(key ?? '');
    if (stored !== undefined) return stored;
    const delayMs = typeof line === 'string' ? 0 : line.delayMs;
    const saving = deliver(book, play, { body, key }, clock.now(), delayMs);
    if (play.answers === 'timeout') await clock.sleep(request.timeoutMs);
    const report = reportOf(kind, play, body, saving);
    if (play.stored === true && key !== undefined) storedErrors.set(key, report);
    return report;
  };

  const get: ReadOnce = async (path) => {
    book.catchUp(clock.now());
    looks += 1;
    return view.get(path, clock.now());
  };

  return {
    kind,
    posts,
    transport,
    get,
    /** How looks fail, as long as they do. */
    faults: view.faults,
    /** Everything saved by now, past all lags. */
    orders: () => {
      book.catchUp(clock.now());
      return book.orders;
    },
    /** An order that nobody here sent. */
    add: (body: OrderBody) => book.add({ body, saved: body, key: undefined, status: 'created' }, clock.now()),
  };
}

const text = z.string();
const orderBody = z.strictObject({
  account: text,
  environment: text,
  purchase_order: text,
  reference: text.optional(),
  ship_to: z.strictObject({ name: text, street: text, city: text, postal_code: text, country: text }),
  lines: z.array(z.strictObject({ sku: text, quantity: text, unit: text, unit_price: text })).min(1),
  currency: text,
  total: text,
});

/** Undefined for a request of any other shape than the contract's. */
function bodyOf(kind: SupplierKind, { url, body }: WriteRequest): OrderBody | undefined {
  const parsed = orderBody.safeParse(JSON.parse(body));
  if (url.pathname !== '/orders' || !parsed.success) return undefined;
  return (parsed.data.reference === undefined) === (kind === 'blind') ? parsed.data : undefined;
}

function deliver(
  book: SupplierBook,
  play: Play,
  { body, key }: { readonly body: OrderBody; readonly key: string | undefined },
  now: number,
  delayMs: number,
): Saving | undefined {
  const status = play.saves === 'refused_later' ? 'rejected' : 'created';
  const delivery = { body, saved: spoilt(body, play), key, status } as const;
  switch (play.saves) {
    case 'never':
      return undefined;
    case 'now':
      return book.save(delivery, now);
    case 'twice': {
      const first = book.save(delivery, now);
      book.save(delivery, now);
      return first;
    }
    case 'later':
    case 'refused_later':
      book.saveLater(delivery, now + delayMs);
      return undefined;
  }
}

function spoilt(body: OrderBody, { spoils }: Play): OrderBody {
  if (spoils === 'account') return { ...body, account: OTHER_ACCOUNT };
  if (spoils !== 'quantity') return body;
  const [first = {}, ...rest] = body.lines;
  return { ...body, lines: [{ ...first, quantity: `${Number(first['quantity']) + 1}` }, ...rest] };
}

function reportOf(kind: SupplierKind, play: Play, body: OrderBody, saving: Saving | undefined): WireReport {
  const { environment } = body;
  switch (play.answers) {
    case 'closed':
      return { kind: 'sent_no_answer', how: 'closed' };
    case 'timeout':
      return { kind: 'sent_no_answer', how: 'timeout' };
    case 'accepted':
      return answer(202, { account: body.account, environment, status: 'accepted' });
    case 'blocked':
      return answer(200, { ok: false, error: 'account_blocked' });
    case 'key_in_use':
      return answer(409, { error: 'key_in_use' });
    case 'status':
      return answer(saving === undefined ? 503 : 500, { error: 'internal' });
    case 'no_id':
      return answer(201, { account: body.account, environment, status: 'created' });
    case 'cut':
      return { ...answer(201, {}), body: '', complete: false };
    case 'away':
    case 'made':
      return madeReport(kind, saving);
  }
}

function madeReport(kind: SupplierKind, saving: Saving | undefined): WireReport {
  if (saving === undefined) throw new Error('Nothing was saved, so that nothing can be said to be made.');
  if (saving.kind === 'key_reused') return answer(409, { error: 'key_reused' });
  const { account, environment, order_id } = saving.order;
  const id = { order_id };
  if (saving.kind === 'exists') return answer(409, { error: 'reference_exists', ...id }, kind);
  return answer(
    saving.kind === 'again' ? 200 : 201,
    { account, environment, ...id, status: 'created' },
    kind,
  );
}

function answer(
  status: number,
  body: object,
  kind?: SupplierKind,
): Extract<WireReport, { kind: 'answered' }> {
  return { kind: 'answered', status, headers: {}, body: jsonOf(body, kind), complete: true };
}

/** The whole book, past all lags and lies: what tests and the demo may count. */
import type { DatabaseSync } from 'node:sqlite';
import {
  atomically,
  faultsPlayed,
  outcomeOf,
  readFileOf,
  type TrueOutcome,
  textOf,
  timeOf,
} from './book-file.ts';
import { CALLS, type Call } from './supplier-calls.ts';
import { recordOf, type SavedRecord } from './supplier-records.ts';

export interface TrueRecord {
  readonly purchase_order: string;
  readonly reference: string | null;
  readonly account: string;
  readonly environment: string;
  readonly status: string;
  readonly created_at: string;
}
export interface TrueOrder extends TrueRecord {
  readonly order_id: string;
  readonly ship_to: Readonly<Record<string, string>>;
  readonly lines: readonly Readonly<Record<'sku' | 'quantity' | 'unit' | 'unit_price', string>>[];
  readonly currency: string;
  readonly total: string;
  readonly shipping: string;
  readonly cancel_until: string;
}
export interface TrueCancellation extends TrueRecord {
  readonly cancellation_id: string;
  readonly order_id: string;
  readonly reason: string;
}
export interface TrueConfirmation extends TrueRecord {
  readonly message_id: string;
  readonly to: string;
  readonly language: string;
}
export interface TruePost extends TrueOutcome {
  readonly kind: Call;
  /** '' where the body named none. */
  readonly purchase_order: string;
  readonly reference: string | null;
}

/** In order of insertion. All ids are strings here, also those that the supplier shows as numbers. */
export interface SupplierTruth {
  readonly orders: readonly TrueOrder[];
  readonly cancellations: readonly TrueCancellation[];
  readonly confirmations: readonly TrueConfirmation[];
  /** POSTs that arrived whole, refused ones too. */
  readonly posts: readonly TruePost[];
  /** How often each kind was played, ever. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Reads the file of a supplier that runs, ended or died; changes nothing. */
export function readSupplierBook(file: string): SupplierTruth {
  return readFileOf(file, truthOf);
}

/** One moment of the book. */
export function truthOf(db: DatabaseSync): SupplierTruth {
  const all = <T>(call: Call) =>
    db
      .prepare(`SELECT * FROM ${CALLS[call].path} ORDER BY n`)
      .all()
      .map((row) => shown(call, recordOf(row)) as T);
  const posts = db.prepare('SELECT * FROM posts ORDER BY n');
  return atomically(
    db,
    () => ({
      orders: all<TrueOrder>('order'),
      cancellations: all<TrueCancellation>('cancellation'),
      confirmations: all<TrueConfirmation>('confirmation'),
      posts: posts.all().map(postOf),
      faults: faultsPlayed(db),
    }),
    'DEFERRED',
  );
}

function shown(call: Call, { id, account, environment, purchaseOrder, ...it }: SavedRecord): unknown {
  return {
    [CALLS[call].id]: id,
    account,
    environment,
    purchase_order: purchaseOrder,
    reference: it.reference,
    ...it.content,
    ...timesAndStatus(it),
  };
}

/** What every view of a record ends with. */
export function timesAndStatus(it: Pick<SavedRecord, 'status' | 'createdAt' | 'cancelUntil' | 'shipping'>) {
  return {
    status: it.status,
    created_at: timeOf(it.createdAt),
    ...(it.cancelUntil === undefined ? {} : { cancel_until: timeOf(it.cancelUntil) }),
    ...(it.shipping === undefined ? {} : { shipping: it.shipping }),
  };
}

function postOf(row: Record<string, unknown>): TruePost {
  return {
    kind: String(row['call']) as Call,
    purchase_order: String(row['purchase_order']),
    reference: textOf(row['reference']),
    ...outcomeOf(row),
  };
}

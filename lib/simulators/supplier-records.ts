/** The records in a supplier's book. Whether one may exist is decided by constraints and conditions in SQL. */
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { type Body, CALLS, type Call } from './supplier-calls.ts';

export interface SavedRecord extends Body {
  readonly n: number;
  /** 19 digits behind the call's prefix, by order of insertion; never a number. */
  readonly id: string;
  readonly status: string;
  readonly createdAt: number;
  /** Of an order. */
  readonly shipping?: string | undefined;
  readonly cancelUntil?: number | undefined;
}

export interface NewRecord extends Body {
  readonly status: string;
  readonly createdAt: number;
  /** The reference, where it must be unique. */
  readonly slot: string | null;
  /** Of an order. */
  readonly cancelUntil: number;
}

/** Fields of an order that change without a call. */
export interface OrderChange {
  readonly status?: string | undefined;
  readonly shipping?: string | undefined;
  readonly cancelUntil?: number | undefined;
}

export function records(db: DatabaseSync) {
  const tables = {
    order: table(db, 'order'),
    cancellation: table(db, 'cancellation'),
    confirmation: table(db, 'confirmation'),
  };
  return {
    /** undefined where a unique constraint forbids it: the slot, or a second cancellation of one order. */
    save: (call: Call, record: NewRecord): SavedRecord | undefined => tables[call].save(record),
    byId: (call: Call, id: string) => tables[call].byId(id),
    bySlot: (call: Call, slot: string) => tables[call].bySlot(slot),
    /** Oldest first. `exact` compares the whole reference, else its beginning, whatever the case. */
    search: (call: Call, reference: string, exact: boolean) => tables[call].search(reference, exact),
    ...orderChanges(db),
    /** Takes back a cancellation saved in this transaction. */
    unsave: (call: Call, n: number) => tables[call].unsave(n),
  };
}

function table(db: DatabaseSync, call: Call) {
  const name = CALLS[call].path;
  const more = call === 'order' ? [', cancel_until', ', ?'] : ['', ''];
  const insert = db.prepare(
    `INSERT INTO ${name} (account, environment, purchase_order, reference, slot, content, status, created_at${more[0]})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?${more[1]}) ON CONFLICT DO NOTHING RETURNING *`,
  );
  const byId = db.prepare(`SELECT * FROM ${name} WHERE id = ?`);
  const bySlot = db.prepare(`SELECT * FROM ${name} WHERE slot = ?`);
  const exactly = db.prepare(
    `SELECT * FROM ${name} WHERE lower(reference) = lower(?1) AND reference = ?1 ORDER BY n`,
  );
  // No character sorts behind the last one, so this is every reference with that beginning.
  const beginning = db.prepare(
    `SELECT * FROM ${name} WHERE lower(reference) >= lower(?1)
     AND lower(reference) < lower(?1) || char(1114111) ORDER BY n`,
  );
  const remove = db.prepare(`DELETE FROM ${name} WHERE n = ?`);
  return {
    save: (it: NewRecord) => {
      const place = [it.account, it.environment, it.purchaseOrder, it.reference, it.slot];
      const rest = [JSON.stringify(it.content), it.status, it.createdAt];
      return optional(insert.get(...place, ...rest, ...(call === 'order' ? [it.cancelUntil] : [])));
    },
    byId: (id: string) => optional(byId.get(id)),
    bySlot: (slot: string) => optional(bySlot.get(slot)),
    search: (reference: string, exact: boolean) =>
      (exact ? exactly : beginning).all(reference).map((row) => recordOf(row)),
    unsave: (n: number): void => {
      remove.run(n);
    },
  };
}

function orderChanges(db: DatabaseSync) {
  const cancel = db.prepare(
    `UPDATE orders SET status = 'cancelled' WHERE id = ? AND account = ? AND environment = ?
     AND status IN ('created', 'processing') AND shipping = 'not_shipped' AND cancel_until >= ?`,
  );
  const change = db.prepare(
    `UPDATE orders SET status = coalesce(?, status), shipping = coalesce(?, shipping),
     cancel_until = coalesce(?, cancel_until) WHERE id = ? RETURNING *`,
  );
  return {
    /** false when the order is not there, not open, shipped, or past its deadline at `now`. */
    cancelOrder: (id: string, place: { account: string; environment: string }, now: number): boolean =>
      cancel.run(id, place.account, place.environment, now).changes === 1,
    changeOrder: (id: string, to: OrderChange) =>
      optional(change.get(to.status ?? null, to.shipping ?? null, to.cancelUntil ?? null, id)),
  };
}

const rowSchema = z.object({
  n: z.number(),
  id: z.string(),
  account: z.string(),
  environment: z.string(),
  purchase_order: z.string(),
  reference: z.string().nullable(),
  content: z.string(),
  status: z.string(),
  created_at: z.number(),
  shipping: z.string().optional(),
  cancel_until: z.number().optional(),
});

function optional(row: unknown): SavedRecord | undefined {
  return row === undefined ? undefined : recordOf(row);
}

export function recordOf(row: unknown): SavedRecord {
  const { purchase_order, content, created_at, cancel_until, ...rest } = rowSchema.parse(row);
  return {
    ...rest,
    purchaseOrder: purchase_order,
    content: z.record(z.string(), z.unknown()).parse(JSON.parse(content)),
    createdAt: created_at,
    cancelUntil: cancel_until,
  };
}

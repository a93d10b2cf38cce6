/**
 * A supplier's own book: one SQLite file, the only truth that a test may count. It holds the records of the
 * three calls, every POST that arrived whole, the keys, what is still to be saved, the fault plans and which
 * faults were played, so that a restarted supplier (also after kill -9) goes on where it was. Knows nothing
 * of HTTP; times come in as ms since the epoch.
 */
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { atomically, openForWriting } from './book-file.ts';
import type { Call } from './supplier-calls.ts';
import { keys, pending } from './supplier-keys.ts';
import { plans } from './supplier-plans.ts';
import { records } from './supplier-records.ts';
import { SUPPLIER_SCHEMA } from './supplier-schema.ts';
import { truthOf } from './supplier-truth.ts';

export type SupplierBook = ReturnType<typeof openSupplierBook>;

/**
 * Opens the book for its one supplier, making the file when it is not there (its folder must be).
 *
 * @param durable false gives up safety against power loss (not against kill -9); for tests and benches.
 */
export function openSupplierBook(file: string, durable = true) {
  const db = openForWriting(file, SUPPLIER_SCHEMA, durable);
  return {
    ...records(db),
    ...keys(db),
    ...pending(db),
    ...plans(db),
    ...posts(db),
    ...webhook(db),
    /** Runs `work` in one transaction; what throws leaves nothing behind. */
    atomically: <T>(work: () => T): T => atomically(db, work),
    truth: () => truthOf(db),
    close: () => db.close(),
  };
}

interface Post {
  readonly call: Call;
  /** '' when the body names none. */
  readonly purchaseOrder: string;
  readonly reference: string | null;
  readonly at: number;
}

function posts(db: DatabaseSync) {
  const insert = db.prepare('INSERT INTO posts (call, purchase_order, reference, at) VALUES (?, ?, ?, ?)');
  const update = db.prepare('UPDATE posts SET status = ?, fault = ? WHERE n = ?');
  const named = db.prepare(
    "SELECT DISTINCT purchase_order FROM posts WHERE call = ? AND reference = ? AND purchase_order <> ''",
  );
  return {
    recordPost: ({ call, purchaseOrder, reference, at }: Post): number =>
      Number(insert.run(call, purchaseOrder, reference, at).lastInsertRowid),
    /** The status that goes out for a recorded POST, null for none, and the fault that was played on it. */
    recordAnswer: (post: number, status: number | null, fault: string | null): void => {
      update.run(status, fault, post);
    },
    /** Of the POSTs with exactly this reference, whatever came of them. */
    purchaseOrdersOf: (call: Call, reference: string): string[] =>
      named.all(call, reference).map((row) => String(row['purchase_order'])),
  };
}

/** Where events go, with which secret, and whether every change sends one by itself. */
export const targetSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{16,}={0,2}$/),
  /** One more part of the path of `url`. */
  endpoint: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{1,64}$/)
    .optional(),
  auto: z.boolean().default(false),
});
export type WebhookTarget = z.infer<typeof targetSchema>;

function webhook(db: DatabaseSync) {
  const get = db.prepare('SELECT target FROM webhook');
  const set = db.prepare(
    'INSERT INTO webhook VALUES (1, ?) ON CONFLICT DO UPDATE SET target = excluded.target',
  );
  return {
    webhookTarget: (): WebhookTarget | undefined => {
      const row = get.get();
      return row === undefined ? undefined : targetSchema.parse(JSON.parse(String(row['target'])));
    },
    setWebhookTarget: (target: WebhookTarget): void => {
      set.run(JSON.stringify(target));
    },
  };
}

/** The keys that a supplier remembers, and what it still has to save. Both change with the records, or not at all. */
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import type { Body, Call } from './supplier-calls.ts';
import type { Answer } from './wire.ts';

export interface KeyUse {
  readonly call: Call;
  readonly key: string;
  /** When its request arrived whole. */
  readonly at: number;
}

/** `mine`: new, or its time was over. `running`: no answer yet. */
export type Claimed =
  | { readonly kind: 'mine' | 'running' | 'other_body' }
  | { readonly kind: 'done'; readonly answer: Answer };

const storedSchema = z.object({
  digest: z.string(),
  status: z.number().nullable(),
  body: z.string().nullable(),
});
const objectSchema = z.record(z.string(), z.unknown());

export function keys(db: DatabaseSync) {
  const claim = db.prepare(
    `INSERT INTO keys (call, key, first_at, digest) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT DO UPDATE SET first_at = ?3, digest = ?4, status = NULL, body = NULL
     WHERE first_at + ?5 <= ?3 RETURNING key`,
  );
  const stored = db.prepare('SELECT digest, status, body FROM keys WHERE call = ? AND key = ?');
  const settle = db.prepare(
    'UPDATE keys SET status = ?, body = ? WHERE call = ? AND key = ? AND first_at = ? AND status IS NULL',
  );
  const release = db.prepare(
    'DELETE FROM keys WHERE call = ? AND key = ? AND first_at = ? AND status IS NULL',
  );
  return {
    /** A key lives `lifetimeMs` from its first request, exclusive; then the same key is a new one. */
    claimKey: ({ call, key, at }: KeyUse, digest: string, lifetimeMs: number): Claimed => {
      if (claim.get(call, key, at, digest, lifetimeMs) !== undefined) return { kind: 'mine' };
      const known = storedSchema.parse(stored.get(call, key));
      if (known.digest !== digest) return { kind: 'other_body' };
      if (known.status === null || known.body === null) return { kind: 'running' };
      return {
        kind: 'done',
        answer: { status: known.status, body: objectSchema.parse(JSON.parse(known.body)) },
      };
    },
    /** What every repeat of the key gets from now on. */
    settleKey: ({ call, key, at }: KeyUse, answer: Answer): void => {
      settle.run(answer.status, JSON.stringify(answer.body), call, key, at);
    },
    /** Its request came to nothing: the key is free. */
    releaseKey: ({ call, key, at }: KeyUse): void => {
      release.run(call, key, at);
    },
  };
}

/** A record to be saved after its request was answered or cut off. */
export interface Pending {
  readonly call: Call;
  /** When its request arrived whole. */
  readonly at: number;
  readonly dueAt: number;
  /** To be settled with it; null where there is none or it is settled already. */
  readonly key: string | null;
  /** Saved as refused. */
  readonly refused: boolean;
  readonly body: Body;
}

const pendingSchema = z.object({
  call: z.enum(['order', 'cancellation', 'confirmation']),
  at: z.number(),
  due_at: z.number(),
  key: z.string().nullable(),
  refused: z.number(),
  body: z.string(),
});
const bodySchema: z.ZodType<Body> = z.object({
  account: z.string(),
  environment: z.string(),
  purchaseOrder: z.string(),
  reference: z.string().nullable(),
  content: objectSchema,
});

export function pending(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT INTO pending (call, at, due_at, key, refused, body) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const take = db.prepare('DELETE FROM pending WHERE n = ? RETURNING *');
  const all = db.prepare('SELECT n, due_at FROM pending ORDER BY n');
  return {
    /** Its number. */
    postpone: ({ call, at, dueAt, key, refused, body }: Pending): number =>
      Number(insert.run(call, at, dueAt, key, refused ? 1 : 0, JSON.stringify(body)).lastInsertRowid),
    /** Once only. */
    takePending: (n: number): Pending | undefined => {
      const row = take.get(n);
      if (row === undefined) return undefined;
      const { due_at, refused, body, ...rest } = pendingSchema.parse(row);
      return { ...rest, dueAt: due_at, refused: refused === 1, body: bodySchema.parse(JSON.parse(body)) };
    },
    allPending: (): { n: number; dueAt: number }[] =>
      all.all().map((row) => ({ n: Number(row['n']), dueAt: Number(row['due_at']) })),
  };
}

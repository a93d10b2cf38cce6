/**
 * A medium's own book: one SQLite file, the only truth that a test may count. It holds accounts, posts,
 * uploaded media, every POST of a post that arrived whole, what is still to be saved, the fault plans and which faults
 * were played, so that a restarted medium (also after kill -9) goes on where it was. Knows nothing of HTTP;
 * times come in as ms since the epoch.
 */
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { atomically, openForWriting } from './book-file.ts';
import { plans } from './medium-plans.ts';
import { type Account, accounts, posts } from './medium-records.ts';
import { REWRITES, type Rewrite } from './medium-rewrites.ts';
import { MEDIUM_SCHEMA } from './medium-schema.ts';
import { truthOf } from './medium-truth.ts';
import { media } from './medium-uploads.ts';

export type MediumBook = ReturnType<typeof openMediumBook>;

/**
 * Opens the book, making the file when it is not there (its folder must be), and adds the accounts that it
 * does not know.
 *
 * @param durable false gives up safety against power loss (not against kill -9); for tests and benches.
 */
export function openMediumBook(file: string, known: readonly Account[], durable = true) {
  const db = openForWriting(file, MEDIUM_SCHEMA, durable);
  const book = {
    ...accounts(db),
    ...posts(db),
    ...media(db),
    ...plans(db),
    ...requests(db),
    ...pending(db),
    ...rewriting(db),
    /** Runs `work` in one transaction; what throws leaves nothing behind. */
    atomically: <T>(work: () => T): T => atomically(db, work),
    truth: () => truthOf(db),
    close: () => db.close(),
  };
  try {
    book.atomically(() => {
      for (const account of known) book.addAccount(account);
    });
  } catch (cause) {
    db.close();
    throw new Error(`Cannot open the book "${file}": an account's handle is another's there`, { cause });
  }
  return book;
}

interface PostRequest {
  /** null where the body names none. */
  readonly account: string | null;
  readonly text: string | null;
  readonly parent: string | null;
  readonly at: number;
}

function requests(db: DatabaseSync) {
  const insert = db.prepare('INSERT INTO requests (account, text, parent, at) VALUES (?, ?, ?, ?)');
  const update = db.prepare('UPDATE requests SET status = ?, fault = ? WHERE n = ?');
  const asked = db.prepare('SELECT 1 FROM requests WHERE account = ? AND instr(text, ?) > 0 LIMIT 1');
  return {
    recordRequest: ({ account, text, parent, at }: PostRequest): number =>
      Number(insert.run(account, text, parent, at).lastInsertRowid),
    /** The status that goes out for a recorded POST, null for none, and the fault that was played on it. */
    recordAnswer: (request: number, status: number | null, fault: string | null): void => {
      update.run(status, fault, request);
    },
    /** Whether a POST for this account had `part` in its text, whatever came of it. */
    wasAsked: (account: string, part: string): boolean => asked.get(account, part) !== undefined,
  };
}

/** What a POST asks for, whole and allowed. */
export interface Asked {
  readonly account: string;
  readonly text: string;
  readonly parent: string | null;
  /** Ids of uploaded ones. */
  readonly media: readonly string[];
  readonly visibility: 'public' | 'unlisted' | 'draft';
}

const askedSchema: z.ZodType<Asked> = z.object({
  account: z.string(),
  text: z.string(),
  parent: z.string().nullable(),
  media: z.array(z.string()),
  visibility: z.enum(['public', 'unlisted', 'draft']),
});

/** A post to be saved after its request was cut off. */
export interface Pending {
  /** When its request arrived whole. */
  readonly at: number;
  readonly dueAt: number;
  readonly asked: Asked;
}

function pending(db: DatabaseSync) {
  const insert = db.prepare('INSERT INTO pending (at, due_at, body) VALUES (?, ?, ?)');
  const take = db.prepare('DELETE FROM pending WHERE n = ? RETURNING *');
  const all = db.prepare('SELECT n, due_at FROM pending ORDER BY n');
  return {
    /** Its number. */
    postpone: ({ at, dueAt, asked }: Pending): number =>
      Number(insert.run(at, dueAt, JSON.stringify(asked)).lastInsertRowid),
    /** Once only. */
    takePending: (n: number): Pending | undefined => {
      const row = take.get(n);
      if (row === undefined) return undefined;
      const asked = askedSchema.parse(JSON.parse(String(row['body'])));
      return { at: Number(row['at']), dueAt: Number(row['due_at']), asked };
    },
    allPending: (): { n: number; dueAt: number }[] =>
      all.all().map((row) => ({ n: Number(row['n']), dueAt: Number(row['due_at']) })),
  };
}

const wordsSchema = z.array(z.enum(REWRITES));

function rewriting(db: DatabaseSync) {
  const get = db.prepare('SELECT words FROM rewrites');
  const set = db.prepare(
    'INSERT INTO rewrites VALUES (1, ?) ON CONFLICT DO UPDATE SET words = excluded.words',
  );
  const link = db.prepare('INSERT INTO short_links (target) VALUES (?)');
  return {
    /** What control set; undefined for what the medium was started with. */
    rewrites: (): Rewrite[] | undefined => {
      const row = get.get();
      return row === undefined ? undefined : wordsSchema.parse(JSON.parse(String(row['words'])));
    },
    setRewrites: (words: readonly Rewrite[]): void => {
      set.run(JSON.stringify(words));
    },
    /** The number of a new short link. */
    shorten: (target: string): number => Number(link.run(target).lastInsertRowid),
  };
}

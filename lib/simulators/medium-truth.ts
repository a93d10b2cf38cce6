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
import { type Account, accountOf, postOf } from './medium-records.ts';
import type { Link, SavedImage } from './medium-rewrites.ts';

export interface TruePost {
  readonly id: string;
  readonly author_id: string;
  readonly text: string;
  /** What was asked for, before any rewrite. */
  readonly sent_text: string;
  readonly parent: string | null;
  /** UTC, with milliseconds. */
  readonly created_at: string;
  readonly visibility: string;
  readonly deleted: boolean;
  readonly media: readonly SavedImage[];
  readonly links: readonly Link[];
  /** false for one that came by control. */
  readonly sent: boolean;
}

export interface TrueImage {
  readonly media_id: string;
  readonly content_type: string;
  readonly alt: string | null;
  readonly bytes: number;
  readonly sha256: string;
  readonly at: string;
  /** Whether it is, or was asked to be, part of a post. */
  readonly used: boolean;
}

export interface TrueRequest extends TrueOutcome {
  /** null where the body names none. */
  readonly account: string | null;
  readonly text: string | null;
  readonly parent: string | null;
}

/** In order of insertion. */
export interface MediumTruth {
  readonly accounts: readonly Account[];
  readonly posts: readonly TruePost[];
  /** Uploaded ones that were not dropped. */
  readonly media: readonly TrueImage[];
  /** POSTs of posts that arrived whole, refused ones too. */
  readonly requests: readonly TrueRequest[];
  /** How often each kind was played, ever. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Reads the file of a medium that runs, ended or died; changes nothing. */
export function readMediumBook(file: string): MediumTruth {
  return readFileOf(file, truthOf);
}

/** One moment of the book. */
export function truthOf(db: DatabaseSync): MediumTruth {
  const all = (table: string, order: string) => db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all();
  return atomically(
    db,
    () => ({
      accounts: all('accounts', 'rowid').map(accountOf),
      posts: all('posts', 'n').map(truePost),
      media: all('media', 'n').map(trueImage),
      requests: all('requests', 'n').map(trueRequest),
      faults: faultsPlayed(db),
    }),
    'DEFERRED',
  );
}

function truePost(row: unknown): TruePost {
  const { id, authorId, text, sentText, parent, createdAt, ...it } = postOf(row);
  const { visibility, deleted, media, links, sent } = it;
  return {
    id,
    author_id: authorId,
    text,
    sent_text: sentText,
    parent,
    created_at: timeOf(createdAt),
    ...{ visibility, deleted, media, links, sent },
  };
}

function trueImage(row: Record<string, unknown>): TrueImage {
  return {
    media_id: String(row['media_id']),
    content_type: String(row['content_type']),
    alt: textOf(row['alt']),
    bytes: Number(row['bytes']),
    sha256: String(row['sha256']),
    at: timeOf(row['at']),
    used: row['used'] === 1,
  };
}

function trueRequest(row: Record<string, unknown>): TrueRequest {
  return {
    account: textOf(row['account']),
    text: textOf(row['text']),
    parent: textOf(row['parent']),
    ...outcomeOf(row),
  };
}

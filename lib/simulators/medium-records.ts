/** The accounts and the posts in a medium's book. */
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import type { Link, SavedImage } from './medium-rewrites.ts';

export interface Account {
  /** Decimal digits; never changes. */
  readonly id: string;
  /** Unique at any moment; can be given up and taken by another account. */
  readonly handle: string;
  /** Need not be unique. */
  readonly display_name: string;
}

export const VISIBILITIES = ['public', 'unlisted', 'draft'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export interface NewPost {
  readonly authorId: string;
  readonly text: string;
  /** What was asked for, before any rewrite. */
  readonly sentText: string;
  readonly parent: string | null;
  readonly createdAt: number;
  /** From here on the visibility lag counts. */
  readonly savedAt: number;
  readonly visibility: Visibility;
  readonly media: readonly SavedImage[];
  readonly links: readonly Link[];
  /** false for one that came by control. */
  readonly sent: boolean;
}

export interface SavedPost extends NewPost {
  readonly n: number;
  /** 19 digits, by order of insertion; never a number. */
  readonly id: string;
  readonly deleted: boolean;
}

/** What a person can change. */
export interface PostChange {
  readonly deleted?: boolean | undefined;
  readonly text?: string | undefined;
  readonly visibility?: Visibility | undefined;
  readonly links?: readonly Link[] | undefined;
}

export function accounts(db: DatabaseSync) {
  const byId = db.prepare('SELECT * FROM accounts WHERE id = ?');
  const byHandle = db.prepare('SELECT * FROM accounts WHERE handle = ?');
  const other = db.prepare('SELECT * FROM accounts WHERE id <> ? ORDER BY rowid LIMIT 1');
  const insert = db.prepare('INSERT INTO accounts VALUES (?, ?, ?)');
  const count = db.prepare('SELECT count(*) AS count FROM accounts');
  const change = db.prepare(
    `UPDATE OR IGNORE accounts SET handle = coalesce(?, handle), display_name = coalesce(?, display_name)
     WHERE id = ?`,
  );
  const accountById = (id: string) => optional(byId.get(id), accountOf);
  return {
    accountById,
    accountByHandle: (handle: string) => optional(byHandle.get(handle), accountOf),
    accountCount: () => Number(count.get()?.['count']),
    /** The oldest account but this one. */
    accountBeside: (id: string) => optional(other.get(id), accountOf),
    /** An account that is there already stays as it is, renamed or not. Throws where the handle is another's. */
    addAccount: ({ id, handle, display_name }: Account): void => {
      if (accountById(id) === undefined) insert.run(id, handle, display_name);
    },
    /** false when the handle is another's. */
    changeAccount: (id: string, to: { handle?: string | undefined; display_name?: string | undefined }) =>
      change.run(to.handle ?? null, to.display_name ?? null, id).changes === 1,
  };
}

export function posts(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO posts (author_id, text, sent_text, parent, created_at, saved_at, visibility, media, links, sent)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const byId = db.prepare('SELECT * FROM posts WHERE id = ?');
  const byAuthor = db.prepare('SELECT * FROM posts WHERE author_id = ? ORDER BY n');
  const change = db.prepare(
    `UPDATE posts SET deleted = coalesce(?, deleted), text = coalesce(?, text),
     visibility = coalesce(?, visibility), links = coalesce(?, links) WHERE id = ? RETURNING *`,
  );
  return {
    savePost: (it: NewPost): SavedPost => {
      const content = [it.authorId, it.text, it.sentText, it.parent, it.createdAt, it.savedAt, it.visibility];
      const lists = [JSON.stringify(it.media), JSON.stringify(it.links)];
      return postOf(insert.get(...content, ...lists, it.sent ? 1 : 0));
    },
    postById: (id: string) => optional(byId.get(id), postOf),
    /** Deleted ones and drafts too, oldest first. */
    postsOf: (accountId: string) => byAuthor.all(accountId).map(postOf),
    changePost: (id: string, to: PostChange) => {
      const deleted = to.deleted === undefined ? null : Number(to.deleted);
      const links = to.links === undefined ? null : JSON.stringify(to.links);
      return optional(change.get(deleted, to.text ?? null, to.visibility ?? null, links, id), postOf);
    },
  };
}

function optional<T>(row: unknown, read: (row: unknown) => T): T | undefined {
  return row === undefined ? undefined : read(row);
}

const accountSchema = z.object({ id: z.string(), handle: z.string(), display_name: z.string() });

export function accountOf(row: unknown): Account {
  return accountSchema.parse(row);
}

const imagesSchema = z.array(
  z.object({
    media_id: z.string(),
    sha256: z.string().nullable(),
    width: z.number(),
    height: z.number(),
  }),
);
export const linksSchema = z.array(z.strictObject({ shown: z.string(), target: z.string() }));
const rowSchema = z.object({
  n: z.number(),
  id: z.string(),
  author_id: z.string(),
  text: z.string(),
  sent_text: z.string(),
  parent: z.string().nullable(),
  created_at: z.number(),
  saved_at: z.number(),
  visibility: z.enum(VISIBILITIES),
  deleted: z.number(),
  media: z.string(),
  links: z.string(),
  sent: z.number(),
});

export function postOf(row: unknown): SavedPost {
  const { author_id, sent_text, created_at, saved_at, deleted, media, links, sent, ...rest } =
    rowSchema.parse(row);
  return {
    ...rest,
    authorId: author_id,
    sentText: sent_text,
    createdAt: created_at,
    savedAt: saved_at,
    deleted: deleted === 1,
    media: imagesSchema.parse(JSON.parse(media)),
    links: linksSchema.parse(JSON.parse(links)),
    sent: sent === 1,
  };
}

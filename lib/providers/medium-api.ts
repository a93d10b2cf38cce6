/** The medium's GETs, read and checked: an answer of any other shape is a failed look, never "nothing there". */
import * as z from 'zod';
import type { JsonObject } from '../domain/intent.ts';
import { parseAnswer } from '../platform/json.ts';
import type { LookContext, ProviderRecord } from './provider.ts';

/** An id of the medium: decimal digits, as text or as a number that was kept exactly. */
export const mediumId = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,40}$/));

/** Its own local time, with the zone; a time without one says nothing. */
const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const account = z.object({ id: mediumId });
const links = z.array(z.object({ shown: z.string(), target: z.string() })).max(1000);
const fields = {
  id: mediumId,
  parent: mediumId.nullable(),
  created_at: instant,
  visibility: z.string().max(32),
  deleted: z.boolean(),
};

const probe = z.object({ account });
const summary = z.object({ ...fields, author_id: mediumId, has_media: z.boolean() });
const page = z.object({
  account,
  posts: z.array(summary).max(30),
  next: z.string().min(1).max(512).nullable(),
});
const one = z.object({
  post: z.object({
    ...fields,
    author: z.object({ id: mediumId, handle: z.string().min(1).max(128) }),
    text: z.string(),
    media: z.array(z.object({ sha256: z.string().max(128).nullable() })).max(100),
    links,
  }),
});
const notFound = z.object({ error: z.literal('not_found') });
const deleted = z.object({ error: z.literal('deleted') });

export type Summary = z.output<typeof summary>;
export type Post = z.output<typeof one>['post'];
export type Failed = { readonly kind: 'failed'; readonly error: string };

/** What a record of a post holds, beside its id, author and time. */
export const shownPost = z.object({
  /** A person deleted it: it was there. */
  deleted: z.boolean(),
  /** Null where the medium no longer shows it. */
  text: z.string().nullable(),
  links,
  parent: z.string().nullable(),
  visibility: z.string().nullable(),
  /** sha256 where it is shown; null for the whole where nothing is known but `hasMedia`. */
  media: z.array(z.string().nullable()).nullable(),
  hasMedia: z.boolean().nullable(),
  /** What a stranger sees at its public URL; null where there is nothing for strangers, absent where nobody looked. */
  page: z.object({ id: z.string(), author: z.string(), text: z.string() }).nullable().exactOptional(),
});
export type ShownPost = z.output<typeof shownPost>;

/** The read probe: whose records the token sees, as the medium says. */
export async function accountSeen(look: LookContext): Promise<{ kind: 'account'; id: string } | Failed> {
  const answer = await getJson(look, `/api/accounts/${encodeURIComponent(look.account)}`);
  if (answer.kind === 'failed') return answer;
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const { data } = probe.safeParse(answer.body);
  return data === undefined ? failed('bad_answer') : { kind: 'account', id: data.account.id };
}

export type Page = {
  readonly kind: 'page';
  readonly account: string;
  readonly posts: readonly Summary[];
  readonly next: string | null;
};

export async function onePage(
  look: LookContext,
  range: LookContext['range'],
  cursor: string | null,
): Promise<Page | Failed> {
  const [since, until] = [range.from, range.to].map((ms) => new Date(ms).toISOString());
  const query = new URLSearchParams({ since: since ?? '', until: until ?? '', limit: '30', include: 'all' });
  if (cursor !== null) query.set('cursor', cursor);
  const answer = await getJson(look, `/api/accounts/${encodeURIComponent(look.account)}/posts?${query}`);
  if (answer.kind === 'failed') return answer;
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const { data } = page.safeParse(answer.body);
  if (data === undefined) return failed('bad_answer');
  return { kind: 'page', account: data.account.id, posts: data.posts, next: data.next };
}

export type One =
  | { readonly kind: 'post'; readonly post: Post }
  | { readonly kind: 'none' }
  | { readonly kind: 'deleted' };

/** One post by its id, whole. */
export async function onePost(look: LookContext, id: string): Promise<One | Failed> {
  const answer = await getJson(look, `/api/posts/${encodeURIComponent(id)}`);
  if (answer.kind === 'failed') return answer;
  if (answer.status === 404 && notFound.safeParse(answer.body).success) return { kind: 'none' };
  if (answer.status === 410 && deleted.safeParse(answer.body).success) return { kind: 'deleted' };
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const { data } = one.safeParse(answer.body);
  return data === undefined || data.post.id !== id ? failed('bad_answer') : { kind: 'post', post: data.post };
}

export function recordOf(post: Post, more: { page?: ShownPost['page']; url?: string } = {}): ProviderRecord {
  const { id, author, text, parent, created_at: createdAt, visibility, media } = post;
  const content: ShownPost = {
    deleted: post.deleted,
    ...{ text, parent, visibility, links: post.links },
    media: media.map(({ sha256 }) => sha256),
    hasMedia: media.length > 0,
    ...(more.page === undefined ? {} : { page: more.page }),
  };
  const url = more.url === undefined ? {} : { url: more.url };
  return { externalId: id, account: author.id, reference: null, createdAt, content: plain(content), ...url };
}

/** What is left of a deleted post: that it was there. From the list if that shows it, else from its id alone. */
export function deletedRecord(externalId: string, listed?: Summary): ProviderRecord {
  const content: ShownPost = {
    deleted: true,
    text: null,
    links: [],
    parent: listed?.parent ?? null,
    visibility: listed?.visibility ?? null,
    media: null,
    hasMedia: listed?.has_media ?? null,
    // Read by its id it has no page; of one in a list nobody looked.
    ...(listed === undefined ? { page: null } : {}),
  };
  const known = listed === undefined ? { account: '' } : { account: listed.author_id };
  const at = listed === undefined ? {} : { createdAt: listed.created_at };
  return { externalId, ...known, reference: null, content: plain(content), ...at };
}

function plain(content: ShownPost): JsonObject {
  return { ...content };
}

export function failed(error: string): Failed {
  return { kind: 'failed', error };
}

type Answer = { readonly kind: 'answered'; readonly status: number; readonly body: unknown } | Failed;

async function getJson(look: LookContext, path: string): Promise<Answer> {
  const answer = await look.get(path);
  if (answer.kind === 'failed') return answer;
  return { kind: 'answered', status: answer.status, body: parsedOrNull(answer.body) };
}

export function parsedOrNull(text: string): unknown {
  try {
    return parseAnswer(text);
  } catch {
    return null;
  }
}

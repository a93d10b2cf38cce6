/**
 * Looking at the medium. A search goes through the account's posts of the time in question, deleted ones and
 * drafts included, and reads every candidate by its id, because the list leaves out what is compared.
 */
import type { Intent } from '../domain/intent.ts';
import {
  accountSeen,
  deletedRecord,
  failed,
  onePage,
  onePost,
  recordOf,
  type Summary,
} from './medium-api.ts';
import { pageUrl, visitPage } from './medium-page.ts';
import { MEDIUM_PROMISE } from './medium-promise.ts';
import type { LookContext, Lookup, ProviderRecord } from './provider.ts';

/** 600 posts of one account in under an hour are a fault; so is a medium that goes on naming next pages. */
const MOST_PAGES = 20;
/** Reads by id in one search, each within its own limit of time. */
const MOST_SINGLY = 100;
/** Side by side, so that all of them take less than a search may last. */
const AT_ONCE = 10;
/** Looked at beyond the range on both sides, so that near misses show; nothing there counts. */
const BEYOND_MS = 300_000;

/** Everything there that may be this intent's post. What could not be read makes it incomplete. */
export async function findPosts(look: LookContext, intent: Pick<Intent, 'parent'>): Promise<Lookup> {
  const seen = await accountSeen(look);
  if (seen.kind === 'failed') return seen;
  if (seen.id !== look.account) return { kind: 'seen', records: [], complete: false, authorised: false };
  const listed = await everyPage(look);
  if (listed.kind === 'failed') return listed;
  const { records, whole } = await singly(look, intent, listed.posts);
  return { kind: 'seen', records, complete: listed.complete && whole, authorised: listed.authorised };
}

interface Listed {
  readonly kind: 'listed';
  readonly posts: readonly Summary[];
  readonly complete: boolean;
  readonly authorised: boolean;
}

async function everyPage(look: LookContext): Promise<Listed | ReturnType<typeof failed>> {
  const posts = new Map<string, Summary>();
  const range = { from: look.range.from - BEYOND_MS, to: look.range.to + BEYOND_MS };
  const listed = (complete: boolean): Listed => ({
    kind: 'listed',
    posts: [...posts.values()],
    complete,
    authorised,
  });
  let authorised = true;
  let cursor: string | null = null;
  for (let turned = 0; turned < MOST_PAGES; turned += 1) {
    const page = await onePage(look, range, cursor);
    if (page.kind === 'failed') return turned === 0 ? page : listed(false);
    authorised &&= page.account === look.account;
    // One that moved between pages while we turned them counts once.
    for (const post of page.posts) posts.set(post.id, post);
    cursor = page.next;
    if (cursor === null) return listed(true);
  }
  return listed(false);
}

/** Those that can match come first; the search is whole once all of them were read. */
async function singly(
  look: LookContext,
  { parent }: Pick<Intent, 'parent'>,
  posts: readonly Summary[],
): Promise<{ records: ProviderRecord[]; whole: boolean }> {
  const { from, to } = look.range;
  const canMatch = (post: Summary) =>
    post.parent === parent && post.created_at >= from && post.created_at <= to;
  const ours = posts.filter((post) => post.author_id === look.account);
  const wanted = [...ours.filter(canMatch), ...ours.filter((post) => !canMatch(post))];
  const gone = wanted.filter((post) => post.deleted);
  const there = wanted.filter((post) => !post.deleted);
  const records = gone.map((post) => deletedRecord(post.id, post));
  look.expect?.(Math.min(there.length, MOST_SINGLY));
  let whole = !there.slice(MOST_SINGLY).some(canMatch);
  for (let at = 0; at < Math.min(there.length, MOST_SINGLY); at += AT_ONCE) {
    const batch = there.slice(at, Math.min(at + AT_ONCE, MOST_SINGLY));
    const read = await Promise.all(batch.map((post) => oneListed(look, post)));
    records.push(...read.filter((record) => record !== undefined));
    whole &&= !batch.some((post, index) => read[index] === undefined && canMatch(post));
  }
  return { records, whole };
}

/** Undefined when it could not be read: listed, but not there by its id, is no answer. */
async function oneListed(look: LookContext, listed: Summary): Promise<ProviderRecord | undefined> {
  const one = await onePost(look, listed.id);
  if (one.kind === 'deleted') return deletedRecord(listed.id, listed);
  if (one.kind !== 'post') return undefined;
  const url = pageUrl(look, one.post.author.handle, one.post.id);
  return recordOf(one.post, url === undefined ? {} : { url });
}

/**
 * Readback: the post by its id, then its public page. Never the whole. A page that is not there yet makes the post
 * not seen yet, until it must be there; then the record says that strangers see nothing.
 */
export async function readPost(look: LookContext, externalId: string | null): Promise<Lookup> {
  if (externalId === null) return failed('no_external_id');
  const one = await onePost(look, externalId);
  if (one.kind === 'failed') return one;
  if (one.kind === 'none') return seen([]);
  if (one.kind === 'deleted') return seen([deletedRecord(externalId)]);
  const { post } = one;
  // What is not for strangers is judged by itself; its page says nothing more.
  if (post.deleted || !['public', 'unlisted'].includes(post.visibility)) {
    return seen([recordOf(post, { page: null })]);
  }
  const sight = await visitPage(look, post.author.handle, post.id);
  if (sight.kind === 'failed') return sight;
  if (sight.kind === 'page') return seen([recordOf(post, { page: sight.page, url: sight.url })]);
  return seen(mustShow(look, post.created_at) ? [recordOf(post, { page: null, url: sight.url })] : []);
}

/** Whether a post made then, by the medium's clock, must have its page by now. */
function mustShow({ startedAt, visibilityLagMs }: LookContext, createdAt: number): boolean {
  if (visibilityLagMs === null) return false;
  return startedAt > createdAt + visibilityLagMs + MEDIUM_PROMISE.clockSkewMs;
}

function seen(records: readonly ProviderRecord[]): Lookup {
  return { kind: 'seen', records, complete: false, authorised: true };
}

/** What a scripted medium shows of its book: accounts, lists, single posts and public pages, honestly or not. */
import type { ReadAnswer } from '../../lib/providers/provider.ts';
import type { Account, BookedPost, MediumBook } from './medium-book.ts';
import type { MediumFault } from './medium-plays.ts';

interface View {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly book: MediumBook;
  /** How long neither list nor public page shows a saved post, ms. */
  readonly lagMs: number;
  readonly pageSize: number;
  /** How far its clock is off, ms. */
  readonly skewMs: number;
  /** Its times are cut to whole ones of these, ms. */
  readonly cutMs: number;
  readonly on: (fault: MediumFault) => boolean;
  readonly now: () => number;
}

/** Somebody else's there. */
export const OTHER_ID = '900002';
const ZONE_MS = 9 * 3_600_000;

export function mediumView(view: View) {
  return (path: string): ReadAnswer => {
    const { pathname, searchParams } = new URL(path, 'http://medium');
    const [first = '', second = '', id = '', rest] = pathname.slice(1).split('/');
    if (first.startsWith('@')) return publicPage(view, first.slice(1), second);
    if (second === 'posts') return one(view, id);
    if (second !== 'accounts') return said(404, { error: 'no_such_endpoint' });
    if (rest !== undefined) return list(view, id, searchParams);
    if (view.on('account_status')) return said(503, { error: 'unavailable' });
    const shown = view.on('account_of_another') ? OTHER_ID : id;
    return view.accounts.has(shown)
      ? said(200, { account: accountOf(view, shown) })
      : said(404, { error: 'not_found' });
  };
}

function said(status: number, body: object | string | null): ReadAnswer {
  return { kind: 'answered', status, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

function accountOf({ accounts }: View, id: string) {
  const { handle = '', displayName = '' } = accounts.get(id) ?? {};
  return { id, handle, display_name: displayName };
}

/** Its local time in whole seconds, or minutes. */
function localTime({ skewMs, cutMs }: View, { createdAt }: BookedPost): string {
  const shown = Math.floor((createdAt + skewMs) / cutMs) * cutMs;
  return `${new Date(shown + ZONE_MS).toISOString().slice(0, 19)}+09:00`;
}

const LIST_FAILURES: readonly (readonly [MediumFault, ReadAnswer])[] = [
  ['list_status', said(503, { error: 'unavailable' })],
  ['list_unauthorised', said(401, { error: 'unauthorized' })],
  ['list_forbidden', said(403, { error: 'forbidden' })],
  ['list_not_found', said(404, { error: 'not_found' })],
  ['list_too_many', said(429, { error: 'too_many_requests' })],
  ['list_broken', said(500, { error: 'internal' })],
  ['list_garbage', said(200, '<!doctype html><title>Log in</title>')],
  ['list_null', said(200, null)],
  ['list_without_posts', said(200, { account: { id: '900001' }, next: null })],
  ['list_of_nobody', said(200, { account: null, posts: [], next: null })],
  ['list_stall', { kind: 'failed', error: 'timeout' }],
];

function list(view: View, id: string, query: URLSearchParams): ReadAnswer {
  const failure = LIST_FAILURES.find(([fault]) => view.on(fault));
  if (failure !== undefined) return failure[1];
  const from = Number(query.get('cursor') ?? 0);
  if (from > 0 && view.on('bad_cursor')) return said(400, { error: 'bad_cursor' });
  const hidden = view.on('hidden') || view.on('list_of_another');
  const listed = hidden ? [] : allListed(view, id, query);
  const size = Math.min(view.pageSize, Number(query.get('limit') ?? 30)) + (view.on('long_page') ? 1 : 0);
  const start = view.on('overlapping') ? Math.max(0, from - 1) : from;
  const page = listed.slice(start, start + size);
  const more = (start + size < listed.length && !view.on('partial_page')) || view.on('endless');
  return said(200, {
    account: accountOf(view, view.on('list_of_another') ? OTHER_ID : id),
    posts: page.map((post) => ({
      ...{ id: post.id, author_id: post.authorId, parent: post.parent, created_at: localTime(view, post) },
      ...{ visibility: post.visibility, deleted: post.deleted, has_media: post.media.length > 0 },
    })),
    next: more ? String(start + size) : null,
  });
}

/** Newest first. Without include=all, neither drafts nor deleted ones. */
function allListed(view: View, id: string, query: URLSearchParams): BookedPost[] {
  const within = (post: BookedPost) => {
    const at = Date.parse(localTime(view, post));
    return at >= Date.parse(query.get('since') ?? '') && at <= Date.parse(query.get('until') ?? '');
  };
  return view.book.posts
    .filter((post) => post.authorId === id && post.savedAt + view.lagMs <= view.now())
    .filter((post) => query.get('include') === 'all' || (!post.deleted && post.visibility !== 'draft'))
    .filter(within)
    .sort((a, b) => b.createdAt - a.createdAt || Number(BigInt(b.id) - BigInt(a.id)));
}

function one(view: View, id: string): ReadAnswer {
  const post = view.book.posts.find((each) => each.id === id);
  if (view.on('one_status')) return said(500, { error: 'internal' });
  if (post === undefined || view.on('one_missing')) return said(404, { error: 'not_found' });
  if (post.deleted) return said(410, { error: 'deleted' });
  const { text, parent, visibility, media, links } = post;
  const deleted = view.on('one_deleted');
  const images = media.map((sha256, at) => ({ media_id: `m${at + 1}`, sha256, width: 1, height: 1 }));
  const author = accountOf(view, post.authorId);
  const created_at = localTime(view, post);
  return said(200, {
    post: { id, author, text, parent, created_at, visibility, deleted, media: images, links },
  });
}

function publicPage(view: View, handle: string, id: string): ReadAnswer {
  const post = view.book.posts.find((each) => each.id === id);
  const isThere =
    post !== undefined &&
    post.savedAt + view.lagMs <= view.now() &&
    view.accounts.get(post.authorId)?.handle === handle &&
    !post.deleted &&
    post.visibility !== 'draft';
  if (!isThere || view.on('page_404')) return said(404, '<!doctype html><title>Not found</title>');
  if (view.on('page_status')) return said(502, '<!doctype html><title>Bad gateway</title>');
  // As the reader tells it: redirects are not followed.
  if (view.on('page_redirect')) return { kind: 'failed', error: 'redirected' };
  if (view.on('page_without_data')) return said(200, '<!doctype html><title>Log in</title>');
  const author = accountOf(view, view.on('page_wrong_author') ? OTHER_ID : post.authorId);
  const linked = {
    '@type': 'SocialMediaPosting',
    identifier: id,
    author: { identifier: author.id, alternateName: author.handle, name: author.display_name },
    articleBody: view.on('page_wrong_text') ? 'Coffee at six.' : post.text,
  };
  const script = JSON.stringify(linked).replaceAll('<', '\\u003c');
  return said(200, `<!doctype html><script type="application/ld+json">${script}</script><p>${id}</p>`);
}

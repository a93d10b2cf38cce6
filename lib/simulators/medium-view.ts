/** The GETs under /api: an account, its posts page by page, one post by its id. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { type Place, VIEW_FAULTS, type ViewFault, type ViewFaultKind } from './medium-faults.ts';
import { type House, localTime } from './medium-house.ts';
import type { PlayedView } from './medium-plans.ts';
import type { Account, SavedPost } from './medium-records.ts';
import {
  type Answer,
  answer,
  authorised,
  failure,
  firstField,
  GARBAGE,
  invalid,
  NOT_FOUND,
  UNAUTHORIZED,
  type Wire,
} from './wire.ts';

const CURSOR_LIFE_MS = 60_000;
const MAX_LIMIT = 30;

/** `path` is what stands behind `/api/`, in its parts. */
export function view(house: House, request: IncomingMessage, path: string[], query: URLSearchParams): Wire {
  if (!authorised(request, house.readToken, [house.readToken, house.writeToken])) return said(UNAUTHORIZED);
  const [first, id = '', third, ...more] = path;
  return house.book.atomically(() => {
    if (first === 'posts' && third === undefined) return viewPost(house, id);
    const account = first === 'accounts' && more.length === 0 ? house.book.accountById(id) : undefined;
    if (account === undefined) return said(NOT_FOUND);
    if (third === undefined) return answer(200, { account });
    return third === 'posts' ? viewList(house, account, query) : said(NOT_FOUND);
  });
}

function said(it: Answer): Wire {
  return { kind: 'answer', answer: it };
}

function viewPost(house: House, id: string): Wire {
  const saved = house.book.postById(id);
  if (saved === undefined) return said(NOT_FOUND);
  const post = lied(saved, playOn(house, saved, 'one'));
  if (post.deleted) return answer(410, { error: 'deleted' });
  const { text, parent, visibility, deleted, media, links } = post;
  const author = house.book.accountById(post.authorId);
  const created_at = localTime(post.createdAt, house.zone);
  return answer(200, { post: { id, author, text, parent, created_at, visibility, deleted, media, links } });
}

/** A lie about one post is kept until that post would be shown, so that every hit was a lie. */
export function playOn(house: House, post: SavedPost, place: Place): PlayedView[] {
  return house.book.playViewFaults(
    (kind, match) => playsOn(kind, place) && !post.deleted && post.sentText.includes(match),
  );
}

function playsOn(kind: ViewFaultKind, place: Place): boolean {
  const on: readonly Place[] = VIEW_FAULTS[kind].on;
  return on.includes(place);
}

/** The post as those faults show it. */
export function lied(post: SavedPost, played: readonly PlayedView[]): SavedPost {
  let { createdAt, deleted } = post;
  for (const { match, fault } of played) {
    if (!post.sentText.includes(match)) continue;
    if (fault.kind === 'clock_skew_s') createdAt += (fault.seconds ?? 120) * 1_000;
    if (fault.kind === 'deleted') deleted = true;
  }
  return { ...post, createdAt, deleted };
}

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const querySchema = z.strictObject({
  /** Inclusive, both; they are compared with the time as it is shown, in whole seconds. */
  since: time.optional(),
  until: time.optional(),
  cursor: z.string().optional(),
  limit: z
    .string()
    .regex(/^([1-9]|[12]\d|30)$/)
    .transform(Number)
    .default(MAX_LIMIT),
  include: z.literal('all').optional(),
});
type Query = z.infer<typeof querySchema>;

function viewList(house: House, account: Account, search: URLSearchParams): Wire {
  const { success, data: query, error } = querySchema.safeParse(Object.fromEntries(search));
  if (!success) return said(invalid(firstField(error)));
  const before = query.cursor === undefined ? FIRST : positionIn(query.cursor, subjectOf(account, query));
  if (before === undefined) return answer(400, { error: 'bad_cursor' });
  const settledBy = Date.now() - house.visibilityLagMs;
  const settled = house.book.postsOf(account.id).filter((it) => it.savedAt <= settledBy);
  const played = playOnList(house, account, settled, query);
  const faults = played.map(({ fault }) => fault);
  const whole = faults.map(inPlaceOfAnswer).find((wire) => wire !== undefined);
  if (whole !== undefined) return whole;
  const rest = settled
    .filter((it) => !isHidden(it, played))
    .map((it) => lied(it, played))
    .filter((it) => isListed(it, query) && isOlder(it, before))
    .sort((a, b) => (isOlder(a, b) ? 1 : -1));
  return pageOf(house, account, query, { rest, partial: faults.some(({ kind }) => kind === 'partial_page') });
}

interface Rest {
  /** What this page and those behind it are to show. */
  readonly rest: readonly SavedPost[];
  /** The page is said to be the last, and is not whole. */
  readonly partial: boolean;
}

function pageOf(house: House, account: Account, query: Query, { rest, partial }: Rest): Wire {
  const page = rest.slice(0, Math.min(query.limit, house.pageSize));
  const last = page.length < rest.length ? page.at(-1) : undefined;
  const shown = partial && last === undefined ? page.slice(0, -1) : page;
  return answer(200, {
    account,
    posts: shown.map((it) => summary(it, house.zone)),
    next: last === undefined || partial ? null : cursorAt(last, subjectOf(account, query)),
  });
}

/** A lie about posts waits until the list holds one to lie about; others, until the list is about their text. */
function playOnList(house: House, account: Account, settled: readonly SavedPost[], query: Query) {
  const listed = settled.filter((it) => isListed(it, query));
  const all = house.book.postsOf(account.id);
  const about = (posts: readonly SavedPost[], match: string) =>
    posts.some((it) => it.sentText.includes(match));
  const alive = listed.filter((it) => !it.deleted);
  return house.book.playViewFaults((kind, match) => {
    if (!playsOn(kind, 'list')) return false;
    if (kind === 'deleted') return about(alive, match);
    if (kind === 'clock_skew_s') return about(settled, match);
    if (VIEW_FAULTS[kind].records) return about(listed, match);
    return match === '' || about(all, match) || house.book.wasAsked(account.id, match);
  });
}

function isListed(post: SavedPost, { since, until, include }: Query): boolean {
  const at = seconds(post) * 1_000;
  if (include !== 'all' && (post.deleted || post.visibility === 'draft')) return false;
  return at >= (since ?? 0) && at <= (until ?? Number.POSITIVE_INFINITY);
}

function isHidden(post: SavedPost, played: readonly PlayedView[]): boolean {
  return played.some(({ match, fault }) => fault.kind === 'hidden' && post.sentText.includes(match));
}

function inPlaceOfAnswer({ kind, status }: ViewFault): Wire | undefined {
  if (kind === 'list_status') return failure(status ?? 503);
  return kind === 'list_garbage' ? answer(200, GARBAGE) : undefined;
}

/** Neither text nor media. */
function summary(post: SavedPost, zone: string) {
  const { id, authorId: author_id, parent, visibility, deleted } = post;
  const created_at = localTime(post.createdAt, zone);
  return { id, author_id, parent, created_at, visibility, deleted, has_media: post.media.length > 0 };
}

/** A place in a list: newest first by the time shown, the later saved one first within a second. */
type Position = Pick<SavedPost, 'createdAt' | 'n'>;
const FIRST: Position = { createdAt: Number.MAX_SAFE_INTEGER, n: 0 };

/** Whether a list shows `a` behind `b`. */
function isOlder(a: Position, b: Position): boolean {
  return seconds(a) < seconds(b) || (seconds(a) === seconds(b) && a.n < b.n);
}

function seconds({ createdAt }: Position): number {
  return Math.floor(createdAt / 1_000);
}

/** A cursor belongs to one list, whatever its limit. */
function subjectOf({ id }: Account, { since, until, include }: Query): string {
  const about = JSON.stringify([id, since ?? null, until ?? null, include ?? null]);
  return createHash('sha256').update(about).digest('base64url').slice(0, 22);
}

function cursorAt(last: Position, of: string): string {
  const parts = [of, seconds(last), last.n, Date.now() + CURSOR_LIFE_MS];
  return Buffer.from(parts.join('.')).toString('base64url');
}

/** undefined for a cursor that is unknown, of another list, or too old. */
function positionIn(cursor: string, of: string): Position | undefined {
  const [about, at, n, until] = Buffer.from(cursor, 'base64url').toString().split('.');
  if (about !== of || !/^-?\d{1,13}$/.test(at ?? '') || !/^\d{1,15}$/.test(n ?? '')) return undefined;
  return Number(until) > Date.now() ? { createdAt: Number(at) * 1_000, n: Number(n) } : undefined;
}

/**
 * A medium in memory, on the test's clock: the HTTP contract of the real one, a script for its POSTs and faults for its
 * looks. It shares nothing with the adapter; its book is the only truth that a test may count.
 */
import * as z from 'zod';
import type { WireReport } from '../../lib/domain/write-result.ts';
import type { Clock } from '../../lib/platform/clock.ts';
import type { ReadAnswer } from '../../lib/providers/provider.ts';
import type { Transport, WriteRequest } from '../../lib/providers/transport.ts';
import { type Account, type BookedPost, mediumBook, type PostBody, type Rewriting } from './medium-book.ts';
import { MEDIUM_PLAYS, type MediumFault, type MediumPlay, type Play } from './medium-plays.ts';
import { mediumView, OTHER_ID } from './medium-view.ts';

export interface MediumSettings {
  /** One line a POST; after the last one, plain. `late_save` saves `lateMs` after its POST. */
  readonly script?: readonly MediumPlay[];
  readonly lateMs?: number;
  readonly visibilityLagMs?: number;
  readonly pageSize?: number;
  readonly skewMs?: number;
  /** 1000 unless told. */
  readonly cutMs?: number;
  /** Ids are JSON numbers in everything that it answers. */
  readonly numericIds?: boolean;
  readonly rewriting?: Rewriting;
}

export const OUR_ID = '900001';
export const READ_TOKEN = 'secret';

export type ScriptedMedium = ReturnType<typeof scriptedMedium>;

export function scriptedMedium(clock: Clock, settings: MediumSettings) {
  const { script = [], lateMs = 400 } = settings;
  const book = mediumBook(settings.rewriting ?? {});
  const accounts = new Map<string, Account>([
    [OUR_ID, { handle: 'tea.example', displayName: 'Tea Room' }],
    [OTHER_ID, { handle: 'other.example', displayName: 'Tea Room' }],
  ]);
  /** How looks fail; exclusive times, ms. */
  const faults = new Map<MediumFault, number>();
  const posts: { readonly at: number; readonly play: MediumPlay; readonly body: PostBody }[] = [];
  const looks: { readonly path: string; readonly at: number; readonly token: string | undefined }[] = [];
  let lines = 0;
  const view = mediumView({
    ...{ accounts, book, now: clock.now, lagMs: settings.visibilityLagMs ?? 0 },
    ...{ pageSize: settings.pageSize ?? 30, skewMs: settings.skewMs ?? 0, cutMs: settings.cutMs ?? 1000 },
    on: (fault) => clock.now() < (faults.get(fault) ?? Number.NEGATIVE_INFINITY),
  });

  const transport: Transport = async (request) => {
    const name = script[lines] ?? 'plain';
    lines += 1;
    const play: Play = MEDIUM_PLAYS[name];
    if (play.answers === 'away') return { kind: 'not_connected', detail: 'refused' };
    const refusal = await request.lastCheck();
    if (refusal !== null) return { kind: 'not_connected', detail: `withheld:${refusal}` };
    const body = bodyOf(request);
    posts.push({ at: clock.now(), play: name, body });
    book.catchUp(clock.now());
    const saved = deliver(play, spoilt(body, play), clock.now());
    if (play.answers === 'timeout') await clock.sleep(request.timeoutMs);
    return spelled(reportOf(play, saved));
  };
  /** As it spells its ids. */
  const spelled = <T extends WireReport | ReadAnswer>(answer: T): T =>
    settings.numericIds === true && answer.kind === 'answered'
      ? { ...answer, body: answer.body.replaceAll(/"(\d{19})"/g, '$1') }
      : answer;
  const deliver = ({ saves }: Play, body: PostBody, now: number): BookedPost | undefined => {
    if (saves === 'later') book.saveLater(body, now + lateMs);
    if (saves === 'never' || saves === 'later') return undefined;
    if (saves === 'twice') book.save(body, now);
    return book.save(body, now);
  };

  return {
    posts,
    looks,
    transport,
    accounts,
    faults,
    uploads: book.uploads,
    /** Without the token the API says nothing; public pages need none. */
    get: async (path: string, token?: string): Promise<ReadAnswer> => {
      book.catchUp(clock.now());
      looks.push({ path, at: clock.now(), token });
      if (path.startsWith('/api/') && token !== `Bearer ${READ_TOKEN}`) {
        return { kind: 'answered', status: 401, body: '{"error":"unauthorized"}' };
      }
      return spelled(view(path));
    },
    /** Everything saved by now, past all lags, deleted ones too. */
    book: (): readonly BookedPost[] => {
      book.catchUp(clock.now());
      return book.posts;
    },
    /** A post that nobody here sent. */
    add: ({ deleted = false, ...post }: Partial<BookedPost> & Pick<BookedPost, 'text'>): BookedPost => {
      const added = book.add({
        ...{ authorId: OUR_ID, parent: null, media: [], links: [], visibility: 'public' },
        ...{ createdAt: clock.now(), savedAt: clock.now(), sent: false },
        ...post,
      });
      added.deleted = deleted;
      return added;
    },
  };
}

const text = z.string();
const postBody = z.strictObject({
  account: text,
  text,
  parent: text.nullable(),
  media: z.array(text).max(4),
  visibility: z.enum(['public', 'unlisted', 'draft']),
});

function bodyOf({ url, method, body }: WriteRequest): PostBody {
  if (method !== 'POST' || url.pathname !== '/api/posts') throw new Error(`Nobody takes ${method} ${url}.`);
  return postBody.parse(JSON.parse(body));
}

function spoilt(body: PostBody, { spoils }: Play): PostBody {
  switch (spoils) {
    case 'author':
      return { ...body, account: OTHER_ID };
    case 'parent':
      return { ...body, parent: body.parent === null ? '17' : null };
    case 'draft':
      return { ...body, visibility: 'draft' };
    case 'image':
      return { ...body, media: body.media.slice(0, -1) };
    default:
      return body;
  }
}

function reportOf({ answers }: Play, saved: BookedPost | undefined): WireReport {
  switch (answers) {
    case 'closed':
    case 'timeout':
      return { kind: 'sent_no_answer', how: answers };
    case 'blocked':
      return answer(200, { ok: false, error: 'account_blocked' });
    case 'refused':
      return answer(403, { error: 'wrong_account' });
    case 'too_many':
      return answer(429, { error: 'too_many_requests' });
    case 'status':
      return answer(saved === undefined ? 503 : 500, { error: 'internal' });
    case 'no_id':
      return answer(201, { post: {} });
    case 'cut':
      return { ...answer(201, {}), body: '{"post":{"id":"46', complete: false };
    case 'away':
    case 'made':
      return answer(201, { post: { id: saved?.id } });
  }
}

function answer(status: number, body: object): Extract<WireReport, { kind: 'answered' }> {
  return { kind: 'answered', status, headers: {}, body: JSON.stringify(body), complete: true };
}

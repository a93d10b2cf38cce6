/**
 * Two media to play one scenario at: the scripted one in memory, and the simulated one, a real HTTP server with a book
 * of its own on disk, written to and read over sockets. Both live on the clock of the test; both are counted in the book.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { medium } from '../../lib/providers/medium.ts';
import type { ReadOnce } from '../../lib/providers/provider.ts';
import { reader } from '../../lib/providers/reader.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { readMediumBook, startMedium } from '../../lib/simulators/medium.ts';
import type { MediumPlay } from './medium-plays.ts';
import { OUR_ID, READ_TOKEN } from './medium-scripted.ts';
import { OTHER_ID } from './medium-view.ts';
import { type MediumWorldOptions, mediumDesk, mediumWorld, postsRoute, TEXT } from './medium-world.ts';
import { type World, world } from './world.ts';

/** What both can play on a POST. */
export type StagePlay = Extract<
  MediumPlay,
  'plain' | 'cut_before_save' | 'cut_after_save' | 'stall_after_save' | 'status_before_save' | 'image_missing'
>;

export interface StageOptions extends Pick<MediumWorldOptions, 'policy' | 'route' | 'visibilityLagMs'> {
  readonly script?: readonly StagePlay[];
}

interface ByHand {
  readonly text: string;
  readonly authorId?: string;
  readonly parent?: string | null;
}

export interface Staged extends ReturnType<typeof mediumDesk> {
  readonly w: World;
  /** When each POST arrived, ms. */
  readonly arrivals: () => readonly number[];
  /** Ids of all posts, oldest first, and which of them were deleted. */
  readonly book: () => readonly { readonly id: string; readonly sent: boolean; readonly deleted: boolean }[];
  /** Somebody writes a post without us; its id. */
  readonly byHand: (post: ByHand) => Promise<string>;
  readonly uploaded: () => Promise<{ readonly media_id: string; readonly sha256: string }>;
  /** From now on the public page of our post answers 404. */
  readonly withoutPage: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const STAGES: readonly {
  readonly at: string;
  readonly open: (of: StageOptions) => Promise<Staged>;
}[] = [
  { at: 'a scripted medium', open: async (options) => inMemory(options) },
  { at: 'the simulated medium over HTTP', open: overHttp },
];

function inMemory(options: StageOptions): Staged {
  const { outside, w, ...desk } = mediumWorld(options);
  const hash = 'a'.repeat(64);
  return {
    ...{ w, ...desk },
    arrivals: () => outside.posts.map(({ at }) => at),
    book: outside.book,
    byHand: async (post) => outside.add(post).id,
    uploaded: async () => {
      outside.uploads.set('m1', hash);
      return { media_id: 'm1', sha256: hash };
    },
    withoutPage: async () => void outside.faults.set('page_404', Number.POSITIVE_INFINITY),
    close: async () => undefined,
  };
}

const ACCOUNTS = [
  { id: OUR_ID, handle: 'tea.example', display_name: 'Tea Room' },
  { id: OTHER_ID, handle: 'other.example', display_name: 'Tea Room' },
];
/** A busy machine is no fault. */
const PATIENCE_MS = 5000;
/** One white dot. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

async function overHttp(options: StageOptions): Promise<Staged> {
  const folder = mkdtempSync(join(tmpdir(), 'kakutei-stage-'));
  const file = join(folder, 'medium.sqlite');
  const tokens = { writeToken: READ_TOKEN, readToken: READ_TOKEN };
  const { visibilityLagMs = 0, script = [] } = options;
  // The medium is asked at the test's time, not at the machine's.
  vi.useFakeTimers({ toFake: ['Date'] });
  const started = await startMedium({
    ...{ file, accounts: ACCOUNTS, control: true, durable: false, visibilityLagMs },
    ...tokens,
  });
  const w = worldAt(started.url, options);
  const call = calls(started.url, w);
  const plan = script.map((kind) => (kind === 'plain' ? { kind: 'honest' } : { kind }));
  await call('PUT', 'control/posts/faults', { match: {}, plan });
  const book = () => readMediumBook(file);
  const counts = {
    writes: () => book().requests.length,
    posts: () => book().posts.filter((post) => post.sent).length,
  };
  return {
    ...{ w, ...mediumDesk(w, counts) },
    arrivals: () => book().requests.map(({ at }) => Date.parse(at)),
    book: () => book().posts,
    byHand: async ({ text, authorId: account = OUR_ID, parent = null }) => {
      const { id } = await call('POST', 'control/posts', { account, text, parent });
      return String(id);
    },
    uploaded: async () => {
      const { media_id, sha256 } = await call('POST', 'api/media', PNG);
      return { media_id: String(media_id), sha256: String(sha256) };
    },
    withoutPage: async () => {
      await call('PUT', 'control/posts/faults', { match: { text: TEXT }, plan: [{ kind: 'page_404' }] });
    },
    close: async () => {
      vi.useRealTimers();
      await started.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface To {
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function worldAt(baseUrl: string, options: StageOptions): World {
  const route = { ...postsRoute(baseUrl, options), writeSecretRef: 'local:medium-write' };
  let w: World | undefined;
  const atItsTime = <T>(ask: () => Promise<T>): Promise<T> => {
    if (w !== undefined) vi.setSystemTime(w.clock.now());
    return ask();
  };
  const readerOf = ({ baseUrl: url, headers = {} }: To): ReadOnce => {
    const read = reader({ baseUrl: url, headers, timeoutMs: PATIENCE_MS });
    return (path) => atItsTime(() => read(path));
  };
  w = world({
    beside: () => ({
      ...{ baseUrl, routes: [route], providers: [medium], get: readerOf({ baseUrl }) },
      transport: (request) => atItsTime(() => sendOnce(request)),
    }),
  });
  w.deps.reader = readerOf;
  return w;
}

function calls(url: string, w: World) {
  return async (method: string, path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    vi.setSystemTime(w.clock.now());
    const raw = Buffer.isBuffer(body);
    const response = await fetch(`${url}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${READ_TOKEN}`,
        'content-type': raw ? 'image/png' : 'application/json',
      },
      body: raw ? new Uint8Array(body) : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The medium answered ${response.status} to ${method} ${path}`);
    return (await response.json()) as Record<string, unknown>;
  };
}

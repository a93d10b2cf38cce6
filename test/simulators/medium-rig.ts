/** A medium for tests: in this process or a child, spoken to over HTTP, counted in its own book. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { type MediumOptions, readMediumBook, startMedium } from '../../lib/simulators/medium.ts';
import { look, type Seen } from './supplier-rig.ts';

export const PROGRAM = join(import.meta.dirname, '../../lib/simulators/medium.ts');
export const TEA = { id: '900001', handle: 'tea.example', display_name: 'Tea Room' };
/** Another account with the same name for readers. */
export const CHA = { id: '900002', handle: 'cha.example', display_name: 'Tea Room' };
export const ACCOUNTS = [TEA, CHA];
/** Ids of the first posts of a book. */
export const FIRST = '4611686018427387905';
export const SECOND = '4611686018427387906';

/** The beginning of a PNG of that size, with `more` behind it. */
export function png(width = 3, height = 2, more = ''): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
    size,
    Buffer.from(`\x08\x02\0\0\0${more}`, 'latin1'),
  ]);
}

export interface Sent {
  /** Fields of the body that differ from a public root post of the first account without images. */
  readonly more?: object;
  readonly headers?: Record<string, string>;
  readonly waitMs?: number;
}

/** One running medium and what to ask of it. */
export interface Medium {
  readonly url: string;
  readonly post: (text: string, sent?: Sent) => Promise<Seen>;
  readonly upload: (body: Buffer, headers?: Record<string, string>) => Promise<Seen>;
  /** All posts of the first account unless told. */
  readonly list: (query?: string, account?: string) => Promise<Seen>;
  readonly get: (id: string) => Promise<Seen>;
  readonly page: (id: string, handle?: string) => Promise<Page>;
  readonly control: (method: string, path: string, body?: unknown) => Promise<Seen>;
  /** Faults of the posts with `text` in theirs; of every post where it is undefined. */
  readonly plan: (text: string | undefined, plan: unknown[]) => Promise<Seen>;
  readonly close: () => Promise<void>;
}

export interface Page {
  readonly status: Seen['status'];
  readonly html: string;
  /** The linked data in it. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever a medium shows; each test says what it expects
  readonly linked: any;
}

export function speak(url: string, close: () => Promise<void>): Medium {
  const control = (method: string, path: string, body?: unknown) =>
    look(`${url}/control/${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return {
    url,
    close,
    control,
    post: (text, { more, headers, waitMs = 5_000 } = {}) => {
      const plain = { account: TEA.id, text, parent: null, media: [], visibility: 'public' };
      const body = JSON.stringify({ ...plain, ...more });
      const sent = { 'content-type': 'application/json', ...headers };
      return look(`${url}/api/posts`, { method: 'POST', headers: sent, body, waitMs });
    },
    upload: (body, headers = {}) => {
      const sent = { 'content-type': 'image/png', ...headers };
      return look(`${url}/api/media`, { method: 'POST', headers: sent, body: new Uint8Array(body) });
    },
    list: (query = 'include=all', account = TEA.id) => look(`${url}/api/accounts/${account}/posts?${query}`),
    get: (id) => look(`${url}/api/posts/${id}`),
    page: async (id, handle = TEA.handle) => {
      const { status, body } = await look(`${url}/@${handle}/${id}`);
      const html = String(body.text);
      const script = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html)?.[1];
      return { status, html, linked: script === undefined ? undefined : JSON.parse(script) };
    },
    plan: (text, plan) => control('PUT', 'posts/faults', { match: text === undefined ? {} : { text }, plan }),
  };
}

/** A folder with the book of one test. */
export function mediumRig() {
  const folder = mkdtempSync(join(tmpdir(), 'kakutei-medium-'));
  const file = join(folder, 'medium.sqlite');
  const stops: (() => Promise<unknown>)[] = [];
  return {
    folder,
    file,
    /** In this process; no visibility lag unless told. */
    start: async (options: Partial<MediumOptions> = {}): Promise<Medium> => {
      const { url, close } = await startMedium({
        ...{ file, accounts: ACCOUNTS, control: true, durable: false, visibilityLagMs: 0 },
        ...options,
      });
      const stop = async () => {
        stops.splice(stops.indexOf(stop), 1);
        await close();
      };
      stops.push(stop);
      return speak(url, stop);
    },
    /** In a process of its own; `end` resolves when it is gone. */
    spawn: async (more: readonly string[] = [], env: Record<string, string> = {}) => {
      const accounts = ACCOUNTS.map(({ id, handle, display_name }) => `${id}:${handle}:${display_name}`);
      const args = [PROGRAM, '--file', file, '--accounts', accounts.join(','), ...more];
      const options = { stdio: ['pipe', 'pipe', 'inherit'] as ['pipe', 'pipe', 'inherit'] };
      const child = spawn(process.execPath, args, { ...options, env: { ...process.env, ...env } });
      const gone = once(child, 'exit');
      const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
        child.kill(signal);
        return gone;
      };
      stops.push(() => end('SIGKILL'));
      const ready = once(createInterface({ input: child.stdout }), 'line');
      const failed = gone.then(([code]) => Promise.reject(new Error(`The medium ended with ${code}`)));
      const [line] = await Promise.race([ready, failed]);
      failed.catch(() => undefined);
      const { url } = JSON.parse(String(line)) as { url: string };
      return { child, gone, end, line: String(line), ...speak(url, async () => {}) };
    },
    book: () => readMediumBook(file),
    /** The posts of this text in the book, sent ones only. */
    effects: (text: string) => readMediumBook(file).posts.filter((it) => it.sent && it.sent_text === text),
    stop: async () => {
      vi.useRealTimers();
      for (const stop of [...stops]) await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

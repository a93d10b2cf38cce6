/** Adapter against medium, over real sockets: what is sent is posted as meant, and read back as it is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../lib/domain/fingerprint.ts';
import type { Intent } from '../../lib/domain/intent.ts';
import { judgeWrite, type WriteResult } from '../../lib/domain/write-result.ts';
import { parseAnswer } from '../../lib/platform/json.ts';
import { medium } from '../../lib/providers/medium.ts';
import type { Lookup } from '../../lib/providers/provider.ts';
import { reader } from '../../lib/providers/reader.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { readMediumBook, startMedium } from '../../lib/simulators/medium.ts';
import { intentOf, NOW } from '../support/kit.ts';

const ACCOUNT = '900001';
const OTHER = '900002';
/** One white dot. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const folder = mkdtempSync(join(tmpdir(), 'kakutei-medium-'));
const file = join(folder, 'medium.sqlite');
let url = '';
let close = async (): Promise<void> => undefined;

beforeAll(async () => {
  const accounts = [
    { id: ACCOUNT, handle: 'tea.example', display_name: 'Tea Room' },
    { id: OTHER, handle: 'other.example', display_name: 'Tea Room' },
  ];
  const tokens = { writeToken: 'write', readToken: 'read' };
  const lags = { applyDelayMs: 100, visibilityLagMs: 0, pageSize: 3 };
  const started = await startMedium({ file, accounts, control: true, durable: false, ...tokens, ...lags });
  url = started.url;
  close = started.close;
});
afterAll(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

const posted = (text: string) => readMediumBook(file).posts.filter((post) => post.sent_text === text);

function intent(
  text: string,
  change: Partial<Intent> = {},
  media: { media_id: string; sha256: string }[] = [],
) {
  const payload = { text, media, visibility: 'public' };
  return intentOf({ provider: 'medium', account: ACCOUNT, action: 'post', payload, ...change });
}

function looking(token = 'read') {
  const get = reader({ baseUrl: url, headers: { authorization: `Bearer ${token}` }, timeoutMs: 2000 });
  const stranger = reader({ baseUrl: url, headers: {}, timeoutMs: 2000 });
  const now = Date.now();
  return {
    ...({
      account: ACCOUNT,
      environment: 'test',
      get,
      baseUrl: url,
      startedAt: now,
      visibilityLagMs: 0,
    } as const),
    visit: (at: string) => stranger(new URL(at).pathname),
    range: { from: now - 300_000, to: now + 300_000 },
  };
}

/** One write as the sender does it. */
async function send(of: Intent): Promise<WriteResult> {
  const place = { account: of.account, environment: 'test', parent: of.parent } as const;
  const request = medium.write(of.payload, medium.reference(of), place);
  const report = await sendOnce({
    url: new URL(url + request.path),
    method: request.method,
    headers: { ...request.headers, authorization: 'Bearer write' },
    body: request.body,
    timeoutMs: 1000,
    lastCheck: async () => null,
  });
  const attempt = { token: 'a1', startedAt: NOW, at: NOW + 5 };
  return judgeWrite(report, medium.readAnswer, attempt, parseAnswer, sha256);
}

async function control(method: string, path: string, body: object): Promise<void> {
  const { ok } = await fetch(`${url}/control/${path}`, { method, body: JSON.stringify(body) });
  expect(ok, path).toBe(true);
}
const plan = (text: string, ...faults: object[]) =>
  control('PUT', 'posts/faults', { match: { text }, plan: faults });

async function found(of: Intent): Promise<Lookup> {
  const lookup = (await medium.find?.(looking(), of)) ?? { kind: 'failed', error: 'no_search' };
  if (lookup.kind === 'failed') return lookup;
  return { ...lookup, records: lookup.records.filter((record) => medium.match(of, record)) };
}

const idsIn = (lookup: Lookup) =>
  lookup.kind === 'seen' ? lookup.records.map((record) => record.externalId) : lookup.error;

async function checks(of: Intent, id: string): Promise<string[] | string> {
  const lookup = await medium.read(looking(), of, id);
  if (lookup.kind === 'failed') return lookup.error;
  const [record] = lookup.records;
  if (record === undefined) return 'nothing';
  const judged = medium.verify({ ...of, acknowledgedId: id }, record);
  return Object.entries(judged).flatMap(([name, holds]) => (holds ? [] : [name]));
}

function idOf(result: WriteResult): string {
  if (result.kind !== 'acknowledged' || result.externalId === null) throw new Error(`No id: ${result.kind}`);
  return result.externalId;
}

describe('a post', () => {
  it('is made once, and found and read back with every check true', async () => {
    const of = intent('Tea & cake <at> five:\nhttps://example.test/a?b=1#c');
    const id = idOf(await send(of));
    expect(posted(String(of.payload['text'])).map((post) => [post.id, post.author_id])).toEqual([
      [id, ACCOUNT],
    ]);
    expect(await found(of)).toMatchObject({ kind: 'seen', complete: true, authorised: true });
    expect([idsIn(await found(of)), await checks(of, id)]).toEqual([[id], []]);
  });

  it('with an image, as a reply', async () => {
    const upload = await fetch(`${url}/api/media`, {
      ...{ method: 'POST', body: PNG },
      headers: { authorization: 'Bearer write', 'content-type': 'image/png' },
    });
    const image = (await upload.json()) as { media_id: string; sha256: string };
    const [parent] = readMediumBook(file).posts;
    const of = intent('A picture.', { parent: parent?.id ?? '' }, [image]);
    const id = idOf(await send(of));
    expect([idsIn(await found(of)), await checks(of, id)]).toEqual([[id], []]);
    expect(idsIn(await found({ ...of, parent: null })), 'a reply is no root post').toEqual([]);
  });

  it('whose answer was lost is found among others, over pages; another account’s never', async () => {
    const of = intent('Lost once.');
    await plan('Lost once.', { kind: 'cut_after_save' });
    expect((await send(of)).kind).toBe('unknown');
    for (let n = 0; n < 7; n += 1) await control('POST', 'posts', { account: ACCOUNT, text: `Cake ${n}.` });
    await control('POST', 'posts', { account: OTHER, text: 'Lost once.' });
    const [post] = posted('Lost once.');
    expect(idsIn(await found(of))).toEqual([post?.id]);
  });

  it.each([
    { words: ['html_entities', 'shorten_urls', 'crlf_to_lf', 'trim_end', 'nfd'], broken: [] },
    { words: ['expand_urls'], broken: [] },
    { words: ['expand_urls', 'shorten_urls', 'html_entities'], broken: [] },
    { words: ['cut_280', 'html_entities'], broken: ['payload'] },
    { words: ['shorten_urls_no_map'], broken: ['payload'] },
    { words: ['emoji_to_question'], broken: ['payload'] },
  ])('rewritten with $words is found; checks that do not hold: $broken', async ({ words, broken }) => {
    await control('PUT', 'rewrites', words);
    const text = `${words.join()} café & tea 👀\r\nhttps://example.test/a and bare.test/b ${'and so on '.repeat(40)}\n`;
    const of = intent(text);
    const id = idOf(await send(of));
    await fetch(`${url}/control/rewrites`, { method: 'PUT', body: '[]' });
    expect([idsIn(await found(of)), await checks(of, id)]).toEqual([[id], broken]);
  });

  it('that was deleted by a person is found, and is not valid', async () => {
    const of = intent('Deleted.');
    const id = idOf(await send(of));
    await control('PATCH', `posts/${id}`, { deleted: true });
    expect(idsIn(await found(of))).toContain(id);
    expect(await checks(of, id)).toContain('publicUrl');
  });

  it.each([
    { kind: 'wrong_author_saved', broken: ['author'] },
    { kind: 'wrong_parent_saved', broken: ['parent'] },
    { kind: 'draft_saved', broken: ['publicUrl', 'visibility'] },
    { kind: 'page_404', broken: ['publicUrl'] },
    { kind: 'page_wrong_author', broken: ['publicUrl'] },
    { kind: 'page_redirect', broken: ['publicUrl'] },
  ])('$kind: $broken do not hold', async ({ kind, broken }) => {
    const of = intent(`Fault ${kind}.`);
    await plan(`Fault ${kind}.`, { kind });
    const id = idOf(await send(of));
    // Its clock shows whole seconds, and is distrusted by two more.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
    try {
      expect(await checks(of, id)).toEqual(broken);
    } finally {
      vi.useRealTimers();
    }
    expect(readMediumBook(file).faults[kind]).toBeGreaterThan(0);
  });

  it('after its account was renamed is read back under the new handle', async () => {
    const of = intent('Renamed.');
    const id = idOf(await send(of));
    await control('PATCH', `accounts/${ACCOUNT}`, { handle: 'tea-room.example' });
    expect(await checks(of, id)).toEqual([]);
  });

  it.each([
    { change: { account: '900009' }, code: 'status_403' },
    { change: { parent: '17' }, code: 'status_404' },
  ])('that is refused with $code was not made', async ({ change, code }) => {
    const of = intent(`Refused ${code}.`, change);
    expect(await send(of)).toMatchObject({ kind: 'rejected', proof: 'refused', code });
    expect(posted(`Refused ${code}.`)).toEqual([]);
  });
});

it('a token that may not look sees a failure, never an empty list', async () => {
  const of = intent('Nobody.');
  expect(await medium.find?.(looking('wrong'), of)).toEqual({ kind: 'failed', error: 'status_401' });
});

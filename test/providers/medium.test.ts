/** The medium's adapter, row by row: what it takes, what it sends, how it reads each answer. */
import { describe, expect, it } from 'vitest';
import { NotCanonical } from '../../lib/domain/fingerprint.ts';
import type { JsonObject } from '../../lib/domain/intent.ts';
import type { Reading } from '../../lib/domain/write-result.ts';
import { medium } from '../../lib/providers/medium.ts';
import type { LookContext, Lookup, ReadAnswer } from '../../lib/providers/provider.ts';
import { intentOf, NOW } from '../support/kit.ts';

const ACCOUNT = '900001';
const ID = '8389765489680951453';
const HASH = 'a'.repeat(64);
const IMAGE = { media_id: 'm1', sha256: HASH };
const POST = { text: 'Tea at five.', media: [], visibility: 'public' };
const BASE_URL = 'https://medium.test';
const AUTHOR = { id: ACCOUNT, handle: 'tea.example', display_name: 'Tea Room' };
const SHOWN = {
  ...{ id: ID, author: AUTHOR, text: POST.text, parent: null, created_at: '2026-11-30T18:00:00+09:00' },
  ...{ visibility: 'public', deleted: false, media: [], links: [] },
};
const LISTED = {
  ...{ id: ID, author_id: ACCOUNT, parent: null, created_at: SHOWN.created_at },
  ...{ visibility: 'public', deleted: false, has_media: false },
};

const intent = (payload: JsonObject = POST, change = {}) =>
  intentOf({ provider: 'medium', account: ACCOUNT, action: 'post', payload, ...change });

const said = (body: unknown, status = 200): ReadAnswer => ({
  ...{ kind: 'answered', status },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const pageOf = (...scripts: unknown[]) =>
  `<!doctype html>${scripts.map((each) => `<script type="application/ld+json">${typeof each === 'string' ? each : JSON.stringify(each)}</script>`).join('')}`;
const POSTING = {
  ...{ '@type': 'SocialMediaPosting', identifier: ID },
  author: { identifier: ACCOUNT, alternateName: 'tea.example', name: 'Tea Room' },
  articleBody: POST.text,
};

interface Outside {
  readonly account?: ReadAnswer;
  readonly list?: ReadAnswer;
  readonly one?: ReadAnswer;
  readonly page?: ReadAnswer;
}

/** Our clock is an hour past the post, and a page may take 30 s. */
function looking({ account, list, one, page }: Outside = {}, change: Partial<LookContext> = {}) {
  const asked: string[] = [];
  const get = async (path: string): Promise<ReadAnswer> => {
    asked.push(path);
    if (path.includes('/posts?')) return list ?? said({ account: AUTHOR, posts: [LISTED], next: null });
    if (path.startsWith('/api/posts/')) return one ?? said({ post: SHOWN });
    return account ?? said({ account: AUTHOR });
  };
  const visit = async (url: string): Promise<ReadAnswer> => {
    asked.push(url);
    return page ?? said(pageOf(POSTING));
  };
  const place = { account: ACCOUNT, environment: 'test' } as const;
  const told = { baseUrl: BASE_URL, startedAt: NOW + 3_600_000, visibilityLagMs: 30_000 };
  const range = { from: NOW - 302_000, to: NOW + 1_817_000 };
  return { ...place, ...told, range, get, visit, asked, ...change };
}

const find = (look: LookContext, of = intent()): Promise<Lookup> => {
  if (medium.find === undefined) throw new Error('Cannot search: the adapter offers none.');
  return medium.find(look, of);
};

describe('a payload', () => {
  it.each<{ payload: JsonObject; because: string }>([
    { payload: { text: 'x', visibility: 'public' }, because: 'one character, no images' },
    {
      payload: { text: '👀'.repeat(2000), visibility: 'unlisted' },
      because: '2000 characters of two units each',
    },
    {
      payload: { ...POST, media: [1, 2, 3, 4].map((n) => ({ media_id: `m${n}`, sha256: HASH })) },
      because: 'four images',
    },
  ])('is taken: $because', ({ payload }) => {
    expect(medium.payload.safeParse(payload).success).toBe(true);
  });

  it.each<{ payload: JsonObject; at: string; says: RegExp; because: string }>([
    { payload: { ...POST, text: '' }, at: 'text', says: /white space/, because: 'no text' },
    { payload: { ...POST, text: ' \n' }, at: 'text', says: /white space/, because: 'nothing to see' },
    {
      payload: { ...POST, text: `a${'x'.repeat(2000)}` },
      at: 'text',
      says: /2001 characters/,
      because: 'too long',
    },
    {
      payload: { ...POST, text: 'x'.repeat(9000) },
      at: 'text',
      says: /at most 2000/,
      because: 'far too long',
    },
    {
      payload: { ...POST, text: 'a\ud83d' },
      at: 'text',
      says: /lone surrogate\) at position 1/,
      because: 'half a character',
    },
    { payload: { ...POST, text: 'a\0' }, at: 'text', says: /NUL/, because: 'the medium cannot keep it' },
    {
      payload: { ...POST, visibility: 'draft' },
      at: 'visibility',
      says: /public/,
      because: 'a draft is no post',
    },
    {
      payload: { text: 'x' },
      at: 'visibility',
      says: /public/,
      because: 'who may see it is approved, never assumed',
    },
    { payload: { ...POST, media: [IMAGE, IMAGE] }, at: 'media', says: /twice/, because: 'one image twice' },
    {
      payload: { ...POST, media: Array(5).fill(IMAGE) },
      at: 'media',
      says: /at most 4/,
      because: 'five images',
    },
    {
      payload: { ...POST, media: [{ ...IMAGE, sha256: 'A'.repeat(64) }] },
      at: 'media/0/sha256',
      says: /hex/,
      because: 'no digest',
    },
    {
      payload: { ...POST, media: [{ ...IMAGE, media_id: '../x' }] },
      at: 'media/0/media_id',
      says: /upload/,
      because: 'no id',
    },
    { payload: { ...POST, reply_to: '1' }, at: '', says: /reply_to/, because: 'a field that nobody knows' },
  ])('is refused: $because', ({ payload, at, says }) => {
    const issues = medium.payload.safeParse(payload).error?.issues ?? [];
    const said = issues.find((issue) => issue.path.join('/') === at);
    expect(said?.message).toMatch(says);
  });
});

describe('a write', () => {
  it('carries account, text, parent, images and visibility, and no id of ours', () => {
    const payload = { text: ' A &amp; B\r\n', media: [IMAGE], visibility: 'unlisted' };
    const target = { account: ACCOUNT, environment: 'test', parent: '37' } as const;
    const { body, ...request } = medium.write(payload, 'int_37', target);
    expect(request).toEqual({
      ...{ method: 'POST', path: '/api/posts', headers: { 'content-type': 'application/json' } },
    });
    expect(JSON.parse(body)).toEqual({
      ...{ account: ACCOUNT, text: ' A &amp; B\r\n', parent: '37', media: ['m1'], visibility: 'unlisted' },
    });
  });

  it.each([
    { parent: 'abc', because: 'no id there has letters' },
    { parent: '', because: 'nothing is no id' },
    { parent: '-37', because: 'no sign' },
    { parent: '37 ', because: 'not a digit more or less' },
    { parent: '３７', because: 'digits of another script' },
    { parent: 'https://medium.test/@tea.example/37', because: 'the page of a post is not its id' },
    { parent: '1'.repeat(41), because: 'longer than any id' },
  ])('is refused under the parent $parent: $because', ({ parent }) => {
    const target = { account: ACCOUNT, environment: 'test', parent } as const;
    expect(() => medium.write(POST, 'int_1', target)).toThrow(NotCanonical);
  });

  it.each<{ status: number; body: unknown; reading: Reading['kind']; because: string }>([
    { status: 201, body: { post: { id: ID } }, reading: 'acknowledged', because: 'an id' },
    { status: 201, body: { post: {} }, reading: 'unrecognised', because: 'no id is no proof of anything' },
    {
      status: 200,
      body: { post: { id: ID } },
      reading: 'unrecognised',
      because: 'a status that is not promised',
    },
    { status: 202, body: { post: { id: ID } }, reading: 'unrecognised', because: 'never answered there' },
    {
      status: 400,
      body: { error: 'invalid_request', field: 'text' },
      reading: 'not_executed',
      because: 'listed',
    },
    { status: 403, body: { error: 'wrong_account' }, reading: 'not_executed', because: 'listed' },
    { status: 404, body: { error: 'no_such_parent' }, reading: 'not_executed', because: 'listed' },
    { status: 404, body: { error: 'not_found' }, reading: 'unrecognised', because: 'another word' },
    {
      status: 403,
      body: { error: 'wrong_account', field: 'x' },
      reading: 'unrecognised',
      because: 'another shape',
    },
    { status: 400, body: { error: 'wrong_account' }, reading: 'unrecognised', because: 'another status' },
    {
      status: 200,
      body: { ok: false, error: 'account_blocked' },
      reading: 'unrecognised',
      because: 'not listed',
    },
    { status: 401, body: { error: 'unauthorized' }, reading: 'unrecognised', because: 'not listed' },
    { status: 413, body: { error: 'too_large' }, reading: 'unrecognised', because: 'not listed' },
    { status: 500, body: { error: 'internal' }, reading: 'unrecognised', because: 'it proves nothing' },
  ])('$status $body is $reading: $because', ({ status, body, reading }) => {
    const read = medium.readAnswer(status, body);
    expect(read.kind).toBe(reading);
    if (read.kind === 'acknowledged') expect(read.externalId).toBe(ID);
  });
});

describe('a search', () => {
  it('asks for the account, all of its posts of the time, and each of them by its id', async () => {
    const look = looking();
    const lookup = await find(look);
    expect(lookup).toMatchObject({ kind: 'seen', complete: true, authorised: true });
    const query =
      'since=2026-11-30T08%3A49%3A58.000Z&until=2026-11-30T09%3A35%3A17.000Z&limit=30&include=all';
    expect(look.asked).toEqual([
      ...[`/api/accounts/${ACCOUNT}`, `/api/accounts/${ACCOUNT}/posts?${query}`, `/api/posts/${ID}`],
    ]);
    const [record] = lookup.kind === 'seen' ? lookup.records : [];
    expect(record).toMatchObject({ externalId: ID, account: ACCOUNT, reference: null, createdAt: NOW });
    expect(record?.url).toBe(`${BASE_URL}/@tea.example/${ID}`);
  });

  const whole = said({ account: AUTHOR, posts: [LISTED], next: null });
  const listing = (...posts: object[]) => said({ account: AUTHOR, posts, next: null });
  it.each<{ outside: Outside; gives: object; because: string }>([
    {
      outside: { account: said({ error: 'unauthorized' }, 401) },
      gives: { error: 'status_401' },
      because: 'no right to look',
    },
    {
      outside: { account: said({ error: 'not_found' }, 404) },
      gives: { error: 'status_404' },
      because: 'the token does not see it',
    },
    {
      outside: { account: said({ account: { ...AUTHOR, id: '900002' } }) },
      gives: { authorised: false, complete: false },
      because: 'another account',
    },
    { outside: { account: said('null') }, gives: { error: 'bad_answer' }, because: 'no account' },
    { outside: { list: said('<html>') }, gives: { error: 'bad_answer' }, because: 'a page to log in' },
    {
      outside: { list: said({ account: AUTHOR, next: null }) },
      gives: { error: 'bad_answer' },
      because: 'a list without its list',
    },
    {
      outside: { list: listing({ ...LISTED, created_at: '2026-11-30T18:00:00' }) },
      gives: { error: 'bad_answer' },
      because: 'a time without its zone says nothing',
    },
    {
      outside: { list: said({ error: 'bad_cursor' }, 400) },
      gives: { error: 'status_400' },
      because: 'not the first page',
    },
    {
      outside: { list: said({ account: { ...AUTHOR, id: '900002' }, posts: [], next: null }) },
      gives: { authorised: false },
      because: "another account's list",
    },
    {
      outside: { list: whole, one: said({ error: 'not_found' }, 404) },
      gives: { complete: false, records: [] },
      because: 'listed, and not there by its id',
    },
    {
      outside: { list: whole, one: said({ post: { ...SHOWN, id: '8389765489680951000' } }) },
      gives: { complete: false, records: [] },
      because: "C27: somebody else's id, rounded",
    },
    {
      outside: { list: whole, one: said({ post: { ...SHOWN, text: null } }) },
      gives: { complete: false, records: [] },
      because: 'no text',
    },
    {
      outside: { list: listing({ ...LISTED, parent: '37' }), one: said('', 500) },
      gives: { complete: true, records: [] },
      because: 'what cannot match need not be read',
    },
    {
      outside: { list: listing({ ...LISTED, author_id: '900002' }), one: said('', 500) },
      gives: { complete: true, records: [] },
      because: "another account's is not read",
    },
  ])('$gives: $because', async ({ outside, gives }) => {
    expect(await find(looking(outside))).toMatchObject(gives);
  });

  it.each<{ outside: Outside; because: string }>([
    {
      outside: { list: listing({ ...LISTED, deleted: true }), one: said({ error: 'deleted' }, 410) },
      because: 'the list says so',
    },
    { outside: { one: said({ error: 'deleted' }, 410) }, because: 'deleted since it was listed' },
  ])('a deleted post is a record that may be ours: $because', async ({ outside }) => {
    const lookup = await find(looking(outside));
    const [record] = lookup.kind === 'seen' ? lookup.records : [];
    if (record === undefined) throw new Error('Nothing was seen.');
    expect(lookup).toMatchObject({ complete: true });
    expect(medium.match(intent(), record)).toBe(true);
    expect(medium.reasons?.(intent(), record)).toEqual({
      ...{ author: true, payload: 'not_comparable:deleted', parent: true },
    });
    expect(Object.entries(medium.verify(intent(), record)).filter(([, holds]) => holds)).toEqual([
      ...[
        ['author', true],
        ['parent', true],
      ],
    ]);
    expect(medium.match(intent(POST, { acknowledgedId: '17' }), record), 'ours is another').toBe(false);
    expect(medium.match(intent(POST, { parent: '37' }), record), 'another parent').toBe(false);
  });
});

it('of what a search saw nothing is said of the public page: nobody went there', async () => {
  const lookup = await find(looking({}));
  const [record] = lookup.kind === 'seen' ? lookup.records : [];
  if (record === undefined) throw new Error('Nothing was seen.');
  const holding = { author: true, payload: true, media: true, parent: true, visibility: true };
  expect(medium.verify(intent(), record)).toEqual(holding);
});

describe('a readback', () => {
  it.each<{ outside: Outside; because: string }>([
    { outside: {}, because: 'the page is there' },
    { outside: { page: said('', 404) }, because: 'the page is not there' },
    { outside: { one: said({ error: 'deleted' }, 410) }, because: 'the post is gone' },
    { outside: { one: said({ post: { ...SHOWN, visibility: 'draft' } }) }, because: 'a draft has no page' },
  ])('always says whether strangers see the post: $because', async ({ outside, because }) => {
    const lookup = await read(outside);
    const [record] = lookup.kind === 'seen' ? lookup.records : [];
    if (record === undefined) throw new Error('Nothing was seen.');
    expect(medium.verify(intent(), record)['publicUrl']).toBe(because === 'the page is there');
  });

  const read = (outside: Outside, change: Partial<LookContext> & object = {}) =>
    medium.read(looking(outside, change), intent(), ID);

  it('sees the post and its page, and every check holds', async () => {
    const lookup = await read({});
    const [record] = lookup.kind === 'seen' ? lookup.records : [];
    if (record === undefined) throw new Error('Nothing was seen.');
    expect(new Set(Object.values(medium.verify(intent(), record)))).toEqual(new Set([true]));
    expect([record.url, lookup]).toMatchObject([`${BASE_URL}/@tea.example/${ID}`, { complete: false }]);
  });

  it.each<{ outside: Outside; change?: object; broken: string[]; because: string }>([
    {
      outside: { page: said(pageOf({ ...POSTING, author: { identifier: '900002', name: 'Tea Room' } })) },
      broken: ['publicUrl'],
      because: 'another author, with our display name',
    },
    {
      outside: { page: said(pageOf({ ...POSTING, identifier: '17' })) },
      broken: ['publicUrl'],
      because: 'another post',
    },
    {
      outside: { page: said(pageOf({ ...POSTING, articleBody: 'Cake.' })) },
      broken: ['publicUrl'],
      because: 'another text',
    },
    { outside: { page: said('', 404) }, broken: ['publicUrl'], because: 'gone, past the lag' },
    {
      outside: { page: { kind: 'failed', error: 'redirected' } },
      broken: ['publicUrl'],
      because: 'strangers are led elsewhere',
    },
    {
      outside: { one: said({ post: { ...SHOWN, visibility: 'draft' } }) },
      broken: ['publicUrl', 'visibility'],
      because: 'a draft',
    },
    {
      outside: { one: said({ post: { ...SHOWN, visibility: 'unlisted' } }) },
      broken: ['visibility'],
      because: 'not for everybody',
    },
    { outside: { one: said({ post: { ...SHOWN, parent: '37' } }) }, broken: ['parent'], because: 'a reply' },
    {
      outside: { one: said({ post: { ...SHOWN, author: { ...AUTHOR, id: '900002' } } }) },
      broken: ['author', 'publicUrl'],
      because: 'another author',
    },
    {
      outside: { one: said({ post: { ...SHOWN, media: [{ sha256: HASH }] } }) },
      broken: ['media'],
      because: 'an image that nobody approved',
    },
    {
      outside: { one: said({ post: { ...SHOWN, text: 'Tea at six.' } }) },
      broken: ['payload', 'publicUrl'],
      because: 'another text',
    },
    {
      outside: { one: said({ error: 'deleted' }, 410) },
      broken: ['author', 'media', 'payload', 'publicUrl', 'visibility'],
      because: 'deleted',
    },
  ])('$broken do not hold: $because', async ({ outside, broken }) => {
    const lookup = await read(outside);
    const [record] = lookup.kind === 'seen' ? lookup.records : [];
    if (record === undefined) throw new Error('Nothing was seen.');
    const mine = intent(POST, { acknowledgedId: ID });
    expect(medium.match(mine, record), 'its id was given for this one').toBe(true);
    const checks = Object.entries(medium.verify(mine, record));
    expect(checks.flatMap(([name, holds]) => (holds ? [] : [name])).sort()).toEqual(broken);
  });

  it.each<{ change: object; seen: number; because: string }>([
    { change: { startedAt: NOW + 32_000 }, seen: 0, because: 'within the lag and the distrust of its clock' },
    { change: { startedAt: NOW + 32_001 }, seen: 1, because: 'past them' },
    { change: { visibilityLagMs: null }, seen: 0, because: 'nobody promised when it shows' },
  ])('a page that is not there: $seen records ($because)', async ({ change, seen }) => {
    const lookup = await read({ page: said('', 404) }, change);
    expect(lookup.kind === 'seen' ? lookup.records.length : lookup).toBe(seen);
    expect(lookup).toMatchObject({ complete: false });
  });

  it.each<{ outside: Outside; error: string; because: string }>([
    { outside: { page: said('', 502) }, error: 'page_status_502', because: 'a failed look' },
    { outside: { page: said('<html>Log in</html>') }, error: 'bad_page', because: 'no linked data' },
    { outside: { page: said(pageOf(POSTING, POSTING)) }, error: 'bad_page', because: 'two postings' },
    { outside: { page: said(pageOf('{"@type":')) }, error: 'bad_page', because: 'no JSON' },
    {
      outside: { page: { kind: 'failed', error: 'host_not_allowed' } },
      error: 'host_not_allowed',
      because: 'the route does not name it',
    },
    { outside: { one: said('', 503) }, error: 'status_503', because: 'a failed look' },
    { outside: { one: said('', 404) }, error: 'status_404', because: "a 404 that is not the medium's own" },
  ])('$error: $because', async ({ outside, error }) => {
    expect(await read(outside)).toEqual({ kind: 'failed', error });
  });

  it('the handle and the id go into the URL as one part each', async () => {
    const look = looking({ one: said({ post: { ...SHOWN, author: { ...AUTHOR, handle: '../a?b#c' } } }) });
    await medium.read(look, intent(), ID);
    expect(look.asked.at(-1)).toBe(`${BASE_URL}/@..%2Fa%3Fb%23c/${ID}`);
  });

  it('not there by its id is nothing seen; without an id there is nothing to read', async () => {
    expect(await read({ one: said({ error: 'not_found' }, 404) })).toMatchObject({
      kind: 'seen',
      records: [],
    });
    expect(await medium.read(looking(), intent(), null)).toEqual({ kind: 'failed', error: 'no_external_id' });
  });
});

describe('what a hostile medium shows', () => {
  const MEGA = 1_000_000;
  const map = (of: (n: number) => string) =>
    Array.from({ length: 1000 }, (_, n) => ({ shown: of(n), target: of(n) }));
  const LONG_LINK = `https://x.test/${'a'.repeat(1900)}`;
  it.each<{ asked: string; text: string; links: { shown: string; target: string }[]; because: string }>([
    {
      ...{ asked: 'Tea', text: 'http://a/ '.repeat(MEGA / 10), links: map((n) => `https://t.test/${n}`) },
      because: '100 000 links in the text, 1000 in the map',
    },
    {
      ...{ asked: 'Tea', text: 'a '.repeat(MEGA / 2), links: map((n) => `a${'b'.repeat(50)}${n}`) },
      because: 'a text of 1 MB and a map of 1000 words',
    },
    {
      ...{ asked: LONG_LINK, text: `${'https://s.test/1-'.repeat(1000)} b`, links: [] },
      because: 'many hidden links for a long one',
    },
    {
      ...{ asked: 'Tea', text: 'Tea', links: [{ shown: 'T', target: 'x'.repeat(MEGA) }] },
      because: 'a link of 1 MB in the map',
    },
  ])('is another text, told without holding the CPU: $because', ({ asked, text, links }) => {
    const content = {
      ...{ deleted: false, text, links, parent: null, visibility: 'public', media: [], hasMedia: false },
      page: null,
    };
    const record = { externalId: '9', account: ACCOUNT, reference: null, createdAt: 0, content };
    const from = process.cpuUsage();
    expect(medium.match(intent({ ...POST, text: asked }), record)).toBe(false);
    // 27 s before there was a bound; in the adapter it is a few milliseconds.
    expect(process.cpuUsage(from).user).toBeLessThan(2_000_000);
  });
});

describe('twins', () => {
  const shown = (text: string, more: object = {}) => medium.shownContent?.({ ...POST, text, ...more });
  it.each<{ a: string; b: string; same: boolean; because: string }>([
    { a: 'Tea', b: 'Tea \n', same: true, because: 'white space at the end shows nowhere' },
    { a: 'a\r\nb', b: 'a\nb', same: true, because: 'line ends' },
    { a: 'caf\u00e9', b: 'cafe\u0301', same: true, because: 'Unicode form' },
    { a: 'HTTPS://Example.test', b: 'https://example.test/', same: true, because: 'one link, two spellings' },
    { a: 'A & B', b: 'A &amp;amp; B', same: true, because: 'the medium may encode entities or not' },
    { a: 'Tea', b: 'tea', same: false, because: 'case counts' },
    { a: 'Sale now \u{1f389}', b: 'Sale now', same: true, because: 'an emoji may be dropped' },
    { a: 'Up or down \u{1f44d}', b: 'Up or down ????', same: true, because: 'or become question marks' },
    { a: 'Step 1\ufe0f\u20e3', b: 'Step 1', same: true, because: 'or leave its digit' },
    {
      a: 'Step 1',
      b: 'Step 2',
      same: false,
      because: 'a number tells posts of a series apart',
    },
    { a: 'x'.repeat(300), b: `${'x'.repeat(299)}y`, same: false, because: 'the whole text counts' },
    { a: 'New: https://a.test/x', b: 'New: https://a.test/y', same: false, because: 'another page' },
    { a: 'See https://a.test/x?utm=1', b: 'See a.test/x', same: true, because: 'or changed' },
    {
      a: 'お茶。くわしくはa.test',
      b: 'お菓子。くわしくはa.test',
      same: false,
      because: 'what stands before it counts',
    },
    { a: 'See https://a.test/x', b: 'See', same: false, because: 'a link is never dropped' },
    {
      a: 'See https://a.test/x now',
      b: 'See https://a.test/x then',
      same: false,
      because: 'nor what follows',
    },
    { a: 'Tea! ', b: 'Tea', same: false, because: 'marks count' },
  ])('$a and $b go in turn: $same ($because)', ({ a, b, same }) => {
    expect(JSON.stringify(shown(a)) === JSON.stringify(shown(b))).toBe(same);
  });

  it('the hold has its rule in its name, and the rule stays for ever', () => {
    expect(shown('Tea at five. \u{1f375}')).toEqual({
      text: 'skeleton/v1:00b1ea3872683f9178b85e7ee90b7613920795d98d483b3ff590767491429f61',
    });
  });

  it('nothing that may be lost as an emoji is left to tell two texts apart', () => {
    const lost = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{Variation_Selector}]/u;
    const left: string[] = [];
    for (let code = 1; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      if (lost.test(character) && shown(`a${character}b`)?.['text'] !== shown('ab')?.['text'])
        left.push(code.toString(16));
    }
    expect(left).toEqual([]);
  });

  it('whoever may see it, and images that may be lost, tell no two apart', () => {
    expect(shown('Tea', { visibility: 'unlisted', media: [IMAGE] })).toEqual(shown('Tea'));
  });
});

/** Posts whose key the server makes: known by content and by the time in the key, on scripted lists. */
import { describe, expect, it, test } from 'vitest';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import { classOf, type Lag } from '../../lib/domain/promise.ts';
import { lagOf, type Route } from '../../lib/domain/route.ts';
import { bluesky } from '../../lib/providers/bluesky.ts';
import { blueskyByContent } from '../../lib/providers/bluesky-by-content.ts';
import { keyAt, postKey, postUri, timeOf } from '../../lib/providers/bluesky-key.ts';
import type {
  LookContext,
  Lookup,
  Provider,
  ProviderRecord,
  ReadAnswer,
} from '../../lib/providers/provider.ts';
import { inRange } from '../../lib/workflow/candidates.ts';
import { bindingOf, holdKeyOf } from '../../lib/workflow/twin-hold.ts';
import answers from '../real/answers.json' with { type: 'json' };
import { READ_ALIKE } from '../support/bluesky-answers.ts';
import { intentOf, NOW, NOWHERE_ELSE, routeTo, TIMING } from '../support/kit.ts';

const ALICE = 'did:plc:aliceaaaaaaaaaaaaaaaaaaa';
const BOB = 'did:plc:bobaaaaaaaaaaaaaaaaaaaaa';
const CREATED_AT = '2026-11-30T09:00:00.000Z';
const CID = 'bafyreih74aau6efm6fii463jjx7s7rgaqua2qtj22mmuezgrvqbycsgcfa';
const PARENT = { uri: postUri(BOB, '3mzzzzz222223'), cid: CID };
const REPLY = { parent: PARENT, root: PARENT };
const ELSEWHERE = { uri: postUri(BOB, '3mzzzzz222224'), cid: CID };
const IMAGE_CID = 'bafkreidlp6sdj6jkroakvmbntpy2clsj77foijheae5byt3iwz7d2k542a';
const OTHER_IMAGE_CID = 'bafkreiaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const IMAGE = { cid: IMAGE_CID, mime_type: 'image/png', size: 70, alt: 'a dot' };
const TEXT = 'Caf\u00e9 & cake 茶';
const IN_NFD = 'Cafe\u0301 & cake 茶';
const POST: JsonObject = { text: TEXT, created_at: CREATED_AT };

function intent(change: Partial<Intent> = {}): Intent {
  return intentOf({ provider: 'bluesky-by-content', account: ALICE, payload: POST, ...change });
}
const OURS = intent();
const A_REPLY = intent({ payload: { ...POST, reply: REPLY }, parent: PARENT.uri });
const A_PICTURE = intent({ payload: { ...POST, images: [IMAGE] } });

const VALUE = { $type: 'app.bsky.feed.post', text: TEXT, createdAt: CREATED_AT };
function embedOf(...cids: string[]) {
  const images = cids.map((cid) => ({
    alt: 'a dot',
    image: { $type: 'blob', ref: { $link: cid }, mimeType: 'image/png', size: 70 },
  }));
  return { $type: 'app.bsky.embed.images', images };
}

const MINUTE = 60_000;
const TOO_LARGE: ReadAnswer = { kind: 'failed', error: 'too_large' };
const RANGE = { from: NOW - 5 * MINUTE, to: NOW + 30 * MINUTE };
/** The key that a server's clock makes at this time, some microseconds later. */
const keyOf = (ms: number, microseconds = 0) => keyAt(ms + microseconds / 1000);

interface Post {
  readonly key: string;
  readonly value?: object;
}
type Page = { readonly status: number; readonly body: unknown };
interface Told {
  /** In any order; listed as the server does. */
  readonly posts?: readonly Post[];
  /** Instead of the n-th page. */
  readonly pages?: Readonly<Record<number, Page | ReadAnswer>>;
  readonly probe?: Page;
  readonly range?: LookContext['range'];
}

function shown({ key, value = VALUE }: Post) {
  return { uri: postUri(ALICE, key), cid: CID, value };
}

/** Newest key first, pages as asked, and a cursor behind every record: only an empty page has none. */
function listed(posts: readonly Post[], query: URLSearchParams): Page {
  const cursor = query.get('cursor');
  const rest = [...posts]
    .sort((a, b) => (a.key < b.key ? 1 : -1))
    .filter(({ key }) => cursor === null || key < cursor)
    .slice(0, Number(query.get('limit')));
  const last = rest.at(-1)?.key;
  return { status: 200, body: { records: rest.map(shown), ...(last === undefined ? {} : { cursor: last }) } };
}

function looking({ posts = [], pages = {}, probe, range = RANGE }: Told) {
  const asked: URLSearchParams[] = [];
  const get = async (path: string): Promise<ReadAnswer> => {
    const { pathname, searchParams } = new URL(path, 'https://pds.test');
    if (pathname.endsWith('sync.getRepoStatus'))
      return answerOf(probe ?? { status: 200, body: { did: ALICE, active: true } });
    if (pathname.endsWith('repo.getRecord')) {
      const post = posts.find(({ key }) => key === searchParams.get('rkey'));
      return answerOf(
        post === undefined ? onFile('get a record that is not there') : { status: 200, body: shown(post) },
      );
    }
    asked.push(searchParams);
    return answerOf(pages[asked.length] ?? listed(posts, searchParams));
  };
  const visit = (url: string): Promise<ReadAnswer> => {
    return url.startsWith('https://pds.test/') ? get(url) : NOWHERE_ELSE.visit();
  };
  const times = { baseUrl: 'https://pds.test', startedAt: NOW, visibilityLagMs: null, range };
  return { asked, look: { ...{ account: ALICE, environment: 'test' as const, get, visit }, ...times } };
}

function answerOf(told: Page | ReadAnswer): ReadAnswer {
  return 'kind' in told ? told : { kind: 'answered', status: told.status, body: JSON.stringify(told.body) };
}

function onFile(what: string): Page {
  const row = answers.find((each) => each.what === what);
  if (row === undefined) throw new Error(`Nothing is on file for: ${what}`);
  return row.answer;
}

async function search(told: Told, of: Intent = OURS) {
  const { asked, look } = looking(told);
  const lookup = (await blueskyByContent.find?.(look, of)) ?? { kind: 'failed', error: 'no_search' };
  return { asked, lookup, matched: matchedIn(lookup, of, look.range) };
}

/** The keys that count: they match, and lie in the range. */
function matchedIn(lookup: Lookup, of: Intent, range: LookContext['range']): string[] {
  return recordsIn(lookup)
    .filter((record) => blueskyByContent.match(of, record) && inRange(WAY, record, range))
    .map(({ externalId }) => externalId.slice(postUri(ALICE, '').length));
}

function recordsIn(lookup: Lookup): readonly ProviderRecord[] {
  return lookup.kind === 'seen' ? lookup.records : [];
}

const NO_LAG: Lag = { applyDelayMs: 60_000, visibilityLagMs: null };
const WAY = { provider: blueskyByContent, route: routeTo('https://pds.test'), lag: NO_LAG };

describe('the class', () => {
  const route = (visibilityLagMs: number | null) =>
    routeTo('https://pds.test', { applyDelayMs: null, visibilityLagMs });
  it.each([
    { lag: 5000, of: 'searchable', because: 'the route names how long a post may take to show' },
    { lag: null, of: 'blind', because: 'nobody does' },
  ])('is $of, because $because', ({ lag, of }) => {
    const { promise } = blueskyByContent;
    expect(classOf(promise, TIMING, lagOf(route(lag), promise), NOW, NOW)).toBe(of);
  });
});

describe('the write', () => {
  it('names no key and no condition: the server makes the key', () => {
    const { path, body } = blueskyByContent.write(A_REPLY.payload, blueskyByContent.reference(A_REPLY), {
      ...{ account: ALICE, environment: 'test', parent: PARENT.uri },
    });
    expect(path).toBe('/xrpc/com.atproto.repo.createRecord');
    expect(JSON.parse(body)).toEqual({
      ...{ repo: ALICE, collection: 'app.bsky.feed.post' },
      record: { ...VALUE, reply: REPLY },
    });
    expect(body).not.toContain(A_REPLY.id);
  });

  it.each([
    { what: 'create under a key of ours', reading: 'acknowledged' },
    ...READ_ALIKE,
    { what: 'put what must be new, and another is there', reading: 'unrecognised' },
  ])('the answer to "$what" is $reading', ({ what, reading }) => {
    const { status, body } = onFile(what);
    expect(blueskyByContent.readAnswer(status, body).kind).toBe(reading);
  });
});

describe('the time in a key', () => {
  it.each([
    { key: keyOf(NOW), time: NOW, because: 'a clock of today' },
    { key: keyOf(NOW, 1), time: NOW + 0.001, because: 'a microsecond later' },
    { key: `${keyOf(NOW).slice(0, 11)}zz`, time: NOW, because: 'the last two digits name the clock' },
    {
      key: '3mzzzzz222223',
      time: timeOf('3mzzzzz222222'),
      because: 'clocks at one time differ in the last two',
    },
    { key: '2222222222222', time: 0, because: '1970' },
    { key: 'int_37', time: null, because: 'no time at all' },
    { key: 'zzzzzzzzzzzzz', time: null, because: 'more bits than a key has' },
    { key: `${keyOf(NOW)}2`, time: null, because: 'too long' },
  ])('of $key is $time: $because', ({ key, time }) => {
    expect(timeOf(key)).toBe(time);
  });

  it('keys sort as their times do', () => {
    const times = [0, NOW - MINUTE, NOW, NOW + 0.001, NOW + 1, RANGE.to];
    expect(times.map((ms) => keyAt(ms)).toSorted()).toEqual(times.map((ms) => keyAt(ms)));
    expect(keyAt(Number.NEGATIVE_INFINITY), 'before every key').toBe('2222222222222');
  });
});

describe('a post counts', () => {
  it.each<{ value?: object; of?: Intent; because: string }>([
    { because: 'author, text, images, parent and time agree' },
    { value: { ...VALUE, text: IN_NFD }, because: 'NFD and NFC are one text' },
    { value: { ...VALUE, text: `${VALUE.text}\r\n` }, because: 'so is one with a line end more' },
    {
      value: { ...VALUE, createdAt: '2020-01-01T00:00:00.000Z' },
      because: 'createdAt is only what its writer says',
    },
    { value: { ...VALUE, langs: ['fr'] }, because: 'a language is not what readers see' },
    { value: { ...VALUE, reply: REPLY }, of: A_REPLY, because: 'the reply is to the same post' },
    {
      value: { ...VALUE, embed: embedOf(IMAGE_CID) },
      of: A_PICTURE,
      because: 'the image has the same bytes',
    },
  ])('when $because', async ({ value = VALUE, of = OURS }) => {
    const key = keyOf(NOW + 1000);
    const { lookup, matched } = await search({ posts: [{ key, value }] }, of);
    expect(lookup).toMatchObject({ kind: 'seen', complete: true, authorised: true });
    expect(matched).toEqual([key]);
  });

  it.each<{ value: object; of?: Intent; against: string; because: string }>([
    { value: { ...VALUE, text: 'cafe & cake 茶' }, against: 'payload', because: 'another text' },
    { value: { ...VALUE, text: ` ${VALUE.text}` }, against: 'payload', because: 'space in front is seen' },
    { value: { ...VALUE, text: 7 }, against: 'payload', because: 'no text' },
    { value: { ...VALUE, embed: embedOf(IMAGE_CID) }, against: 'payload', because: 'an image more' },
    {
      value: { ...VALUE, embed: { $type: 'app.bsky.embed.external' } },
      against: 'payload',
      because: 'a card',
    },
    { value: VALUE, of: A_PICTURE, against: 'payload', because: 'the image is missing' },
    {
      value: { ...VALUE, embed: embedOf(OTHER_IMAGE_CID) },
      ...{ of: A_PICTURE, against: 'payload', because: 'the image has other bytes' },
    },
    {
      value: { ...VALUE, embed: embedOf(IMAGE_CID, IMAGE_CID) },
      ...{ of: A_PICTURE, against: 'payload', because: 'the image is there twice' },
    },
    { value: { ...VALUE, reply: REPLY }, against: 'parent', because: 'a root post is no reply' },
    { value: VALUE, of: A_REPLY, against: 'parent', because: 'a reply is no root post' },
    {
      value: { ...VALUE, reply: { ...REPLY, parent: ELSEWHERE } },
      ...{ of: A_REPLY, against: 'parent', because: 'a reply to another post' },
    },
    {
      value: { ...VALUE, reply: { ...REPLY, more: 1 } },
      ...{ against: 'parent', because: 'a reply of another form is still no root post' },
    },
  ])('not, by its $against: $because', async ({ value, of = OURS, against }) => {
    const { lookup, matched } = await search({ posts: [{ key: keyOf(NOW + 1000), value }] }, of);
    expect(matched).toEqual([]);
    const [reasons] = recordsIn(lookup).map((record) => blueskyByContent.reasons?.(of, record));
    expect(reasons).toEqual({ author: true, payload: true, parent: true, key: true, [against]: false });
  });

  it.each([
    { key: keyOf(RANGE.from), counts: true, because: 'the first microsecond of the range is in it' },
    { key: `${keyOf(RANGE.from).slice(0, 11)}zz`, counts: true, because: 'whatever clock made it' },
    { key: keyOf(RANGE.from, -1), counts: false, because: 'one microsecond early' },
    { key: keyOf(RANGE.to), counts: true, because: 'so is the last one' },
    { key: keyOf(RANGE.to, 1), counts: false, because: 'one microsecond late' },
    { key: keyOf(NOW - 120 * MINUTE), counts: false, because: 'the same text, two hours ago' },
    { key: postKey(OURS.id), counts: false, because: 'the key of our own making, of before 2006' },
    { key: 'int_37', counts: false, because: 'no time: a client chose it' },
    { key: OURS.id, counts: false, because: 'no write of ours makes such a key' },
  ])('$key: $counts, because $because', async ({ key, counts }) => {
    const { lookup, matched } = await search({ posts: [{ key }] });
    expect(matched).toEqual(counts ? [key] : []);
    // It is kept, for people to see what was near.
    expect(recordsIn(lookup)).toMatchObject([{ externalId: postUri(ALICE, key), reference: null }]);
  });

  it('a post under a key that is no time never counts, not even by the id that a person gave', () => {
    const record = {
      externalId: postUri(ALICE, 'int_37'),
      account: ALICE,
      reference: null,
      content: { ...VALUE, more: [] },
    };
    const given = { ...OURS, acknowledgedId: record.externalId };
    expect(blueskyByContent.match(given, { ...record, createdAt: NOW })).toBe(true);
    expect(blueskyByContent.match(given, record)).toBe(false);
    expect(blueskyByContent.reasons?.(given, record)).toMatchObject({ payload: true, key: false });
  });

  it('two of them are two, and the id that the server gave is told from its like', async () => {
    const keys = [keyOf(NOW + 2000), keyOf(NOW + 1000)];
    expect((await search({ posts: keys.map((key) => ({ key })) })).matched).toEqual(keys);
  });

  it('what was acknowledged counts with another content: somebody changed it', () => {
    const uri = postUri(ALICE, keyOf(NOW));
    const record = {
      externalId: uri,
      account: ALICE,
      reference: null,
      createdAt: NOW,
      content: { text: 'x' },
    };
    expect(blueskyByContent.match({ ...OURS, acknowledgedId: uri }, record)).toBe(true);
    expect(blueskyByContent.match(OURS, record)).toBe(false);
  });
});

describe('twins', () => {
  const key = (payload: JsonObject, parent: string | null = null) => holdKeyOf(WAY, { payload, parent });
  it.each<{ payload: JsonObject; parent?: string; same: boolean; because: string }>([
    { payload: { ...POST, text: IN_NFD }, same: true, because: 'one text in two forms' },
    {
      payload: { ...POST, created_at: '2026-11-30T09:00:01.000Z' },
      same: true,
      because: 'a time proves nothing',
    },
    { payload: { ...POST, langs: ['en'] }, same: true, because: 'a language tells nothing apart' },
    { payload: { ...POST, text: 'Cafe' }, same: false, because: 'another text' },
    { payload: { ...POST, images: [IMAGE] }, same: false, because: 'an image tells them apart' },
    { payload: POST, parent: PARENT.uri, same: false, because: 'another parent' },
  ])('go in turn: $same, because $because', ({ payload, parent = null, same }) => {
    expect(key(payload, parent) === key(POST)).toBe(same);
  });

  it('pictures of the same bytes go in turn, however they are described', () => {
    const other = { ...POST, images: [{ ...IMAGE, alt: 'something else' }] };
    expect(key(other)).toBe(key({ ...POST, images: [IMAGE] }));
  });
});

describe('one account is one, by its DID', () => {
  const uri = postUri(ALICE, keyOf(NOW));
  const way = (provider: Provider, change: Partial<Route>) => {
    const route = routeTo('https://pds.test', { provider: provider.name, account: ALICE, ...change });
    return { provider, route, lag: NO_LAG };
  };
  const own = way(blueskyByContent, { environment: 'production' });

  it.each([
    { other: way(bluesky, { environment: 'production' }), because: 'both adapters write into it' },
    {
      other: way(blueskyByContent, { environment: 'production', baseUrl: 'https://entryway.test' }),
      because: 'it has several addresses',
    },
    { other: way(blueskyByContent, { environment: 'test' }), because: 'it has no environment' },
  ])('a post is bound under one name, for $because', ({ other }) => {
    expect(bindingOf(other, uri)).toEqual(bindingOf(own, uri));
    expect(bindingOf(other, uri)).toMatchObject({ provider: 'bluesky', account: ALICE });
  });

  it('equal posts go in turn whatever their routes call the environment', () => {
    const other = way(blueskyByContent, { environment: 'test', baseUrl: 'https://entryway.test' });
    expect(holdKeyOf(other, OURS)).toBe(holdKeyOf(own, OURS));
  });
});

describe('the pages', () => {
  /** One a second, ending at a time. */
  const posts = (count: number, until: number) =>
    Array.from({ length: count }, (_, n) => ({
      key: keyOf(until - 1000 * n),
      value: { ...VALUE, text: `${n}` },
    }));

  test('a post on the second page is found, and the walk ends on an empty page without a cursor', async () => {
    const key = keyOf(NOW);
    const { asked, lookup, matched } = await search({ posts: [...posts(130, NOW + 10 * MINUTE), { key }] });
    expect(matched).toEqual([key]);
    expect(lookup).toMatchObject({ complete: true });
    expect(asked.map((query) => query.get('cursor'))).toEqual([null, keyOf(NOW + 501_000), key]);
    expect(asked.map((query) => [query.get('repo'), query.get('limit'), query.get('reverse')])).toEqual(
      Array(3).fill([ALICE, '100', null]),
    );
  });

  test('the walk ends once every key that follows is from before the range', async () => {
    const { asked, lookup } = await search({ posts: posts(1000, RANGE.from - 4 * MINUTE) });
    expect(lookup).toMatchObject({ complete: true });
    expect(asked.length, 'five minutes beyond the range, for near misses').toBe(1);
    const inside = await search({ posts: posts(1000, RANGE.from + 4 * MINUTE) });
    expect(inside.asked.length).toBe(6);
    expect(inside.lookup).toMatchObject({ complete: true });
  });

  test('keys that clients chose end it neither early nor wrongly', async () => {
    const key = keyOf(NOW);
    const odd = ['zzzzzzzzzzzzz', 'jzzzzzzzzzzzz', '~tilde', keyOf(NOW + 1_000_000 * MINUTE)];
    const older = posts(150, RANGE.from - 10 * MINUTE);
    const { asked, lookup, matched } = await search({
      posts: [...odd.map((each) => ({ key: each })), ...posts(96, NOW + 30 * MINUTE), { key }, ...older],
    });
    expect(matched).toEqual([key]);
    expect(lookup).toMatchObject({ complete: true });
    expect(asked).toHaveLength(2);
  });

  test('of a list that is not in order nothing is left unread', async () => {
    const key = keyOf(NOW);
    const old = { key: keyOf(RANGE.from - 60 * MINUTE) };
    const page = (records: readonly Post[], cursor?: string): Page => {
      return { status: 200, body: { records: records.map(shown), ...(cursor ? { cursor } : {}) } };
    };
    const unordered = {
      1: page([{ key: keyOf(RANGE.from - 90 * MINUTE) }, old], 'a'),
      2: page([{ key }, old], 'b'),
      3: page([]),
    };
    const { asked, lookup, matched } = await search({ pages: unordered });
    expect(matched).toEqual([key]);
    expect([asked.length, recordsIn(lookup).length], 'the one on both pages counts once').toEqual([3, 3]);
  });

  test('one key on the first page shows no direction: of a list that rises the rest is read', async () => {
    const key = keyOf(NOW);
    const page = (each: string, cursor: string): Page => {
      return { status: 200, body: { records: [shown({ key: each })], cursor } };
    };
    const old = keyOf(RANGE.from - 60 * MINUTE);
    const rising = { 1: page(old, 'a'), 2: page(old, 'b'), 3: page(key, 'c') };
    const { asked, lookup, matched } = await search({ pages: { ...rising, 4: page(key, 'd') } });
    expect(matched).toEqual([key]);
    expect(lookup).toMatchObject({ complete: true });
    expect(asked).toHaveLength(5);
  });

  describe('that are longer than an answer may be', () => {
    const limits = (asked: readonly URLSearchParams[]) => asked.map((query) => Number(query.get('limit')));

    test.each([
      { tooLarge: [1], limits: [100, 25, 25, 25, 25], because: 'posts of four long descriptions' },
      { tooLarge: [1, 2], limits: [100, 25, 5, ...Array(11).fill(5)], because: 'longer ones of others' },
      { tooLarge: [3], limits: [100, 100, 100, 25], because: 'only the older ones are long' },
    ])('are asked for again with fewer records: $because', async ({ tooLarge, limits: expected }) => {
      const count = tooLarge[0] === 3 ? 220 : 52;
      const key = keyOf(NOW);
      const pages = Object.fromEntries(tooLarge.map((page) => [page, TOO_LARGE]));
      const crowd = posts(count, NOW - 1000);
      const { asked, lookup, matched } = await search({ posts: [{ key }, ...crowd], pages });
      expect(matched).toEqual([key]);
      expect(lookup).toMatchObject({ kind: 'seen', complete: true });
      expect(recordsIn(lookup), 'none is left out between a long page and a short one').toHaveLength(
        count + 1,
      );
      expect(limits(asked).slice(0, expected.length)).toEqual(expected);
    });

    test('are turned with all others, so that a search has no more than 20 calls beside its probe', async () => {
      const pages = { 1: TOO_LARGE, 2: TOO_LARGE };
      const { asked, lookup } = await search({ posts: posts(100, NOW + 10 * MINUTE), pages });
      expect(limits(asked)).toEqual([100, 25, ...Array(18).fill(5)]);
      expect(lookup).toMatchObject({ kind: 'seen', complete: false });
      expect(recordsIn(lookup)).toHaveLength(90);
    });

    test('as long as a record of a server can be they are read one by one, and one too long even so is no zero', async () => {
      const pages = { 1: TOO_LARGE, 2: TOO_LARGE, 3: TOO_LARGE, 5: TOO_LARGE };
      const { asked, lookup } = await search({ posts: posts(3, NOW), pages });
      expect(limits(asked)).toEqual([100, 25, 5, 1, 1]);
      expect(lookup).toMatchObject({ kind: 'seen', complete: false });
      expect(recordsIn(lookup)).toHaveLength(1);
    });
  });

  test('a page that is empty and names a next one is not the last', async () => {
    const key = keyOf(NOW);
    const pages = { 1: { status: 200, body: { records: [], cursor: 'a' } } };
    const { lookup, matched } = await search({
      posts: [{ key }],
      pages: { ...pages, 2: listed([{ key }], new URLSearchParams('limit=100')) },
    });
    expect(matched).toEqual([key]);
    expect(lookup).toMatchObject({ complete: true });
  });

  test('a cursor that leads nowhere ends after 20 pages, and the search is no zero', async () => {
    const body = { records: [shown({ key: keyOf(NOW), value: { ...VALUE, text: 'other' } })], cursor: 'a' };
    const loop = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [n + 1, { status: 200, body }]));
    const { asked, lookup } = await search({ pages: loop });
    expect(asked).toHaveLength(20);
    expect(lookup).toMatchObject({ kind: 'seen', complete: false });
    expect(recordsIn(lookup)).toHaveLength(1);
  });

  test('more posts in the range than 20 pages hold are no zero', async () => {
    const crowd = Array.from({ length: 2100 }, (_, n) => ({ key: keyOf(RANGE.to - 900 * n), value: {} }));
    const { asked, lookup } = await search({ posts: crowd });
    expect(asked).toHaveLength(20);
    expect(lookup).toMatchObject({ kind: 'seen', complete: false });
  });
});

describe('never zero', () => {
  const fine = shown({ key: keyOf(NOW) });
  const page = (body: unknown, status = 200): Told => ({ pages: { 1: { status, body } } });
  it.each<{ told: Told; error: string; because: string }>([
    { told: { probe: { status: 200, body: {} } }, error: 'bad_answer', because: 'no probe' },
    { told: { probe: { status: 502, body: null } }, error: 'status_502', because: 'the probe is away' },
    { told: page({}), error: 'bad_answer', because: 'no list' },
    { told: page({ records: {} }), error: 'bad_answer', because: 'no list either' },
    { told: page(null), error: 'bad_answer', because: 'no JSON' },
    { told: page({ records: [], cursor: 7 }), error: 'bad_answer', because: 'no cursor' },
    {
      told: page({ records: [], cursor: null }),
      error: 'bad_answer',
      because: 'nobody knows what null means',
    },
    { told: page({ records: [{ ...fine, value: 'x' }] }), error: 'bad_answer', because: 'no record' },
    {
      told: page({ records: [fine, { cid: CID, value: VALUE }] }),
      error: 'bad_answer',
      because: 'no address',
    },
    {
      told: page({ records: [{ ...fine, uri: postUri(BOB, keyOf(NOW)) }] }),
      ...{ error: 'bad_answer', because: 'of another author' },
    },
    {
      told: page({ records: [{ ...fine, uri: `at://${ALICE}/app.bsky.feed.like/${keyOf(NOW)}` }] }),
      ...{ error: 'bad_answer', because: 'of another collection' },
    },
    {
      told: page({ records: [{ ...fine, uri: postUri(ALICE, '') }] }),
      ...{ error: 'bad_answer', because: 'without a key' },
    },
    {
      told: page({ records: Array(101).fill(fine) }),
      error: 'bad_answer',
      because: 'more than was asked for',
    },
    {
      told: page(onFile('list the records of nobody').body, 400),
      error: 'status_400',
      because: 'no account',
    },
    { told: page({ records: [] }, 500), error: 'status_500', because: 'a fault that looks empty' },
    {
      told: { pages: Object.fromEntries([1, 2, 3, 4].map((page) => [page, TOO_LARGE])) },
      error: 'too_large',
      because: 'cut off, however few were asked for',
    },
  ])('$error: $because', async ({ told, error }) => {
    expect((await search(told)).lookup).toEqual({ kind: 'failed', error });
  });

  it('a page that fails after others leaves the search incomplete', async () => {
    const crowd = Array.from({ length: 150 }, (_, n) => ({ key: keyOf(NOW + 1000 * n), value: {} }));
    const { lookup } = await search({ posts: crowd, pages: { 2: { status: 502, body: null } } });
    expect(lookup).toMatchObject({ kind: 'seen', complete: false });
    expect(recordsIn(lookup)).toHaveLength(100);
  });

  it.each([
    { body: { did: BOB, active: true }, because: 'another account answers' },
    { body: { did: ALICE, active: false, status: 'deactivated' }, because: 'it is not active' },
  ])('$because: not authorised', async ({ body }) => {
    const { asked, lookup } = await search({ probe: { status: 200, body } });
    expect(lookup).toMatchObject({ kind: 'seen', complete: false, authorised: false });
    expect(asked).toEqual([]);
  });

  it('an account that is here without posts is', async () => {
    const { lookup } = await search({ pages: { 1: onFile('list a collection with nothing in it') } });
    expect(lookup).toEqual({ kind: 'seen', records: [], complete: true, authorised: true });
  });
});

describe('a readback', () => {
  const key = keyOf(NOW);
  const uri = postUri(ALICE, key);
  const read = (told: Told, externalId: string | null = uri, of = OURS) =>
    blueskyByContent.read(looking(told).look, of, externalId);

  it('is one address, as we and as strangers see it, and never the whole', async () => {
    const lookup = await read({ posts: [{ key }] });
    expect(lookup).toMatchObject({ kind: 'seen', complete: false, authorised: true });
    const [record] = recordsIn(lookup);
    expect(record).toMatchObject({ externalId: uri, createdAt: NOW, reference: null });
    expect(record?.url).toMatch(/^https:\/\/pds\.test\/xrpc\/com\.atproto\.repo\.getRecord\?.*rkey=/);
    const checks = ['publicUrl', 'author', 'payload', 'media', 'parent', 'visibility'];
    expect(record && blueskyByContent.verify(OURS, record)).toEqual(
      Object.fromEntries(checks.map((name) => [name, true])),
    );
  });

  it.each<{ value: object; of?: Intent; checks: string[]; because: string }>([
    { value: { ...VALUE, text: IN_NFD }, checks: ['payload'], because: 'not to the last byte' },
    {
      value: { ...VALUE, createdAt: '2026-11-30T09:00:00.001Z' },
      checks: ['payload'],
      because: 'of another time',
    },
    { value: { ...VALUE, facets: [] }, checks: ['payload'], because: 'something more is in it' },
    { value: { ...VALUE, labels: {} }, checks: ['payload', 'visibility'], because: 'a label can hide it' },
    { value: VALUE, of: A_PICTURE, checks: ['media'], because: 'the image is missing' },
    { value: VALUE, of: A_REPLY, checks: ['parent'], because: 'no reply' },
    {
      value: { ...VALUE, reply: 7 },
      checks: ['payload', 'parent'],
      because: 'nobody can tell what it answers',
    },
  ])('$checks do not hold, because $because', async ({ value, of = OURS, checks }) => {
    const [record] = recordsIn(await read({ posts: [{ key, value }] }, uri, of));
    const held = record === undefined ? {} : blueskyByContent.verify(of, record);
    expect(Object.entries(held).flatMap(([name, holds]) => (holds ? [] : [name]))).toEqual(checks);
  });

  it('shows nothing where the record is gone, or is another account’s', async () => {
    expect(await read({})).toEqual({ kind: 'seen', records: [], complete: false, authorised: true });
    expect(await read({ posts: [{ key }] }, postUri(BOB, key))).toMatchObject({ records: [] });
    expect(await read({ posts: [{ key }] }, null)).toEqual({ kind: 'failed', error: 'no_external_id' });
  });
});

it('posts of the two adapters never pass for one another', () => {
  const record = {
    externalId: postUri(ALICE, postKey(OURS.id)),
    account: ALICE,
    content: { ...VALUE, more: [] },
  };
  const own = { ...record, reference: postKey(OURS.id) };
  expect(bluesky.match(OURS, own)).toBe(true);
  const listed = { ...record, reference: null, createdAt: timeOf(postKey(OURS.id)) ?? Number.NaN };
  expect(inRange(WAY, listed, RANGE)).toBe(false);
});

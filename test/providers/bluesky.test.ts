/** The adapter alone, on the answers of a real server that are on file, and on what a broken one might say. */
import { describe, expect, it } from 'vitest';
import { NotCanonical } from '../../lib/domain/fingerprint.ts';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import { classOf } from '../../lib/domain/promise.ts';
import { bluesky } from '../../lib/providers/bluesky.ts';
import { partsOf, postKey, postUri } from '../../lib/providers/bluesky-key.ts';
import type { Lookup, ReadAnswer } from '../../lib/providers/provider.ts';
import answers from '../real/answers.json' with { type: 'json' };
import { READ_ALIKE } from '../support/bluesky-answers.ts';
import { intentOf, NOW, NOWHERE_ELSE, TIMING } from '../support/kit.ts';

const ALICE = 'did:plc:aliceaaaaaaaaaaaaaaaaaaa';
const BOB = 'did:plc:bobaaaaaaaaaaaaaaaaaaaaa';
const CREATED_AT = '2026-11-30T09:00:00.000Z';
const CID = 'bafyreih74aau6efm6fii463jjx7s7rgaqua2qtj22mmuezgrvqbycsgcfa';
const PARENT = { uri: postUri(BOB, '3mzzzzz222223'), cid: CID };
const REPLY = { parent: PARENT, root: PARENT };
const POST: JsonObject = { text: 'Tea & cake 茶 👀', created_at: CREATED_AT };

function intent(change: Partial<Intent> = {}): Intent {
  return intentOf({ provider: 'bluesky', account: ALICE, action: 'post', payload: POST, ...change });
}
const IMAGE = {
  cid: 'bafkreidlp6sdj6jkroakvmbntpy2clsj77foijheae5byt3iwz7d2k542a',
  ...{ mime_type: 'image/png', size: 70, alt: 'a dot' },
};
const EMBED = {
  $type: 'app.bsky.embed.images',
  images: [
    {
      image: { ref: { $link: IMAGE.cid }, size: 70, $type: 'blob', mimeType: 'image/png' },
      alt: 'a dot',
    },
  ],
};
const OURS = intent();
const A_REPLY = intent({ payload: { ...POST, langs: ['en'], reply: REPLY }, parent: PARENT.uri });
const OUR_URI = postUri(ALICE, postKey(OURS.id));

function onFile(what: string): { readonly status: number; readonly body: unknown } {
  const row = answers.find((each) => each.what === what);
  if (row === undefined) throw new Error(`Nothing is on file for: ${what}`);
  return row.answer;
}

describe('the record key', () => {
  const ids = Array.from({ length: 2000 }, (_, n) => `int_${n}`);
  const microsecondsOf = (key: string) =>
    [...key.slice(0, 11)].reduce(
      (sum, digit) => 32 * sum + '234567abcdefghijklmnopqrstuvwxyz'.indexOf(digit),
      0,
    );

  it('is a TID of a time before 2006, so that no clock of a client makes the same', () => {
    for (const key of ids.map(postKey)) {
      expect(key).toMatch(/^[2-7a-j][2-7a-z]{12}$/);
      expect(microsecondsOf(key) / 1000).toBeLessThan(Date.parse('2006-01-01T00:00:00Z'));
    }
    expect(microsecondsOf('3mzzzzz222223') / 1000, 'a clock of today').toBeGreaterThan(
      Date.parse('2026-01-01T00:00:00Z'),
    );
  });

  it('depends on the intent id alone, and differs with it', () => {
    expect(new Set(ids.map(postKey)).size).toBe(ids.length);
    expect(bluesky.reference(intent({ key: 'other', payload: {} }))).toBe(bluesky.reference(OURS));
    expect(postKey('int_0'), 'a changed rule would look for old posts under new keys').toBe('2j3f3lflfzh33');
  });

  it.each([
    { uri: OUR_URI, parts: { did: ALICE, key: postKey(OURS.id) } },
    { uri: OUR_URI.replace(ALICE, 'alice.test'), parts: null },
    { uri: OUR_URI.replace('app.bsky.feed.post', 'app.bsky.feed.like'), parts: null },
    { uri: `${OUR_URI}/more`, parts: null },
    { uri: `https://bsky.app/profile/${ALICE}`, parts: null },
  ])('of $uri is $parts', ({ uri, parts }) => {
    expect(partsOf(uri)).toEqual(parts);
  });
});

describe('the payload', () => {
  const family = '👨‍👩‍👧‍👦';
  it.each<{ change: object; because: string }>([
    { change: { text: 'x'.repeat(300) }, because: '300 characters' },
    { change: { text: 'e\u0301'.repeat(300) }, because: 'a letter and its accent are one' },
    { change: { text: family.repeat(120) }, because: '120 families are 120 characters in 3000 bytes' },
    { change: { langs: ['en', 'pt-BR', 'zh-Hant-TW'] }, because: 'three languages' },
    { change: { reply: REPLY }, because: 'a reply' },
    { change: { images: [IMAGE, IMAGE, IMAGE, IMAGE] }, because: 'four images' },
  ])('takes $because', ({ change }) => {
    expect(bluesky.payload.safeParse({ ...POST, ...change }).success).toBe(true);
  });

  it.each<{ change: object; because: string }>([
    { change: { text: 'x'.repeat(301) }, because: '301 characters' },
    { change: { text: family.repeat(121) }, because: 'more than 3000 bytes' },
    { change: { text: '' }, because: 'no text' },
    { change: { text: ' \n' }, because: 'white space only' },
    { change: { text: 'half \ud83d' }, because: 'a lone surrogate' },
    { change: { created_at: undefined }, because: 'no time: ours would move' },
    { change: { created_at: '2026-11-30T09:00:00Z' }, because: 'one time has one spelling' },
    { change: { created_at: '2026-11-30T18:00:00.000+09:00' }, because: 'another zone' },
    { change: { langs: [] }, because: 'an empty list' },
    { change: { langs: ['en', 'en', 'en', 'en'] }, because: 'four languages' },
    { change: { langs: ['English'] }, because: 'no language tag' },
    { change: { reply: { parent: PARENT } }, because: 'a reply without its root' },
    { change: { reply: { parent: { uri: PARENT.uri }, root: PARENT } }, because: 'a parent without its cid' },
    {
      change: { reply: { parent: { ...PARENT, uri: 'at://bob.test/app.bsky.feed.post/3m' }, root: PARENT } },
      because: 'a parent by handle: handles move',
    },
    { change: { embed: {} }, because: 'an unknown member' },
    { change: { images: Array(5).fill(IMAGE) }, because: 'five images' },
    { change: { images: [{ ...IMAGE, size: 2_000_001 }] }, because: 'an image that is too large' },
    { change: { images: [{ ...IMAGE, cid: CID }] }, because: 'the cid of a record' },
    { change: { images: [{ ...IMAGE, alt: '\ud83d' }] }, because: 'half a character in a description' },
  ])('refuses $because', ({ change }) => {
    expect(bluesky.payload.safeParse({ ...POST, ...change }).success).toBe(false);
  });
});

describe('the write', () => {
  function written({ payload, id, account, parent }: Intent) {
    return bluesky.write(payload, bluesky.reference({ id, key: '', payload }), {
      ...{ account, environment: 'test', parent },
    });
  }

  it('must make a new record under our key', () => {
    const { path, body } = written(A_REPLY);
    expect(path).toBe('/xrpc/com.atproto.repo.putRecord');
    expect(JSON.parse(body)).toEqual({
      ...{ repo: ALICE, collection: 'app.bsky.feed.post', rkey: postKey(A_REPLY.id), swapRecord: null },
      record: {
        $type: 'app.bsky.feed.post',
        ...{ text: POST['text'], langs: ['en'], reply: REPLY, createdAt: CREATED_AT },
      },
    });
  });

  it('is the same bytes every time', () => {
    expect(written(OURS)).toEqual(written(intent()));
  });

  it.each<{ of: Intent; because: string }>([
    { of: intent({ parent: PARENT.uri }), because: 'a parent, and no reply to it' },
    { of: { ...A_REPLY, parent: null }, because: 'a reply, and no parent' },
    { of: { ...A_REPLY, parent: OUR_URI }, because: 'a reply to another parent' },
    { of: intent({ account: 'alice.test' }), because: 'a handle for an account' },
  ])('is refused at acceptance: $because', ({ of }) => {
    expect(() => written(of)).toThrow(NotCanonical);
  });
});

describe('an answer', () => {
  it.each([
    { what: 'put what must be new, and it is', reading: 'acknowledged' },
    { what: 'put what must be new, and the same is there', reading: 'acknowledged' },
    { what: 'put what must be new, and another is there', reading: 'exists' },
    ...READ_ALIKE,
    { what: 'create on a repository that has moved on', reading: 'unrecognised' },
    { what: 'call what is no method', reading: 'unrecognised' },
  ])('"$what" is $reading', ({ what, reading }) => {
    const { status, body } = onFile(what);
    expect(bluesky.readAnswer(status, body).kind).toBe(reading);
  });

  it('of a saved post names its address', () => {
    const { status, body } = onFile('put what must be new, and it is');
    const externalId = postUri(ALICE, '3mzzzzz222224');
    expect(bluesky.readAnswer(status, body)).toEqual({ kind: 'acknowledged', externalId });
  });

  it.each<{ status: number; body: unknown; because: string }>([
    { status: 200, body: { uri: OUR_URI }, because: 'no cid' },
    { status: 200, body: { uri: 'at://alice.test/x/y', cid: CID }, because: 'no address of a post' },
    { status: 202, body: { uri: OUR_URI, cid: CID }, because: 'another status' },
    { status: 502, body: { error: 'AuthMissing', message: '' }, because: 'the word under another status' },
    { status: 401, body: { error: 'AuthMissing' }, because: 'another shape' },
    { status: 401, body: { error: 'AuthMissing', message: '', more: 1 }, because: 'another shape' },
    { status: 400, body: { error: 'InvalidRequest', message: 'Bad' }, because: 'not about the record' },
    { status: 400, body: { error: 'InvalidSwap', message: 'Commit was at x' }, because: 'not about our key' },
    { status: 500, body: null, because: 'nothing' },
  ])('$status $body is unrecognised: $because', ({ status, body }) => {
    expect(bluesky.readAnswer(status, body).kind).toBe('unrecognised');
  });
});

const PROBE = { status: 200, body: { did: ALICE, active: true, rev: '3mzzzzzzzzzz2' } };
const VALUE = { $type: 'app.bsky.feed.post', text: POST['text'], createdAt: CREATED_AT };

interface Told {
  readonly probe?: { readonly status: number; readonly body: unknown };
  readonly record?: { readonly status: number; readonly body: unknown };
  /** On bsky.app; a host that the route does not name unless told. */
  readonly page?: ReadAnswer;
  /** What the server shows a stranger; the same record unless told. */
  readonly stranger?: ReadAnswer;
}

function looking(told: Told = {}) {
  const { probe = PROBE, record = onFile('get a record that is not there'), page, stranger } = told;
  const asked: string[] = [];
  const get = async (path: string): Promise<ReadAnswer> => {
    asked.push(path);
    const { status, body } = path.includes('getRepoStatus') ? probe : record;
    return { kind: 'answered', status, body: JSON.stringify(body) };
  };
  const visit = async (url: string): Promise<ReadAnswer> => {
    asked.push(url);
    if (url.startsWith('https://bsky.app/')) return page ?? NOWHERE_ELSE.visit();
    return stranger ?? { kind: 'answered', status: record.status, body: JSON.stringify(record.body) };
  };
  const place = { account: ALICE, environment: 'test' } as const;
  const times = { baseUrl: 'https://pds.test', startedAt: NOW, visibilityLagMs: 0 };
  return { asked, look: { ...NOWHERE_ELSE, ...place, ...times, get, visit } };
}

const held = (value: object, uri = OUR_URI) => ({ status: 200, body: { uri, cid: CID, value } });

async function found(told: Told): Promise<Lookup> {
  return (await bluesky.find?.(looking(told).look, OURS)) ?? { kind: 'failed', error: 'no_search' };
}

describe('a search', () => {
  it('looks under our key and nowhere else', async () => {
    const { asked, look } = looking({ record: held(VALUE) });
    const lookup = await bluesky.find?.(look, OURS);
    expect(lookup).toMatchObject({
      ...{ kind: 'seen', complete: true, authorised: true },
      records: [{ externalId: OUR_URI, account: ALICE, reference: postKey(OURS.id) }],
    });
    const did = encodeURIComponent(ALICE);
    expect(asked).toEqual([
      `/xrpc/com.atproto.sync.getRepoStatus?did=${did}`,
      `/xrpc/com.atproto.repo.getRecord?repo=${did}&collection=app.bsky.feed.post&rkey=${postKey(OURS.id)}`,
    ]);
  });

  it('finds nothing only where the account is known and active', async () => {
    expect(await found({})).toEqual({ kind: 'seen', records: [], complete: true, authorised: true });
    for (const body of [
      { did: BOB, active: true },
      { did: ALICE, active: false, status: 'deactivated' },
    ]) {
      expect(await found({ probe: { status: 200, body } })).toMatchObject({
        authorised: false,
        complete: false,
      });
    }
  });

  it.each<{ told: Told; error: string }>([
    { told: { probe: { status: 400, body: { error: 'RepoNotFound', message: '' } } }, error: 'status_400' },
    { told: { probe: { status: 200, body: {} } }, error: 'bad_answer' },
    { told: { record: onFile('get a record of nobody') }, error: 'status_400' },
    {
      told: { record: { status: 404, body: { error: 'RecordNotFound', message: '' } } },
      error: 'status_404',
    },
    { told: { record: { status: 502, body: null } }, error: 'status_502' },
    { told: { record: held(VALUE, postUri(BOB, postKey(OURS.id))) }, error: 'bad_answer' },
    { told: { record: { status: 200, body: { uri: OUR_URI } } }, error: 'bad_answer' },
  ])('fails with $error, and never says that there is nothing: $told', async ({ told, error }) => {
    expect(await found(told)).toEqual({ kind: 'failed', error });
  });
});

describe('a readback', () => {
  async function broken(value: object, of: Intent = OURS, uri = postUri(ALICE, postKey(of.id))) {
    const lookup = await bluesky.read(looking({ record: held(value, uri) }).look, of, uri);
    if (lookup.kind === 'failed') return lookup.error;
    const [record] = lookup.records;
    if (record === undefined) return 'nothing';
    return Object.entries(bluesky.verify(of, record)).flatMap(([name, holds]) => (holds ? [] : [name]));
  }
  const reply = { ...VALUE, langs: ['en'], reply: REPLY };

  it.each<{ value: object; checks: string[]; because: string }>([
    { value: VALUE, checks: [], because: 'as it was written' },
    { value: { ...VALUE, text: 'Tea & cake' }, checks: ['payload'], because: 'another text' },
    { value: { ...VALUE, text: `${VALUE.text} ` }, checks: ['payload'], because: 'a space more' },
    { value: { ...VALUE, text: 7 }, checks: ['payload'], because: 'no text at all' },
    {
      value: { ...VALUE, text: `${VALUE.text}\ud83d` },
      checks: ['payload'],
      because: 'half a character more',
    },
    {
      value: { ...VALUE, createdAt: '2026-11-30T09:00:01.000Z' },
      checks: ['payload'],
      because: 'another time',
    },
    { value: { ...VALUE, langs: ['en'] }, checks: ['payload'], because: 'a language that nobody named' },
    { value: { ...VALUE, embed: {} }, checks: ['payload'], because: 'something is embedded' },
    { value: { ...VALUE, embed: EMBED }, checks: ['media'], because: 'an image that nobody approved' },
    { value: { ...VALUE, $type: 'app.bsky.feed.like' }, checks: ['payload'], because: 'no post' },
    { value: { ...VALUE, labels: {} }, checks: ['payload', 'visibility'], because: 'a label can hide it' },
    { value: { ...VALUE, reply: REPLY }, checks: ['parent'], because: 'a reply is no root post' },
  ])('of a post: $checks do not hold, because $because', async ({ value, checks }) => {
    expect(await broken(value)).toEqual(checks);
  });

  it.each<{ value: object; checks: string[]; because: string }>([
    { value: reply, checks: [], because: 'as it was written' },
    { value: { ...VALUE, langs: ['en'] }, checks: ['parent'], because: 'a root post is no reply' },
    {
      value: { ...reply, reply: { ...REPLY, parent: { ...PARENT, uri: OUR_URI } } },
      checks: ['parent'],
      because: 'another parent',
    },
    {
      value: { ...reply, reply: { ...REPLY, root: { ...PARENT, uri: OUR_URI } } },
      checks: ['parent'],
      because: 'another thread',
    },
  ])('of a reply: $checks do not hold, because $because', async ({ value, checks }) => {
    expect(await broken(value, A_REPLY)).toEqual(checks);
  });

  const [only] = EMBED.images;
  it.each<{ value: object; checks: string[]; because: string }>([
    { value: { ...VALUE, embed: EMBED }, checks: [], because: 'as it was written' },
    { value: VALUE, checks: ['media'], because: 'the image is missing' },
    {
      value: { ...VALUE, embed: { ...EMBED, images: [only, only] } },
      checks: ['media'],
      because: 'there is one more',
    },
    {
      value: { ...VALUE, embed: { ...EMBED, images: [{ ...only, alt: '' }] } },
      checks: ['media'],
      because: 'its description is gone',
    },
    {
      value: {
        ...VALUE,
        embed: { ...EMBED, images: [{ ...only, image: { ...only?.image, ref: { $link: CID } } }] },
      },
      checks: ['media'],
      because: 'it has other bytes',
    },
  ])('of a post with an image: $checks do not hold, because $because', async ({ value, checks }) => {
    expect(await broken(value, intent({ payload: { ...POST, images: [IMAGE] } }))).toEqual(checks);
  });

  it('of an address that a person gave looks there, is never the whole, and matches only under our key', async () => {
    const uri = postUri(ALICE, '3mzzzzz222223');
    const lookup = await bluesky.read(looking({ record: held(VALUE, uri) }).look, OURS, uri);
    expect(lookup).toMatchObject({ complete: false, records: [{ externalId: uri }] });
    const records = lookup.kind === 'seen' ? lookup.records : [];
    expect(records.map((record) => bluesky.match(OURS, record))).toEqual([false]);
    expect(await broken(VALUE, OURS, postUri(BOB, postKey(OURS.id))), 'of another account').toBe('nothing');
  });

  const url = `https://bsky.app/profile/${ALICE}/post/${postKey(OURS.id)}`;
  const page = (status: number, body: string): ReadAnswer => ({ kind: 'answered', status, body });
  const onServer = `https://pds.test/xrpc/com.atproto.repo.getRecord?${new URLSearchParams({
    ...{ repo: ALICE, collection: 'app.bsky.feed.post', rkey: postKey(OURS.id) },
  })}`;
  const shown = page(200, `<head><link rel="alternate" href="${OUR_URI}" /></head>`);
  it.each<{ told: Told; visited: string[]; because: string }>([
    { told: { page: shown }, visited: [url], because: 'the route names bsky.app, and its page comes first' },
    { told: {}, visited: [url, onServer], because: 'it does not, and the server itself shows the record' },
  ])('names $visited, because $because', async ({ told, visited }) => {
    const { asked, look } = looking({ record: held(VALUE), ...told });
    const lookup = await bluesky.read(look, OURS, OUR_URI);
    const [record] = lookup.kind === 'seen' ? lookup.records : [];
    expect(asked.filter((each) => each.startsWith('https:'))).toEqual(visited);
    expect(record?.url).toBe(visited.at(-1));
    expect(record && bluesky.verify(OURS, record)['publicUrl']).toBe(true);
  });

  it('below a base URL with a path, the public URL is below it too', async () => {
    const { asked, look } = looking({ record: held(VALUE) });
    await bluesky.read({ ...look, baseUrl: 'https://pds.test/at/' }, OURS, OUR_URI);
    expect(asked.at(-1)).toBe(onServer.replace('/xrpc', '/at/xrpc'));
  });

  it('of what a search saw nothing is said of the public URL: nobody went there', async () => {
    const lookup = await found({ record: held(VALUE) });
    const [record] = lookup.kind === 'seen' ? lookup.records : [];
    const checks = record && bluesky.verify(OURS, record);
    expect(checks).toMatchObject({ payload: true });
    expect(checks).not.toHaveProperty('publicUrl');
  });

  it.each<{ told: Told; error: string }>([
    { told: { page: page(404, '') }, error: 'page_status_404' },
    { told: { page: page(200, '<head></head>') }, error: 'page_without_post' },
    { told: { page: page(200, `<link rel="alternate" href="${OUR_URI}x" />`) }, error: 'page_without_post' },
    { told: { page: { kind: 'failed', error: 'timeout' } }, error: 'page_timeout' },
    { told: { stranger: { kind: 'failed', error: 'host_not_allowed' } }, error: 'page_host_not_allowed' },
    { told: { stranger: { kind: 'failed', error: 'timeout' } }, error: 'page_timeout' },
    { told: { stranger: page(400, '{"error":"RecordNotFound","message":""}') }, error: 'page_status_400' },
    { told: { stranger: page(200, '<html>') }, error: 'page_without_post' },
    {
      told: { stranger: page(200, JSON.stringify(held({ ...VALUE, text: 'x' }).body)) },
      error: 'page_without_post',
    },
    {
      told: { stranger: page(200, JSON.stringify(held(VALUE, postUri(ALICE, 'other')).body)) },
      error: 'page_without_post',
    },
  ])('is taken again while strangers are told $error', async ({ told, error }) => {
    const { look } = looking({ record: held(VALUE), ...told });
    expect(await bluesky.read(look, OURS, OUR_URI)).toEqual({ kind: 'failed', error });
  });
});

it('the class is unique, because a key holds one record', () => {
  const lag = { applyDelayMs: 60_000, visibilityLagMs: 0 };
  expect(classOf(bluesky.promise, TIMING, lag, NOW, NOW)).toBe('unique');
});

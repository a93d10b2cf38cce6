/**
 * Posts whose key the server makes, on a real PDS, with cuts, a worker that dies and people beside it. The product's
 * clock begins at the server's, which makes the keys, and jumps ahead of it in every wait. Posts are counted by text.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { blueskyByContent } from '../../lib/providers/bluesky-by-content.ts';
import { keyAt, partsOf, timeOf } from '../../lib/providers/bluesky-key.ts';
import { NOW } from '../support/kit.ts';
import { FAULTS, type Fault } from './fault-proxy.ts';
import { POSTS, SECRETS } from './ground.ts';
import {
  CREATED_AT,
  EVERY_CHECK,
  embedOf,
  KINDS,
  type Kind,
  LIMIT_MS,
  type Product,
  postsOf,
  productOf,
  type Rig,
  recordOf,
  type Setting,
  startRig,
  submissionOf,
} from './product.ts';
import { call } from './xrpc.ts';

const CREATE = 'com.atproto.repo.createRecord';
const LIST = 'com.atproto.repo.listRecords';
const HOUR_MS = 3_600_000;
/** L, where the route names it: W is then 15 + 60 + 5 seconds. */
const LAG_MS = 5000;
const { reference: _, ...shared } = EVERY_CHECK;
/** No reference shows, so its time has to. */
const CHECKS = { ...shared, time: true };
/** Uploaded by nobody. */
const NO_BLOB = 'bafkreiaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.close());

/** @param lag L of the route; null makes it blind. */
function contentProduct(lag: number | null, { policy, route, ...setting }: Setting = {}): Product {
  const forYears = { kind: 'standing', version: 'test-1', until: Number.MAX_SAFE_INTEGER } as const;
  const product = productOf(rig, {
    provider: blueskyByContent,
    route: { visibilityLagMs: lag, ...route },
    policy: { permission: forYears, ...policy },
    ...setting,
  });
  product.clock.advance(Date.now() - NOW);
  return product;
}

/** Submits, and lives through the first run of send only. */
async function sentOnce(product: Product, kind: Kind, text: string, key = text): Promise<string> {
  const { id, input } = await product.begin({ ...submissionOf(rig, kind, text), key });
  await product.live(product.steps['Send']?.(input) ?? Promise.reject(new Error('There is no Send.')));
  return id;
}

/** What a client of the account does with the same kind of call, past the proxy. */
async function byHand(record: object, rkey?: string, account = rig.pds.alice): Promise<string> {
  const { did, accessToken: token } = account;
  const input = { repo: did, collection: POSTS, record, ...(rkey === undefined ? {} : { rkey }) };
  const { status, body } = await call(rig.pds.url, { nsid: CREATE, input, token });
  if (status !== 200) throw new Error(`Cannot post by hand: ${JSON.stringify(body)}`);
  return (body as { uri: string }).uri;
}

/** As a person would write it: with a time of its own. */
const personsPost = (text: string) => ({ $type: POSTS, text, createdAt: '2026-11-30T10:11:12.131Z' });

async function deleted(uri: string): Promise<void> {
  const { did, accessToken: token } = rig.pds.alice;
  const input = { repo: did, collection: POSTS, rkey: partsOf(uri)?.key };
  const answer = await call(rig.pds.url, { nsid: 'com.atproto.repo.deleteRecord', input, token });
  if (answer.status !== 200) throw new Error(`Cannot delete ${uri}: ${JSON.stringify(answer.body)}`);
}

async function seenIn(product: Product, id: string): Promise<readonly Record<string, unknown>[]> {
  const { items } = await product.ledger.evidence({ tenant: 'acme', intentId: id }, 100, null);
  return items
    .filter(({ kind }) => kind === 'search')
    .flatMap(({ facts }) => (facts['seen'] ?? []) as readonly Record<string, unknown>[]);
}

const attemptsOf = (intent: Intent) => intent.attempts.length;

/** Of the worker, at its POST. */
type Death = 'kill_before' | 'kill_after';
const isDeath = (fault: Fault | Death): fault is Death => fault.startsWith('kill_');

interface Play {
  readonly fault: Fault | Death;
  /** Whether the first request made a post. */
  readonly saved: boolean;
  readonly because: string;
}

const PLAYS: readonly Play[] = [
  { fault: 'cut_before_request', saved: false, because: 'the server never saw it' },
  { fault: 'cut_in_request', saved: false, because: 'a body that is one byte short is not saved' },
  { fault: 'cut_before_answer', saved: true, because: 'only the answer was lost' },
  { fault: 'cut_in_head', saved: true, because: 'half of a head is no answer' },
  { fault: 'cut_in_body', saved: true, because: 'a 200 without an address is no answer' },
  { fault: 'cut_after_answer', saved: true, because: 'the answer was whole' },
  { fault: 'stall', saved: true, because: 'it was saved before our limit' },
  { fault: 'hold', saved: true, because: 'it arrives after our limit, within D' },
  { fault: 'kill_before', saved: false, because: 'the worker died before its POST' },
  { fault: 'kill_after', saved: true, because: 'the worker died before it could write the answer down' },
];

interface Done {
  readonly posts: number;
  readonly attempts: number;
  readonly state: string;
  readonly saved: boolean;
}
const done: { readonly searchable: Done[]; readonly blind: Done[] } = { searchable: [], blind: [] };

async function played(play: Play, kind: Kind, text: string, lag: number | null): Promise<Intent> {
  const { fault, saved } = play;
  const death = isDeath(fault);
  const waits = fault === 'stall' || fault === 'hold';
  const product = contentProduct(lag, {
    ...(waits ? { policy: { requestMs: LIMIT_MS } } : {}),
    points: isDeath(fault) ? [{ at: 0, mode: fault }] : [],
  });
  const armed = death ? null : rig.proxy.arm(fault as Fault, CREATE);
  const id = await sentOnce(product, kind, text);
  await armed?.hit;
  armed?.release();
  await armed?.done;
  const settled = await product.untilQuiet(id);
  expect(product.deaths()).toBe(death ? 1 : 0);
  const posts = (await postsOf(rig, text)).length;
  const end = { posts, attempts: attemptsOf(settled), state: settled.state, saved };
  (lag === null ? done.blind : done.searchable).push(end);
  return settled;
}

test('there is a row for every fault', () => {
  const rows = new Set(PLAYS.map(({ fault }) => fault));
  expect(Object.keys(FAULTS).filter((fault) => !rows.has(fault as Fault))).toEqual([]);
});

describe.each(KINDS)('where the route names L, a %s', (kind) => {
  test.each(PLAYS)('$fault: one post, because $because', async (play) => {
    const text = `searchable ${kind} ${play.fault}, 茶 👀`;
    const settled = await played(play, kind, text, LAG_MS);
    const posts = await postsOf(rig, text);
    expect(posts.map(({ value }) => value)).toEqual([recordOf(rig, kind, text)]);
    const { externalId, receipt, attempts } = settled;
    expect({ state: settled.state, externalId }).toEqual({ state: 'confirmed', externalId: posts[0]?.uri });
    expect(receipt).toMatchObject({ checks: { ...CHECKS, externalId: true }, promiseClass: 'searchable' });
    expect(receipt?.url).toContain(`${rig.proxy.url}/xrpc/com.atproto.repo.getRecord?`);
    expect(attempts).toHaveLength(play.saved ? 1 : 2);
    const [first, second] = attempts;
    const apart = (second?.claimedAt ?? Number.NaN) - (first?.claimedAt ?? 0);
    if (!play.saved) expect(apart, 'the second waits for the window').toBeGreaterThan(80_000);
  });
});

describe.each(KINDS)('where it does not, a %s', (kind) => {
  test.each(PLAYS)('$fault: one write only, because $because', async (play) => {
    const text = `blind ${kind} ${play.fault}, 茶 👀`;
    const settled = await played(play, kind, text, null);
    const posts = await postsOf(rig, text);
    expect(attemptsOf(settled)).toBe(1);
    expect(posts.map(({ value }) => value)).toEqual(play.saved ? [recordOf(rig, kind, text)] : []);
    if (play.saved) {
      expect(settled).toMatchObject({ state: 'confirmed', externalId: posts[0]?.uri });
      expect(settled.receipt).toMatchObject({ checks: CHECKS, promiseClass: 'blind' });
    } else {
      expect(settled).toMatchObject({ state: 'handover', handover: { reason: 'exhausted' } });
    }
  });
});

test('of all of them none is double, and none is lost without a person being asked', () => {
  const told = Object.entries(done).map(([name, ends]) => {
    const count = (of: (each: Done) => boolean) => ends.filter(of).length;
    return {
      ...{ class: name, intents: ends.length },
      attempts: ends.reduce((sum, each) => sum + each.attempts, 0),
      duplicates: count((each) => each.posts > 1),
      confirmed: count((each) => each.state === 'confirmed' && each.posts === 1),
      people: count((each) => each.state === 'handover' && each.posts === 0),
    };
  });
  console.log(`real PDS, keys of the server's: ${JSON.stringify(told)}`);
  const intents = KINDS.length * PLAYS.length;
  const unsaved = KINDS.length * PLAYS.filter(({ saved }) => !saved).length;
  expect(told).toEqual([
    {
      class: 'searchable',
      intents,
      attempts: intents + unsaved,
      duplicates: 0,
      confirmed: intents,
      people: 0,
    },
    {
      class: 'blind',
      intents,
      attempts: intents,
      duplicates: 0,
      confirmed: intents - unsaved,
      people: unsaved,
    },
  ]);
});

test('a client that repeats what it saw fail makes two: the count above can be wrong', async () => {
  const text = 'repeated blindly';
  const { did, accessToken: token } = rig.pds.alice;
  const input = { repo: did, collection: POSTS, record: personsPost(text) };
  rig.proxy.arm('cut_before_answer', CREATE);
  const blindly = () => call(rig.proxy.url, { nsid: CREATE, input, token });
  await expect(blindly()).rejects.toThrow('fetch failed');
  expect((await blindly()).status).toBe(200);
  expect(await postsOf(rig, text)).toHaveLength(2);
});

describe('a look that is cut is never zero', () => {
  const looks = Object.keys(FAULTS).filter((fault) => fault !== 'hold') as Fault[];
  test.each(looks)('%s of the list, after an answer that was lost', async (fault) => {
    const text = `looked at through ${fault}`;
    const product = contentProduct(LAG_MS, { lookMs: fault === 'stall' ? LIMIT_MS : 10_000 });
    rig.proxy.arm('cut_before_answer', CREATE);
    const armed = rig.proxy.arm(fault, LIST);
    const id = await sentOnce(product, 'post', text);
    expect(await product.untilQuiet(id)).toMatchObject({ state: 'confirmed' });
    await armed.hit;
    expect(attemptsOf(await product.read(id))).toBe(1);
    expect(await postsOf(rig, text)).toHaveLength(1);
  });
});

test('the key of a post is the time at which the server made it', async () => {
  const before = Date.now();
  const { key } = partsOf(await byHand(personsPost('when'))) ?? { key: '' };
  expect(timeOf(key)).toBeGreaterThanOrEqual(before);
  expect(timeOf(key)).toBeLessThan(Date.now() + 1);
});

test('a post on the second page of the list is found', async () => {
  const { did, accessToken: token } = rig.pds.alice;
  const product = contentProduct(LAG_MS);
  rig.proxy.arm('cut_before_answer', CREATE);
  const id = await sentOnce(product, 'post', 'behind a crowd');
  const writes = Array.from({ length: 120 }, (_, n) => ({
    ...{ $type: 'com.atproto.repo.applyWrites#create', collection: POSTS },
    value: personsPost(`crowd ${n}`),
  }));
  const crowd = { nsid: 'com.atproto.repo.applyWrites', input: { repo: did, writes }, token };
  expect((await call(rig.pds.url, crowd)).status).toBe(200);
  const before = rig.proxy.requests().length;
  expect(await product.untilQuiet(id)).toMatchObject({ state: 'confirmed', lastSearch: { complete: true } });
  const turned = rig.proxy
    .requests()
    .slice(before)
    .filter((each) => each.includes('cursor='));
  expect(turned.length).toBeGreaterThan(0);
  expect(attemptsOf(await product.read(id))).toBe(1);
  expect(await postsOf(rig, 'behind a crowd')).toHaveLength(1);
});

describe('two posts that nobody can tell apart', () => {
  const rows = [
    {
      what: 'a person writes the same beside ours',
      second: (text: string) => byHand(personsPost(text)),
      // It says another time than ours: no proof of a second effect, and nothing is frozen.
      reason: 'audit_incomplete',
    },
    {
      what: 'our request is delivered twice',
      second: (text: string) => byHand(recordOf(rig, 'post', text)),
      reason: 'second_effect',
    },
  ];

  test.each(rows)('$what, and the answer is lost: people decide between two', async ({ what, second }) => {
    const text = `lost: ${what}`;
    const product = contentProduct(LAG_MS);
    rig.proxy.arm('cut_before_answer', CREATE);
    const id = await sentOnce(product, 'post', text);
    await second(text);
    const settled = await product.untilQuiet(id);
    const posts = await postsOf(rig, text);
    expect(settled).toMatchObject({ state: 'handover', handover: { reason: 'many' } });
    expect(settled.handover?.candidates.toSorted()).toEqual(posts.map(({ uri }) => uri).toSorted());
    expect([posts.length, attemptsOf(settled)]).toEqual([2, 1]);
  });

  test.each(rows)('$what, and the answer came: $reason is told', async ({ what, second, reason }) => {
    const text = `answered: ${what}`;
    const product = contentProduct(LAG_MS);
    const id = await sentOnce(product, 'post', text);
    const other = await second(text);
    const settled = await product.untilQuiet(id);
    expect(settled).toMatchObject({ state: 'confirmed', incident: { reason } });
    expect(settled.lastSearch?.candidates).toContain(other);
    expect(settled.externalId).not.toBe(other);
    expect([(await postsOf(rig, text)).length, attemptsOf(settled)]).toEqual([2, 1]);
  });

  test('our own two, approved apart, go in turn and are two', async () => {
    const product = contentProduct(LAG_MS);
    const armed = rig.proxy.arm('cut_before_answer', CREATE);
    const text = 'twins';
    const ids: string[] = [];
    // Sent before the clock jumps: a post from before its claim would not be ours.
    for (const key of ['twin-1', 'twin-2']) ids.push(await sentOnce(product, 'post', text, key));
    for (const id of ids) await product.untilQuiet(id);
    await armed.hit;
    const settled = await Promise.all(ids.map(product.read));
    const posts = await postsOf(rig, text);
    expect(settled.map(({ state, attempts }) => [state, attempts.length])).toEqual(
      Array(2).fill(['confirmed', 1]),
    );
    expect(settled.map(({ externalId }) => externalId).toSorted()).toEqual(
      posts.map(({ uri }) => uri).toSorted(),
    );
    expect(settled.map(({ incident }) => incident)).toEqual([null, null]);
    const [first, second] = settled;
    expect(second?.attempts[0]?.claimedAt).toBeGreaterThanOrEqual(first?.receipt?.readAt ?? Number.NaN);
  });
});

test('the same text of a person two hours ago is a near miss, and not ours', async () => {
  const text = 'two hours ago';
  // Of few posts, so that one from then is on the pages that a search turns.
  const { bob } = rig.pds;
  const product = contentProduct(LAG_MS, { token: bob.accessToken, route: { account: bob.did } });
  const old = await byHand(personsPost(text), keyAt(product.clock.now() - 2 * HOUR_MS), bob);
  rig.proxy.arm('cut_before_request', CREATE);
  const id = await sentOnce(product, 'post', text);
  const settled = await product.untilQuiet(id);
  const posts = await postsOf(rig, text);
  expect(settled).toMatchObject({
    state: 'confirmed',
    externalId: posts.find(({ uri }) => uri !== old)?.uri,
  });
  expect([posts.length, attemptsOf(settled)]).toEqual([2, 2]);
  const near = (await seenIn(product, id)).filter(({ externalId }) => externalId === old);
  expect(near[0]).toMatchObject({
    near: true,
    reasons: { author: true, payload: true, parent: true, key: true, window: false },
  });
});

test('the same text of a person in the same minutes is never confirmed as ours', async () => {
  const text = 'a minute ago';
  const product = contentProduct(LAG_MS);
  const theirs = await byHand(personsPost(text));
  rig.proxy.arm('cut_before_request', CREATE);
  const settled = await product.untilQuiet(await sentOnce(product, 'post', text));
  expect(settled).toMatchObject({
    state: 'handover',
    handover: { reason: 'mismatch', candidates: [theirs] },
  });
  expect([(await postsOf(rig, text)).length, attemptsOf(settled)]).toEqual([1, 1]);
});

test('the same to the last character, a minute before our claim, is never confirmed as ours', async () => {
  const text = 'copied a minute ago';
  const product = contentProduct(LAG_MS);
  const theirs = await byHand(recordOf(rig, 'post', text), keyAt(product.clock.now() - 60_000));
  rig.proxy.arm('cut_before_request', CREATE);
  const id = await sentOnce(product, 'post', text);
  const settled = await product.untilQuiet(id);
  expect(settled).toMatchObject({
    state: 'handover',
    handover: { reason: 'mismatch', candidates: [theirs] },
  });
  expect([(await postsOf(rig, text)).length, attemptsOf(settled)]).toEqual([1, 1]);
  const shown = (await seenIn(product, id)).find(({ externalId }) => externalId === theirs);
  expect(shown).toMatchObject({ near: false, reasons: { payload: true, window: true, time: false } });
});

test('a post that was answered and then deleted by a person is never made again', async () => {
  const text = 'answered, then deleted';
  const product = contentProduct(LAG_MS);
  const id = await sentOnce(product, 'post', text);
  const { acknowledgedId } = await product.read(id);
  await deleted(acknowledgedId ?? '');
  const settled = await product.untilQuiet(id);
  expect(settled).toMatchObject({ state: 'handover', handover: { reason: 'found_but_gone' } });
  expect([(await postsOf(rig, text)).length, attemptsOf(settled)]).toEqual([0, 1]);
});

test('one that was deleted before it was ever seen is made again: nothing shows that it was there', async () => {
  const text = 'deleted unseen';
  const product = contentProduct(LAG_MS);
  rig.proxy.arm('cut_before_answer', CREATE);
  const id = await sentOnce(product, 'post', text);
  const [post] = await postsOf(rig, text);
  await deleted(post?.uri ?? '');
  const settled = await product.untilQuiet(id);
  expect(settled).toMatchObject({ state: 'confirmed' });
  expect([(await postsOf(rig, text)).length, attemptsOf(settled)]).toEqual([1, 2]);
});

test('a request that arrives after D breaks the promise, and its second post is an incident', async () => {
  const text = 'held for too long';
  const product = contentProduct(LAG_MS, { policy: { requestMs: LIMIT_MS } });
  const armed = rig.proxy.arm('hold', CREATE);
  const id = await sentOnce(product, 'post', text);
  await armed.hit;
  expect(await product.untilQuiet(id, 120_000)).toMatchObject({ state: 'confirmed', incident: null });
  armed.release();
  expect(await armed.done).toBe(200);
  const settled = await product.untilQuiet(id);
  expect(settled).toMatchObject({ state: 'confirmed', incident: { reason: 'second_effect' } });
  expect([(await postsOf(rig, text)).length, attemptsOf(settled)]).toEqual([2, 2]);
});

test('on a blind route, one that arrives after people were asked is one post still', async () => {
  const text = 'held until people were asked';
  const product = contentProduct(null, { policy: { requestMs: LIMIT_MS } });
  const armed = rig.proxy.arm('hold', CREATE);
  const id = await sentOnce(product, 'post', text);
  await armed.hit;
  expect(await product.untilQuiet(id)).toMatchObject({ state: 'handover' });
  armed.release();
  expect(await armed.done).toBe(200);
  expect([(await postsOf(rig, text)).length, attemptsOf(await product.read(id))]).toEqual([1, 1]);
});

/** The same token, signed by the server's own secret, as of the year 2001. */
function ranOut(token: string): string {
  const [head = '', claims = ''] = token.split('.');
  const old = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), iat: 1e9, exp: 1e9 + 60 };
  const signed = `${head}.${Buffer.from(JSON.stringify(old)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', SECRETS.jwtSecret).update(signed).digest('base64url')}`;
}

describe('what an answer is read as is what the server did', () => {
  const record = (text: string, more: object = {}) => ({
    $type: POSTS,
    text,
    createdAt: CREATED_AT,
    ...more,
  });
  const nobodysBlob = embedOf({ ref: { $link: NO_BLOB }, mimeType: 'image/png', size: 70 });
  const long = 'x'.repeat(301);
  test.each([
    { what: 'without a token', token: () => undefined, text: 'create 1', reading: 'not_executed' },
    { what: 'with a broken one', token: () => 'broken', text: 'create 2', reading: 'not_executed' },
    { what: 'with one that ran out', token: ranOut, text: 'create 3', reading: 'not_executed' },
    {
      what: 'with that of another',
      ...{ token: () => rig.pds.bob.accessToken, text: 'create 4', reading: 'not_executed' },
    },
    {
      what: 'in an account that is not here',
      repo: 'did:plc:nobodyaaaaaaaaaaaaaaaaaa',
      text: 'create 5',
      reading: 'not_executed',
    },
    { what: '301 characters', text: long, reading: 'not_executed' },
    { what: 'without its time', text: 'create 6', more: { createdAt: undefined }, reading: 'not_executed' },
    { what: 'an image of nobody', text: 'create 7', more: { embed: nobodysBlob }, reading: 'not_executed' },
    { what: 'a new post', text: 'create 8', reading: 'acknowledged' },
    { what: 'the same again', text: 'create 8', reading: 'acknowledged' },
  ])('$what: $reading', async ({ text, reading, repo, more = {}, token = (own: string) => own }) => {
    const { did, accessToken } = rig.pds.alice;
    const held = (await postsOf(rig, text)).length;
    const bearer = token(accessToken);
    const input = { repo: repo ?? did, collection: POSTS, record: record(text, more) };
    const { status, body } = await call(rig.pds.url, {
      ...{ nsid: CREATE, input },
      ...(bearer === undefined ? {} : { token: bearer }),
    });
    expect(blueskyByContent.readAnswer(status, body).kind).toBe(reading);
    const made = reading === 'acknowledged' ? 1 : 0;
    expect((await postsOf(rig, text)).length - held, 'posts made').toBe(made);
  });
});

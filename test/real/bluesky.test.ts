/**
 * The product against a real PDS, with cuts between them and a worker that dies: accept, the machine, every step and
 * the sweep, over real sockets on a clock of our own. Posts are counted in the PDS, by their text and not by their key.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import type { Policy } from '../../lib/domain/route.ts';
import { bluesky } from '../../lib/providers/bluesky.ts';
import { postKey, postUri } from '../../lib/providers/bluesky-key.ts';
import { FAULTS, type Fault } from './fault-proxy.ts';
import { POSTS, SECRETS } from './ground.ts';
import { writeOf } from './posts.ts';
import {
  accepted,
  CREATED_AT,
  EVERY_CHECK,
  embedOf,
  KINDS,
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
import { recordsOf } from './record-book.ts';
import { call } from './xrpc.ts';

const PUT = 'com.atproto.repo.putRecord';
/** Uploaded by nobody. */
const NO_BLOB = 'bafkreiaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.close());

const attemptsOf = (intent: Intent) => intent.attempts.length;

/** Of the worker, at its POST. */
type Death = 'kill_before' | 'kill_after';

interface Play {
  readonly fault: Fault | Death;
  readonly attempts: number;
  readonly because: string;
  readonly policy?: Partial<Policy>;
}

const PLAYS: readonly Play[] = [
  {
    fault: 'cut_before_request',
    attempts: 2,
    because: 'nothing was saved, the key was looked at, put again',
  },
  { fault: 'cut_in_request', attempts: 2, because: 'a body that is one byte short is not saved' },
  { fault: 'cut_before_answer', attempts: 1, because: 'it was saved, and found under its key' },
  { fault: 'cut_in_head', attempts: 1, because: 'half of a head is no answer; it was found' },
  { fault: 'cut_in_body', attempts: 1, because: 'a 200 without an address is no answer; it was found' },
  { fault: 'cut_after_answer', attempts: 1, because: 'the answer was whole' },
  { fault: 'stall', attempts: 1, because: 'it was saved before our limit', policy: { requestMs: LIMIT_MS } },
  {
    fault: 'hold',
    attempts: 2,
    because: 'put again, then the first arrives',
    policy: { requestMs: LIMIT_MS },
  },
  {
    fault: 'cut_before_answer',
    attempts: 2,
    because: 'resent first: the same content under the same key is no second post',
    policy: { resend: 'first' },
  },
  { fault: 'kill_before', attempts: 2, because: 'the worker died before its POST' },
  { fault: 'kill_after', attempts: 1, because: 'the worker died before it could write the answer down' },
];

const done: { readonly posts: number; readonly attempts: number; readonly state: string }[] = [];

describe.each(KINDS)('a %s', (kind) => {
  test('has a row for every fault', () => {
    const played = new Set(PLAYS.map(({ fault }) => fault));
    expect(Object.keys(FAULTS).filter((fault) => !played.has(fault as Fault))).toEqual([]);
  });

  test.each(PLAYS)('$fault: one effect of $attempts attempts, because $because', async (play) => {
    const { fault, policy = {} } = play;
    const text = `${kind} ${fault} ${policy.resend ?? ''}, 茶 👀`;
    const died = fault === 'kill_before' || fault === 'kill_after';
    const product = productOf(rig, { policy, points: died ? [{ at: 0, mode: fault }] : [] });
    const armed = died ? null : rig.proxy.arm(fault, PUT);
    const { id } = await accepted(rig, product, kind, text);
    const settled = await product.untilQuiet(id);
    await armed?.hit;
    armed?.release();
    await armed?.done;
    const posts = await postsOf(rig, text);
    done.push({ posts: posts.length, attempts: attemptsOf(settled), state: settled.state });

    expect(posts).toHaveLength(1);
    expect(settled).toMatchObject({
      state: 'confirmed',
      externalId: posts[0]?.uri,
      receipt: { checks: EVERY_CHECK },
    });
    expect(attemptsOf(settled)).toBe(play.attempts);
    expect(posts[0]?.value).toEqual(recordOf(rig, kind, text));
  });
});

test('of all posts and replies none is double and none is lost', () => {
  const count = (of: (each: (typeof done)[number]) => boolean) => done.filter(of).length;
  const told = {
    intents: done.length,
    attempts: done.reduce((sum, each) => sum + each.attempts, 0),
    duplicates: count((each) => each.posts > 1),
    lost: count((each) => each.posts === 0),
    unconfirmed: count((each) => each.state !== 'confirmed'),
  };
  console.log(`real PDS, cut and killed: ${JSON.stringify(told)}`);
  expect(told).toMatchObject({
    intents: KINDS.length * PLAYS.length,
    duplicates: 0,
    lost: 0,
    unconfirmed: 0,
  });
});

/** Submits, and lives through the first POST only. */
async function sentOnce(product: Product, text: string): Promise<string> {
  const { id, input } = await product.begin(submissionOf(rig, 'post', text));
  await product.steps['Send']?.(input);
  expect(await product.read(id)).toMatchObject({ state: 'unknown' });
  return id;
}

test('a request that arrives after its worker gave up is found, and not sent again', async () => {
  const product = productOf(rig, { policy: { requestMs: LIMIT_MS } });
  const armed = rig.proxy.arm('hold', PUT);
  const id = await sentOnce(product, 'held, then seen');
  expect(await postsOf(rig, 'held, then seen')).toEqual([]);
  armed.release();
  expect(await armed.done).toBe(200);
  expect(attemptsOf(await product.untilQuiet(id))).toBe(1);
  expect(await product.read(id)).toMatchObject({ state: 'confirmed' });
  expect(await postsOf(rig, 'held, then seen')).toHaveLength(1);
});

test('two services with ledgers of their own make one post of one intent', async () => {
  const products = [productOf(rig), productOf(rig)];
  const settled = await Promise.all(
    products.map(async (product) => {
      const { id } = await accepted(rig, product, 'post', 'twice at once');
      return product.untilQuiet(id);
    }),
  );
  expect(settled.map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
  expect(await postsOf(rig, 'twice at once')).toHaveLength(1);
});

interface Refused {
  readonly what: string;
  readonly setting: () => Setting;
  readonly text: string;
  readonly code: string;
}

const REFUSED: readonly Refused[] = [
  { what: 'without a token', setting: () => ({ token: null }), text: 'no token', code: 'status_401' },
  { what: 'with a broken token', setting: () => ({ token: 'broken' }), text: 'broken', code: 'status_400' },
  {
    what: 'in the account of another',
    setting: () => ({ token: rig.pds.bob.accessToken }),
    text: 'of another',
    code: 'status_401',
  },
  {
    what: 'in an account that is not here',
    setting: () => ({ route: { account: 'did:plc:nobodyaaaaaaaaaaaaaaaaaa' } }),
    text: 'of nobody',
    code: 'status_403',
  },
];

test.each(REFUSED)(
  'a post $what is rejected with proof, and is not there',
  async ({ setting, text, code }) => {
    const product = productOf(rig, setting());
    const { id } = await accepted(rig, product, 'post', text);
    const settled = await product.untilQuiet(id);
    expect(settled).toMatchObject({ state: 'rejected', attempts: [{ result: { proof: 'refused', code } }] });
    expect(await postsOf(rig, text)).toEqual([]);
  },
);

/** The same token, signed by the server's own secret, as of the year 2001. */
function ranOut(token: string): string {
  const [head = '', claims = ''] = token.split('.');
  const old = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), iat: 1e9, exp: 1e9 + 60 };
  const signed = `${head}.${Buffer.from(JSON.stringify(old)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', SECRETS.jwtSecret).update(signed).digest('base64url')}`;
}

interface Put {
  readonly what: string;
  readonly record: JsonObject;
  readonly late?: true;
  readonly reading: string;
  /** The text under the key afterwards. */
  readonly held: string | null;
}

const FINE = { $type: POSTS, text: 'put', createdAt: CREATED_AT };
/** In this order, under one key. */
const PUTS: readonly Put[] = [
  { what: 'with a token that ran out', record: FINE, late: true, reading: 'not_executed', held: null },
  { what: '301 characters', record: { ...FINE, text: 'x'.repeat(301) }, reading: 'not_executed', held: null },
  { what: 'without its time', record: { $type: POSTS, text: 'x' }, reading: 'not_executed', held: null },
  {
    what: 'with an image that nobody uploaded',
    record: { ...FINE, embed: embedOf({ ref: { $link: NO_BLOB }, mimeType: 'image/png', size: 70 }) },
    reading: 'not_executed',
    held: null,
  },
  { what: 'a new one', record: FINE, reading: 'acknowledged', held: 'put' },
  { what: 'the same', record: FINE, reading: 'acknowledged', held: 'put' },
  { what: 'another one', record: { ...FINE, text: 'other' }, reading: 'exists', held: 'put' },
];

test('what an answer is read as is what the server did', async () => {
  const { did, accessToken } = rig.pds.alice;
  const rkey = postKey('answers');
  for (const { what, record, late, reading, held } of PUTS) {
    const token = late === true ? ranOut(accessToken) : accessToken;
    const input = { repo: did, collection: POSTS, rkey, record, swapRecord: null };
    const { status, body } = await call(rig.pds.url, { nsid: PUT, input, token });
    expect(bluesky.readAnswer(status, body).kind, what).toBe(reading);
    const book = await recordsOf(rig.pds.url, did, POSTS);
    const [post] = book.filter(({ uri }) => uri === postUri(did, rkey));
    expect(post?.value['text'] ?? null, what).toBe(held);
  }
});

test('another record under our key is never overwritten, and is handed to people', async () => {
  const product = productOf(rig);
  const { alice } = rig.pds;
  const text = 'ours';
  // The id is made of what the caller names, so that a first product tells the key of a second one.
  const { id } = await accepted(rig, productOf(rig), 'post', text);
  const input = { ...writeOf(alice, postKey(id), 'not ours'), swapRecord: null };
  expect((await call(rig.pds.url, { nsid: PUT, input, token: alice.accessToken })).status).toBe(200);
  await accepted(rig, product, 'post', text);
  expect(await product.untilQuiet(id)).toMatchObject({ state: 'handover', handover: { reason: 'mismatch' } });
  expect(await postsOf(rig, text)).toEqual([]);
  expect(await postsOf(rig, 'not ours')).toMatchObject([{ uri: postUri(alice.did, postKey(id)) }]);
});

test('a post that was deleted before it was ever seen is made again: a free key looks like a new one', async () => {
  const { alice } = rig.pds;
  const product = productOf(rig);
  const armed = rig.proxy.arm('cut_before_answer', PUT);
  const id = await sentOnce(product, 'deleted');
  expect(await armed.done).toBe(200);
  const remove = { repo: alice.did, collection: POSTS, rkey: postKey(id) };
  await call(rig.pds.url, { nsid: 'com.atproto.repo.deleteRecord', input: remove, token: alice.accessToken });
  expect(await postsOf(rig, 'deleted')).toEqual([]);
  expect(await product.untilQuiet(id)).toMatchObject({ state: 'confirmed' });
  expect(await postsOf(rig, 'deleted')).toHaveLength(1);
});

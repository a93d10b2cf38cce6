/** Sessions of a real PDS: opened with an app password before the claim, one for many posts, none without. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { bluesky } from '../../lib/providers/bluesky.ts';
import { blueskySession } from '../../lib/providers/bluesky-session.ts';
import type { Provider } from '../../lib/providers/provider.ts';
import { sessionCall } from '../../lib/providers/session-call.ts';
import { SECRETS } from './ground.ts';
import { accepted, type Product, postsOf, productOf, type Rig, startRig } from './product.ts';
import { type Account, startRealPds } from './real-pds.ts';
import { call } from './xrpc.ts';

const CREATE = 'com.atproto.server.createSession';
const PUT = 'com.atproto.repo.putRecord';
const HOUR = 3_600_000;

let rig: Rig;
let before = 0;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.close());
beforeEach(() => {
  before = rig.proxy.requests().length;
});

/** Requests of this test whose path holds the text. */
const asked = (text: string) =>
  rig.proxy
    .requests()
    .slice(before)
    .filter((line) => line.includes(text)).length;

const secretOf = ({ did, appPassword }: Account, password = appPassword) =>
  JSON.stringify({ identifier: did, appPassword: password });

/** The product with this secret and no other credential. */
function productWith(secret: string, provider: Provider = bluesky): Product {
  const product = productOf(rig, { token: null, provider, route: { writeSecretRef: 'local:bluesky' } });
  return withSecret(product, secret);
}

function withSecret(product: Product, secret: string): Product {
  Object.assign(product.deps, { secret: async () => secret });
  return product;
}

async function posted(product: Product, text: string): Promise<Intent> {
  const { id } = await accepted(rig, product, 'post', text);
  return product.untilQuiet(id);
}

/** Through the first run only. */
async function tried(product: Product, text: string): Promise<Intent> {
  const { id } = await accepted(rig, product, 'post', text);
  await product.drain();
  return product.read(id);
}

async function wordsOf(product: Product, { id }: Intent): Promise<unknown[]> {
  const { items } = await product.ledger.evidence({ tenant: 'acme', intentId: id }, 100, null);
  return items.filter(({ kind }) => kind === 'session').map(({ facts }) => facts['reason']);
}

test('ten posts and a reply take one session, and no credential is recorded', async () => {
  const product = productWith(secretOf(rig.pds.alice));
  const states: string[] = [];
  for (let number = 1; number <= 10; number += 1) {
    const intent = await posted(product, `session ${number}`);
    states.push(intent.state);
    expect(await postsOf(rig, `session ${number}`)).toHaveLength(1);
    const { items } = await product.ledger.evidence({ tenant: 'acme', intentId: intent.id }, 100, null);
    const all = JSON.stringify([intent, items, product.logged]);
    expect(all).not.toContain(rig.pds.alice.appPassword);
    expect(all).not.toContain('eyJ');
  }
  const { id } = await accepted(rig, product, 'reply', 'a reply in the session');
  states.push((await product.untilQuiet(id)).state);
  expect(states).toEqual(Array.from({ length: 11 }, () => 'confirmed'));
  expect({ sessions: asked(CREATE), writes: asked(PUT) }).toEqual({ sessions: 1, writes: 11 });
});

test('before its token runs out a session is followed by another one', async () => {
  const product = productWith(secretOf(rig.pds.alice));
  await posted(product, 'in the first session');
  product.clock.advance(1.9 * HOUR);
  await posted(product, 'in the first session, late');
  expect(asked(CREATE)).toBe(1);
  product.clock.advance(0.1 * HOUR);
  expect(await posted(product, 'in the second session')).toMatchObject({ state: 'confirmed' });
  expect({ sessions: asked(CREATE), writes: asked(PUT) }).toEqual({ sessions: 2, writes: 3 });
});

/** The same token, signed by the server's own secret, as of the year 2001. */
function ranOut(token: string): string {
  const [head = '', claims = ''] = token.split('.');
  const old = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), iat: 1e9, exp: 1e9 + 60 };
  const signed = `${head}.${Buffer.from(JSON.stringify(old)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', SECRETS.jwtSecret).update(signed).digest('base64url')}`;
}

test('a session that the server calls over is dropped: what it refused left nothing, the next post goes', async () => {
  let first = true;
  const stale: Provider = {
    ...bluesky,
    session: {
      ...blueskySession,
      open: async (secret, place) => {
        const opening = await blueskySession.open(secret, place);
        if (!first || opening.kind === 'failed') return opening;
        first = false;
        return { ...opening, headers: { authorization: `Bearer ${ranOut(rig.pds.alice.accessToken)}` } };
      },
    },
  };
  const product = productWith(secretOf(rig.pds.alice), stale);
  expect(await posted(product, 'in a stale session')).toMatchObject({
    state: 'rejected',
    attempts: [{ result: { proof: 'refused', code: 'status_400' } }],
  });
  expect(await postsOf(rig, 'in a stale session')).toEqual([]);
  expect(await posted(product, 'after a stale session')).toMatchObject({ state: 'confirmed' });
  expect({ sessions: asked(CREATE), writes: asked(PUT) }).toEqual({ sessions: 2, writes: 2 });
});

describe('without a session', () => {
  const WRONG = [
    {
      what: 'with a wrong password',
      secret: () => secretOf(rig.pds.alice, 'aaaa-bbbb-cccc-dddd'),
      word: 'session_refused',
    },
    {
      what: 'with the password of another account',
      secret: () => secretOf(rig.pds.bob),
      word: 'session_of_another_account',
    },
    {
      what: 'with a name that nobody has',
      secret: () => JSON.stringify({ identifier: 'nobody.test', appPassword: 'aaaa-bbbb-cccc-dddd' }),
      word: 'session_refused',
    },
    {
      what: 'with a secret of another form',
      secret: () => '{"password":"x"}',
      word: 'session_secret_unusable',
    },
  ];
  test.each(WRONG)('$what nothing is claimed and nothing is posted', async ({ secret, word, what }) => {
    const product = productWith(secret());
    const intent = await tried(product, `posted ${what}`);
    expect(intent).toMatchObject({ state: 'ready', attempts: [] });
    expect(await wordsOf(product, intent)).toEqual([word]);
    expect(asked(PUT)).toBe(0);
    expect(await postsOf(rig, `posted ${what}`)).toEqual([]);
    // Put right, it goes out by itself.
    withSecret(product, secretOf(rig.pds.alice));
    expect(await product.untilQuiet(intent.id)).toMatchObject({ state: 'confirmed', attempts: [{}] });
    expect(await postsOf(rig, `posted ${what}`)).toHaveLength(1);
  });

  test('with a wrong password for good, people are told, and the server was asked seldom', async () => {
    const product = productWith(secretOf(rig.pds.alice, 'aaaa-bbbb-cccc-dddd'));
    expect(await posted(product, 'never')).toMatchObject({
      state: 'handover',
      handover: { reason: 'cannot_run' },
      attempts: [],
    });
    expect(asked(PUT)).toBe(0);
    expect(asked(CREATE)).toBeLessThanOrEqual(13);
    expect(await postsOf(rig, 'never')).toEqual([]);
  });
});

describe('a session whose answer is', () => {
  test.each(['cut_before_request', 'cut_before_answer', 'cut_in_body', 'stall'] as const)(
    '%s is asked for again, and the post is one',
    async (fault) => {
      const product = productWith(secretOf(rig.pds.alice));
      const armed = rig.proxy.arm(fault, CREATE);
      const intent = await tried(product, `session ${fault}`);
      await armed.hit;
      expect(intent).toMatchObject({ state: 'ready', attempts: [] });
      expect(asked(PUT)).toBe(0);
      expect(await product.untilQuiet(intent.id)).toMatchObject({ state: 'confirmed', attempts: [{}] });
      expect(await postsOf(rig, `session ${fault}`)).toHaveLength(1);
      expect(asked(CREATE)).toBe(2);
    },
  );
});

test('a server that counts says at its limit for how long it is to be left alone', async () => {
  const counting = await startRealPds({ rateLimits: true });
  try {
    const { did, appPassword } = counting.alice;
    const input = { identifier: did, password: appPassword };
    let last = await call(counting.url, { nsid: CREATE, input });
    for (let count = 0; count < 40 && last.status === 200; count += 1) {
      last = await call(counting.url, { nsid: CREATE, input });
    }
    expect(last.status).toBe(429);
    const opening = await blueskySession.open(secretOf(counting.alice), {
      ...{ account: did, environment: 'production', now: 0 },
      ask: sessionCall({ baseUrl: counting.url, timeoutMs: 5000 }),
    });
    expect(opening).toMatchObject({ kind: 'failed', error: 'session_limited' });
    expect(opening.kind === 'failed' ? opening.retryAfterMs : 0).toBeGreaterThan(1000);
  } finally {
    await counting.close();
  }
});

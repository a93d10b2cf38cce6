/**
 * Many faults for each post, reply and image, on its writes and on the looks after them, with a worker and a server that
 * die. Every fault that is counted was hit. A client that repeats blindly meets the same faults and is counted in the
 * same way.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sendOnce } from '../../lib/providers/transport.ts';
import { type Armed, FAULTS, type Fault, type Meanwhile } from './fault-proxy.ts';
import { type FaultSequence, type FaultStep, SEQUENCES, sequenceOf } from './fault-sequence.ts';
import { POSTS } from './ground.ts';
import { postOf } from './posts.ts';
import {
  accepted,
  EVERY_CHECK,
  KINDS,
  type Kind,
  LIMIT_MS,
  postsOf,
  productOf,
  type Rig,
  recordOf,
  startRig,
} from './product.ts';
import { type Ended, type Toll, tollOf } from './toll.ts';

const PATHS = {
  write: 'com.atproto.repo.putRecord',
  probe: 'com.atproto.sync.getRepoStatus',
  record: 'com.atproto.repo.getRecord',
} as const;

/** So that a server on shared cores answers in time when it is let: how often is posted is counted. */
const WRITE_LIMIT_MS = 2 * LIMIT_MS;
/** A look that waits until the server is back. */
const PATIENT_MS = 100_000;

const ALL = Object.keys(FAULTS) as Fault[];

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.close());
afterEach(async () => {
  await rig.pds.startAgain();
  rig.proxy.disarm();
});

const ended: Ended[] = [];
const hits: Record<string, number> = {};
function count(name: string, times = 1): void {
  if (times > 0) hits[name] = (hits[name] ?? 0) + times;
}

/** @param held the first write that waits in the proxy, if one does. */
function meanwhileOf({ outside }: FaultStep, held: () => Armed | undefined): Meanwhile | undefined {
  const crash = async () => {
    await rig.pds.crash();
    count('server killed');
  };
  switch (outside) {
    case 'server_dies_before':
      return { when: 'before', act: crash };
    case 'server_dies_during':
      return { when: 'during', act: crash };
    case 'server_dies_after':
      return { when: 'after', act: crash };
    case 'server_is_back':
      return { when: 'before', act: rig.pds.startAgain };
    case 'held_write_lands':
      return {
        when: 'before',
        act: async () => {
          held()?.release();
          expect(await held()?.done).toBe(200);
        },
      };
    default:
      return undefined;
  }
}

function armAll(steps: readonly FaultStep[]): readonly (FaultStep & { readonly armed: Armed })[] {
  const all: (FaultStep & { readonly armed: Armed })[] = [];
  const held = () => all.find(({ on, fault }) => on === 'write' && fault === 'hold')?.armed;
  for (const step of steps) {
    all.push({ ...step, armed: rig.proxy.arm(step.fault, PATHS[step.on], meanwhileOf(step, held)) });
  }
  return all;
}

/** Carries one intent through its faults to the end, and lets what is still held arrive after it. */
async function play(kind: Kind, sequence: FaultSequence): Promise<void> {
  const { name, because, steps, atPosts, atCalls } = sequence;
  const text = `${kind}, ${name}, 茶 👀`;
  const told = `${text}: ${JSON.stringify({ because, steps, atPosts, atCalls })}`;
  const points = atCalls ?? atPosts ?? [];
  const isSlow = steps.some(({ fault }) => fault === 'stall' || fault === 'hold');
  const product = productOf(rig, {
    ...{ points, counted: atCalls === undefined ? 'posts' : 'all' },
    policy: { attempts: 8, ...(isSlow ? { requestMs: WRITE_LIMIT_MS } : {}) },
    lookMs: isSlow ? LIMIT_MS : PATIENT_MS,
  });
  const armed = armAll(steps);
  const { id } = await accepted(rig, product, kind, text);
  const settled = await product.untilQuiet(id);
  expect(rig.proxy.disarm(), told).toEqual([]);
  for (const each of armed) {
    await each.armed.hit;
    each.armed.release();
    await each.armed.done;
    count(`${each.on === 'write' ? 'write' : 'look'} ${each.fault}`);
  }
  expect(product.deaths(), told).toBe(points.length);
  count('worker killed', points.length);
  const attempts = settled.attempts.length;
  ended.push({ text, attempts, confirmed: settled.state === 'confirmed' });

  expect(settled, told).toMatchObject({ state: 'confirmed', receipt: { checks: EVERY_CHECK } });
  const posts = await postsOf(rig, text);
  expect(posts, told).toMatchObject([{ uri: settled.externalId }]);
  expect(posts[0]?.value).toEqual(recordOf(rig, kind, text));
  if (sequence.attempts !== undefined) expect(attempts, told).toBe(sequence.attempts);
}

describe.each(KINDS)('a %s', (kind) => {
  test.each(SEQUENCES)('$name: one effect, because $because', (sequence) => play(kind, sequence));
});

/** Every call of a run without faults at which a worker can die. */
async function callsOf(text: string): Promise<readonly string[]> {
  const product = productOf(rig, { counted: 'all' });
  const { id } = await accepted(rig, product, 'post', text);
  expect(await product.untilQuiet(id)).toMatchObject({ state: 'confirmed' });
  return [...product.calls];
}

test('a worker that dies before or after any call of its run leaves one effect', async () => {
  const calls = await callsOf('no fault, counted for deaths');
  expect(calls).toContain('POST');
  expect(calls).toContain('bind');
  for (const [at, call] of calls.entries()) {
    for (const mode of ['kill_before', 'kill_after'] as const) {
      const kind = KINDS[ended.length % KINDS.length] ?? 'post';
      const name = `${mode} at call ${at} (${call})`;
      await play(kind, { name, because: 'the sweep goes on', steps: [], atCalls: [{ at, mode }] });
    }
  }
});

const SEEDS = Array.from({ length: 18 }, (_, index) => index + 1);

test.each(SEEDS)('seed %i: one effect', async (seed) => {
  const calls = await callsOf(`no fault, counted for seed ${seed}`);
  await play(KINDS[seed % KINDS.length] ?? 'post', sequenceOf(seed, calls.length));
});

test('after all faults no post is double and none is lost', async () => {
  const toll = await tollOf(rig, ended);
  const faults = Object.values(hits).reduce((sum, each) => sum + each, 0);
  console.log(`real PDS, many faults: ${JSON.stringify({ ...toll, faults, hits })}`);
  expect(toll).toMatchObject({ duplicates: 0, lost: 0, unconfirmed: 0 });
  expect(toll.intents).toBeGreaterThanOrEqual(20);
  expect(faults).toBeGreaterThanOrEqual(60);
  const wanted = ALL.flatMap((fault) => [`write ${fault}`, `look ${fault}`]);
  const counted = Object.keys(hits);
  expect([...wanted, 'worker killed', 'server killed'].filter((each) => !counted.includes(each))).toEqual([]);
});

/** A client as they are often written: the server makes the key, and what is not a whole 200 is sent again. */
async function blindly(text: string, mostAttempts: number): Promise<Ended> {
  const { alice } = rig.pds;
  for (let attempts = 1; ; attempts += 1) {
    const report = await sendOnce({
      url: new URL(`${rig.proxy.url}/xrpc/com.atproto.repo.createRecord`),
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${alice.accessToken}` },
      body: JSON.stringify({ repo: alice.did, collection: POSTS, record: postOf(text) }),
      timeoutMs: WRITE_LIMIT_MS,
      lastCheck: async () => null,
    });
    const confirmed = report.kind === 'answered' && report.status === 200 && report.complete;
    if (confirmed || attempts === mostAttempts) return { text, attempts, confirmed };
  }
}

const SAVED: readonly Fault[] = ['cut_before_answer', 'cut_in_head', 'cut_in_body', 'stall', 'hold'];
const CONTROLS: readonly { client: string; most: number; toll: Toll }[] = [
  {
    client: 'that repeats until it is told 200',
    most: 9,
    toll: {
      ...{ intents: ALL.length, attempts: 2 * ALL.length - 1 },
      ...{ duplicates: SAVED.length, lost: 0, unconfirmed: 0 },
    },
  },
  {
    client: 'that never repeats',
    most: 1,
    toll: {
      ...{ intents: ALL.length, attempts: ALL.length },
      ...{ duplicates: 0, lost: 2, unconfirmed: ALL.length - 1 },
    },
  },
];

test.each(CONTROLS)('the same count shows what a client $client costs', async ({ most, toll }) => {
  const all: Ended[] = [];
  for (const fault of ALL) {
    const armed = rig.proxy.arm(fault, 'com.atproto.repo.createRecord');
    all.push(await blindly(`blind, ${most}, ${fault}`, most));
    await armed.hit;
    armed.release();
    await armed.done;
  }
  expect(await tollOf(rig, all)).toEqual(toll);
});

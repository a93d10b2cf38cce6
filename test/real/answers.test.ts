/**
 * The exact answers of a real PDS, on file in answers.json for whoever must read them without one. A server that
 * answers another way makes this red; `npx vitest run --config test/real/vitest.config.ts -u` takes the new answers.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Asked, askedOverTheLimit, everythingAsked } from './asked.ts';
import { POSTS } from './ground.ts';
import { type RealPds, startRealPds } from './real-pds.ts';
import { recordsOf } from './record-book.ts';
import { call } from './xrpc.ts';

/** Stand-ins have the form of what they stand for. */
const ALICE = 'did:plc:aliceaaaaaaaaaaaaaaaaaaa';
const BOB = 'did:plc:bobaaaaaaaaaaaaaaaaaaaaa';
const COMMIT = { cid: 'bafyreicommitaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', rev: '3mzzzzzzzzzz2' };

let pds: RealPds;
let strict: RealPds;
beforeAll(async () => {
  pds = await startRealPds();
  strict = await startRealPds({ rateLimits: true });
});
afterAll(async () => {
  await pds?.close();
  await strict?.close();
});

test('the answers on file are those that the server gives', async () => {
  const rows: unknown[] = [];
  for (const asked of everythingAsked(pds)) rows.push(await rowOf(pds, asked));
  await useUp(strict);
  for (const asked of askedOverTheLimit(strict)) rows.push(await rowOf(strict, asked));
  expect(await recordsOf(strict.url, strict.alice.did, POSTS), 'saved over the limit').toEqual([]);
  await expect(`${JSON.stringify(rows, null, 2)}\n`).toMatchFileSnapshot('answers.json');
});

/** Each call of 200 creates takes 600 of the hour's 5000 points, and its empty records are refused. */
async function useUp({ url, alice }: RealPds): Promise<void> {
  const $type = 'com.atproto.repo.applyWrites#create';
  const writes = Array.from({ length: 200 }, () => ({ $type, collection: POSTS, value: {} }));
  const input = { repo: alice.did, writes };
  const ask = { nsid: 'com.atproto.repo.applyWrites', token: alice.accessToken, input };
  const statuses: number[] = [];
  for (let calls = 0; calls < 9; calls += 1) statuses.push((await call(url, ask)).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 400, 400, 400, 429]);
}

async function rowOf(server: RealPds, [what, asked]: Asked): Promise<unknown> {
  const { bytes, token, ...shown } = asked;
  return lasting({ what, ...shown, answer: await call(server.url, asked) }, server);
}

/** The same value without what is new on every run: ids of accounts, tokens, passwords, commits, times. */
function lasting(value: unknown, { alice, bob, port }: RealPds): unknown {
  const text = JSON.stringify(value, (key, inner) => (key === 'commit' ? COMMIT : inner))
    .replaceAll(alice.did, ALICE)
    .replaceAll(bob.did, BOB)
    .replaceAll(alice.appPassword, 'aaaa-bbbb-cccc-dddd')
    .replaceAll(/Commit was at [a-z0-9]+/g, `Commit was at ${COMMIT.cid}`)
    .replaceAll(/"retryAfter":"\d+"/g, '"retryAfter":"3599"')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJ.a.token')
    .replaceAll(`localhost:${port}`, 'localhost:2583');
  return JSON.parse(text);
}

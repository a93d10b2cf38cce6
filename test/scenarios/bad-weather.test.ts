/** The warehouse away, the ledger away with an answer in hand: nothing is lost, nothing is claimed that is not known. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { errorKinds, reportOf } from '../../lib/domain/report.ts';
import { type DynamoDb, startDynamoDb } from '../../lib/local/dynamodb.ts';
import { freePort } from '../../lib/local/loopback.ts';
import { sendOnce, type Transport } from '../../lib/providers/transport.ts';
import { startWarehouse } from '../../lib/simulators/warehouse.ts';
import { readBook } from '../../lib/simulators/warehouse-book.ts';
import { type DynamoProxy, startDynamoProxy } from '../support/dynamo-proxy.ts';
import { type RealParts, realParts } from '../support/real-parts.ts';

const ORDER = 'PO-37';
let dynamo: DynamoDb;
let proxy: DynamoProxy;
let folder = '';
let port = 0;
const ends: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  dynamo = await startDynamoDb();
  proxy = await startDynamoProxy(dynamo.endpoint);
});

afterAll(async () => {
  await proxy?.close();
  await dynamo?.stop();
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kakutei-weather-'));
  port = await freePort();
  proxy.plan(null);
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

test('a warehouse that stays away is tried four times, then the order is rejected with proof', async () => {
  const parts = await assemble();
  const { id } = await parts.submitUntilAccepted(ORDER);
  const intent = await parts.untilQuiet(id);
  expect({ state: intent.state, report: reportOf(intent), dueAt: intent.dueAt }).toEqual({
    state: 'rejected',
    report: 'rejected',
    dueAt: null,
  });
  expect(errorKinds(intent)).toEqual(['not_sent', 'not_sent', 'not_sent', 'not_sent']);
  for (const { result } of intent.attempts) {
    expect(result).toMatchObject({ kind: 'rejected', proof: 'not_sent', detail: 'refused' });
  }
  await openWarehouse();
  expect(inBook()).toEqual({ posts: 0, effects: 0 });
});

test('between the attempts at a warehouse that is away the pause of the route is kept', async () => {
  const parts = await assemble();
  const { id } = await parts.submitUntilAccepted(ORDER);
  const { attempts } = await parts.untilQuiet(id);
  const pauses = attempts
    .slice(1)
    .map(({ claimedAt }, index) => claimedAt - (attempts[index]?.claimedAt ?? 0));
  expect(pauses).toHaveLength(3);
  for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(100);
});

test('a warehouse that comes back within the budget gets the order once', async () => {
  let posts = 0;
  const parts = await assemble(async (request) => {
    posts += 1;
    if (posts === 3) await openWarehouse();
    return sendOnce(request);
  });
  const { id } = await parts.submitUntilAccepted(ORDER);
  const intent = await parts.untilQuiet(id);
  expect(intent).toMatchObject({ state: 'confirmed', receipt: { externalId: intent.externalId } });
  expect(errorKinds(intent)).toEqual(['not_sent', 'not_sent']);
  expect(intent.attempts).toHaveLength(3);
  expect(inBook()).toEqual({ posts: 1, effects: 1 });
});

test('an answer in hand is recorded once the ledger is back', async () => {
  await openWarehouse();
  const parts = await assemble();
  const { id } = await parts.submitUntilAccepted(ORDER);
  proxy.plan({ call: 'result', fault: 'refused', times: 6 });
  const before = proxy.bites();
  const sentAt = parts.clock.now();
  await parts.drain();
  expect(proxy.bites() - before, 'the ledger was away').toBe(6);
  const intent = await parts.read(id);
  expect(intent).toMatchObject({ state: 'confirmed', attempts: [{ result: { kind: 'acknowledged' } }] });
  expect(parts.clock.now() - sentAt, 'within the life of the sender').toBeLessThan(15_000);
  expect(inBook()).toEqual({ posts: 1, effects: 1 });
  expect(eventsOf(parts)).not.toContain('answer_unrecorded');
});

test('an answer that the ledger never takes is told in one line, and the order is still confirmed', async () => {
  await openWarehouse();
  const parts = await assemble();
  const { id } = await parts.submitUntilAccepted(ORDER);
  const before = proxy.bites();
  proxy.plan({ call: 'result', fault: 'refused', times: Number.POSITIVE_INFINITY });
  const sentAt = parts.clock.now();
  await parts.drain();
  expect(proxy.bites() - before, 'the ledger was away').toBeGreaterThan(10);
  expect(parts.clock.now() - sentAt, 'within the life of the sender, and 5 s of the machine').toBeLessThan(
    20_000,
  );
  const [externalId] = idsInBook();
  const { attempts } = await parts.read(id);
  expect(parts.logged.filter((line) => line.event === 'answer_unrecorded')).toEqual([
    {
      event: 'answer_unrecorded',
      fields: {
        ...{ tenant: 'acme', intentId: id, route: 'warehouse', attempt: 1, token: attempts[0]?.token },
        ...{ code: 'acknowledged', externalId },
      },
    },
  ]);
  proxy.plan(null);
  const intent = await parts.untilQuiet(id);
  expect(intent).toMatchObject({ state: 'confirmed', externalId });
  expect(errorKinds(intent)).toEqual(['lost']);
  expect(inBook()).toEqual({ posts: 1, effects: 1 });
});

test('with every call of the ledger failing no byte leaves, and the order is accepted later', async () => {
  await openWarehouse();
  const parts = await assemble();
  proxy.plan({ call: 'any', fault: 'refused', times: Number.POSITIVE_INFINITY });
  await expect(parts.submit(ORDER)).rejects.toMatchObject({ name: 'LedgerUnavailable' });
  expect(inBook()).toEqual({ posts: 0, effects: 0 });
  proxy.plan(null);
  const { id } = await parts.submitUntilAccepted(ORDER);
  expect(await parts.untilQuiet(id)).toMatchObject({ state: 'confirmed' });
  expect(inBook()).toEqual({ posts: 1, effects: 1 });
});

async function assemble(transport?: Transport): Promise<RealParts> {
  const parts = await realParts({
    endpoint: proxy.endpoint,
    direct: dynamo.endpoint,
    warehouseUrl: `http://127.0.0.1:${port}`,
    maxAttempts: 1,
    ...(transport === undefined ? {} : { transport }),
  });
  ends.push(parts.close);
  return parts;
}

function bookFile(): string {
  return join(folder, 'warehouse.sqlite');
}

async function openWarehouse(): Promise<void> {
  const warehouse = await startWarehouse({ file: bookFile(), account: 'tokyo-1', port, durable: false });
  ends.push(warehouse.close);
}

function idsInBook(): readonly string[] {
  const book = readBook(bookFile());
  const ids = book.effects().flatMap((each) => each.reservationIds);
  book.close();
  return ids;
}

function inBook(): { posts: number; effects: number } {
  const book = readBook(bookFile());
  const posts = book.posts().reduce((sum, each) => sum + each.count, 0);
  book.close();
  return { posts, effects: idsInBook().length };
}

function eventsOf(parts: RealParts): string[] {
  return parts.logged.map((line) => line.event);
}

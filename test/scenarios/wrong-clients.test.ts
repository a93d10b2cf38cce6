/**
 * Two clients that look right and are wrong, and the one that is right. The wrong ones stay here to show
 * that the warehouse can be made to reserve twice, so that a test that counts one has proved something.
 * Attempts and effects are counted apart, both in the warehouse's own book.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWarehouse } from '../../lib/simulators/warehouse.ts';
import { readBook } from '../../lib/simulators/warehouse-book.ts';

interface Order {
  readonly order_id: string;
  readonly sku: string;
  readonly quantity: number;
}

type KeyRule = (order: Order) => string;

const newKeyEachTime: KeyRule = () => randomUUID();
const hashOfTheBody: KeyRule = (order) => createHash('sha256').update(JSON.stringify(order)).digest('hex');
const orderNumber: KeyRule = (order) => order.order_id;

let folder: string;
let file: string;
let warehouse: Awaited<ReturnType<typeof startWarehouse>>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kakutei-wrong-clients-'));
  file = join(folder, 'book.sqlite');
  warehouse = await startWarehouse({ file, account: 'osaka', durable: false });
});

afterEach(async () => {
  await warehouse.close();
  rmSync(folder, { recursive: true });
});

/** At most 4 POSTs; repeats 503 and lost answers, as a naive client does; resolves with the last status. */
async function send(order: Order, keyOf: KeyRule): Promise<number> {
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': keyOf(order) };
    const init = { method: 'POST', headers, body: JSON.stringify(order) };
    const answer = await fetch(`${warehouse.url}/reservations`, init).catch(() => null);
    if (answer !== null && answer.status !== 503) return answer.status;
  }
  throw new Error(`Cannot reserve "${order.order_id}": no answer after 4 attempts`);
}

function counted(orderId: string) {
  const book = readBook(file);
  const attempts = book.posts().find((row) => row.orderId === orderId)?.count ?? 0;
  const effects = book.effects().find((row) => row.orderId === orderId)?.reservationIds.length ?? 0;
  book.close();
  return { attempts, effects };
}

const order = (order_id: string, quantity = 1): Order => ({ order_id, sku: 'tea', quantity });

describe('a client that makes a new key for every retry', () => {
  it('looks right on ORD-BEFORE: two attempts, one reservation', async () => {
    expect(await send(order('ORD-BEFORE'), newKeyEachTime)).toBe(201);
    expect(counted('ORD-BEFORE')).toEqual({ attempts: 2, effects: 1 });
  });

  it('reserves twice on ORD-AFTER', async () => {
    expect(await send(order('ORD-AFTER'), newKeyEachTime)).toBe(201);
    expect(counted('ORD-AFTER')).toEqual({ attempts: 2, effects: 2 });
  });
});

describe('a client whose key is a hash of the body', () => {
  it('looks right on ORD-AFTER: two attempts, one reservation', async () => {
    expect(await send(order('ORD-AFTER'), hashOfTheBody)).toBe(200);
    expect(counted('ORD-AFTER')).toEqual({ attempts: 2, effects: 1 });
  });

  it('reserves twice when the quantity of one order changes', async () => {
    expect(await send(order('ORD-1', 1), hashOfTheBody)).toBe(201);
    expect(await send(order('ORD-1', 2), hashOfTheBody)).toBe(201);
    expect(counted('ORD-1')).toEqual({ attempts: 2, effects: 2 });
  });
});

describe('a client whose key is the order number', () => {
  it.each([
    ['ORD-BEFORE', 201],
    ['ORD-AFTER', 200],
  ])('reserves once on %s, its second attempt answered %i', async (orderId, status) => {
    expect(await send(order(orderId), orderNumber)).toBe(status);
    expect(counted(orderId)).toEqual({ attempts: 2, effects: 1 });
  });

  it('is told of the conflict when the quantity changes, and the first reservation stays alone', async () => {
    expect(await send(order('ORD-1', 1), orderNumber)).toBe(201);
    expect(await send(order('ORD-1', 2), orderNumber)).toBe(409);
    expect(counted('ORD-1')).toEqual({ attempts: 2, effects: 1 });
  });
});

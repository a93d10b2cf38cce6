/** Every ledger call of an order's way, met by every fault of the ledger, with and without repeats of the SDK. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { errorKinds } from '../../lib/domain/report.ts';
import { type DynamoDb, startDynamoDb } from '../../lib/local/dynamodb.ts';
import { startWarehouse } from '../../lib/simulators/warehouse.ts';
import { readBook } from '../../lib/simulators/warehouse-book.ts';
import {
  LEDGER_FAULTS,
  type LedgerCall,
  type LedgerFault,
  startDynamoProxy,
} from '../support/dynamo-proxy.ts';
import { realParts } from '../support/real-parts.ts';

const HAPPY_CALLS = ['create', 'claim', 'result', 'binding', 'confirm'] as const;
/** Made only when the answer did not say what happened. */
const CALLS_OF_DOUBT = ['evidence', 'searched'] as const;
/** Faults after which a claim stands that nobody knows of: it is lost, and may only be looked for. */
const APPLIED: readonly LedgerFault[] = ['answer_lost', 'status_500', 'stalled'];
const FAULTS = Object.keys(LEDGER_FAULTS) as LedgerFault[];

const folder = mkdtempSync(join(tmpdir(), 'kakutei-faults-'));
const book = join(folder, 'warehouse.sqlite');
let dynamo: DynamoDb;
let warehouse: Awaited<ReturnType<typeof startWarehouse>>;

beforeAll(async () => {
  dynamo = await startDynamoDb();
  warehouse = await startWarehouse({ file: book, account: 'tokyo-1', control: true, durable: false });
  // The first calls of a database that is just up are slow, and a slow call is a fault of its own.
  await warmUp();
});

afterAll(async () => {
  await warehouse?.close();
  await dynamo?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function rows(calls: readonly LedgerCall[]) {
  return calls.flatMap((call) =>
    FAULTS.flatMap((fault) =>
      [1, 3].map((maxAttempts) => ({ call, fault, maxAttempts, title: `${call} ${LEDGER_FAULTS[fault]}` })),
    ),
  );
}

describe.concurrent('an acknowledged order is confirmed with one effect', () => {
  test.each(rows(HAPPY_CALLS))('$title, $maxAttempts tries of the SDK', async (row) => {
    const intent = await expectOneEffect(row, 'HAPPY');
    const stranded = row.maxAttempts === 1 && row.call === 'claim' && APPLIED.includes(row.fault);
    expect(errorKinds(intent)).toEqual(stranded ? ['lost'] : []);
    // A repeat of the SDK meets its own write and knows it for its own.
    if (row.maxAttempts === 3) expect(intent.runs, 'no other run was needed').toBe(1);
  });
});

describe.concurrent('an order answered with 500 is found and confirmed with one effect', () => {
  test.each(rows(CALLS_OF_DOUBT))('$title, $maxAttempts tries of the SDK', async (row) => {
    const order = orderOf(row, 'DOUBT');
    await planAtWarehouse(order, { kind: 'status_after_commit', status: 500 });
    const intent = await expectOneEffect(row, 'DOUBT');
    expect(errorKinds(intent), 'the warehouse played its fault').toEqual(['status_500']);
    if (row.maxAttempts === 3) expect(intent.runs, 'no other run was needed').toBe(1);
  });
});

async function warmUp(): Promise<void> {
  const { endpoint } = dynamo;
  const parts = await realParts({ endpoint, direct: endpoint, warehouseUrl: warehouse.url, maxAttempts: 3 });
  const { id } = await parts.submitUntilAccepted('WARM-UP');
  await parts.untilQuiet(id);
  parts.close();
}

type Row = ReturnType<typeof rows>[number];

function orderOf({ call, fault, maxAttempts }: Row, prefix: string): string {
  return `${prefix}-${call}-${fault}-${maxAttempts}`.replaceAll('_', '-');
}

async function expectOneEffect(row: Row, prefix: string): Promise<Intent> {
  const { call, fault, maxAttempts } = row;
  const order = orderOf(row, prefix);
  const proxy = await startDynamoProxy(dynamo.endpoint);
  const parts = await realParts({
    endpoint: proxy.endpoint,
    direct: dynamo.endpoint,
    warehouseUrl: warehouse.url,
    maxAttempts,
    // The stall is the client's whole limit long.
    ...(fault === 'stalled' ? { callLimitMs: 2000 } : {}),
  });
  try {
    const times = fault === 'throttled' ? 2 : 1;
    proxy.plan({ call, fault, times });
    const { id } = await parts.submitUntilAccepted(order);
    const intent = await parts.untilQuiet(id);
    const { posts, ids } = counted(order);
    expect(proxy.bites(), 'the fault was met').toBe(times);
    expect({ state: intent.state, ids }).toEqual({ state: 'confirmed', ids: [intent.externalId] });
    expect(posts, 'no POST without an attempt on record').toBeLessThanOrEqual(intent.attempts.length);
    expect(parts.logged.filter((line) => line.event === 'answer_unrecorded')).toEqual([]);
    return intent;
  } finally {
    parts.close();
    await proxy.close();
  }
}

function counted(order: string): { posts: number; ids: readonly string[] } {
  const reading = readBook(book);
  try {
    return {
      posts: reading.posts().find((each) => each.orderId === order)?.count ?? 0,
      ids: reading.effects().find((each) => each.orderId === order)?.reservationIds ?? [],
    };
  } finally {
    reading.close();
  }
}

async function planAtWarehouse(order: string, fault: object): Promise<void> {
  const answer = await fetch(`${warehouse.url}/control/faults/${order}`, {
    method: 'PUT',
    body: JSON.stringify(fault),
  });
  expect(answer.status).toBe(200);
}

/**
 * What one pass of the sweep reads, by how much is stored. Half of what is stored and not due is settled, the
 * other half is open and due later.
 */
import { createHash } from 'node:crypto';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Intent } from '../../lib/domain/intent.ts';
import { toItem } from '../../lib/ledger/item.ts';
import { systemClock } from '../../lib/platform/clock.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { meter, type Traffic } from './meter.ts';
import { buildProduct, CALLER } from './product.ts';
import { forEach } from './rate.ts';
import type { Workbench } from './workbench.ts';

export interface SweepCost {
  readonly stored: number;
  readonly due: number;
  /** Runs that the pass started. */
  readonly started: number;
  /** Of a pass that meets `due` intents, and of the next one, which meets none. */
  readonly busy: Traffic;
  readonly idle: Traffic;
}

const LATER_MS = 30 * 86_400_000;
const BATCH = 25;

/** On a table of its own with `stored` intents, `due` of them due. */
export async function measureSweep(bench: Workbench, stored: number, due: number): Promise<SweepCost> {
  const table = await bench.table(`sweep-${stored}`);
  const like = await template(bench, `SWEEP-${stored}`);
  await fill(bench, table, like, stored, due);
  const busy = await onePass(bench, table);
  const idle = await onePass(bench, table);
  return { stored, due, started: busy.started, busy: busy.traffic, idle: idle.traffic };
}

async function onePass(bench: Workbench, table: string): Promise<{ started: number; traffic: Traffic }> {
  const client = bench.client();
  const counted = meter(client);
  const { deps } = buildProduct(bench, client, table);
  const { started } = await sweep({ ...deps, start: async () => undefined }).runOnce();
  return { started, traffic: counted() };
}

/** A settled intent as the product left it, so that what is stored has the size of the real thing. */
async function template(bench: Workbench, order: string): Promise<Intent> {
  const product = buildProduct(bench, bench.client(), await bench.table('sweep-template'));
  const { intentId } = await product.settle(order);
  const intent = await product.ledger.read({ tenant: CALLER.tenant, intentId });
  if (intent?.state !== 'confirmed')
    throw new Error(`Cannot store intents like one that is ${intent?.state}`);
  return intent;
}

async function fill(
  bench: Workbench,
  table: string,
  like: Intent,
  stored: number,
  due: number,
): Promise<void> {
  const documents = DynamoDBDocumentClient.from(bench.client());
  const now = systemClock.now();
  const starts = Array.from({ length: Math.ceil(stored / BATCH) }, (_, index) => index * BATCH);
  await forEach(starts, 8, async (from) => {
    const numbers = Array.from({ length: Math.min(BATCH, stored - from) }, (_, index) => from + index);
    const puts = numbers.map((number) => ({
      PutRequest: { Item: toItem(storedAs(like, number, due, now)) },
    }));
    const answer = await documents.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
    if (Object.keys(answer.UnprocessedItems ?? {}).length > 0)
      throw new Error('A batch was not stored whole');
  });
}

/** The first `due` are due; of the rest every second one is settled. */
function storedAs(like: Intent, number: number, due: number, now: number): Intent {
  const hash = createHash('sha256').update(`stored-${number}`).digest('hex');
  const settled = { ...like, id: `int_${hash.slice(0, 40)}`, key: `STORED-${number}` };
  const open = { ...settled, state: 'ready', attempts: [], receipt: null, externalId: null } as const;
  if (number < due) return { ...open, seenAt: null, acknowledgedId: null, dueAt: now - 1000 - number };
  return number % 2 === 0 ? settled : { ...open, seenAt: null, acknowledgedId: null, dueAt: now + LATER_MS };
}

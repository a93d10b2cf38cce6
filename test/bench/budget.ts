/** What one intent costs on the happy path, from POST to receipt: ledger traffic and states entered. */
import { meter, type Traffic } from './meter.ts';
import { buildProduct, CALLER, type Product, type Settled } from './product.ts';
import { forEach } from './rate.ts';
import type { Workbench } from './workbench.ts';

export interface Budget {
  readonly intents: number;
  /** Of all intents together. */
  readonly traffic: Traffic;
  /** Base-table writes of the intent with the most: successful requests, and those that DynamoDB charged for. */
  readonly mostWrites: { readonly client: number; readonly dynamoDb: number };
  /** States entered by the run with the most. */
  readonly mostStates: number;
  /** Intents that the ledger says are confirmed. */
  readonly confirmed: number;
  /** Reservations in the warehouse's own book: of all orders, and of the order with the most. */
  readonly effects: number;
  readonly mostEffects: number;
}

/** Settles `intents` new orders on a table of its own, one at a time, so that every request is somebody's. */
export async function measureBudget(bench: Workbench, intents: number): Promise<Budget> {
  const client = bench.client();
  const counted = meter(client);
  const product = buildProduct(bench, client, await bench.table('budget'));
  const orders = Array.from({ length: intents }, (_, index) => `BUDGET-${index}`);
  const settled: Settled[] = [];
  const mostWrites = { client: 0, dynamoDb: 0 };
  for (const order of orders) {
    const before = counted();
    settled.push(await product.settle(order));
    const { writes, reportedWrites } = counted();
    mostWrites.client = Math.max(mostWrites.client, writes - before.writes);
    mostWrites.dynamoDb = Math.max(mostWrites.dynamoDb, reportedWrites - before.reportedWrites);
  }
  const traffic = counted();
  const effects = bench.warehouse.effects();
  const ours = orders.map((order) => effects.get(order) ?? 0);
  return {
    intents,
    traffic,
    mostWrites,
    mostStates: Math.max(...settled.map((each) => each.statesEntered)),
    confirmed: await confirmedOf(product, settled),
    effects: ours.reduce((sum, each) => sum + each, 0),
    mostEffects: Math.max(...ours),
  };
}

async function confirmedOf(product: Product, settled: readonly Settled[]): Promise<number> {
  let confirmed = 0;
  await forEach(settled, 16, async ({ intentId }) => {
    const intent = await product.ledger.read({ tenant: CALLER.tenant, intentId });
    if (intent?.state === 'confirmed') confirmed += 1;
  });
  return confirmed;
}

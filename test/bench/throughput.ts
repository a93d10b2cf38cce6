/**
 * Intents settled per second, beside what bare clients reach on the same parts in the same minutes. Rounds of
 * product and floors alternate, and the median of the rounds counts, so that a slow minute of the machine
 * meets all of them.
 */
import { shardOf } from '../../lib/ledger/item.ts';
import { type BareClients, type BareTables, bareClients } from './bare-clients.ts';
import { buildProduct, CALLER, type Product } from './product.ts';
import { median, rateOf } from './rate.ts';
import { type Names, record, type Tape } from './tape.ts';
import type { Workbench } from './workbench.ts';

export const AT_ONCE = [1, 16, 64] as const;
const ROUNDS = 3;
/** A round lasts this part of the warm-up. */
const ROUND_SHARE = 6;

/** Per second; ratios are the product's rate over the floor's, null when the floor ended nothing in time. */
export interface Speed {
  readonly atOnce: number;
  readonly product: number;
  readonly whole: number;
  readonly ledgerOnly: number;
  readonly putAndUpdate: number;
  readonly ofWhole: number | null;
  readonly ofLedgerOnly: number | null;
}

export interface Throughput {
  readonly warmUpSeconds: number;
  readonly secondsPerRound: number;
  readonly rounds: number;
  readonly speeds: readonly Speed[];
  /** Runs that ended in any other way than confirming at once. */
  readonly otherEnds: number;
  /** Orders settled by the product here, and reservations for them in the warehouse's own book. */
  readonly settled: number;
  readonly effects: number;
  readonly mostEffects: number;
}

const HAPPY_STATES = 5;
const WARM_UP_AT_ONCE = 16;
type Contender = 'product' | 'whole' | 'ledgerOnly' | 'putAndUpdate';
type Contenders = Readonly<Record<Contender, () => Promise<unknown>>>;

/** Warms up for `seconds`; every measurement lasts a sixth of that, three times over. */
export async function measureThroughput(
  bench: Workbench,
  seconds: number,
  progress: (line: string) => void,
): Promise<Throughput> {
  const table = await bench.table('throughput');
  const product = buildProduct(bench, bench.client(), table);
  const tape = await recorded(bench, table);
  const bare = bareClients(bench.client(), tape, await bareTables(bench), bench.warehouse);
  const counting = counted(product);
  const contenders = contendersOf(counting.settle, bare);
  try {
    progress(`warming up for ${seconds} s`);
    const each = (seconds * 1000) / Object.keys(contenders).length;
    for (const work of Object.values(contenders)) await rateOf(work, WARM_UP_AT_ONCE, each);
    const speeds: Speed[] = [];
    for (const atOnce of AT_ONCE) {
      progress(`intents per second, ${atOnce} at once`);
      speeds.push(await speedOf(contenders, atOnce, (seconds * 1000) / ROUND_SHARE));
    }
    const rounds = { warmUpSeconds: seconds, secondsPerRound: seconds / ROUND_SHARE, rounds: ROUNDS };
    return { ...rounds, speeds, ...counting.result(bench.warehouse.effects()) };
  } finally {
    bare.close();
  }
}

async function bareTables(bench: Workbench): Promise<BareTables> {
  return {
    whole: await bench.table('bare-whole'),
    ledgerOnly: await bench.table('bare-ledger-only'),
    putAndUpdate: await bench.table('bare-put-and-update'),
  };
}

function contendersOf(settle: () => Promise<void>, bare: BareClients): Contenders {
  const { whole, ledgerOnly, putAndUpdate } = bare;
  return { product: settle, whole, ledgerOnly, putAndUpdate };
}

async function speedOf(contenders: Contenders, atOnce: number, ms: number): Promise<Speed> {
  const rates: Record<Contender, number[]> = { product: [], whole: [], ledgerOnly: [], putAndUpdate: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of Object.keys(rates) as Contender[]) {
      rates[name].push(await rateOf(contenders[name], atOnce, ms));
    }
  }
  const speed = {
    product: median(rates.product),
    whole: median(rates.whole),
    ledgerOnly: median(rates.ledgerOnly),
    putAndUpdate: median(rates.putAndUpdate),
  };
  const over = (floor: number): number | null => (floor > 0 ? speed.product / floor : null);
  return { atOnce, ...speed, ofWhole: over(speed.whole), ofLedgerOnly: over(speed.ledgerOnly) };
}

/** The product's work, each call a new order, with what became of them. */
function counted(product: Product) {
  let orders = 0;
  let otherEnds = 0;
  const nameOf = (number: number): string => `ORDER-${String(number).padStart(8, '0')}`;
  return {
    settle: async (): Promise<void> => {
      orders += 1;
      const { status, statesEntered } = await product.settle(nameOf(orders));
      if (status !== 'SUCCEEDED' || statesEntered !== HAPPY_STATES) otherEnds += 1;
    },
    result: (effects: ReadonlyMap<string, number>) => {
      const ours = Array.from({ length: orders }, (_, index) => effects.get(nameOf(index + 1)) ?? 0);
      const sum = ours.reduce((total, each) => total + each, 0);
      return { otherEnds, settled: orders, effects: sum, mostEffects: Math.max(0, ...ours) };
    },
  };
}

/** One settled intent's ledger requests; its order is as long as those that are measured. */
async function recorded(bench: Workbench, table: string): Promise<Tape> {
  const client = bench.client();
  const product = buildProduct(bench, client, table);
  const tape = record(client);
  const order = 'RECORD-0000001';
  const { intentId } = await product.settle(order);
  const requests = tape.stop();
  const intent = await product.ledger.read({ tenant: CALLER.tenant, intentId });
  if (intent?.externalId === undefined || intent.externalId === null) {
    throw new Error(`Cannot record an intent that ended as ${intent?.state}`);
  }
  const { externalId, createdAt } = intent;
  const names: Names = { table, intentId, order, externalId, shard: shardOf(intentId), at: createdAt };
  return { requests, names };
}

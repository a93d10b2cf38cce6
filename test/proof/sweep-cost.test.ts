/** A pass of the sweep costs what is due, whatever is stored. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DUE_SHARDS } from '../../lib/ledger/ledger.ts';
import type { Traffic } from '../bench/meter.ts';
import { measureSweep, type SweepCost } from '../bench/sweep-cost.ts';
import { openWorkbench, type Workbench } from '../bench/workbench.ts';

const DUE = 50;
let bench: Workbench | undefined;
let few: SweepCost;
let many: SweepCost;

beforeAll(async () => {
  bench = await openWorkbench();
  few = await measureSweep(bench, 100, DUE);
  many = await measureSweep(bench, 5000, DUE);
});
afterAll(() => bench?.stop());

test('fifty times as much stored changes no read of a pass', () => {
  expect(readsOf(many.busy)).toEqual(readsOf(few.busy));
  expect(readsOf(many.idle)).toEqual(readsOf(few.idle));
});

/** Each shard, and the events that wait for their intent. */
const QUERIES = DUE_SHARDS + 1;

test('each shard is asked once, and only what is due is read and counted', () => {
  expect(many.started).toBe(DUE);
  const { queries, gets, writes } = many.busy;
  expect({ queries, gets, writes }).toEqual({ queries: QUERIES, gets: DUE, writes: DUE });
});

test('a pass that meets nothing due reads no item and writes nothing', () => {
  const { queries, gets, writes } = many.idle;
  expect({ queries, gets, writes }).toEqual({ queries: QUERIES, gets: 0, writes: 0 });
});

function readsOf({ queries, gets, keys, readUnits }: Traffic) {
  return { queries, gets, keys, readUnits };
}

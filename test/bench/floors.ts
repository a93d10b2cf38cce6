/** What was measured, as one object, and which of the floors under it hold. */
import { MAX_SEARCHES } from '../../lib/domain/reconciliation.ts';
import type { Budget } from './budget.ts';
import type { BundleCost } from './bundle-cost.ts';
import type { Memory } from './memory.ts';
import type { SearchCost } from './search-cost.ts';
import type { SweepCost } from './sweep-cost.ts';
import type { Throughput } from './throughput.ts';

export interface Figures {
  readonly machine: {
    readonly cpus: number;
    readonly cpu: string;
    readonly node: string;
    readonly load: number;
  };
  readonly budget: Budget;
  readonly throughput: Throughput;
  readonly bundles: readonly BundleCost[];
  readonly sweep: readonly SweepCost[];
  readonly searches: SearchCost;
  /** Null when it was not asked for. */
  readonly memory: Memory | null;
}

export interface Floor {
  readonly name: string;
  readonly wanted: string;
  readonly measured: string;
  readonly held: boolean;
  /** An aim is shown; only a broken promise fails the bench. */
  readonly kind: 'promise' | 'aim';
}

export const MB = 1_000_000;
const MOST_WRITES = 5;
const MOST_STATES = 5;
/** The account, twenty pages and a hundred posts singly. */
const MOST_CALLS_OF_A_SEARCH = 121;
const MOST_MINUTES = 3;
export const MOST_RESIDENT_BYTES = 300 * MB;
const AIM = { atOnce: 16, ratio: 0.4 };

export function floorsOf(figures: Figures): readonly Floor[] {
  const { budget, throughput, memory } = figures;
  const { client, dynamoDb } = budget.mostWrites;
  return [
    most('base-table writes per intent, client', MOST_WRITES, client),
    most('base-table writes per intent, DynamoDB', MOST_WRITES, dynamoDb),
    most('states entered per intent', MOST_STATES, budget.mostStates),
    most('effects per order', 1, Math.max(budget.mostEffects, throughput.mostEffects)),
    same('confirmed and in the book, of the budget', budget.intents, [budget.confirmed, budget.effects]),
    same('in the book, of the throughput', throughput.settled, [throughput.effects]),
    ...figures.bundles.map((each) => most(`bundle ${each.name}, bytes`, each.limit, each.bytes)),
    sweepFloor(figures.sweep),
    ...searchFloors(figures.searches),
    ...memoryFloors(memory),
    ...aimsOf(throughput),
  ];
}

function most(name: string, limit: number, measured: number): Floor {
  return promise(name, `≤ ${limit}`, String(measured), measured <= limit);
}

function same(name: string, wanted: number, measured: readonly number[]): Floor {
  return promise(
    name,
    String(wanted),
    measured.join(', '),
    measured.every((each) => each === wanted),
  );
}

function promise(name: string, wanted: string, measured: string, held: boolean): Floor {
  return { name, wanted, measured, held, kind: 'promise' };
}

function sweepFloor(costs: readonly SweepCost[]): Floor {
  const reads = costs.map(({ busy }) => [busy.queries, busy.gets, busy.readUnits].join('/'));
  const held = new Set(reads).size === 1;
  return promise(
    'sweep: queries/gets/read units, equal at every size',
    reads[0] ?? '',
    reads.join(', '),
    held,
  );
}

function searchFloors({ alone, crowd }: SearchCost): Floor[] {
  const searches = Math.max(...alone.map((each) => each.searches));
  const calls = Math.max(...alone.map((each) => each.mostCallsOfASearch));
  const waited = crowd.minutesOfTheFresh;
  return [
    most('searches per unresolved intent', MAX_SEARCHES, searches),
    most('calls per search', MOST_CALLS_OF_A_SEARCH, calls),
    most('calls of searches per minute and account', crowd.allowedPerMinute, crowd.mostCallsPerMinute),
    promise(
      'minutes of the fresh among the lost',
      `≤ ${MOST_MINUTES}`,
      `${waited}`,
      (waited ?? Infinity) <= MOST_MINUTES,
    ),
    same('writes of the lost and the fresh', crowd.lost + crowd.fresh, [crowd.writes]),
  ];
}

function memoryFloors(memory: Memory | null): Floor[] {
  if (memory === null || memory.resident === null) return [];
  const { total } = memory.resident;
  const ends = [memory.confirmed, memory.effects];
  return [
    promise(
      'memory without the JVM, resident sets added up',
      `≤ ${MOST_RESIDENT_BYTES / MB} MB`,
      megabytes(total),
      total <= MOST_RESIDENT_BYTES,
    ),
    same('confirmed and in the book, of the memory', memory.intents, ends),
  ];
}

function aimsOf({ speeds }: Throughput): Floor[] {
  const speed = speeds.find((each) => each.atOnce === AIM.atOnce);
  if (speed === undefined) return [];
  const wanted = `≥ ${percent(AIM.ratio)}`;
  return [
    ['rate at 16 against the bare client', speed.ofWhole] as const,
    ['rate at 16 against the bare ledger alone', speed.ofLedgerOnly] as const,
  ].map(([name, ratio]) => ({
    name,
    wanted,
    measured: percent(ratio),
    held: (ratio ?? 0) >= AIM.ratio,
    kind: 'aim',
  }));
}

export function percent(ratio: number | null): string {
  return ratio === null ? 'not measured' : `${(ratio * 100).toFixed(0)} %`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`;
}

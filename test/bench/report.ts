/** The figures as text for a person. */
import Table from 'cli-table3';
import type { Budget } from './budget.ts';
import { type BundleCost, IMPORTS } from './bundle-cost.ts';
import { type Figures, type Floor, megabytes, percent } from './floors.ts';
import type { Memory } from './memory.ts';
import type { SearchCost } from './search-cost.ts';
import type { SweepCost } from './sweep-cost.ts';
import type { Throughput } from './throughput.ts';

export function textOf(figures: Figures, floors: readonly Floor[]): string {
  const { machine, memory } = figures;
  const { cpu, cpus, node, load } = machine;
  return [
    `${cpu}, ${cpus} cores, Node ${node}; load before the start ${load.toFixed(1)}`,
    titled('One intent from POST to receipt, happy path', budgetRows(figures.budget)),
    titled(speedTitle(figures.throughput), speedRows(figures.throughput)),
    titled('Bundles', bundleRows(figures.bundles)),
    titled('One pass of the sweep', sweepRows(figures.sweep)),
    titled('Looking for one post that cannot be found', aloneRows(figures.searches)),
    crowdText(figures.searches),
    memory === null ? 'Memory: not measured; --memory measures it (minutes).' : memoryText(memory),
    titled('Floors', floorRows(floors)),
    '',
  ].join('\n\n');
}

type Rows = readonly [readonly string[], ...(readonly (readonly (string | number)[])[])];

function titled(title: string, [head, ...rows]: Rows): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => [...row]));
  return `${title}\n${table.toString()}`;
}

function budgetRows({ traffic, intents, mostStates }: Budget): Rows {
  const each = (total: number): string => (total / intents).toFixed(2);
  const indexes = Object.entries(traffic.indexes).map(([name, { writes, units }]): [string, string] => [
    `writes of index ${name} (units)`,
    `${each(writes)} (${each(units)})`,
  ]);
  return [
    ['per intent', `mean of ${intents}`],
    ['base-table writes, counted on the client', each(traffic.writes)],
    [
      'base-table writes, reported by DynamoDB (units)',
      `${each(traffic.reportedWrites)} (${each(traffic.writeUnits)})`,
    ],
    ...indexes,
    [
      'read requests (items asked for; units reported)',
      `${each(traffic.gets + traffic.queries)} (${each(traffic.keys)}; ${each(traffic.readUnits)})`,
    ],
    ['refused requests, repetitions by the SDK', `${each(traffic.failed)}, ${each(traffic.repeats)}`],
    ['states entered, at most', mostStates],
  ];
}

function speedTitle({ rounds, secondsPerRound, warmUpSeconds, settled, otherEnds }: Throughput): string {
  const how = `median of ${rounds} rounds of ${secondsPerRound.toFixed(1)} s after ${warmUpSeconds} s of warm-up`;
  return `Settled per second, ${how}; ${settled} orders, ${otherEnds} of them not on the happy path`;
}

function speedRows({ speeds }: Throughput): Rows {
  return [
    ['at once', 'product', 'bare client', 'ratio', 'bare ledger', 'ratio', 'bare put + update'],
    ...speeds.map((each) => [
      each.atOnce,
      each.product.toFixed(1),
      each.whole.toFixed(1),
      percent(each.ofWhole),
      each.ledgerOnly.toFixed(1),
      percent(each.ofLedgerOnly),
      each.putAndUpdate.toFixed(1),
    ]),
  ];
}

function bundleRows(bundles: readonly BundleCost[]): Rows {
  return [
    ['function', 'bytes', 'allowed', `cold import, ms (median of ${IMPORTS})`],
    ...bundles.map((each) => [each.name, each.bytes, each.limit, each.importMs.toFixed(0)]),
  ];
}

function sweepRows(costs: readonly SweepCost[]): Rows {
  return [
    ['stored', 'due', 'queries', 'gets', 'read units', 'writes', 'then nothing due: queries', 'gets'],
    ...costs.map(({ stored, due, busy, idle }) => [
      ...[stored, due, busy.queries, busy.gets, busy.readUnits, busy.writes],
      ...[idle.queries, idle.gets],
    ]),
  ];
}

function aloneRows({ alone }: SearchCost): Rows {
  return [
    [
      'other posts within its hour',
      'searches',
      'calls in all',
      'most calls a search',
      'people are asked after',
    ],
    ...alone.map(({ others, searches, calls, mostCallsOfASearch, hours }) => [
      ...[others, searches, calls, mostCallsOfASearch],
      `${hours.toFixed(1)} h`,
    ]),
  ];
}

function crowdText({ crowd }: SearchCost): string {
  const { lost, fresh, allowedPerMinute, mostCallsPerMinute, minutesOfTheFresh, writes } = crowd;
  return [
    `${lost} posts that cannot be found in one account: at most ${mostCallsPerMinute} calls of searches in a minute`,
    `(${allowedPerMinute} allowed). Of ${fresh} sent in their midst all are confirmed after`,
    `${minutesOfTheFresh ?? 'more than 20'} minutes; writes in all ${writes}.`,
  ].join('\n');
}

function memoryText({ intents, seconds, resident }: Memory): string {
  if (resident === null) return 'Memory: not measured, it is read from /proc, which this system lacks.';
  const { total, processes } = resident;
  const rows: Rows = [
    ['process', 'resident', 'of that pages of files', 'greatest'],
    ...processes.map((each) => [each.name, ...[each.bytes, each.fileBytes, each.peakBytes].map(megabytes)]),
    ['all', megabytes(total), '', ''],
  ];
  return titled(`Memory after ${intents} intents in ${seconds.toFixed(0)} s`, rows);
}

function floorRows(floors: readonly Floor[]): Rows {
  return [
    ['floor', 'wanted', 'measured', 'held'],
    ...floors.map(({ name, wanted, measured, held, kind }) => [
      kind === 'aim' ? `${name} (aim)` : name,
      wanted,
      measured,
      held ? 'yes' : 'NO',
    ]),
  ];
}

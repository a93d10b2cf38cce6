/** Each chapter of `npm run demo -- <chapter> --json` as a program reads it: a child process, its lines, its exit code. */
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processesOn } from '../support/local-service.ts';
import { runProgram } from '../support/run-program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ORDERS = join(ROOT, 'examples/orders.jsonl');
const LIMIT_MS = 60_000;
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kakutei-demo-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const FIELDS = [
  ...['key', 'route', 'state', 'report', 'attempts', 'effects'],
  ...['externalId', 'errorKinds', 'conflicts', 'seconds'],
];

/** key, state, report, attempts, effects, errorKinds, conflicts */
const TABLE: readonly (readonly [string, string | null, string, number, number, string, number])[] = [
  ['ORD-PLAIN', 'confirmed', 'confirmed', 1, 1, '', 0],
  ['ORD-BEFORE', 'confirmed', 'confirmed', 2, 1, 'status_503', 0],
  ['ORD-AFTER', 'confirmed', 'confirmed', 2, 1, 'closed_without_answer', 0],
  ['ORD-STALL', 'confirmed', 'confirmed', 2, 1, 'timeout', 0],
  ['ORD-500', 'confirmed', 'confirmed', 1, 1, 'status_500', 0],
  ['ORD-CUT', 'confirmed', 'confirmed', 1, 1, 'body_cut', 0],
  ['ORD-TRIPLE', 'confirmed', 'confirmed', 1, 1, '', 0],
  ['ORD-CHANGED', 'confirmed', 'confirmed', 1, 1, '', 1],
  ['ORD-INVALID', null, 'rejected', 0, 0, 'invalid_request', 0],
  ['ORD-THREE', 'handover', 'unconfirmed', 1, 1, '', 0],
  ['ORD-LAG', 'confirmed', 'confirmed', 1, 1, '', 0],
  ['ORD-CAREFUL', 'confirmed', 'confirmed', 1, 1, '', 0],
];

describe('the whole file at the warehouse', () => {
  let run: Awaited<ReturnType<typeof demo>>;
  let lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    run = await demo(['warehouse', '--json', '--orders', ORDERS]);
    lines = linesOf(run.stdout);
  }, 5 * LIMIT_MS);

  test('exits 0 within a minute, every invariant held, nothing left running', () => {
    expect({ code: run.code, broken: run.stderr.match(/broken.*/g) }).toEqual({ code: 0, broken: null });
    expect(run.stderr).toMatch(/every invariant held in three passes/);
    expect(run.ms).toBeLessThan(LIMIT_MS * overload());
    expect(processesOn(folder)).toEqual([]);
    expect(existsSync(join(folder, '.kakutei/demo/run.json'))).toBe(false);
  });

  test('prints one JSON line for each key in file order, fields in order, and the sums last', () => {
    expect(run.stdout.endsWith('}\n')).toBe(true);
    expect(lines.slice(0, -1).map((line) => line['key'])).toEqual(TABLE.map(([key]) => key));
    for (const line of lines.slice(0, -1)) expect(Object.keys(line)).toEqual(FIELDS);
    expect(Object.keys(lines.at(-1) ?? {})).toEqual(Object.keys(SUMS));
  });

  test.each(TABLE)('%s: %s, %s', (key, state, report, attempts, effects, errorKinds, conflicts) => {
    const { externalId, seconds, route, ...rest } = lines.find((line) => line['key'] === key) ?? {};
    expect({ ...rest, errorKinds: (rest['errorKinds'] as string[]).join(' ') }).toEqual({
      ...{ key, state, report, attempts, effects, errorKinds, conflicts },
    });
    expect(route).toBe(key === 'ORD-CAREFUL' ? 'warehouse-search-first' : 'warehouse');
    expect(seconds).toEqual(expect.any(Number));
    if (report === 'confirmed') expect(externalId).toMatch(/^R-\d{19}$/);
    else expect(externalId).toBeNull();
  });

  const SUMS = {
    ...{ orders: 12, confirmed: 10, unconfirmed: 1, rejected: 1 },
    ...{ effects: 11, duplicates: 0, lost: 0, wronglyConfirmed: 0 },
  };

  test('the sums agree with the lines', () => {
    expect(lines.at(-1)).toEqual(SUMS);
    const ids = lines.slice(0, -1).flatMap((line) => line['externalId'] ?? []);
    expect(new Set(ids).size, 'no id twice').toBe(SUMS.confirmed);
  });
});

/** The fields of a scenario's line. */
const ROW = [
  ...['scenario', 'route', 'state', 'report', 'intents', 'attempts', 'posts', 'effects', 'equal'],
  ...['errorKinds', 'conflicts', 'handovers', 'violations', 'reopened', 'seconds'],
];

describe('purchase orders', () => {
  let run: Awaited<ReturnType<typeof demo>>;
  let lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    run = await demo(['orders', '--json']);
    lines = linesOf(run.stdout);
  }, 5 * LIMIT_MS);

  /** scenario, route, state, intents, effects, POSTs (null: as many as the promise allows), conflicts, hand-overs */
  const SCENARIOS: readonly (readonly [
    string,
    string,
    string,
    number,
    number,
    number | null,
    number,
    number,
  ])[] = [
    ['1-answer-lost', 'orders-unique', 'confirmed', 1, 1, null, 0, 0],
    ['2-asked-again', 'orders-keyed', 'confirmed', 1, 1, null, 0, 0],
    ['3-worker-killed', 'orders-searchable', 'confirmed', 1, 1, 1, 0, 0],
    ['4a-other-quantity', 'orders-keyed', 'confirmed', 1, 1, null, 1, 0],
    ['4b-other-address', 'orders-keyed', 'confirmed', 1, 1, null, 1, 0],
    ['5-approval-over', 'orders-searchable', 'confirmed', 1, 1, 1, 0, 0],
    ['6a-blind', 'orders-blind', 'handover', 1, 1, 1, 0, 1],
    ['6b-search-lags', 'orders-searchable', 'confirmed', 1, 1, 1, 0, 0],
    ['7-twins', 'orders-blind', 'confirmed', 2, 2, 2, 0, 0],
    ['8-order-and-mail', 'orders-searchable', 'confirmed', 2, 2, null, 0, 0],
  ];

  test('exit 0 within a minute, every scenario as stated, nothing left running', () => {
    expect({ code: run.code, broken: run.stderr.match(/broken.*/g) }).toEqual({ code: 0, broken: null });
    expect(run.stderr).toMatch(/every scenario ended as it must/);
    expect(run.ms).toBeLessThan(LIMIT_MS * overload());
    expect(processesOn(folder)).toEqual([]);
    expect(existsSync(join(folder, '.kakutei/demo-orders/run.json'))).toBe(false);
  });

  test('are one JSON line for each scenario, fields in order, and the sums last', () => {
    expect(lines.slice(0, -1).map((line) => line['scenario'])).toEqual(SCENARIOS.map(([name]) => name));
    for (const line of lines.slice(0, -1)) expect(Object.keys(line)).toEqual(ROW);
    expect(Object.entries(lines.at(-1) ?? {})).toEqual([
      ...[
        ['scenarios', 10],
        ['confirmed', 9],
        ['unconfirmed', 1],
        ['rejected', 0],
        ['effects', 12],
      ],
      ...[
        ['duplicates', 0],
        ['lost', 0],
        ['wronglyConfirmed', 0],
        ['handovers', 1],
      ],
      ...[
        ['permissionViolations', 0],
        ['reopened', 0],
      ],
    ]);
  });

  test.each(SCENARIOS)('%s, %s: %s', (name, route, state, intents, effects, posts, conflicts, handovers) => {
    const line = lines.find((each) => each['scenario'] === name) ?? {};
    expect(line).toMatchObject({ route, state, intents, effects, conflicts, handovers });
    expect(line).toMatchObject({ equal: true, violations: 0, reopened: 0 });
    if (posts !== null) expect(line['posts']).toBe(posts);
    expect(line['posts']).toBeLessThanOrEqual(Number(line['attempts']));
  });

  test('the worker of the third is recorded as lost', () => {
    expect(lines.find((each) => each['scenario'] === '3-worker-killed')?.['errorKinds']).toEqual(['lost']);
  });

  test('what is left to a person is named by number and content, account and environment', () => {
    expect(run.stderr).toMatch(/about PO-106A: by number and content, tokyo-1, test, /);
  });
});

describe('publishing', () => {
  let run: Awaited<ReturnType<typeof demo>>;
  let lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    run = await demo(['publishing', '--json']);
    lines = linesOf(run.stdout);
  }, 5 * LIMIT_MS);

  interface Expected {
    readonly name: string;
    readonly state: 'confirmed' | 'handover';
    /** Intents, attempts, POSTs in the medium's book, posts that came of them. */
    readonly counts: readonly [number, number, number, number];
    readonly equal?: false;
    readonly route?: string;
    readonly because: string;
  }

  const SCENARIOS: readonly Expected[] = [
    {
      ...{ name: '1-answer-lost', state: 'confirmed', counts: [1, 1, 1, 1], route: 'posts-blind' },
      because: 'what is seen is found, also where absence can never be proved',
    },
    {
      ...{ name: '2-failed-there', state: 'confirmed', counts: [1, 2, 2, 1] },
      because: 'a search after the window proved that nothing was there',
    },
    {
      ...{ name: '3-two-alike', state: 'handover', counts: [1, 1, 1, 1] },
      because: 'nobody but a person can say which of two is ours',
    },
    {
      ...{ name: '4-look-alikes', state: 'confirmed', counts: [2, 2, 2, 2] },
      because: 'the post of the first is not taken for the second',
    },
    {
      ...{ name: '5-rewritten', state: 'confirmed', counts: [1, 1, 1, 1] },
      because: 'line ends and entities lose nothing',
    },
    {
      ...{ name: '6-cut-off', state: 'handover', counts: [1, 1, 1, 1], equal: false },
      because: 'what was cut off cannot be compared',
    },
    {
      ...{ name: '7-deleted', state: 'handover', counts: [1, 1, 1, 1] },
      because: 'gone is not the same as never written',
    },
  ];

  test('ends within a minute with exit 0, every scenario as stated, no process left', () => {
    expect({ code: run.code, broken: run.stderr.match(/broken.*/g) }).toEqual({ code: 0, broken: null });
    expect(run.stderr).toMatch(/every scenario ended as it must/);
    expect(run.ms).toBeLessThan(LIMIT_MS * overload());
    expect(processesOn(folder)).toEqual([]);
    expect(existsSync(join(folder, '.kakutei/demo-publishing/run.json'))).toBe(false);
  });

  test('prints the same fields as the purchase orders, and the same sums last', () => {
    expect(lines.slice(0, -1).map((line) => line['scenario'])).toEqual(SCENARIOS.map(({ name }) => name));
    for (const line of lines.slice(0, -1)) expect(Object.keys(line)).toEqual(ROW);
    expect(lines.at(-1)).toEqual({
      ...{ scenarios: 7, confirmed: 4, unconfirmed: 3, rejected: 0, effects: 8 },
      ...{ duplicates: 0, lost: 0, wronglyConfirmed: 0, handovers: 3 },
      ...{ permissionViolations: 0, reopened: 0 },
    });
  });

  test.each(SCENARIOS)('$name: $state, because $because', (expected) => {
    const { name, state, counts, equal = true, route = 'posts-searchable' } = expected;
    const [intents, attempts, posts, effects] = counts;
    const line = lines.find((each) => each['scenario'] === name);
    const report = state === 'confirmed' ? 'confirmed' : 'unconfirmed';
    expect(line).toMatchObject({ route, state, report, intents, attempts, posts, effects, equal });
    expect(line).toMatchObject({ conflicts: 0, violations: 0, reopened: 0 });
    expect(line?.['errorKinds'], 'one answer was lost').toEqual(['closed_without_answer']);
  });

  test('a person is named both posts that may be meant', () => {
    const [, ...ids] = run.stderr.match(/about POST-203: (\d{19}) or (\d{19}), reason many/) ?? [];
    expect(new Set(ids).size).toBe(2);
  });
});

describe('what cannot run', () => {
  test.each([
    ['an unknown option', ['--fast']],
    ['a chapter that is not there', ['now']],
    ['two chapters', ['warehouse', 'orders']],
    ['a file of orders for the chapter that reads none', ['orders', '--orders', ORDERS]],
    ['an option without its value', ['--orders']],
  ])('%s is usage: exit 2', async (_, args) => {
    const { code, stdout, stderr } = await demo(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/\nUsage: npm run demo -- /);
  });

  test.each([
    ['a file that is not there', undefined, 'Cannot read {file}.'],
    ['a line that is not JSON', '{"route":"warehouse"', '{file}, line 1: not an order.'],
    [
      'a line that is no order',
      `{"route":"warehouse","key":"A","payload":{}}\n{"key":"B"}`,
      '{file}, line 2: not an order.',
    ],
    [
      'an unknown field',
      `{"route":"warehouse","key":"A","payload":{},"urgent":true}`,
      '{file}, line 1: not an order.',
    ],
    ['an empty file', '\n\n', '{file} holds no order.'],
  ])('%s is exit 2 and says where', async (title, text, sentence) => {
    const file = join(folder, `${title.replaceAll(' ', '-')}.jsonl`);
    if (text !== undefined) writeFileSync(file, text);
    const { code, stdout, stderr } = await demo(['--json', '--orders', file]);
    expect({ code, stdout, first: stderr.split('\n')[0] }).toEqual({
      ...{ code: 2, stdout: '', first: sentence.replace('{file}', file) },
    });
  });

  test('without Java it is exit 69 and one sentence with the way to get it', async () => {
    const bin = mkdtempSync(join(folder, 'bin-'));
    symlinkSync(process.execPath, join(bin, 'node'));
    const { code, stdout, stderr } = await demo(['--json', '--orders', ORDERS], { PATH: bin });
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      'Java 17 or newer is needed for DynamoDB Local and was not found; install it ' +
        '(Debian: apt-get install openjdk-17-jre-headless) and start again.',
    );
    expect(processesOn(folder)).toEqual([]);
  });
});

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** How many times over the machine is busy; 1 when it has a core to spare. */
function overload(): number {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}

async function demo(args: readonly string[], env: Record<string, string> = {}) {
  const startedAt = performance.now();
  const ended = await runProgram(join(ROOT, 'lib/local/demo.ts'), args, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', ...env },
  });
  return { ...ended, ms: performance.now() - startedAt };
}

/** `npm run demo -- --json` as a program reads it: a child process, its lines, its exit code. */
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

describe('the whole file', () => {
  let run: Awaited<ReturnType<typeof demo>>;
  let lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    run = await demo(['--json', '--orders', ORDERS]);
    lines = run.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
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

describe('what cannot run', () => {
  test.each([
    ['an unknown option', ['--fast']],
    ['a word too many', ['now']],
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

/** The README is always true: its walk-through is run against the real stack, and what it names exists. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { summarise } from '../../lib/local/demo-judge.ts';
import { type Service, startService } from '../../lib/local/service.ts';
import { EXIT } from '../../lib/local/start.ts';
import { fencesOf, matches } from '../support/documents.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const MARK = '@@ next block @@';

interface Step {
  readonly commands: string;
  /** What the block prints as its last line, or null for one that prints nothing. */
  readonly answer: { readonly status: number; readonly body: unknown } | null;
}

describe.skipIf(process.platform === 'win32')('the walk-through', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'kakutei-readme-'));
  let service: Service;
  beforeAll(async () => {
    service = await startService({ dataDir });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(dataDir, { recursive: true });
  });

  test('answers what it shows, block by block', async () => {
    const steps = stepsOf(README);
    expect(steps.filter((step) => step.answer !== null).length).toBeGreaterThanOrEqual(5);
    const printed = await runAll(steps, service);
    for (const [index, { commands, answer }] of steps.entries()) {
      const lines = (printed[index] ?? '').trim();
      if (answer === null) expect(lines, commands).toBe('');
      else {
        const [, body = '', status = ''] = /^(.*) (\d{3})$/s.exec(lines) ?? [];
        expect({ commands, status }).toEqual({ commands, status: String(answer.status) });
        expect(matches(answer.body, JSON.parse(body)), `${commands}\n${body}`).toBe(true);
      }
    }
  });
});

test('an answer that differs in one value or one member is noticed', () => {
  expect(matches({ a: 1, b: '…' }, { a: 1, b: [2] })).toBe(true);
  expect(matches({ a: 'int_…' }, { a: 'int_12' })).toBe(true);
  expect(matches({ a: 'int_…' }, { a: 'x_12' })).toBe(false);
  expect(matches({ a: 1 }, { a: 2 })).toBe(false);
  expect(matches({ a: 1 }, { a: 1, b: 1 })).toBe(false);
  expect(matches({ a: 1, '…': '…' }, { a: 1, b: 1 })).toBe(true);
  expect(matches({ a: 1, '…': '…' }, { b: 1 })).toBe(false);
  expect(matches({ a: [1, 2] }, { a: [1] })).toBe(false);
});

test('the two commands come first and stand as they are typed', () => {
  const commands = fencesOf(README).filter((fence) => fence.info === 'sh');
  expect(commands.map((fence) => fence.text.trim()).slice(0, 2)).toEqual([
    'npm ci && npm run demo',
    'npm ci && npm test',
  ]);
  expect(README.indexOf('## Two commands')).toBeLessThan(1000);
});

test('every script it names exists, and every script is named', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const named = [
    ...README.matchAll(/npm (?:run (?:--silent )?)?(demo|start|test:bluesky|test|ok|check|synth|bench)\b/g),
  ];
  expect(new Set(named.map((match) => match[1]))).toEqual(new Set(Object.keys(scripts)));
});

test('the exit codes and the sums of the demo are those of the code', () => {
  const said = [...README.matchAll(/\b(\d+) (every invariant|one was broken|wrong usage|the stack could)/g)];
  expect(said.map((match) => Number(match[1]))).toEqual([EXIT.ok, EXIT.broken, EXIT.usage, EXIT.unavailable]);
  const [line] = fencesOf(README).filter((fence) => fence.info === 'json');
  const row = JSON.parse(line?.text ?? 'null');
  const book = new Map([[row.key, [row.externalId]]]);
  const { orders, duplicates, lost, ...counts } = summarise({
    rows: [row],
    book,
    posts: new Map(),
    answers: [],
  });
  expect({ orders, duplicates, lost }).toEqual({ orders: 1, duplicates: 0, lost: 0 });
  expect(Object.keys(counts).filter((name) => !README.includes(`\`${name}\``))).toEqual([]);
});

test('it stays short', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(250);
});

function stepsOf(text: string): Step[] {
  const fences = fencesOf(text);
  return fences.flatMap(({ info, text: commands }, index): Step[] => {
    if (info !== 'sh walkthrough') return [];
    const next = fences[index + 1];
    const [, status] = /^json answer (\d{3})$/.exec(next?.info ?? '') ?? [];
    if (next === undefined || status === undefined) return [{ commands, answer: null }];
    return [{ commands, answer: { status: Number(status), body: JSON.parse(next.text) } }];
  });
}

/** Runs the blocks in one shell, as a reader would, at the address and with the tokens of `service`. */
async function runAll(steps: readonly Step[], service: Service): Promise<string[]> {
  const { submitter, operator, otherTenant } = service.tokens;
  const tokens = { SUBMITTER: submitter, OPERATOR: operator, OTHER_TENANT: otherTenant };
  const blocks = steps.map(({ commands }) => commands.replace('http://127.0.0.1:8787', service.url));
  const script = `set -u\n${blocks.join(`\necho '${MARK}'\n`)}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    env: { ...process.env, ...tokens },
    timeout: 50_000,
  });
  return stdout.split(`${MARK}\n`);
}

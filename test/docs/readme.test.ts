/** The README is always true: what it names exists, and what it and the page on publishing walk through is run. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { summarise } from '../../lib/local/demo-judge.ts';
import { type Service, startService } from '../../lib/local/service.ts';
import { EXIT } from '../../lib/local/start.ts';
import { fencesOf, matches } from '../support/documents.ts';
import { expectAsShown, printedBy, stepsOf } from '../support/walkthrough.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

describe.skipIf(process.platform === 'win32')('a walk through', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'kakutei-readme-'));
  let service: Service;
  beforeAll(async () => {
    service = await startService({ dataDir });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(dataDir, { recursive: true });
  });

  describe.each([
    { page: 'README.md', least: 5 },
    { page: 'docs/publishing.md', least: 15 },
  ])('of $page', ({ page, least }) => {
    test('answers what it shows, block by block', { timeout: 150_000 }, async () => {
      const steps = stepsOf(readFileSync(join(ROOT, page), 'utf8'));
      expect(steps.filter((step) => step.answer !== null).length).toBeGreaterThanOrEqual(least);
      const printed = await printedBy(steps, service, dataDir, { MEDIUM: service.mediumUrl ?? '' });
      for (const [index, step] of steps.entries()) expectAsShown(step, printed[index] ?? '');
    });
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

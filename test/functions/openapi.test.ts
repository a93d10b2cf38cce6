/** The published document says what the API is: every endpoint, every problem, and examples of its own form. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as answers from '../../functions/answer-schemas.ts';
import { apiDocument, OPERATIONS } from '../../functions/api-document.ts';
import { EXAMPLES, problemIn } from '../../functions/api-examples.ts';
import { endpoints } from '../../functions/endpoints.ts';
import { handler } from '../../functions/openapi.ts';
import { PROBLEMS } from '../../functions/problem.ts';
import { contractOf } from '../support/published-contract.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TEXT = JSON.stringify(apiDocument());
const contract = contractOf(TEXT);
const named = endpoints.map((endpoint) => ({ name: endpoint.function, endpoint }));

describe('every endpoint', () => {
  test('is described, and nothing else is', () => {
    expect(Object.keys(OPERATIONS).sort()).toEqual(
      [...new Set(endpoints.map((each) => each.function))].sort(),
    );
  });

  test.each(named)('$name stands under its own name, method and path', ({ name, endpoint }) => {
    const { method, path } = contract.operations.get(name) ?? {};
    expect({ method, path }).toEqual({ method: endpoint.method, path: endpoint.path });
  });

  test.each(named)('$name asks for the scope of the table', ({ name, endpoint }) => {
    const { paths } = JSON.parse(TEXT) as { paths: Record<string, Record<string, { security: unknown }>> };
    const security = paths[endpoint.path]?.[endpoint.method.toLowerCase()]?.security;
    expect(security).toEqual(endpoint.scope === null ? [] : [{ token: [endpoint.scope] }]);
    expect(contract.operations.get(name)?.statuses.includes(401)).toBe(
      endpoint.scope !== null || name === 'take-evidence',
    );
  });

  test.each(named)('$name has an example that succeeds', ({ name }) => {
    const good = EXAMPLES.filter((each) => each.operation === name && each.status < 300);
    expect(good.length).toBeGreaterThan(0);
  });
});

describe('problems', () => {
  test('each one is an answer of some operation', () => {
    const told = new Set(Object.values(OPERATIONS).flatMap((operation) => operation.problems));
    expect(Object.keys(PROBLEMS).filter((name) => !told.has(name as keyof typeof PROBLEMS))).toEqual([]);
  });

  test.each(Object.keys(OPERATIONS))('%s narrows its problems to its own', (name) => {
    for (const problem of Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[]) {
      const { status, title } = PROBLEMS[problem];
      const media = contract.operations.get(name)?.answer(status, 'application/problem+json');
      const value = { type: `/problems/${problem}`, title, status };
      const fits = media !== undefined && contract.misfits(media, value).length === 0;
      expect(fits, problem).toBe(OPERATIONS[name]?.problems.includes(problem));
    }
  });

  test('an endpoint that reads a body can refuse it as invalid and as too large', () => {
    const reads = Object.entries(OPERATIONS).filter(([, { body }]) => body !== undefined);
    const mute = reads.filter(
      ([, { problems }]) => !['invalid-request', 'too-large'].every((one) => includes(problems, one)),
    );
    expect(mute.map(([name]) => name)).toEqual([]);
  });
});

describe('examples', () => {
  test.each(EXAMPLES)('$operation $name is of the published form', (example) => {
    const operation = contract.operations.get(example.operation);
    if (example.body !== undefined) {
      if (operation?.body === undefined) throw new Error('the operation reads no body');
      expect(contract.misfits(operation.body, example.body)).toEqual([]);
    }
    const type = problemIn(example) === undefined ? 'application/json' : 'application/problem+json';
    const media = operation?.answer(example.status, type);
    expect(operation?.statuses).toContain(example.status);
    if (example.answer === undefined) expect(media).toBeUndefined();
    else if (media === undefined) throw new Error('the status is not described');
    else {
      expect(media.examples[example.name]?.value).toEqual(example.answer);
      expect(contract.misfits(media, example.answer)).toEqual([]);
    }
  });

  test('no two of an operation have one name', () => {
    const names = EXAMPLES.map(({ operation, name }) => `${operation} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('a field that is missing, strange or of another type is noticed', () => {
    const media = contract.operations.get('show')?.answer(200, 'application/json');
    const { answer } = EXAMPLES.find(({ operation, status }) => operation === 'show' && status === 200) ?? {};
    if (media === undefined) throw new Error('show is not described');
    const intent = answer as Record<string, unknown>;
    const { state: _state, ...stateless } = intent;
    const others = [
      stateless,
      { ...intent, tenant: 'acme' },
      { ...intent, attempts: '1' },
      { ...intent, receipt: {} },
    ];
    expect(contract.misfits(media, intent)).toEqual([]);
    expect(others.filter((other) => contract.misfits(media, other).length === 0)).toEqual([]);
  });
});

describe('the document', () => {
  test('is answered to everybody, and is the same each time', async () => {
    const [first, second] = [
      await handler({ headers: {} } as never),
      await handler({ headers: {} } as never),
    ];
    expect(first).toMatchObject({ statusCode: 200, headers: { 'content-type': 'application/json' } });
    expect(first.body).toBe(TEXT);
    expect(second.body).toBe(TEXT);
  });

  test('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(answers.document.parse(JSON.parse(TEXT)).info.version).toBe(version);
  });

  test('has patterns that every reader of a schema takes alike', () => {
    const patterns = [...TEXT.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map((match) =>
      JSON.parse(match[1] ?? '""'),
    );
    expect(patterns.length).toBeGreaterThan(3);
    for (const pattern of patterns) {
      expect(pattern).not.toMatch(/\/[a-z]+$/);
      expect(pattern).not.toMatch(/\\[pP]\{/);
      expect(() => [new RegExp(pattern), new RegExp(pattern, 'u')]).not.toThrow();
    }
  });

  test('passes the linter without a finding; one that is spoilt does not', () => {
    const { operationId: _id, ...unnamed } = spoilable().paths['/health']?.['get'] ?? {};
    const spoilt = { ...spoilable(), paths: { '/health': { get: unnamed } } };
    expect(linted(TEXT)).toEqual({ status: 0, errors: 0, warnings: 0 });
    expect(linted(JSON.stringify(spoilt)).warnings).toBeGreaterThan(0);
  });
});

function spoilable(): { paths: Record<string, Record<string, Record<string, unknown>>> } {
  return JSON.parse(TEXT);
}

function linted(text: string): { status: number | null; errors: number; warnings: number } {
  const folder = mkdtempSync(join(tmpdir(), 'kakutei-openapi-'));
  try {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, text);
    const cli = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
    const args = [cli, 'lint', file, '--config', join(ROOT, 'redocly.yaml'), '--format', 'json'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    const { totals } = JSON.parse(stdout) as { totals: { errors: number; warnings: number } };
    return { status, errors: totals.errors, warnings: totals.warnings };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function includes(all: readonly string[], one: string): boolean {
  return all.includes(one);
}

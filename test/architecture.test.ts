/**
 * Dependencies flow one way. Each rule is shown to be able to fail on a small tree of forbidden imports, so
 * that a rule which no longer matches anything is red and not silent.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cruised, RULES } from './support/layers.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** A cruise that sees less than this has not seen the product. */
const FEWEST_FILES = 80;
const FEWEST_IMPORTS = 250;

describe('the product', () => {
  let seen: Awaited<ReturnType<typeof cruised>>;
  beforeAll(async () => {
    seen = await cruised(ROOT);
  });

  test('was looked at: every import of our own files was found', () => {
    const ours = seen.modules.filter((module) => /^(cdk|functions|lib)\//.test(module.source));
    const imports = ours.flatMap((module) => module.dependencies);
    expect(ours.length).toBeGreaterThan(FEWEST_FILES);
    expect(imports.length).toBeGreaterThan(FEWEST_IMPORTS);
    expect(imports.filter((each) => each.couldNotResolve && each.module.startsWith('.'))).toEqual([]);
    expect(imports.some((each) => each.dependencyTypes.includes('type-only'))).toBe(true);
  });

  test('keeps every rule', () => {
    const broken = seen.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
    expect(broken).toEqual([]);
  });
});

interface Forbidden {
  readonly rule: string;
  readonly from: string;
  /** A file of ours, or a module specifier. */
  readonly to: string;
  readonly typeOnly?: true;
}

const FORBIDDEN: readonly Forbidden[] = [
  { rule: 'layer:lib/domain', from: 'lib/domain/a1.ts', to: 'lib/platform/clock.ts' },
  { rule: 'layer:lib/domain', from: 'lib/domain/a2.ts', to: 'lib/ledger/ledger.ts', typeOnly: true },
  { rule: 'domain-is-pure', from: 'lib/domain/a3.ts', to: 'zod' },
  { rule: 'domain-is-pure', from: 'lib/domain/a4.ts', to: 'node:fs' },
  { rule: 'domain-is-pure', from: 'lib/domain/a5.ts', to: 'dinero.js' },
  { rule: 'layer:lib/platform', from: 'lib/platform/b1.ts', to: 'lib/workflow/send.ts' },
  { rule: 'platform-knows-types-of-the-domain-only', from: 'lib/platform/b2.ts', to: 'lib/domain/intent.ts' },
  { rule: 'layer:lib/ledger', from: 'lib/ledger/c1.ts', to: 'lib/providers/provider.ts', typeOnly: true },
  { rule: 'layer:lib/ledger', from: 'lib/ledger/c2.ts', to: 'lib/workflow/send.ts' },
  { rule: 'layer:lib/providers', from: 'lib/providers/d1.ts', to: 'lib/ledger/ledger.ts', typeOnly: true },
  { rule: 'layer:lib/providers', from: 'lib/providers/d2.ts', to: 'lib/simulators/warehouse.ts' },
  { rule: 'layer:lib/workflow', from: 'lib/workflow/e1.ts', to: 'lib/ledger/dynamo-ledger.ts' },
  { rule: 'layer:lib/workflow', from: 'lib/workflow/e2.ts', to: 'lib/operations/trail.ts' },
  { rule: 'layer:lib/workflow', from: 'lib/workflow/e3.ts', to: 'lib/local/stack.ts' },
  { rule: 'layer:lib/operations', from: 'lib/operations/f1.ts', to: 'functions/endpoints.ts' },
  { rule: 'layer:lib/cli', from: 'lib/cli/q1.ts', to: 'lib/operations/trail.ts' },
  { rule: 'layer:lib/cli', from: 'lib/cli/q2.ts', to: 'functions/endpoints.ts', typeOnly: true },
  { rule: 'layer:functions', from: 'functions/g1.ts', to: 'lib/local/stack.ts' },
  { rule: 'layer:functions', from: 'functions/g2.ts', to: 'lib/simulators/warehouse.ts' },
  { rule: 'layer:cdk', from: 'cdk/h1.ts', to: 'lib/platform/config.ts' },
  { rule: 'layer:cdk', from: 'cdk/h2.ts', to: 'functions/handler.ts', typeOnly: true },
  { rule: 'layer:lib/simulators', from: 'lib/simulators/i1.ts', to: 'lib/domain/intent.ts' },
  { rule: 'simulators-share-nothing', from: 'lib/simulators/i2.ts', to: 'lossless-json' },
  { rule: 'one-sender', from: 'lib/workflow/j1.ts', to: 'lib/providers/transport.ts' },
  { rule: 'one-sender', from: 'functions/j2.ts', to: 'lib/providers/transport.ts' },
  { rule: 'one-sender', from: 'lib/workflow/j3.ts', to: 'lib/providers/session-call.ts' },
  { rule: 'one-asker', from: 'lib/providers/j4.ts', to: 'lib/providers/bounded-fetch.ts' },
  { rule: 'one-place-for-sockets', from: 'lib/providers/k1.ts', to: 'node:https' },
  { rule: 'no-children', from: 'lib/workflow/l1.ts', to: 'node:worker_threads' },
  { rule: 'one-edge', from: 'lib/operations/m1.ts', to: '@middy/core' },
  { rule: 'no-cycles', from: 'lib/domain/n1.ts', to: 'lib/domain/n2.ts' },
];

const ALLOWED: readonly Omit<Forbidden, 'rule'>[] = [
  { from: 'lib/domain/o1.ts', to: 'node:crypto' },
  { from: 'lib/domain/o6.ts', to: 'big.js' },
  { from: 'lib/domain/o7.ts', to: 'dinero.js/currencies' },
  { from: 'lib/platform/o2.ts', to: 'lib/domain/intent.ts', typeOnly: true },
  { from: 'lib/workflow/o3.ts', to: 'lib/providers/transport.ts', typeOnly: true },
  { from: 'functions/wiring.ts', to: 'lib/providers/transport.ts' },
  { from: 'cdk/o4.ts', to: 'functions/endpoints.ts' },
  { from: 'lib/cli/o8.ts', to: 'lib/domain/intent.ts' },
  { from: 'lib/local/o5.ts', to: 'lib/simulators/warehouse.ts' },
  // A cycle is told once; here is its other half, and one that is gone at run time.
  { from: 'lib/domain/n2.ts', to: 'lib/domain/n1.ts' },
  { from: 'lib/domain/p1.ts', to: 'lib/domain/p2.ts', typeOnly: true },
  { from: 'lib/domain/p2.ts', to: 'lib/domain/p1.ts' },
];

describe('each rule can fail', () => {
  const tree = mkdtempSync(join(tmpdir(), 'kakutei-layers-'));
  let found: readonly string[];
  beforeAll(async () => {
    const edges = [...FORBIDDEN, ...ALLOWED];
    for (const { to } of edges) if (to.endsWith('.ts')) write(tree, to, 'export const it = 1;\n');
    for (const edge of edges) write(tree, edge.from, importOf(edge));
    const { summary } = await cruised(tree);
    found = summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`);
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  test.each(FORBIDDEN)('$rule refuses $to in $from', ({ rule, from }) => {
    expect(found).toContain(`${rule}: ${from}`);
  });

  test.each(ALLOWED)('nothing is wrong with $to in $from', ({ from }) => {
    expect(found.filter((each) => each.endsWith(`: ${from}`))).toEqual([]);
  });

  test('no rule is without its example', () => {
    expect(new Set(FORBIDDEN.map((each) => each.rule))).toEqual(new Set(RULES.map((rule) => rule.name)));
  });
});

function importOf({ from, to, typeOnly }: Omit<Forbidden, 'rule'>): string {
  const path = relative(dirname(from), to).replaceAll('\\', '/');
  const specifier = to.endsWith('.ts') ? (path.startsWith('.') ? path : `./${path}`) : to;
  return `import ${typeOnly === true ? 'type ' : ''}* as it from '${specifier}';\nexport { it };\n`;
}

function write(tree: string, file: string, text: string): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true });
  writeFileSync(join(tree, file), text);
}

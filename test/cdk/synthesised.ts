/**
 * The stack as it would be deployed, from stub bundles (what is in them is the matter of bundles.test.ts),
 * and plain views of its template that tests can compare.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import * as z from 'zod';
import { deployedFunctions } from '../../cdk/deployed.ts';
import { KakuteiStack } from '../../cdk/stack.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
export const TOKENS = { issuer: 'https://issuer.example.com/', audience: 'kakutei' };

const base = mkdtempSync(join(tmpdir(), 'kakutei-cdk-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A new folder outside the repository, gone when the tests of the file are over. */
export function newFolder(): string {
  return mkdtempSync(join(base, 'test-'));
}

/** CloudFormation's own rules take seconds to load; app.test.ts runs them once. */
const FAST = { '@aws-cdk/core:validateAgainstDefaultRules': false };

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});
const resources = z.record(z.string(), resource);

export type Resource = z.infer<typeof resource>;

export interface Synthesised {
  readonly outputs: readonly string[];
  /** By logical id without the hash. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** The whole template as text. */
  readonly text: string;
}

export function synthesised(routesFile = join(ROOT, 'routes.json')): Synthesised {
  const template = Template.fromStack(described(routesFile)).toJSON();
  const named = Object.entries(resources.parse(template['Resources'])).map(
    ([id, value]) => [plain(id), value] as const,
  );
  return {
    outputs: Object.keys(z.record(z.string(), z.unknown()).parse(template['Outputs'])),
    resources: new Map(named),
    text: JSON.stringify(template),
  };
}

/** The stack before it is made into a template. */
export function described(routesFile = join(ROOT, 'routes.json')): KakuteiStack {
  const folder = newFolder();
  const app = new App({ outdir: join(folder, 'out'), context: FAST });
  const bundles = deployedFunctions().map(({ name }) => stubBundle(folder, name));
  return new KakuteiStack(app, 'Kakutei', { bundles, routesFile, tokens: TOKENS, sendConcurrency: 7 });
}

export function ofType(stack: Synthesised, type: string): readonly (readonly [string, Resource])[] {
  return [...stack.resources].filter(([, value]) => value.Type === type);
}

/** A reference as one word: `Ledger`, `Ledger/index/due`, `*`, or the literal text. */
export function nameOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const known = reference.safeParse(value);
  if (!known.success) return JSON.stringify(value);
  if ('Ref' in known.data) return plain(known.data.Ref);
  if ('Fn::GetAtt' in known.data) return plain(known.data['Fn::GetAtt'][0]);
  return known.data['Fn::Join'][1].map(nameOf).join(known.data['Fn::Join'][0]);
}

const reference = z.union([
  z.strictObject({ Ref: z.string() }),
  z.strictObject({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }),
  z.strictObject({ 'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]) }),
]);

function plain(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}

function stubBundle(folder: string, name: string) {
  const dir = join(folder, name);
  mkdirSync(dir);
  writeFileSync(join(dir, 'index.mjs'), `// ${name}`);
  return { name, dir, bytes: 0 };
}

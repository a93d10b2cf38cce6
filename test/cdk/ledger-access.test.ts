/**
 * A role that lacks what its function does shows only in the cloud, and one that has more shows never. What a
 * function can do stands in its bundle: what it does not reach is not in it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { bundleAll } from '../../cdk/bundle.ts';
import { deployedFunctions, type TableAction } from '../../cdk/deployed.ts';
import { endpoints } from '../../functions/endpoints.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { DRY_RUN } from '../../lib/platform/names.ts';
import { newFolder, ROOT } from './synthesised.ts';

type Need = TableAction | 'due' | 'list' | 'attention';

/** What each call of the ledger asks of DynamoDB; a large request stands in an item of its own, hence GetItem. */
const NEEDS: Readonly<Record<keyof Ledger, readonly Need[]>> = {
  create: ['PutItem', 'GetItem'],
  read: ['GetItem'],
  readForSend: ['BatchGetItem', 'GetItem'],
  save: ['UpdateItem', 'GetItem'],
  bind: ['PutItem'],
  boundTo: ['GetItem'],
  hold: ['PutItem'],
  beginSearch: ['GetItem', 'UpdateItem'],
  takeCalls: ['UpdateItem'],
  endSearch: ['UpdateItem'],
  addEvidence: ['PutItem'],
  evidence: ['Query'],
  countConflicts: ['Query'],
  due: ['due'],
  takeEvent: ['PutItem'],
  saveEvent: ['PutItem'],
  dueEvents: ['due', 'GetItem'],
  attention: ['attention', 'GetItem'],
  list: ['list', 'GetItem'],
  thaw: ['PutItem'],
  freeze: ['PutItem'],
};

const texts = new Map<string, string>();
beforeAll(async () => {
  const bundles = await bundleAll({
    names: deployedFunctions().map(({ name }) => name),
    functionsDir: join(ROOT, 'functions'),
    outDir: newFolder(),
    routesFile: join(ROOT, 'routes.json'),
  });
  for (const { name, dir } of bundles) texts.set(name, readFileSync(join(dir, 'index.mjs'), 'utf8'));
}, 60_000);

function ledgerCalls(text: string): readonly (keyof Ledger)[] {
  const found = [...text.matchAll(/\.ledger\.(\w+)\(/g)].map(([, method]) => method);
  return Object.keys(NEEDS).filter((method): method is keyof Ledger => found.includes(method));
}

test.each(deployedFunctions())('$name may do to the ledger what it does, and no more', ({ name, access }) => {
  const needed = ledgerCalls(texts.get(name) ?? '').flatMap((method) => NEEDS[method]);
  const allowed = access.index === undefined ? access.table : [...access.table, access.index];
  expect([...allowed].sort()).toEqual([...new Set(needed)].sort());
});

test('only bundles of functions that may read secrets can ask for one', () => {
  const wanted = deployedFunctions().filter(({ access }) => access.secrets !== undefined);
  expect(having('GetSecretValue')).toEqual(wanted.map(({ name }) => name));
});

test('only bundles of functions that start runs can start one', () => {
  const wanted = deployedFunctions().filter(({ access }) => access.startsRuns === true);
  expect(having('StartExecution')).toEqual(wanted.map(({ name }) => name));
});

test('only bundles of functions that may invoke another can do it, and none of them can read a secret', () => {
  const wanted = deployedFunctions().filter(({ access }) => access.invokes !== undefined);
  expect(having('X-Amz-Invocation-Type')).toEqual(wanted.map(({ name }) => name));
  expect(wanted.map(({ name, access }) => [name, access.invokes])).toEqual([['reconcile', DRY_RUN.function]]);
  const asking = endpoints.filter((each) => each.asks !== undefined);
  expect(asking.map((each) => [each.function, each.asks])).toEqual([['reconcile', DRY_RUN.function]]);
  expect(having('GetSecretValue').filter((name) => wanted.some((each) => each.name === name))).toEqual([]);
});

function having(word: string): readonly string[] {
  return [...texts].filter(([, text]) => text.includes(word)).map(([name]) => name);
}

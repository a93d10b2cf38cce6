/** Size of every deployed bundle, and how long a fresh Node needs for its import alone. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleAll } from '../../cdk/bundle.ts';
import { deployedFunctions } from '../../cdk/deployed.ts';
import { STEPS } from '../../lib/platform/names.ts';
import { median } from './rate.ts';

export interface BundleCost {
  readonly name: string;
  readonly bytes: number;
  /** Greatest size allowed. */
  readonly limit: number;
  /** Median of `IMPORTS`, each in a new process, ms; the start of Node is not in it. */
  readonly importMs: number;
}

export const IMPORTS = 3;
const ROOT = resolve(import.meta.dirname, '../..');
const SMALL: readonly string[] = [STEPS.Send.function, STEPS.Search.function];
const LIMITS = { small: 500_000, other: 600_000 };

const TIMED = `
const start = performance.now();
await import(process.argv[1]);
process.stdout.write(String(performance.now() - start));
process.exit(0);
`;

/** Bundles everything as for a deployment, into a folder that is gone afterwards. */
export async function measureBundles(): Promise<readonly BundleCost[]> {
  const dir = mkdtempSync(join(tmpdir(), 'kakutei-bundles-'));
  try {
    const bundles = await bundleAll({
      names: deployedFunctions().map(({ name }) => name),
      functionsDir: join(ROOT, 'functions'),
      outDir: join(dir, 'bundles'),
      routesFile: join(ROOT, 'routes.json'),
    });
    const costs: BundleCost[] = [];
    for (const { name, bytes, dir: folder } of bundles) {
      const limit = SMALL.includes(name) ? LIMITS.small : LIMITS.other;
      costs.push({ name, bytes, limit, importMs: await importMs(join(folder, 'index.mjs')) });
    }
    return costs;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function importMs(file: string): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < IMPORTS; turn += 1) {
    const args = ['--input-type=module', '--eval', TIMED, pathToFileURL(file).href];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    times.push(Number(stdout));
  }
  return median(times);
}

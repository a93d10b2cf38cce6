/**
 * Installs this package as its lockfile says, and only when the last install was of another lockfile:
 * it is large, and `npm ci` begins by deleting everything. No install script runs.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const MARK = join(HERE, 'node_modules/.installed');

const wanted = createHash('sha256')
  .update(readFileSync(join(HERE, 'package-lock.json')))
  .digest('hex');

if (installed() !== wanted) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const flags = ['ci', '--prefix', HERE, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync(npm, flags, {
    cwd: HERE,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(MARK, wanted);
}

function installed(): string | null {
  try {
    return readFileSync(MARK, 'utf8');
  } catch {
    return null;
  }
}

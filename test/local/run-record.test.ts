import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AlreadyRunning } from '../../lib/local/cannot-start.ts';
import { startTimeOf } from '../../lib/local/process-identity.ts';
import { claimRun, type RunRecord } from '../../lib/local/run-record.ts';
import { endAll, idleChild, isRunning, runModule, stubbornChild, type TestChild } from './child-process.ts';

const SOURCE = new URL('../../lib/local/run-record.ts', import.meta.url).href;
const SHORT_GRACE_MS = 50;
let dir = '';
let record: RunRecord | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kakutei-run-'));
});

afterEach(async () => {
  record?.release();
  record = undefined;
  await endAll();
  rmSync(dir, { recursive: true, force: true });
});

test('what was started is written down with its start time, and forgotten on release', async () => {
  const { pid } = await idleChild();
  record = await claimRun(dir);
  record.remember({ name: 'warehouse', pid, endpoint: 'http://127.0.0.1:1' });
  expect(stored()).toEqual({
    owner: { pid: process.pid, startTime: startTimeOf(process.pid) },
    children: [{ name: 'warehouse', pid, startTime: startTimeOf(pid), endpoint: 'http://127.0.0.1:1' }],
  });
  record.release();
  expect(existsSync(join(dir, 'run.json'))).toBe(false);
});

test('a second claim on the same data is refused and names the owner', async () => {
  record = await claimRun(dir);
  await expect(claimRun(dir)).rejects.toThrow(AlreadyRunning);
  await expect(claimRun(dir)).rejects.toMatchObject({ pid: process.pid });
});

test('released data can be claimed again', async () => {
  (await claimRun(dir)).release();
  record = await claimRun(dir);
  expect(record.ended).toEqual([]);
});

test('a claim of another live process is refused and names that process', async () => {
  const owner = await runModule(ownerSource(''));
  await expect(claimRun(dir)).rejects.toMatchObject({ name: 'AlreadyRunning', pid: owner.pid });
});

test('the children of an owner that was killed are ended by the next claim', async () => {
  const { owner, orphanPid } = await ownerWithChild();
  await kill(owner);
  expect(startTimeOf(orphanPid)).not.toBeNull();
  record = await claimRun(dir);
  expect(record.ended.map((child) => child.pid)).toEqual([orphanPid]);
  expect(startTimeOf(orphanPid)).toBeNull();
  expect(stored()).toMatchObject({ owner: { pid: process.pid }, children: [] });
});

test('a leftover child that ignores the request to end is ended all the same', async () => {
  const stubborn = await stubbornChild();
  write(await deadOwner(), [{ name: 'stubborn', pid: stubborn.pid, startTime: startTimeOf(stubborn.pid) }]);
  const exited = once(stubborn.child, 'exit');
  record = await claimRun(dir, SHORT_GRACE_MS);
  expect(await exited).toEqual([null, 'SIGKILL']);
});

test('a process that only has the pid of a leftover child, with another start time, is left alone', async () => {
  const stranger = await idleChild();
  write(await deadOwner(), [{ name: 'ours', pid: stranger.pid, startTime: 'another time' }]);
  record = await claimRun(dir, SHORT_GRACE_MS);
  expect(record.ended).toEqual([]);
  expect(isRunning(stranger.child)).toBe(true);
});

test('a process that only has the pid of the old owner does not block a claim', async () => {
  const stranger = await idleChild();
  write({ pid: stranger.pid, startTime: 'another time' }, []);
  record = await claimRun(dir);
  expect(isRunning(stranger.child)).toBe(true);
});

test('a live owner keeps the data even when its lock file was deleted', async () => {
  const owner = await runModule(ownerSource(''));
  rmSync(join(dir, 'run.lock'));
  await expect(claimRun(dir)).rejects.toMatchObject({ pid: owner.pid });
});

test('a cut record blocks nobody', async () => {
  writeFileSync(join(dir, 'run.json'), '{"owner":{"pid":');
  record = await claimRun(dir);
  expect(stored()).toMatchObject({ owner: { pid: process.pid } });
});

test('a child that has already ended is not written down', async () => {
  const gone = await idleChild();
  await kill(gone);
  record = await claimRun(dir);
  record.remember({ name: 'gone', pid: gone.pid });
  expect(stored()).toMatchObject({ children: [] });
});

test('of simultaneous claims exactly one wins', async () => {
  // A crashed owner's record makes it harder: all of them find something to clean up.
  write(await deadOwner(), []);
  const claimants = await Promise.all(Array.from({ length: 5 }, () => runModule(claimantSource())));
  const results = claimants.map(({ child }) => once(child.stdout ?? process.stdin, 'data'));
  for (const { child } of claimants) child.stdin?.write('go\n');
  const words = (await Promise.all(results)).map(([line]) => String(line).trim());
  expect(words.toSorted()).toEqual([...Array(4).fill('AlreadyRunning'), 'won']);
});

function stored(): unknown {
  return JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8'));
}

function write(owner: object, children: object[]): void {
  writeFileSync(join(dir, 'run.json'), JSON.stringify({ owner, children }));
}

async function deadOwner(): Promise<{ pid: number; startTime: string | null }> {
  const owner = await idleChild();
  const startTime = startTimeOf(owner.pid);
  await kill(owner);
  return { pid: owner.pid, startTime };
}

async function kill({ child }: TestChild): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Claims the data, runs `then`, prints a line, stays. */
function ownerSource(then: string): string {
  return `
    import { spawn } from 'node:child_process';
    import { claimRun } from '${SOURCE}';
    const record = await claimRun(${JSON.stringify(dir)});
    ${then || "console.log('claimed');"}
    setInterval(() => {}, 60_000);
  `;
}

async function ownerWithChild(): Promise<{ owner: TestChild; orphanPid: number }> {
  const owner = await runModule(
    ownerSource(`
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { stdio: 'ignore' });
      record.remember({ name: 'child', pid: child.pid });
      console.log(child.pid);
    `),
  );
  return { owner, orphanPid: Number(owner.startedWith) };
}

/** Ready first, so that all of them claim in the same moment. */
function claimantSource(): string {
  return `
    import { once } from 'node:events';
    import { claimRun } from '${SOURCE}';
    console.log('ready');
    await once(process.stdin, 'data');
    const word = await claimRun(${JSON.stringify(dir)}).then(() => 'won', (error) => error.name);
    console.log(word);
    setInterval(() => {}, 60_000);
  `;
}

/**
 * What the local stack has started, remembered in `run.json` beside its data, so that a crash or a second
 * start never splits the ledger.
 *
 * Only one stack at a time owns the data: an operating-system lock (an exclusive SQLite transaction on
 * `run.lock`) that ends with its process, however that ends, so no lock is ever stale. Children of a crashed
 * owner are ended by pid, but only if the start time agrees too. Not covered: a child whose owner dies between
 * spawning it and calling `remember`, two synchronous lines; call `remember` at once.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { systemClock } from '../platform/clock.ts';
import { AlreadyRunning } from './cannot-start.ts';
import { startTimeOf } from './process-identity.ts';

const SQLITE_BUSY = 5;
const GRACE_MS = 3_000;
const POLL_MS = 25;

const processSchema = z.strictObject({ pid: z.int().positive(), startTime: z.string().min(1) });
const childSchema = processSchema.extend({ name: z.string(), endpoint: z.string().optional() });
const recordSchema = z.strictObject({ owner: processSchema, children: z.array(childSchema) });

type Identity = z.infer<typeof processSchema>;
export type RememberedChild = z.infer<typeof childSchema>;
type Stored = z.infer<typeof recordSchema>;

export interface RunRecord {
  /** Children of an earlier, crashed owner that this claim ended. */
  readonly ended: readonly RememberedChild[];
  /** Writes a child down before it can outlive us. One that has ended already is not written down. */
  readonly remember: (child: {
    readonly name: string;
    readonly pid: number;
    readonly endpoint?: string;
  }) => void;
  /** Gives the data free. End the children first. Safe to call twice. */
  readonly release: () => void;
}

/** Held here too: a lock that is collected as garbage would be a lock given up. */
const held = new Set<DatabaseSync>();

/**
 * Takes the data in `dir` for this process and ends what a crashed owner left running.
 * Refused with `AlreadyRunning` when a live stack owns it; of simultaneous claims exactly one wins.
 *
 * @param graceMs between asking a leftover child to end and ending it, ms.
 */
export async function claimRun(dir: string, graceMs: number = GRACE_MS): Promise<RunRecord> {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'run.json');
  const lock = takeLock(join(dir, 'run.lock'));
  const before = read(file);
  if (lock === null) throw new AlreadyRunning(dir, liveOwner(before));
  try {
    const rival = liveOwner(before);
    // The lock file may have been deleted under a live stack, which then still owns the data.
    if (rival !== null) throw new AlreadyRunning(dir, rival);
    return await takeOver(file, lock, before?.children ?? [], graceMs);
  } catch (error) {
    giveUp(lock);
    throw error;
  }
}

async function takeOver(
  file: string,
  lock: DatabaseSync,
  leftovers: readonly RememberedChild[],
  graceMs: number,
): Promise<RunRecord> {
  const owner = identityOf(process.pid);
  if (owner === null) throw new Error(`Cannot read the start time of this process, ${process.pid}`);
  // Leftovers stay written down until they are gone: this claim may crash as well.
  write(file, { owner, children: [...leftovers] });
  const alive = leftovers.filter(isAlive);
  await Promise.all(alive.map((child) => end(child, graceMs)));
  const children: RememberedChild[] = [];
  write(file, { owner, children });
  return {
    ended: alive,
    remember: (child) => {
      const identity = identityOf(child.pid);
      if (identity === null) return;
      children.push({ ...child, ...identity });
      write(file, { owner, children });
    },
    release: () => {
      if (!held.has(lock)) return;
      rmSync(file, { force: true });
      giveUp(lock);
    },
  };
}

function takeLock(file: string): DatabaseSync | null {
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    held.add(lock);
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
}

function giveUp(lock: DatabaseSync): void {
  held.delete(lock);
  lock.close();
}

async function end(child: RememberedChild, graceMs: number): Promise<void> {
  signal(child, 'SIGTERM');
  const deadline = systemClock.now() + graceMs;
  while (isAlive(child)) {
    if (systemClock.now() >= deadline) signal(child, 'SIGKILL');
    await systemClock.sleep(POLL_MS);
  }
}

function signal(child: RememberedChild, name: 'SIGTERM' | 'SIGKILL'): void {
  if (!isAlive(child)) return;
  try {
    process.kill(child.pid, name);
  } catch (error) {
    // It may end by itself between the look and the signal.
    if (isAlive(child)) throw error;
  }
}

function liveOwner(record: Stored | null): number | null {
  return record !== null && isAlive(record.owner) ? record.owner.pid : null;
}

function isAlive(identity: Identity): boolean {
  return startTimeOf(identity.pid) === identity.startTime;
}

function identityOf(pid: number): Identity | null {
  const startTime = startTimeOf(pid);
  return startTime === null ? null : { pid, startTime };
}

function read(file: string): Stored | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Missing, or cut by a power loss, which no child survives: writes are replaced whole.
    return null;
  }
}

function write(file: string, record: Stored): void {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(record, null, 2)}\n`);
  renameSync(next, file);
}

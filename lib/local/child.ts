/**
 * Child processes of the local stack: waiting for the end of one, and making sure that it comes.
 */
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * How Node runs in the local stack. Sized for one machine that does other things too: left to itself V8 takes the
 * young generation from the memory that is there and keeps it, tens of megabytes a thread.
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=2',
  '--max-old-space-size=128',
  '--v8-pool-size=1',
  '--optimize-for-size',
];

/** Types stripped once are not stripped again: later starts are faster, and every process and thread smaller. */
export const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/kakutei', import.meta.url));

export interface ChildExit {
  /** null when a signal ended it, or when it could not be started at all. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Resolves when the child has ended, also if it had ended before or was never started. Never rejects. */
export function exitOf(child: ChildProcess): Promise<ChildExit> {
  return new Promise((resolve) => {
    if (hasExited(child)) {
      resolve({ code: child.exitCode, signal: child.signalCode });
      return;
    }
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => {
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}

/** Asks the child to end, and after `graceMs` no longer asks. Resolves when it has ended. */
export async function endChild(child: ChildProcess, graceMs: number): Promise<void> {
  if (hasExited(child) || child.pid === undefined) return;
  const exited = exitOf(child);
  child.kill('SIGTERM');
  const deadline = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(deadline);
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

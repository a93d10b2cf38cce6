/** A simulated provider as a child process with its own book. It ends with us: its standard input is our life. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CannotStart } from './cannot-start.ts';
import { endChild, exitOf, NODE_FLAGS } from './child.ts';

const STOP_GRACE_MS = 3000;

export interface SimulatorProcessOptions {
  /** Name of the file in `lib/simulators`, and what messages call it. */
  readonly module: 'warehouse' | 'suppliers' | 'medium';
  readonly args: readonly (readonly string[])[];
  /** Secrets go this way: a command line is seen by everybody. */
  readonly env: Readonly<Record<string, string>>;
  readonly onSpawn: (pid: number) => void;
  readonly onExit: () => void;
}

/** Resolves with its ready line when it answers; throws `CannotStart` when it ends first. */
export async function startSimulatorProcess<Line>(
  options: SimulatorProcessOptions,
): Promise<{ ready: Line; stop: () => Promise<void> }> {
  const module = fileURLToPath(new URL(`../simulators/${options.module}.ts`, import.meta.url));
  const args = [...options.args.flat(), '--control', '--with-parent'];
  const child = spawn(process.execPath, [...NODE_FLAGS, module, ...args], {
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.pid !== undefined) options.onSpawn(child.pid);
  let asked = false;
  const exited = exitOf(child);
  exited.then(() => {
    if (!asked) options.onExit();
  });
  const first = new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once('line', resolve),
  );
  const line = await Promise.race([first, exited.then(() => undefined)]);
  if (line === undefined) {
    throw new CannotStart(`Cannot start the simulated ${options.module}: it ended at once.`);
  }
  return {
    ready: JSON.parse(line) as Line,
    stop: () => {
      asked = true;
      return endChild(child, STOP_GRACE_MS);
    },
  };
}

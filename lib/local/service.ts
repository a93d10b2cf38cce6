/** The local stack in a process of its own, for the demo and the tests: start it, stop it, kill it. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CannotStart } from './cannot-start.ts';
import { COMPILE_CACHE, exitOf, NODE_FLAGS } from './child.ts';
import type { Place } from './stack.ts';
import type { Ready } from './start.ts';

export interface Service extends Ready {
  readonly pid: number;
  /** Ends it and everything it started. */
  readonly stop: () => Promise<void>;
  /** kill -9: it cannot clean up. */
  readonly kill: () => Promise<void>;
}

export interface ServiceOptions {
  readonly dataDir: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Data to be forgotten first. */
  readonly anew?: readonly Place[];
  /** Without the suppliers. */
  readonly warehouseOnly?: boolean;
  /** What the stack writes on standard error, as it comes; dropped when left out. */
  readonly onLog?: (text: string) => void;
}

const KEPT_LOG = 4096;

/** Throws `CannotStart` with what the stack said. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const module = fileURLToPath(new URL('./start.ts', import.meta.url));
  const args = ['--data', options.dataDir, '--port', String(options.port ?? 0)];
  for (const place of options.anew ?? []) args.push('--anew', place);
  if (options.warehouseOnly === true) args.push('--warehouse-only');
  const env = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env };
  const child = fork(module, args, { silent: true, execArgv: NODE_FLAGS, env });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-KEPT_LOG);
    options.onLog?.(text);
  });
  child.stdout?.resume();
  const exited = exitOf(child);
  const ready = await Promise.race([firstMessage(child), exited.then(() => undefined)]);
  if (ready === undefined) throw new CannotStart(log.trim() || 'Cannot start the local stack.');
  return {
    ...ready,
    pid: child.pid ?? 0,
    stop: async () => {
      // Works on every platform: where there are no signals, ending the channel is the way to ask.
      if (child.connected) child.disconnect();
      await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function firstMessage(child: ChildProcess): Promise<Ready> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as Ready)));
}

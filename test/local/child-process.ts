/** Children for tests: Node processes that say one line when they are ready, then stay until ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const children = new Set<ChildProcess>();

export interface TestChild {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly startedWith: string;
}

/** Runs a module's text in Node and resolves with the first line it prints. */
export async function runModule(source: string): Promise<TestChild> {
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  const early = once(child, 'exit').then(() => {
    throw new Error('The child ended without a word');
  });
  early.catch(() => undefined);
  const [line] = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), early]);
  if (child.pid === undefined) throw new Error('The child did not start');
  return { child, pid: child.pid, startedWith: String(line).trim() };
}

/** A child that only lives. */
export function idleChild(): Promise<TestChild> {
  return runModule(`console.log('up'); setInterval(() => {}, 60_000);`);
}

/** Ends by SIGKILL only. */
export function stubbornChild(): Promise<TestChild> {
  return runModule(`process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 60_000);`);
}

export function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export async function endAll(): Promise<void> {
  const live = [...children].filter(isRunning);
  children.clear();
  await Promise.all(
    live.map((child) => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      return exited;
    }),
  );
}

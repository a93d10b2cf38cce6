/** The simulated warehouse as a child process with its own book. It ends with us: its standard input is our life. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CannotStart } from './cannot-start.ts';
import { endChild, exitOf, NODE_FLAGS } from './child.ts';

const STOP_GRACE_MS = 3000;

export interface WarehouseProcessOptions {
  readonly file: string;
  readonly account: string;
  readonly writeToken: string;
  readonly readToken: string;
  readonly applyDelayMs: number;
  readonly visibilityLagMs: number;
  readonly onSpawn: (pid: number) => void;
  readonly onExit: () => void;
}

/** Resolves when it answers; throws `CannotStart` when it ends first. */
export async function startWarehouseProcess(
  options: WarehouseProcessOptions,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const module = fileURLToPath(new URL('../simulators/warehouse.ts', import.meta.url));
  const args = [
    ['--file', options.file],
    ['--account', options.account],
    ['--port', '0'],
    ['--apply-delay-ms', String(options.applyDelayMs)],
    ['--visibility-lag-ms', String(options.visibilityLagMs)],
    ['--control', '--with-parent'],
  ].flat();
  const env = {
    ...process.env,
    KAKUTEI_WAREHOUSE_WRITE_TOKEN: options.writeToken,
    KAKUTEI_WAREHOUSE_READ_TOKEN: options.readToken,
  };
  const child = spawn(process.execPath, [...NODE_FLAGS, module, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.pid !== undefined) options.onSpawn(child.pid);
  let asked = false;
  const exited = exitOf(child);
  exited.then(() => {
    if (!asked) options.onExit();
  });
  const ready = new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once('line', resolve),
  );
  const line = await Promise.race([ready, exited.then(() => undefined)]);
  if (line === undefined) throw new CannotStart('Cannot start the simulated warehouse: it ended at once.');
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    stop: () => {
      asked = true;
      return endChild(child, STOP_GRACE_MS);
    },
  };
}

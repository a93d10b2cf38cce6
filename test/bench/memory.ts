/**
 * Memory of the local stack without the JVM: the whole stack is started as `npm start` does, orders come in over
 * HTTP, and when all are confirmed the resident memory of every Node process in it is read from /proc.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { type Service, startService } from '../../lib/local/service.ts';
import { placesIn } from '../../lib/local/stack.ts';
import { systemClock } from '../../lib/platform/clock.ts';
import { readBook } from '../../lib/simulators/warehouse-book.ts';
import { forEach } from './rate.ts';

export interface Memory {
  readonly intents: number;
  readonly confirmed: number;
  readonly effects: number;
  /** From the first POST to the last confirmation. */
  readonly seconds: number;
  /** Null outside Linux. */
  readonly resident: Resident | null;
}

/** Bytes after the last confirmation. */
export interface Resident {
  /** Resident sets added up; Node's own program, mapped by both, counts twice. */
  readonly total: number;
  readonly processes: readonly ResidentProcess[];
}

export interface ResidentProcess {
  readonly name: 'stack' | 'warehouse';
  /** The whole resident set, as `ps` shows it. */
  readonly bytes: number;
  /** What of it are pages of files. */
  readonly fileBytes: number;
  /** The greatest it ever was. */
  readonly peakBytes: number;
}

const AT_ONCE = 32;
const POLL_MS = 200;
const LONGEST_MS = 60_000;
const view = z.object({ state: z.string() });

/** Starts a stack on data of its own, settles `intents` orders, and ends it. */
export async function measureMemory(
  intents: number,
  progress: (line: string) => void = () => undefined,
): Promise<Memory> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kakutei-memory-'));
  const service = await startService({ dataDir, warehouseOnly: true });
  try {
    const startedAt = systemClock.now();
    const confirmed = await settleAll(service, intents, progress);
    const seconds = (systemClock.now() - startedAt) / 1000;
    const resident = process.platform === 'linux' ? residentOf(service.pid) : null;
    return { intents, confirmed, effects: effectsIn(placesIn(dataDir).book), seconds, resident };
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function settleAll(
  service: Service,
  intents: number,
  progress: (line: string) => void,
): Promise<number> {
  const orders = Array.from({ length: intents }, (_, index) => `MEMORY-${index}`);
  let confirmed = 0;
  let done = 0;
  await forEach(orders, AT_ONCE, async (order) => {
    if ((await settle(service, order)) === 'confirmed') confirmed += 1;
    done += 1;
    if (done % 1000 === 0) progress(`${done} of ${intents} orders`);
  });
  return confirmed;
}

/** As a caller does it: one POST, then GETs until nothing more will come, or the patience is over. */
async function settle(service: Service, order: string): Promise<string> {
  const payload = { order_id: order, sku: 'TEA-01', quantity: 2 };
  const authorization = `Bearer ${service.tokens.submitter}`;
  const accepted = await fetch(`${service.url}/intents`, {
    method: 'POST',
    headers: { authorization, 'idempotency-key': order, 'content-type': 'application/json' },
    body: JSON.stringify({ route: 'warehouse', payload }),
  });
  await accepted.body?.cancel();
  const deadline = systemClock.now() + LONGEST_MS;
  for (;;) {
    await systemClock.sleep(POLL_MS);
    const answer = await fetch(`${service.url}${accepted.headers.get('location')}`, {
      headers: { authorization },
    });
    const { state } = view.parse(await answer.json());
    if (['confirmed', 'rejected', 'closed', 'handover'].includes(state) || systemClock.now() > deadline)
      return state;
  }
}

function effectsIn(file: string): number {
  const book = readBook(file);
  try {
    return book.effects().reduce((sum, each) => sum + each.reservationIds.length, 0);
  } finally {
    book.close();
  }
}

/** The stack and its children, the JVM left out. */
function residentOf(stack: number): Resident {
  const children = readdirSync(`/proc/${stack}/task`).flatMap((thread) =>
    readFileSync(`/proc/${stack}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  const warehouses = children.filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'java');
  const processes = [read('stack', stack), ...warehouses.map((pid) => read('warehouse', pid))];
  return { total: processes.reduce((sum, each) => sum + each.bytes, 0), processes };
}

function read(name: ResidentProcess['name'], pid: number): ResidentProcess {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { name, bytes: bytes('VmRSS'), fileBytes: bytes('RssFile'), peakBytes: bytes('VmHWM') };
}

/**
 * The local service as its users meet it: a process, its children, its address and its data. Helpers to submit,
 * to wait, to count in the warehouse's book, and to see which processes are left.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTimeOf } from '../../lib/local/process-identity.ts';
import { type Service, startService } from '../../lib/local/service.ts';
import { placesIn } from '../../lib/local/stack.ts';
import type { IntentView } from '../../lib/operations/trail.ts';
import { readBook } from '../../lib/simulators/warehouse-book.ts';

export interface Home {
  readonly dataDir: string;
  readonly start: () => Promise<Service>;
  /** Ends every process that still works on the data, then removes it. */
  readonly clear: () => Promise<void>;
}

/** A data folder of its own, outside the repository. */
export function newHome(): Home {
  const dataDir = mkdtempSync(join(tmpdir(), 'kakutei-service-'));
  const started: Service[] = [];
  return {
    dataDir,
    start: async () => {
      const service = await startService({ dataDir });
      started.push(service);
      return service;
    },
    clear: async () => {
      for (const service of started.splice(0)) if (startTimeOf(service.pid) !== null) await service.stop();
      for (const { pid } of processesOn(dataDir)) process.kill(pid, 'SIGKILL');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The children that the service has written down, by name. */
export function childrenOf(dataDir: string): ReadonlyMap<string, number> {
  const file = join(dataDir, 'run.json');
  if (!existsSync(file)) return new Map();
  const { children } = JSON.parse(readFileSync(file, 'utf8')) as {
    children: { name: string; pid: number }[];
  };
  return new Map(children.map((child) => [child.name, child.pid]));
}

/** Processes whose command line names the data, as `/proc` shows them; there is no other way to look. */
export function processesOn(dataDir: string): { pid: number; command: string }[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((name) => ({ pid: Number(name), command: commandOf(name) }))
    .filter(({ command }) => command.includes(dataDir));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It ended while we looked.
    return '';
  }
}

export async function submitOrder(
  service: Service,
  order: string,
): Promise<{ status: number; view: IntentView }> {
  const response = await fetch(`${service.url}/intents`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.tokens.submitter}`,
      'idempotency-key': order,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ route: 'warehouse', payload: { order_id: order, sku: 'TEA-01', quantity: 2 } }),
  });
  return { status: response.status, view: (await response.json()) as IntentView };
}

export async function showIntent(service: Service, id: string): Promise<IntentView> {
  const headers = { authorization: `Bearer ${service.tokens.submitter}` };
  const response = await fetch(`${service.url}/intents/${id}`, { headers });
  return (await response.json()) as IntentView;
}

/** What the warehouse's own book says of an order; it may be read while the warehouse runs. */
export function inBookOf(dataDir: string, order: string): { posts: number; ids: readonly string[] } {
  const { book } = placesIn(dataDir);
  if (!existsSync(book)) return { posts: 0, ids: [] };
  const reading = readBook(book);
  try {
    return {
      posts: reading.posts().find((each) => each.orderId === order)?.count ?? 0,
      ids: reading.effects().find((each) => each.orderId === order)?.reservationIds ?? [],
    };
  } finally {
    reading.close();
  }
}

/** Suppliers for tests: in this process or a child, spoken to over HTTP, counted in their own books. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'lossless-json';
import { vi } from 'vitest';
import {
  readSupplierBook,
  type SupplierKind,
  type SupplierOptions,
  startSupplier,
} from '../../lib/simulators/suppliers.ts';

export const PROGRAM = join(import.meta.dirname, '../../lib/simulators/suppliers.ts');
export const KINDS: readonly SupplierKind[] = ['keyed', 'unique', 'searchable', 'blind'];
export const ACCOUNT = 'acct-1';

/** What one request looks like from outside: status and body, or how it ended without. */
export interface Seen {
  readonly status: number | 'closed' | 'stalled';
  // biome-ignore lint/suspicious/noExplicitAny: whatever a supplier answers; each test says what it expects
  readonly body: any;
}

export async function look(url: string, init: RequestInit & { waitMs?: number } = {}): Promise<Seen> {
  let status: number | undefined;
  const { waitMs = 5_000, ...rest } = init;
  try {
    const response = await fetch(url, { ...rest, redirect: 'manual', signal: AbortSignal.timeout(waitMs) });
    status = response.status;
    const text = await response.text();
    const json = response.headers.get('content-type') === 'application/json';
    return { status, body: json ? exact(text) : { text } };
  } catch (error) {
    const timeout = error instanceof Error && error.name === 'TimeoutError';
    return { status: status ?? (timeout ? 'stalled' : 'closed'), body: { text: 'cut' } };
  }
}

/** Numbers that a double cannot hold become bigints. */
function exact(text: string): unknown {
  return parse(text, undefined, (digits) => {
    return /^\d+$/.test(digits) && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : Number(digits);
  });
}

export const CONTENT = {
  orders: {
    ship_to: { name: 'Aoi', street: '1-2-3', city: 'Osaka', postal_code: '530-0001', country: 'JP' },
    lines: [{ sku: 'TEA-01', quantity: '2', unit: 'piece', unit_price: '11' }],
    currency: 'JPY',
    total: '22',
  },
  cancellations: { order_id: '4611686018427387905', reason: 'twice' },
  confirmations: { to: 'aoi@example.test', language: 'ja' },
} as const;
export type Path = keyof typeof CONTENT;
export const PATHS = Object.keys(CONTENT) as Path[];

export interface Sent {
  readonly path?: Path;
  /** The purchase order too, unless told. */
  readonly reference?: string;
  readonly purchaseOrder?: string;
  readonly key?: string;
  readonly more?: object;
  readonly headers?: Record<string, string>;
  readonly waitMs?: number;
}

/** One running supplier and what to ask of it. */
export interface Supplier {
  readonly kind: SupplierKind;
  readonly url: string;
  readonly post: (reference: string, sent?: Sent) => Promise<Seen>;
  readonly search: (reference: string, query?: string, path?: Path) => Promise<Seen>;
  readonly control: (method: string, path: string, body?: unknown) => Promise<Seen>;
  readonly plan: (purchaseOrder: string, faults: unknown, path?: Path) => Promise<Seen>;
  readonly close: () => Promise<void>;
}

export function speak(kind: SupplierKind, url: string, close: () => Promise<void>): Supplier {
  const control = (method: string, path: string, body?: unknown) =>
    look(`${url}/control/${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return {
    kind,
    url,
    close,
    post: (reference, sent = {}) => {
      const { path = 'orders', key = reference, waitMs = 5_000 } = sent;
      const body = JSON.stringify(bodyOf(kind, path, reference, sent));
      const headers = { 'content-type': 'application/json', 'idempotency-key': key, ...sent.headers };
      return look(`${url}/${path}`, { method: 'POST', headers, body, waitMs });
    },
    search: (reference, query = '&status=all', path = 'orders') =>
      look(`${url}/${path}?reference=${encodeURIComponent(reference)}${query}`),
    control,
    plan: (purchaseOrder, faults, path = 'orders') =>
      control('PUT', `${path}/${purchaseOrder}/faults`, faults),
  };
}

export function bodyOf(kind: SupplierKind, path: Path, reference: string, sent: Sent = {}) {
  return {
    account: ACCOUNT,
    environment: 'test',
    purchase_order: sent.purchaseOrder ?? reference,
    ...(kind === 'blind' ? {} : { reference }),
    ...CONTENT[path],
    ...sent.more,
  };
}

/** A folder with the books of one test. */
export function supplierRig() {
  const folder = mkdtempSync(join(tmpdir(), 'kakutei-suppliers-'));
  const stops: (() => Promise<unknown>)[] = [];
  const file = (kind: SupplierKind) => join(folder, `${kind}.sqlite`);
  return {
    folder,
    /** In this process; no visibility lag unless told. */
    start: async (kind: SupplierKind, options: Partial<SupplierOptions> = {}): Promise<Supplier> => {
      const { url, close } = await startSupplier({
        ...{ kind, file: file(kind), account: ACCOUNT },
        ...{ control: true, durable: false, visibilityLagMs: 0 },
        ...options,
      });
      const stop = async () => {
        stops.splice(stops.indexOf(stop), 1);
        await close();
      };
      stops.push(stop);
      return speak(kind, url, stop);
    },
    /** In a process of its own; `end` resolves when it is gone. */
    spawn: async (...more: string[]) => {
      const args = [PROGRAM, '--dir', folder, '--account', ACCOUNT, ...more];
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      const gone = once(child, 'exit');
      const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
        child.kill(signal);
        return gone;
      };
      stops.push(() => end('SIGKILL'));
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      const { urls } = JSON.parse(String(line)) as { urls: Record<SupplierKind, string> };
      const of = (kind: SupplierKind) => speak(kind, urls[kind], async () => {});
      return { child, gone, end, line: String(line), urls, of };
    },
    book: (kind: SupplierKind) => readSupplierBook(file(kind)),
    /** Ids of the orders in the book. */
    orders: (kind: SupplierKind) => readSupplierBook(file(kind)).orders.map((order) => order.order_id),
    stop: async () => {
      vi.useRealTimers();
      for (const stop of [...stops]) await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

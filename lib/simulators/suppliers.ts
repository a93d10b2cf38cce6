/**
 * Suppliers that misbehave on purpose: real HTTP servers, each over its own book. They take three calls
 * (orders, cancellations, confirmations) and differ in what they promise about a repeat:
 *
 * - `keyed` remembers the `idempotency-key` of a request for a declared time; orders with more than 20
 *   lines are not covered;
 * - `unique` takes each reference once and matches it exactly in a search; writes order ids as numbers;
 * - `searchable` promises nothing but a search by the beginning of a reference;
 * - `blind` takes no reference and has no search; it only shows what it is asked for by id.
 *
 * Two declared bounds are kept whatever is played: nothing is saved later than `applyDelayMs` after its
 * request arrived whole, and a search hides no saved record longer than `visibilityLagMs`; the faults of a
 * GET are lies, listed as such. `/control` is no part of what a supplier is: its ids are always strings.
 * Simulators import node's own modules and zod, nothing of the product.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { runProgram } from './command.ts';
import { serve } from './serve.ts';
import { openSupplierBook } from './supplier-book.ts';
import { callOf } from './supplier-calls.ts';
import { prepareSuppliers, SUPPLIERS_USAGE } from './supplier-command.ts';
import { control } from './supplier-control.ts';
import { resumePending } from './supplier-effect.ts';
import { type House, SUPPLIER_DEFAULTS, type SupplierOptions } from './supplier-house.ts';
import { takePost } from './supplier-post.ts';
import { view } from './supplier-view.ts';
import { answer, put } from './wire.ts';

export type { SupplierKind } from './supplier-calls.ts';
export type { SupplierOptions } from './supplier-house.ts';
export { readSupplierBook } from './supplier-truth.ts';

/** Starts one; resolves when the port answers. `close` breaks open connections and closes the book. */
export async function startSupplier(
  options: SupplierOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const book = openSupplierBook(options.file, options.durable);
  const stop = new AbortController();
  const house: House = { ...SUPPLIER_DEFAULTS, ...options, book, timers: new Set(), stopping: stop.signal };
  const { url, close } = await serve(house, route);
  resumePending(house);
  return {
    url,
    close: () => {
      stop.abort();
      return close();
    },
  };
}

async function route(house: House, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://supplier');
  const [first = '', id, ...more] = pathname.slice(1).split('/');
  if (first === 'control' && house.control) {
    return put(response, { kind: 'answer', answer: await control(house, request, pathname.slice(9)) });
  }
  const call = callOf(first);
  if (call !== undefined && more.length === 0) {
    if (request.method === 'POST' && id === undefined) return takePost(house, call, request, response);
    if (request.method === 'GET') return put(response, view(house, call, request, id ?? null, searchParams));
  }
  put(response, answer(404, { error: 'no_such_endpoint' }));
}

if (import.meta.main) {
  await runProgram('suppliers', SUPPLIERS_USAGE, prepareSuppliers(startSupplier), process.argv.slice(2));
}

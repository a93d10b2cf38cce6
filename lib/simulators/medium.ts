/**
 * A medium that misbehaves on purpose: a real HTTP server over its own book, which takes posts and replies
 * with images for its accounts. It knows no idempotency key and no reference of the sender: each POST that is
 * applied is one more post, and whoever lost an answer has to read. Its list leaves out text and media, its
 * times are local and in whole seconds, and it may rewrite what it is given (`medium-rewrites.ts`).
 *
 * Two declared bounds are kept whatever is played: nothing is saved later than `applyDelayMs` after its
 * request arrived whole, and list and public page hide no saved post longer than `visibilityLagMs`; the faults
 * of a GET are lies, listed as such (`medium-faults.ts`). `/control` is no part of what a medium is.
 * Simulators import node's own modules and zod, nothing of the product.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { runProgram } from './command.ts';
import { openMediumBook } from './medium-book.ts';
import { MEDIUM_USAGE, prepareMedium } from './medium-command.ts';
import { control } from './medium-control.ts';
import { resumePending } from './medium-effect.ts';
import { type House, isZone, MEDIUM_DEFAULTS, type MediumOptions } from './medium-house.ts';
import { viewPage } from './medium-page.ts';
import { takeImage, takePost } from './medium-post.ts';
import { view } from './medium-view.ts';
import { serve } from './serve.ts';
import { answer, put } from './wire.ts';

export type { MediumOptions } from './medium-house.ts';
export { readMediumBook } from './medium-truth.ts';

/** Starts one; resolves when the port answers. `close` breaks open connections and closes the book. */
export async function startMedium(options: MediumOptions): Promise<{ url: string; close(): Promise<void> }> {
  const { zone = MEDIUM_DEFAULTS.zone } = options;
  if (!isZone(zone)) throw new Error(`Cannot start a medium in zone "${zone}": not an offset like +09:00`);
  const book = openMediumBook(options.file, options.accounts, options.durable);
  const house: House = { ...MEDIUM_DEFAULTS, ...options, book, timers: new Set() };
  const served = await serve(house, route);
  resumePending(house);
  return served;
}

async function route(house: House, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://medium');
  const [first = '', ...path] = pathname.slice(1).split('/');
  if (first === 'control' && house.control) {
    return put(response, { kind: 'answer', answer: await control(house, request, path.join('/')) });
  }
  if (request.method === 'POST' && pathname === '/api/posts') return takePost(house, request, response);
  if (request.method === 'POST' && pathname === '/api/media') return takeImage(house, request, response);
  if (request.method === 'GET' && first === 'api') {
    return put(response, view(house, request, path, searchParams));
  }
  if (request.method === 'GET' && first.startsWith('@') && path.length === 1) {
    return put(response, viewPage(house, first.slice(1), path[0] ?? ''));
  }
  put(response, answer(404, { error: 'no_such_endpoint' }));
}

if (import.meta.main) {
  await runProgram('medium', MEDIUM_USAGE, prepareMedium(startMedium), process.argv.slice(2));
}

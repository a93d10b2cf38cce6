/**
 * A supplier's world for faults that were met in the field: what the sender is told and what a look is shown can be
 * written by hand on top of the scripted supplier. Effects and writes are counted in the supplier's book.
 */
import { expect } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { reportOf } from '../../lib/domain/report.ts';
import type { WireReport } from '../../lib/domain/write-result.ts';
import type { ReadOnce } from '../../lib/providers/provider.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import type { WriteRequest } from '../../lib/providers/transport.ts';
import { type SupplierWorldOptions, supplierWorld } from './supplier-world.ts';

export type LookAnswer = Awaited<ReturnType<ReadOnce>>;

/** Says what one look is shown; `undefined` leaves the honest answer. */
export type View = (look: {
  readonly path: string;
  readonly at: number;
  /** From 0. */
  readonly number: number;
  readonly honest: LookAnswer;
}) => LookAnswer | undefined;

export interface FieldOptions extends SupplierWorldOptions {
  /** What the sender is told instead, a POST each; `undefined` leaves the honest answer. */
  readonly told?: readonly (WireReport | undefined)[];
  readonly view?: View;
}

export const SEARCHED: readonly SupplierKind[] = ['keyed', 'unique', 'searchable'];
export const ALL: readonly SupplierKind[] = [...SEARCHED, 'blind'];

export type FieldWorld = ReturnType<typeof fieldWorld>;

export function fieldWorld(kind: SupplierKind, { told = [], view, ...options }: FieldOptions = {}) {
  const requests: WriteRequest[] = [];
  const looks: { readonly path: string; readonly at: number }[] = [];
  const s = supplierWorld(kind, {
    ...options,
    world: {
      ...options.world,
      wrapTransport: (transport) => {
        const inner = options.world?.wrapTransport?.(transport) ?? transport;
        return async (request) => {
          requests.push(request);
          const number = requests.length - 1;
          const honest = await inner(request);
          return told[number] ?? honest;
        };
      },
    },
  });
  const plain = s.w.deps.reader;
  s.w.deps.reader = (to) => async (path) => {
    const look = { path, at: s.w.clock.now() };
    looks.push(look);
    const number = looks.length - 1;
    const honest = await plain(to)(path);
    return view?.({ ...look, number, honest }) ?? honest;
  };
  return { ...s, requests, looks };
}

/** Submitted and signed; its first run has sent, and recorded what came of it. */
export async function sent(s: FieldWorld, until?: number): Promise<Intent> {
  const intent = await s.entered();
  await s.sign(intent, until);
  await s.w.steps['Send']?.(await s.swept());
  return s.w.read(intent.id);
}

/** What an ending is judged by: its run goes on, then the sweep, until nothing open is due any more. */
export async function ending(s: FieldWorld, { id }: Pick<Intent, 'id'>) {
  await s.runOf(id);
  const intent = await s.w.untilQuiet(id);
  oneStory(intent);
  expect(s.violations(), 'POSTs without an approval').toBe(0);
  return {
    state: intent.state,
    reason: intent.handover?.reason ?? null,
    writes: s.supplier.posts.length,
    effects: s.supplier.orders().length,
  };
}

/** No ending tells of a failure and of a confirmed effect at once. */
function oneStory(intent: Intent): void {
  const confirmed = intent.state === 'confirmed';
  expect([intent.externalId !== null, intent.receipt !== null], intent.state).toEqual([confirmed, confirmed]);
  if (confirmed) expect([intent.handover, intent.outcome]).toEqual([null, null]);
  if (!['confirmed', 'rejected', 'closed'].includes(intent.state))
    expect(reportOf(intent)).toBe('unconfirmed');
}

/** A whole answer to a POST. */
export function answerOf(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): WireReport {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'answered', status, headers, body: text, complete: true };
}

/** A whole answer to a look. */
export function shown(status: number, body: unknown, retryAfter?: string): LookAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'answered', status, body: text, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

/** The honest answer with its text changed; a failed look stays as it is. */
export function reworded(honest: LookAnswer, change: (text: string) => string): LookAnswer {
  return honest.kind === 'failed' ? honest : { ...honest, body: change(honest.body) };
}

export function isSearch(path: string): boolean {
  return path.includes('?');
}

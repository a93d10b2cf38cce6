/** The suppliers behind our back: which faults they play, and what their own books hold. */
import { isDeepStrictEqual } from 'node:util';
import type { Plan } from '../simulators/supplier-faults.ts';
import {
  readSupplierBook,
  type SupplierTruth,
  type TruePost,
  type TrueRecord,
} from '../simulators/supplier-truth.ts';
import { type Request, Unexpected } from './demo-orders-desk.ts';
import type { Service } from './service.ts';
import { SUPPLIER_KINDS, type SupplierKind, supplierBook } from './simulators.ts';

export type Call = 'order' | 'confirmation';
export type Books = readonly SupplierTruth[];

const PATHS = { order: 'orders', confirmation: 'confirmations' } as const;
/** A record that says so is no effect. */
const REFUSED = { order: 'rejected', confirmation: 'bounced' } as const;

/** Replaces the faults of a purchase order; none ends them. */
export async function planFaults(
  service: Service,
  kind: SupplierKind,
  call: Call,
  purchaseOrder: string,
  faults: Plan,
): Promise<void> {
  const url = `${service.suppliers?.[kind]}/control/${PATHS[call]}/${purchaseOrder}/faults`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(faults) });
  await response.arrayBuffer();
  if (!response.ok) throw new Unexpected(`the supplier takes no such fault: ${response.status}`);
}

export function bookOf(folder: string, kind: SupplierKind): SupplierTruth {
  return readSupplierBook(supplierBook(folder, kind));
}

/** The books of all suppliers: an order that went to the wrong one counts too. */
export function booksIn(folder: string): Books {
  return SUPPLIER_KINDS.map((kind) => bookOf(folder, kind));
}

/** What has an effect under a purchase order, at whichever supplier. */
export function effectsOf(books: Books, call: Call, purchaseOrder: string): TrueRecord[] {
  const records = books.flatMap((book): readonly TrueRecord[] =>
    call === 'order' ? book.orders : book.confirmations,
  );
  return records.filter((each) => each.purchase_order === purchaseOrder && each.status !== REFUSED[call]);
}

export function postsOf(books: Books, call: Call, purchaseOrder: string): TruePost[] {
  return books
    .flatMap((book) => book.posts)
    .filter((post) => post.kind === call && post.purchase_order === purchaseOrder);
}

/** Whether the supplier holds what was approved, in the place it was approved for, value for value. */
export function isAsApproved(record: TrueRecord, { account, environment, payload }: Request): boolean {
  const held = record as unknown as Readonly<Record<string, unknown>>;
  return Object.entries({ ...payload, account, environment }).every(([name, value]) =>
    isDeepStrictEqual(held[name], value),
  );
}

/** The id under which the supplier shows it. */
export function idOf(record: TrueRecord): unknown {
  return 'message_id' in record ? record.message_id : 'order_id' in record ? record.order_id : undefined;
}

/** The faults of a supplier: their names, when they save, how they are asked for. */
import * as z from 'zod';
import { POST_FAULT_FIELDS, POST_FAULTS, VIEW_FAULT_FIELDS } from './post-faults.ts';
import type { Call } from './supplier-calls.ts';

/** Faults of a POST, and when its record is saved. `later` and `accepted` keep the declared apply delay. */
export const WRITE_FAULTS = {
  ...POST_FAULTS,
  /** Answers `status` now and for every repeat of the key. */
  status_after_save_stored: 'now',
  /** Answers 202, which a repeat of the key gets again. What follows is created, refused or nothing. */
  accepted_then_created: 'accepted',
  accepted_then_rejected: 'accepted',
  accepted_then_never: 'accepted',
  /** Answers 201 without an id. */
  no_id_after_save: 'now',
  /** Saves in another place, and shows it so. */
  wrong_account_saved: 'now',
  wrong_environment_saved: 'now',
  /** Saves one more in the first line than was asked for. Orders only. */
  altered_quantity: 'now',
  /** Answers 409 as if the first request of the key still ran. Keyed only. */
  key_in_use: 'never',
} as const;
export type WriteFaultKind = keyof typeof WRITE_FAULTS;

/**
 * Faults of the GETs that would show records of a purchase order. None of them touches the book.
 * `records`: plays only where there is something to lie about. `also`: plays on a GET by id too.
 */
export const VIEW_FAULTS = {
  /** A search shows none, a GET by id does. */
  hidden: { records: true, also: false },
  /** Neither shows it. */
  hidden_everywhere: { records: true, also: true },
  /** The same, by another name: what was shown once is shown no more. */
  gone: { records: true, also: true },
  /** The first page is said to be the last; a single page lacks its last record. */
  partial_page: { records: true, also: false },
  /** A search answers `status`. */
  search_status: { records: false, also: false },
  /** A search answers 200 with HTML. */
  search_garbage: { records: false, also: false },
  /** A search never answers. */
  search_stall: { records: false, also: false },
  /** A search closes without an answer. */
  search_close: { records: false, also: false },
  /** Names another account. */
  wrong_account_view: { records: false, also: true },
  /** One record a page; beside any other fault. */
  paged: { records: true, also: false },
} as const;
export type ViewFaultKind = keyof typeof VIEW_FAULTS;

const writeFaultSchema = z.strictObject({
  kind: z.enum(Object.keys(WRITE_FAULTS) as WriteFaultKind[]),
  ...POST_FAULT_FIELDS,
});
const viewFaultSchema = z.strictObject({
  kind: z.enum(Object.keys(VIEW_FAULTS) as ViewFaultKind[]),
  ...VIEW_FAULT_FIELDS,
});
export type WriteFault = z.infer<typeof writeFaultSchema>;
export type ViewFault = z.infer<typeof viewFaultSchema>;

/** Write faults are taken in turn, one a POST; the first view fault that has a use plays on a GET. */
export const planSchema = z.array(z.union([writeFaultSchema, viewFaultSchema])).max(100);
export type Plan = z.infer<typeof planSchema>;

/** Faults of orders by the beginning of their purchase order; a plan in the book replaces them. */
const BY_NAME: readonly (readonly [string, Plan])[] = [
  ['LOST-', [{ kind: 'cut_after_save' }]],
  ['BEFORE-', [{ kind: 'cut_before_save' }]],
  ['LATE-', [{ kind: 'late_save' }]],
  ['TWICE-', [{ kind: 'delivered_twice' }]],
  ['ACCEPTED-', [{ kind: 'accepted_then_created' }]],
  ['HIDDEN-', [{ kind: 'cut_after_save' }, { kind: 'hidden' }]],
];

export function planByName(call: Call, purchaseOrder: string): Plan {
  if (call !== 'order') return [];
  return BY_NAME.find(([start]) => purchaseOrder.startsWith(start))?.[1] ?? [];
}

export function isWriteFault(fault: WriteFault | ViewFault): fault is WriteFault {
  return Object.hasOwn(WRITE_FAULTS, fault.kind);
}

/** The faults of a medium: their names, what they touch, how they are asked for. */
import * as z from 'zod';
import { POST_FAULT_FIELDS, POST_FAULTS, VIEW_FAULT_FIELDS } from './post-faults.ts';

/** Faults of a POST of a post, and when it is saved. `later` keeps the declared apply delay. */
export const WRITE_FAULTS = {
  ...POST_FAULTS,
  /** Answers 201 without an id. */
  no_id_after_save: 'now',
  /** Saves it for another account of this medium. */
  wrong_author_saved: 'now',
  /** Saves it under `parent`; unless told, a reply becomes a root post and a root post a reply to nothing. */
  wrong_parent_saved: 'now',
  /** Saves it as a draft. */
  draft_saved: 'now',
  /** Saves it without its last image. Waits for a post that has one. */
  image_missing: 'now',
} as const;
export type WriteFaultKind = keyof typeof WRITE_FAULTS;

/**
 * Faults of the GETs, and which of them each plays on. None of them touches the book.
 * `records`: plays only where there is a post to lie about.
 */
export const VIEW_FAULTS = {
  /** The list leaves it out. */
  hidden: { on: ['list'], records: true },
  /** The list answers `status`. */
  list_status: { on: ['list'], records: false },
  /** The list answers 200 with HTML. */
  list_garbage: { on: ['list'], records: false },
  /** The first page is said to be the last; a single page lacks its last post. */
  partial_page: { on: ['list'], records: true },
  /** The public page is not there. */
  page_404: { on: ['page'], records: true },
  /** The public page names another account of this medium, with the display name of the right one. */
  page_wrong_author: { on: ['page'], records: true },
  /** The public page answers 302 to `location`. */
  page_redirect: { on: ['page'], records: true },
  /** Shown as if a person had deleted it. */
  deleted: { on: ['list', 'one', 'page'], records: true },
  /** Shown and searched as if created `seconds` later (or earlier); beside any other fault. */
  clock_skew_s: { on: ['list', 'one'], records: true },
} as const satisfies Record<string, { on: readonly Place[]; records: boolean }>;
export type ViewFaultKind = keyof typeof VIEW_FAULTS;
export type Place = 'list' | 'one' | 'page';

/** Those that need a second account. */
export const NEEDS_ANOTHER: ReadonlySet<string> = new Set(['wrong_author_saved', 'page_wrong_author']);

const writeFaultSchema = z.strictObject({
  kind: z.enum(Object.keys(WRITE_FAULTS) as WriteFaultKind[]),
  ...POST_FAULT_FIELDS,
  parent: z
    .string()
    .regex(/^\d{1,19}$/)
    .nullable()
    .optional(),
});
const viewFaultSchema = z.strictObject({
  kind: z.enum(Object.keys(VIEW_FAULTS) as ViewFaultKind[]),
  ...VIEW_FAULT_FIELDS,
  /** 120 unless told. */
  seconds: z.int().min(-86_400).max(86_400).optional(),
  /** `/login` unless told. */
  location: z
    .string()
    .regex(/^[\x21-\x7e]{1,500}$/)
    .optional(),
});
export type WriteFault = z.infer<typeof writeFaultSchema>;
export type ViewFault = z.infer<typeof viewFaultSchema>;

/** Write faults are taken in turn, one a POST; the first view fault that has a use plays on a GET. */
export const planSchema = z.array(z.union([writeFaultSchema, viewFaultSchema])).max(100);
export type Plan = z.infer<typeof planSchema>;

export function isWriteFault(fault: WriteFault | ViewFault): fault is WriteFault {
  return Object.hasOwn(WRITE_FAULTS, fault.kind);
}

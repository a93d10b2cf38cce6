/** The three calls that a supplier takes: what a body must be, and what a record of it is called. */
import * as z from 'zod';
import { firstField } from './wire.ts';

/** What a supplier promises about a repeat: see `suppliers.ts`. */
export const SUPPLIER_KINDS = ['keyed', 'unique', 'searchable', 'blind'] as const;
export type SupplierKind = (typeof SUPPLIER_KINDS)[number];

/** What a call is called in paths, ids and statuses. */
export const CALLS = {
  order: {
    path: 'orders',
    id: 'order_id',
    prefix: '',
    statuses: ['created', 'processing', 'rejected', 'cancelled'],
    /** What a search lists without `status=all`. */
    open: ['created', 'processing'],
    made: 'created',
    refused: 'rejected',
  },
  cancellation: {
    path: 'cancellations',
    id: 'cancellation_id',
    prefix: 'C-',
    statuses: ['cancelled', 'rejected'],
    open: ['cancelled'],
    made: 'cancelled',
    refused: 'rejected',
  },
  confirmation: {
    path: 'confirmations',
    id: 'message_id',
    prefix: 'M-',
    statuses: ['sent', 'bounced'],
    open: ['sent'],
    made: 'sent',
    refused: 'bounced',
  },
} as const;
export type Call = keyof typeof CALLS;

export function callOf(path: string): Call | undefined {
  return (Object.keys(CALLS) as Call[]).find((call) => CALLS[call].path === path);
}

/** Neither NUL nor lone surrogates: SQLite would not give them back as they came. */
const text = z.string().regex(/^[^\0\p{Cs}]{1,500}$/u);
const decimal = z.string().regex(/^\d{1,15}(\.\d{1,6})?$/);
export const purchaseOrderSchema = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/);
const referenceSchema = z.string().regex(/^[^\0\p{Cs}]{1,128}$/u);

const line = z.strictObject({
  sku: text,
  quantity: decimal,
  unit: z.enum(['piece', 'kg', 'm']),
  unit_price: decimal,
});
const shipTo = z.strictObject({ name: text, street: text, city: text, postal_code: text, country: text });

const CONTENT = {
  order: {
    ship_to: shipTo,
    lines: z.array(line).min(1).max(200),
    currency: z.string().regex(/^[A-Z]{3}$/),
    total: decimal,
  },
  cancellation: { order_id: z.string().regex(/^\d{19}$/), reason: text },
  confirmation: {
    to: z.string().regex(/^[^\s@\0\p{Cs}]{1,64}@[^\s@\0\p{Cs}]{1,250}$/u),
    language: z.enum(['en', 'ja']),
  },
};
const PLACE = { account: text, environment: text };

/** A whole body, as it was read. `content` is what differs between the calls. */
export interface Body {
  readonly account: string;
  readonly environment: string;
  readonly purchaseOrder: string;
  /** null where the supplier knows no references. */
  readonly reference: string | null;
  readonly content: Readonly<Record<string, unknown>>;
}

/** The body, or the name of the first field that is wrong. */
export function readBody(call: Call, kind: SupplierKind, value: unknown): Body | string {
  const reference = kind === 'blind' ? {} : { reference: referenceSchema };
  const schema = z.strictObject({
    ...PLACE,
    purchase_order: purchaseOrderSchema,
    ...reference,
    ...CONTENT[call],
  });
  return bodyOf(schema.safeParse(value));
}

/** An order that nobody sent: any place, ours unless told; a reference for every kind, if it has one. */
export function readOwnOrder(place: { account: string; environment: string }, value: unknown): Body | string {
  const schema = z.strictObject({
    account: text.default(place.account),
    environment: text.default(place.environment),
    purchase_order: purchaseOrderSchema,
    reference: referenceSchema.optional(),
    ...CONTENT.order,
  });
  return bodyOf(schema.safeParse(value));
}

function bodyOf(parsed: z.ZodSafeParseResult<Record<string, unknown>>): Body | string {
  if (!parsed.success) return firstField(parsed.error);
  const { account, environment, purchase_order, reference = null, ...content } = parsed.data;
  return {
    account: String(account),
    environment: String(environment),
    purchaseOrder: String(purchase_order),
    reference: reference === null ? null : String(reference),
    content,
  };
}

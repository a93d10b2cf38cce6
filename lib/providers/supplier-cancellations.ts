/** Cancellations at a supplier of each kind: `POST /cancellations` for one order by its id there. */
import * as z from 'zod';
import type { Intent, JsonObject } from '../domain/intent.ts';
import { type Check, defineProvider, type LookContext, type Provider } from './provider.ts';
import { digits, providerOf, shownNames } from './supplier-call.ts';
import { lookById, type Shelf } from './supplier-look.ts';
import { purchaseOrder } from './supplier-order-payload.ts';
import { orderShelf } from './supplier-orders.ts';
import type { SupplierKind } from './supplier-promises.ts';

const cancellationId = z.string().regex(/^C-\d{1,40}$/);

// Named in full: the compiler gives up on inferring that three strings are JSON.
const payload = z.strictObject({
  purchase_order: purchaseOrder,
  order_id: z.string().regex(/^\d{1,40}$/, 'digits only'),
  reason: z.string().min(1).max(200),
}) as z.ZodType<unknown> as z.ZodType<JsonObject>;

const made = z
  .object({
    account: z.string(),
    environment: z.string(),
    cancellation_id: cancellationId,
    status: z.literal('cancelled'),
  })
  .transform((answer) => answer.cancellation_id);

export function supplierCancellations(supplier: SupplierKind): Provider {
  const shown = { orderId: 'order_id', reason: 'reason' };
  const provider = providerOf({
    ...shelfOf(supplier),
    supplier,
    name: `supplier-${supplier}-cancellation`,
    effect: 'cancellation',
    payload,
    shows: supplier === 'blind' ? shown : { purchaseOrder: 'purchase_order', ...shown },
    made,
    standing: 'cancelled',
    refusals: [
      { status: 404, error: 'no_such_order' },
      { status: 409, error: 'too_late' },
      { status: 409, error: 'already_cancelled' },
    ],
    readback: ['cancellation_id', 'status', 'order_id', 'reason'],
    cancelUntil: null,
  });
  const concerns = (fields: JsonObject): string => String(fields['order_id']);
  return defineProvider({
    ...provider,
    concerns,
    check: (look, intent) => checkOrder(supplier, look, intent),
  });
}

function shelfOf(supplier: SupplierKind): Shelf {
  const record = z
    .object({
      ...shownNames(supplier),
      cancellation_id: cancellationId,
      order_id: digits,
      reason: z.string(),
      status: z.enum(['cancelled', 'rejected']),
    })
    .transform((each) => ({
      externalId: each.cancellation_id,
      reference: each.reference ?? null,
      status: each.status,
      cancelUntil: null,
      content: {
        purchase_order: each.purchase_order ?? null,
        order_id: each.order_id,
        reason: each.reason,
      },
    }));
  return { path: '/cancellations', one: 'cancellation', many: 'cancellations', record };
}

/**
 * Whether the order can be cancelled, as the supplier says now; whoever asks compares `cancelUntil` with the
 * clock. Not ready: `no_such_order` (none, or one that was rejected), `not_ours`, `already_cancelled`, `shipped`.
 */
async function checkOrder(supplier: SupplierKind, look: LookContext, intent: Intent): Promise<Check> {
  const orderId = String(intent.payload['order_id']);
  const lookup = await lookById(look, orderShelf(supplier), orderId);
  if (lookup.kind === 'failed') return lookup;
  const [order] = lookup.records;
  const notReady = (reason: string, facts = {}) =>
    ({ kind: 'not_ready', reason, facts: { orderId, ...facts } }) as const;
  if (order === undefined) return notReady('no_such_order');
  const { status = null, shipping = null, purchase_order: named = null } = order.content;
  const cancelUntil = order.cancelUntil ?? null;
  const facts = { status, shipping, cancelUntil };
  // Nothing more about somebody else's order leaves the adapter.
  if (!lookup.authorised) return notReady('not_ours');
  if (named !== null && named !== intent.payload['purchase_order']) return notReady('not_ours');
  if (status === 'rejected') return notReady('no_such_order', facts);
  if (status === 'cancelled') return notReady('already_cancelled', facts);
  if (shipping !== 'not_shipped') return notReady('shipped', facts);
  return { kind: 'ready', cancelUntil, facts: { orderId, ...facts } };
}

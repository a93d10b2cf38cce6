/** Orders at a supplier of each kind: `POST /orders`, read back by id, found by our reference where it is shown. */
import * as z from 'zod';
import type { JsonObject } from '../domain/intent.ts';
import { amountOf, quantityOf } from '../domain/money.ts';
import { defineProvider, type Provider } from './provider.ts';
import { digits, providerOf, shownNames } from './supplier-call.ts';
import type { Shelf, Shown } from './supplier-look.ts';
import { orderPayload } from './supplier-order-payload.ts';
import { MOST_KEYED_LINES, type SupplierKind } from './supplier-promises.ts';

const MOST_LINES = 100;

const made = z
  .object({ account: z.string(), environment: z.string(), order_id: digits, status: z.literal('created') })
  .transform((answer) => answer.order_id);

export function supplierOrders(supplier: SupplierKind): Provider {
  const named = { purchaseOrder: 'purchase_order' };
  const shown = { shipTo: 'ship_to', lines: 'lines', currency: 'currency', total: 'total' };
  return defineProvider(
    providerOf({
      ...orderShelf(supplier),
      supplier,
      name: `supplier-${supplier}`,
      effect: 'order',
      payload: orderPayload(supplier === 'keyed' ? MOST_KEYED_LINES : MOST_LINES),
      shows: supplier === 'blind' ? shown : { ...named, ...shown },
      made,
      standing: 'created',
      refusals: [],
      readback: ['order_id', 'status', 'ship_to', 'lines', 'currency', 'total', 'cancel_until', 'shipping'],
      cancelUntil: 'until cancel_until of the order, while it is not shipped',
    }),
  );
}

/** Where the supplier keeps its orders; a cancellation looks there too, before it is sent. */
export function orderShelf(supplier: SupplierKind): Shelf {
  const line = z.object({ sku: z.string(), quantity: z.string(), unit: z.string(), unit_price: z.string() });
  const address = z.object({
    name: z.string(),
    street: z.string(),
    city: z.string(),
    postal_code: z.string(),
    country: z.string(),
  });
  const record = z.object({
    ...shownNames(supplier),
    order_id: digits,
    status: z.enum(['created', 'processing', 'rejected', 'cancelled']),
    ship_to: address,
    lines: z.array(line).max(1000),
    currency: z.string(),
    total: z.string(),
    cancel_until: z.iso.datetime({ offset: true }).nullable(),
    shipping: z.enum(['not_shipped', 'shipped']),
  });
  return { path: '/orders', one: 'order', many: 'orders', record: record.transform(shownOrder) };
}

interface Order {
  readonly order_id: string;
  readonly reference?: string | undefined;
  readonly purchase_order?: string | undefined;
  readonly status: string;
  readonly ship_to: JsonObject;
  readonly lines: readonly {
    readonly sku: string;
    readonly quantity: string;
    readonly unit: string;
    readonly unit_price: string;
  }[];
  readonly currency: string;
  readonly total: string;
  readonly cancel_until: string | null;
  readonly shipping: string;
}

function shownOrder(order: Order): Shown {
  const { currency } = order;
  const money = (text: string) => spelled(amountOf(text, currency), text);
  const lines = order.lines.map((each) => ({
    ...each,
    quantity: spelled(quantityOf(each.quantity, each.unit), each.quantity),
    unit_price: money(each.unit_price),
  }));
  return {
    externalId: order.order_id,
    reference: order.reference ?? null,
    status: order.status,
    cancelUntil: order.cancel_until === null ? null : Date.parse(order.cancel_until),
    content: {
      purchase_order: order.purchase_order ?? null,
      ship_to: order.ship_to,
      lines,
      currency,
      total: money(order.total),
      shipping: order.shipping,
    },
  };
}

/** What cannot be read as a decimal stays as it came, and equals nothing of ours. */
function spelled(value: ReturnType<typeof amountOf>, text: string): string {
  return value.kind === 'exact' ? value.text : text;
}

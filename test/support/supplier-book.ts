/**
 * The book of a scripted supplier: its orders, the keys that it remembers, and what it is still to save. Time is an
 * argument; nothing is saved before its moment.
 */
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';

/** The part of a POST that an order is made of. */
export interface OrderBody {
  readonly account: string;
  readonly environment: string;
  readonly purchase_order: string;
  readonly reference?: string | undefined;
  readonly ship_to: Readonly<Record<string, string>>;
  readonly lines: readonly Readonly<Record<string, string>>[];
  readonly currency: string;
  readonly total: string;
}

export interface BookedOrder extends OrderBody {
  readonly order_id: string;
  readonly status: 'created' | 'rejected';
  readonly created_at: number;
}

/** What saving one request came to. */
export type Saving =
  | { readonly kind: 'made' | 'again' | 'exists'; readonly order: BookedOrder }
  | { readonly kind: 'key_reused' };

interface Delivery {
  readonly body: OrderBody;
  /** What is to be saved, where that differs from what was asked. */
  readonly saved: OrderBody;
  readonly key: string | undefined;
  readonly status: BookedOrder['status'];
}

const FIRST_ID = 4_611_686_018_427_387_904n;
/** The key of a longer order is not looked at. */
const MOST_KEYED_LINES = 20;

export function supplierBook(kind: SupplierKind, keyLifetimeMs: number) {
  const orders: BookedOrder[] = [];
  const keys = new Map<
    string,
    { readonly at: number; readonly asked: string; readonly order: BookedOrder }
  >();
  const pending: { readonly at: number; readonly delivery: Delivery }[] = [];

  const add = ({ saved, status }: Delivery, at: number): BookedOrder => {
    const order = { ...saved, order_id: String(FIRST_ID + BigInt(orders.length)), status, created_at: at };
    orders.push(order);
    return order;
  };

  const save = (delivery: Delivery, at: number): Saving => {
    const { body, key = '' } = delivery;
    const sameReference = orders.find((each) => each.reference === body.reference);
    if (kind === 'unique' && sameReference !== undefined) return { kind: 'exists', order: sameReference };
    if (kind !== 'keyed' || body.lines.length > MOST_KEYED_LINES) {
      return { kind: 'made', order: add(delivery, at) };
    }
    const known = keys.get(key);
    const asked = JSON.stringify(body);
    if (known !== undefined && at < known.at + keyLifetimeMs) {
      return known.asked === asked ? { kind: 'again', order: known.order } : { kind: 'key_reused' };
    }
    const order = add(delivery, at);
    keys.set(key, { at, asked, order });
    return { kind: 'made', order };
  };

  return {
    orders,
    add,
    save,
    /** Saved by `catchUp` once its moment has come. */
    saveLater: (delivery: Delivery, at: number): void => {
      pending.push({ at, delivery });
      pending.sort((one, other) => one.at - other.at);
    },
    catchUp: (now: number): void => {
      for (let next = pending[0]; next !== undefined && next.at <= now; next = pending[0]) {
        pending.shift();
        save(next.delivery, next.at);
      }
    },
  };
}

export type SupplierBook = ReturnType<typeof supplierBook>;

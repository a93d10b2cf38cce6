/** What a scripted supplier shows of its book: one order by its id, or a search by reference, honestly or not. */
import type { ReadOnce } from '../../lib/providers/provider.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import type { BookedOrder, SupplierBook } from './supplier-book.ts';
import type { LookFault } from './supplier-plays.ts';

type Answer = Awaited<ReturnType<ReadOnce>>;

interface View {
  readonly kind: SupplierKind;
  readonly account: string;
  /** How long a saved order is not listed; by its id it shows at once. */
  readonly lagMs: number;
  readonly book: SupplierBook;
}

/** Somebody else's there. */
export const OTHER_ACCOUNT = 'other-1';
const CANCEL_WITHIN_MS = 3_600_000;

export function supplierView(view: View) {
  const faults: LookFault[] = [];
  const failures: Readonly<Partial<Record<LookFault['kind'], Answer>>> = {
    search_status: answered({ error: 'unavailable' }, 503),
    search_garbage: { kind: 'answered', status: 200, body: '<html>' },
    search_stall: { kind: 'failed', error: 'timeout' },
    search_close: { kind: 'failed', error: 'unreachable' },
  };
  return {
    faults,
    get: (path: string, now: number): Answer => {
      const on = new Set(faults.filter(({ until = Infinity }) => now < until).map(({ kind }) => kind));
      const [pathname = '', query = ''] = path.split('?', 2);
      const id = /^\/orders\/(.+)$/.exec(pathname)?.[1];
      if (id !== undefined) return one(view, id, on);
      if (view.kind === 'blind' || pathname !== '/orders')
        return answered({ error: 'no_such_endpoint' }, 404);
      const failure = [...on].map((kind) => failures[kind]).find((each) => each !== undefined);
      return failure ?? list(view, new URLSearchParams(query), on, now);
    },
  };
}

function one(view: View, id: string, on: ReadonlySet<LookFault['kind']>): Answer {
  const order = view.book.orders.find((each) => each.order_id === id);
  if (order === undefined || on.has('gone')) return answered({ error: 'not_found' }, 404);
  const { account, environment } = order;
  const place = { account: on.has('wrong_account_view') ? OTHER_ACCOUNT : account, environment };
  return answered({ ...place, order: shown(view.kind, order) }, 200, view.kind);
}

function list(view: View, query: URLSearchParams, on: ReadonlySet<LookFault['kind']>, now: number): Answer {
  const reference = query.get('reference') ?? '';
  const from = Number(query.get('cursor') ?? 0);
  const matches = (each: BookedOrder) =>
    view.kind === 'unique'
      ? each.reference === reference
      : each.reference?.toLowerCase().startsWith(reference.toLowerCase()) === true;
  const all = view.book.orders
    .filter((each) => matches(each) && each.created_at + view.lagMs <= now)
    .filter((each) => query.get('status') === 'all' || each.status === 'created');
  if (on.has('bad_cursor') && query.has('cursor')) return answered({ error: 'bad_cursor' }, 400);
  const listed = on.has('hidden') || on.has('gone') ? [] : on.has('partial_page') ? all.slice(0, 1) : all;
  const size = on.has('bad_cursor') ? 0 : on.has('paged') ? 1 : 50;
  const page = listed.slice(from, from + size);
  const foreign = page.find((each) => each.account !== view.account)?.account;
  return answered(
    {
      account: on.has('wrong_account_view') ? OTHER_ACCOUNT : (foreign ?? view.account),
      environment: 'test',
      reference,
      orders: page.map((each) => shown(view.kind, each)),
      next: from + size < listed.length || on.has('bad_cursor') ? String(from + size) : null,
    },
    200,
    view.kind,
  );
}

function shown(kind: SupplierKind, order: BookedOrder): object {
  const { order_id, purchase_order, reference, status, ship_to, lines, currency, total, created_at } = order;
  return {
    order_id,
    ...(kind === 'blind' ? {} : { purchase_order, reference }),
    ...{ status, ship_to, lines, currency, total },
    created_at: new Date(created_at).toISOString(),
    cancel_until: new Date(created_at + CANCEL_WITHIN_MS).toISOString(),
    shipping: 'not_shipped',
  };
}

/** The unique supplier writes its ids as numbers. */
export function jsonOf(body: object, kind?: SupplierKind): string {
  const json = JSON.stringify(body);
  return kind === 'unique' ? json.replaceAll(/"order_id":"(\d+)"/g, '"order_id":$1') : json;
}

function answered(body: object, status = 200, kind?: SupplierKind): Answer {
  return { kind: 'answered', status, body: jsonOf(body, kind) };
}

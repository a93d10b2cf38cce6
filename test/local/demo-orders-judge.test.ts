/** The judge of the purchase-order chapter: every way to be wrong is noticed, on books that are made for it. */
import { describe, expect, test } from 'vitest';
import { type Stated, sumsOf } from '../../lib/local/demo-ending.ts';
import { judge, type Work } from '../../lib/local/demo-orders-judge.ts';
import type { IntentView } from '../../lib/operations/trail.ts';
import type { SupplierTruth, TrueOrder, TruePost } from '../../lib/simulators/supplier-truth.ts';

const SECOND = 1000;
const T0 = Date.parse('2026-11-01T00:00:00.000Z');
const at = (seconds: number) => new Date(T0 + seconds * SECOND).toISOString();

const payload = {
  purchase_order: 'PO-1',
  ship_to: { name: 'Tea Room', street: '1-2-3 Ginza', city: 'Tokyo', postal_code: '104-0061', country: 'JP' },
  lines: [{ sku: 'TEA-01', quantity: '2', unit: 'piece', unit_price: '1100' }],
  currency: 'JPY',
  total: '2200',
} as const;

const order: TrueOrder = {
  ...payload,
  order_id: '4611686018427387905',
  reference: 'int_1',
  account: 'tokyo-1',
  environment: 'test',
  status: 'created',
  created_at: at(2),
  shipping: 'not_shipped',
  cancel_until: at(3600),
};
const post: TruePost = {
  kind: 'order',
  purchase_order: 'PO-1',
  reference: 'int_1',
  at: at(2),
  status: 201,
  fault: null,
};

/** What the judge looks at. */
type Seen = Pick<
  IntentView,
  'id' | 'state' | 'report' | 'attempts' | 'errorKinds' | 'conflicts' | 'externalId' | 'receipt'
>;
const confirmed: Seen = {
  id: 'int_1',
  state: 'confirmed',
  report: 'confirmed',
  attempts: 1,
  errorKinds: [],
  conflicts: 0,
  externalId: order.order_id,
  receipt: { readAt: at(3) },
};
const stated: Stated = { state: 'confirmed', effects: 1, posts: 1 };

interface World {
  readonly view?: Partial<Seen>;
  readonly permits?: Work['permits'];
  readonly orders?: readonly TrueOrder[];
  readonly posts?: readonly TruePost[];
  /** Of another supplier. */
  readonly elsewhere?: readonly TrueOrder[];
}

/** Permitted from the first second to the tenth, sent in the second, read back in the third; unless told. */
function judged({ view = {}, permits, orders = [order], posts = [post], elsewhere = [] }: World) {
  const work: Work = {
    call: 'order',
    purchaseOrder: 'PO-1',
    request: { route: 'orders-keyed', account: 'tokyo-1', environment: 'test', payload },
    permits: permits === undefined ? [{ from: T0 + SECOND, until: T0 + 10 * SECOND }] : permits,
    view: { ...confirmed, ...view } as IntentView,
  };
  const books = [bookWith(orders, posts), bookWith(elsewhere, [])];
  return judge({ name: 'one', route: 'orders-keyed', stated }, [work], books, 1, []);
}

function bookWith(orders: readonly TrueOrder[], posts: readonly TruePost[]): SupplierTruth {
  return { orders, posts, cancellations: [], confirmations: [], faults: {} };
}

test('one order as approved, sent once in time and read back, breaks nothing', () => {
  const { row, faults, unmet } = judged({});
  expect(unmet).toEqual([]);
  expect(faults).toEqual({ duplicates: 0, lost: 0, wronglyConfirmed: 0 });
  expect(row).toMatchObject({ posts: 1, effects: 1, equal: true, violations: 0, reopened: 0, seconds: 1 });
});

const second = { ...order, order_id: '4611686018427387906' };
const unlike = 'one: the supplier holds something else than was approved';

const BROKEN: readonly { because: string; world: World; unmet: readonly string[] }[] = [
  {
    because: 'a second order is a duplicate, and no confirmation of one id is right any more',
    world: { orders: [order, second] },
    unmet: ['one: effects is 2, not 1', 'one: duplicates is 1', 'one: wronglyConfirmed is 1'],
  },
  {
    because: 'a second order at another supplier is one too',
    world: { elsewhere: [second] },
    unmet: ['one: effects is 2, not 1', 'one: duplicates is 1', 'one: wronglyConfirmed is 1'],
  },
  {
    because: 'confirmed with nothing there is lost and wrongly confirmed',
    world: { orders: [] },
    unmet: ['one: effects is 0, not 1', unlike, 'one: lost is 1', 'one: wronglyConfirmed is 1'],
  },
  {
    because: 'a refused record is no effect',
    world: { orders: [{ ...order, status: 'rejected' }] },
    unmet: ['one: effects is 0, not 1', unlike, 'one: lost is 1', 'one: wronglyConfirmed is 1'],
  },
  {
    because: 'another quantity is not what was approved',
    world: { orders: [{ ...order, lines: [{ ...payload.lines[0], quantity: '3' }] }] },
    unmet: [unlike, 'one: wronglyConfirmed is 1'],
  },
  {
    because: 'another account is not what was approved',
    world: { orders: [{ ...order, account: 'other-1' }] },
    unmet: [unlike, 'one: wronglyConfirmed is 1'],
  },
  {
    because: 'an id that the book does not hold was confirmed wrongly',
    world: { view: { externalId: '1' } },
    unmet: ['one: wronglyConfirmed is 1'],
  },
  {
    because: 'what is still open when the demo ends is lost',
    world: { view: { state: 'unknown', report: 'unconfirmed' } },
    unmet: ['one: state is unknown, not confirmed', 'one: lost is 1'],
  },
  {
    because: 'an unexpected hand-over is another end than stated',
    world: { view: { state: 'handover', report: 'unconfirmed' } },
    unmet: ['one: state is handover, not confirmed', 'one: handovers is 1, not 0'],
  },
  {
    because: 'a POST at the end of its approval is too late: the end is exclusive',
    world: { posts: [{ ...post, at: at(10) }], view: { receipt: { readAt: at(11) } } },
    unmet: ['one: violations is 1'],
  },
  {
    because: 'a POST before anybody signed has no permission',
    world: { posts: [{ ...post, at: at(0) }] },
    unmet: ['one: violations is 1'],
  },
  {
    because: 'a POST that nothing on record accounts for',
    world: { posts: [post, post] },
    unmet: ['one: posts is 2, not 1', 'one: more POSTs on the wire than attempts on record'],
  },
  {
    because: 'a POST after the readback reopens what was done',
    world: { posts: [post, { ...post, at: at(4) }], view: { attempts: 2 } },
    unmet: ['one: posts is 2, not 1', 'one: reopened is 1'],
  },
];

describe('is noticed', () => {
  test.each(BROKEN)('$because', ({ world, unmet }) => {
    expect(judged(world).unmet).toEqual(unmet);
  });
});

test('a standing permission is never over', () => {
  expect(judged({ permits: null, posts: [{ ...post, at: at(0) }] }).unmet).toEqual([]);
});

test('a scenario that came to nothing is broken, and what it said is kept', () => {
  const { unmet, row } = judge({ name: 'one', route: 'orders-keyed', stated }, [], [], 1, ['never came: x']);
  expect(unmet).toContain('one: never came: x');
  expect(unmet).toContain('one: state is -, not confirmed');
  expect(row.equal).toBe(false);
});

test('sums add up what every scenario counts', () => {
  const late = { posts: [post, { ...post, at: at(12) }] };
  const handedOver = { view: { state: 'handover', report: 'unconfirmed' } as const };
  expect(sumsOf([judged({ orders: [order, second] }), judged(late), judged(handedOver)])).toEqual({
    ...{ scenarios: 3, confirmed: 2, unconfirmed: 1, rejected: 0, effects: 4 },
    ...{ duplicates: 1, lost: 0, wronglyConfirmed: 1, handovers: 1, permissionViolations: 1, reopened: 1 },
  });
});

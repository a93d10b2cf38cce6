import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WRITE_FAULTS } from '../../lib/simulators/supplier-faults.ts';
import type { SupplierKind } from '../../lib/simulators/suppliers.ts';
import { ACCOUNT, CONTENT, KINDS, look, PATHS, type Seen, supplierRig } from './supplier-rig.ts';

let rig: ReturnType<typeof supplierRig>;
beforeEach(() => {
  rig = supplierRig();
});
afterEach(() => rig.stop());

const PLACE = { account: ACCOUNT, environment: 'test' };
const STALL_MS = 150;

interface WriteRow {
  /** Fields of the fault beside its kind. */
  readonly with?: object;
  /** What the POST looks like from outside. */
  readonly seen: Partial<Seen>;
  /** Orders in the book right after it. */
  readonly saved: number;
  /** What the same key gets from `keyed` next, and the orders after that. */
  readonly next: readonly [status: number, orders: number];
  readonly because: string;
}

const CLOSED = { status: 'closed' } as const;
const STALLED = { status: 'stalled' } as const;
const ACCEPTED: Partial<Seen> = { status: 202, body: { ...PLACE, status: 'accepted' } };

const WRITES: Readonly<Record<keyof typeof WRITE_FAULTS, WriteRow>> = {
  honest: { seen: { status: 201 }, saved: 1, next: [200, 1], because: 'it only takes its turn' },
  cut_before_save: { seen: CLOSED, saved: 0, next: [201, 1], because: 'nothing came of it' },
  cut_after_save: { seen: CLOSED, saved: 1, next: [200, 1], because: 'only the answer is lost' },
  reset_before_save: { seen: CLOSED, saved: 0, next: [201, 1], because: 'nothing came of it' },
  reset_after_save: { seen: CLOSED, saved: 1, next: [200, 1], because: 'only the answer is lost' },
  late_save: { seen: CLOSED, saved: 0, next: [409, 0], because: 'the first request still runs' },
  stall: { seen: STALLED, saved: 0, next: [201, 1], because: 'nothing came of it' },
  stall_after_save: { seen: STALLED, saved: 1, next: [200, 1], because: 'only the answer is lost' },
  status_before_save: {
    ...{ with: { status: 503 }, seen: { status: 503, body: { error: 'unavailable' } } },
    ...{ saved: 0, next: [201, 1], because: 'nothing came of it' },
  },
  status_after_save: {
    ...{ seen: { status: 500, body: { error: 'internal' } } },
    ...{ saved: 1, next: [200, 1], because: 'the error was not stored' },
  },
  status_after_save_stored: {
    ...{ seen: { status: 500, body: { error: 'internal' } } },
    ...{ saved: 1, next: [500, 1], because: 'the error is stored with the key' },
  },
  accepted_then_created: { seen: ACCEPTED, saved: 0, next: [202, 0], because: 'the 202 is stored' },
  accepted_then_rejected: { seen: ACCEPTED, saved: 0, next: [202, 0], because: 'the 202 is stored' },
  accepted_then_never: { seen: ACCEPTED, saved: 0, next: [202, 0], because: 'the 202 is stored' },
  ok_with_error: {
    ...{ seen: { status: 200, body: { ok: false, error: 'account_blocked' } } },
    ...{ saved: 0, next: [201, 1], because: 'nothing came of it' },
  },
  delivered_twice: { seen: { status: 201 }, saved: 1, next: [200, 1], because: 'the key collapses it' },
  cut_body_after_save: {
    ...{ seen: { status: 201, body: { text: 'cut' } } },
    ...{ saved: 1, next: [200, 1], because: 'the stored answer is whole' },
  },
  no_id_after_save: {
    ...{ seen: { status: 201, body: { ...PLACE, status: 'created' } } },
    ...{ saved: 1, next: [200, 1], because: 'the stored answer has its id' },
  },
  wrong_account_saved: {
    ...{ seen: { status: 201, body: expect.objectContaining({ account: 'other-1' }) } },
    ...{ saved: 1, next: [200, 1], because: 'the key is known' },
  },
  wrong_environment_saved: {
    ...{ seen: { status: 201, body: expect.objectContaining({ environment: 'production' }) } },
    ...{ saved: 1, next: [200, 1], because: 'the key is known' },
  },
  altered_quantity: { seen: { status: 201 }, saved: 1, next: [200, 1], because: 'the key is known' },
  key_in_use: {
    ...{ seen: { status: 409, body: { error: 'key_in_use' } } },
    ...{ saved: 0, next: [201, 1], because: 'nothing came of it' },
  },
};

describe('each fault of a POST', () => {
  it.each(Object.entries(WRITES))('%s is seen, counted and played once', async (kind, row) => {
    const supplier = await rig.start('keyed', { applyDelayMs: 60_000 });
    await supplier.plan('PO-1', { kind, ...row.with });
    const first = await supplier.post('PO-1', row.seen.status === 'stalled' ? { waitMs: STALL_MS } : {});
    expect(first).toMatchObject(row.seen);
    if (kind === 'no_id_after_save') expect(first.body).not.toHaveProperty('order_id');
    expect(rig.orders('keyed')).toHaveLength(row.saved);
    const status = typeof row.seen.status === 'number' ? row.seen.status : null;
    const fault = kind === 'honest' ? null : kind;
    expect(rig.book('keyed').posts).toMatchObject([{ status, fault }]);
    const then = await supplier.post('PO-1');
    expect([then.status, rig.orders('keyed').length], row.because).toEqual(row.next);
    expect(rig.book('keyed').faults).toEqual(fault === null ? {} : { [kind]: 1 });
  });

  it('what was saved in another place, or altered, is shown so', async () => {
    const supplier = await rig.start('keyed');
    const faults = ['wrong_account_saved', 'wrong_environment_saved', 'altered_quantity'];
    for (const kind of faults) {
      await supplier.plan(kind, { kind });
      await supplier.post(kind);
    }
    const [account, environment, altered] = await Promise.all(
      rig.orders('keyed').map((id) => look(`${supplier.url}/orders/${id}`)),
    );
    expect(account?.body).toMatchObject({ account: 'other-1', environment: 'test' });
    expect(environment?.body).toMatchObject({ account: ACCOUNT, environment: 'production' });
    expect(altered?.body).toMatchObject({ ...PLACE, order: { lines: [{ quantity: '3' }], total: '22' } });
    const searched = await supplier.search('wrong_account_saved');
    expect(searched.body).toMatchObject({ account: 'other-1', orders: [{ status: 'created' }] });
    expect(rig.book('keyed').orders[0]).toMatchObject({ account: 'other-1' });
  });

  it('a quantity with a fraction keeps it when it is altered', async () => {
    const supplier = await rig.start('blind');
    await supplier.plan('PO-1', { kind: 'altered_quantity' });
    const line = { sku: 'A', quantity: '9.500', unit: 'kg', unit_price: '1' };
    await supplier.post('PO-1', { more: { lines: [line, line] } });
    const quantities = rig.book('blind').orders[0]?.lines.map(({ quantity }) => quantity);
    expect(quantities).toEqual(['10.500', '9.500']);
  });

  it('a list is taken one a POST, and afterwards all is honest', async () => {
    const supplier = await rig.start('searchable');
    await supplier.plan('PO-1', [
      { kind: 'honest' },
      { kind: 'reset_before_save' },
      { kind: 'status_after_save', status: 502 },
    ]);
    const statuses: unknown[] = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await supplier.post('PO-1')).status);
    expect(statuses).toEqual([201, 'closed', 502, 201, 201]);
    expect(rig.orders('searchable')).toHaveLength(4);
    expect((await supplier.post('PO-2')).status).toBe(201);
  });

  it.each(PATHS)('belongs to its call: one of /%s leaves the other two alone', async (path) => {
    const supplier = await rig.start('searchable');
    await supplier.post('PO-0');
    await supplier.plan('PO-1', { kind: 'status_before_save', status: 503 }, path);
    for (const each of PATHS) {
      expect((await supplier.post('PO-1', { path: each })).status).toBe(each === path ? 503 : 201);
    }
  });
});

describe('one POST that arrives twice', () => {
  const TWICE: Readonly<Record<SupplierKind, number>> = { keyed: 1, unique: 1, searchable: 2, blind: 2 };
  it.each(KINDS)('%s makes of it what it promises', async (kind) => {
    const supplier = await rig.start(kind);
    const first = await supplier.post('TWICE-1');
    expect(first.status).toBe(201);
    expect(rig.orders(kind)).toHaveLength(TWICE[kind]);
    expect(String(first.body.order_id)).toBe(rig.orders(kind)[0]);
    expect(rig.book(kind).posts).toHaveLength(1);
  });

  it('is two orders for a key that does not cover it', async () => {
    const supplier = await rig.start('keyed');
    const lines = Array.from({ length: 21 }, () => CONTENT.orders.lines[0]);
    await supplier.post('TWICE-1', { more: { lines } });
    expect(rig.orders('keyed')).toHaveLength(2);
  });

  it('cancels once', async () => {
    const supplier = await rig.start('searchable');
    await supplier.post('PO-1');
    await supplier.plan('PO-1', { kind: 'delivered_twice' }, 'cancellations');
    expect((await supplier.post('PO-1', { path: 'cancellations' })).status).toBe(201);
    expect(rig.book('searchable').cancellations).toHaveLength(1);
  });
});

describe('faults by name', () => {
  it.each([
    { name: 'LOST-1', first: 'closed', saved: 1, fault: 'cut_after_save' },
    { name: 'BEFORE-1', first: 'closed', saved: 0, fault: 'cut_before_save' },
    { name: 'LATE-1', first: 'closed', saved: 0, fault: 'late_save' },
    { name: 'TWICE-1', first: 201, saved: 2, fault: 'delivered_twice' },
    { name: 'ACCEPTED-1', first: 202, saved: 0, fault: 'accepted_then_created' },
    { name: 'HIDDEN-1', first: 'closed', saved: 1, fault: 'cut_after_save' },
    { name: 'PO-LOST-1', first: 201, saved: 1, fault: null },
  ])('$name is $first with $saved saved, on its first POST only', async ({ name, first, saved, fault }) => {
    const supplier = await rig.start('searchable', { applyDelayMs: 60_000 });
    expect((await supplier.post(name)).status).toBe(first);
    expect(rig.orders('searchable')).toHaveLength(saved);
    expect((await supplier.post(name)).status).toBe(201);
    expect(rig.book('searchable').posts.map((post) => post.fault)).toEqual([fault, null]);
  });

  it('HIDDEN- is not found until it is cleared, though its id shows it', async () => {
    const supplier = await rig.start('searchable');
    await supplier.post('HIDDEN-1');
    const [id] = rig.orders('searchable');
    expect((await supplier.search('HIDDEN-1')).body.orders).toEqual([]);
    expect((await supplier.search('HIDDEN-1')).body.orders).toEqual([]);
    expect((await look(`${supplier.url}/orders/${id}`)).status).toBe(200);
    await supplier.control('DELETE', 'orders/HIDDEN-1/faults');
    expect((await supplier.search('HIDDEN-1')).body.orders).toHaveLength(1);
  });

  it('a plan of its own takes their place', async () => {
    const supplier = await rig.start('searchable');
    await supplier.plan('LOST-1', []);
    expect((await supplier.post('LOST-1')).status).toBe(201);
    await supplier.plan('LOST-2', { kind: 'cut_before_save' });
    expect((await supplier.post('LOST-2')).status).toBe('closed');
    expect(rig.orders('searchable')).toHaveLength(1);
  });
});

describe('the apply delay', () => {
  const D = 500;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_000_000 });
  });
  const start = (kind: SupplierKind = 'keyed') => rig.start(kind, { applyDelayMs: D });
  const createdAt = () => rig.book('keyed').orders.map((order) => Date.parse(order.created_at));

  it.each([
    { fault: { kind: 'late_save' }, at: 300, because: 'unless told, six tenths of it' },
    { fault: { kind: 'late_save', delayMs: 20 }, at: 20, because: 'as told' },
    { fault: { kind: 'late_save', delayMs: D }, at: 450, because: 'a slow timer must still keep it' },
    { fault: { kind: 'late_save', delayMs: 0 }, at: 0, because: 'no delay is no delay' },
    { fault: { kind: 'accepted_then_created', delayMs: 100 }, at: 100, because: 'as told' },
  ])('$fault saves after $at ms: $because', async ({ fault, at }) => {
    const supplier = await start();
    await supplier.plan('PO-1', fault);
    await supplier.post('PO-1');
    if (at > 0) {
      vi.advanceTimersByTime(at - 1);
      expect(rig.orders('keyed')).toEqual([]);
      vi.advanceTimersByTime(1);
    }
    expect(createdAt()).toEqual([1_000_000 + at]);
    vi.advanceTimersByTime(10 * D);
    expect(rig.orders('keyed')).toHaveLength(1);
  });

  it.each([
    { kind: 'late_save', next: 201, because: 'the late request came to nothing and left its key' },
    { kind: 'accepted_then_created', next: 202, because: 'it was accepted, and that is all' },
  ])('$kind whose timer missed it is never saved', async ({ kind, next, because }) => {
    const supplier = await start();
    await supplier.plan('PO-1', { kind });
    await supplier.post('PO-1');
    vi.setSystemTime(1_000_000 + D + 1);
    vi.advanceTimersByTime(D);
    expect(rig.orders('keyed')).toEqual([]);
    expect((await supplier.post('PO-1')).status, because).toBe(next);
  });

  it('a key is in use until its late order is saved, and then answers with it', async () => {
    const supplier = await start();
    expect((await supplier.post('LATE-1')).status).toBe('closed');
    expect(await supplier.post('LATE-1')).toEqual({ status: 409, body: { error: 'key_in_use' } });
    expect(await supplier.post('LATE-1', { more: { total: '23' } })).toMatchObject({
      status: 409,
      body: { error: 'key_reused' },
    });
    vi.advanceTimersByTime(D);
    const after = await supplier.post('LATE-1');
    expect([after.status, after.body.order_id]).toEqual([200, rig.orders('keyed')[0]]);
    expect(rig.orders('keyed')).toHaveLength(1);
  });

  it.each([
    { kind: 'unique', count: 1, because: 'the reference is taken when the late one comes' },
    { kind: 'searchable', count: 2, because: 'nothing holds the late one back' },
    { kind: 'blind', count: 2, because: 'nothing holds the late one back' },
  ] as const)('$kind has $count after a repeat: $because', async ({ kind, count }) => {
    const supplier = await start(kind);
    await supplier.post('LATE-1');
    expect((await supplier.post('LATE-1')).status).toBe(201);
    vi.advanceTimersByTime(D);
    expect(rig.orders(kind)).toHaveLength(count);
  });

  it.each([
    { path: 'orders', status: 'rejected' },
    { path: 'cancellations', status: 'rejected' },
    { path: 'confirmations', status: 'bounced' },
  ] as const)('an accepted request to /$path can end $status', async ({ path, status }) => {
    const supplier = await start();
    if (path === 'cancellations') await supplier.post('PO-0');
    await supplier.plan('PO-1', { kind: 'accepted_then_rejected' }, path);
    expect((await supplier.post('PO-1', { path })).status).toBe(202);
    vi.advanceTimersByTime(D);
    const book = rig.book('keyed');
    expect(book[path].filter((it) => it.purchase_order === 'PO-1')).toMatchObject([{ status }]);
    if (path === 'cancellations') expect(book.orders[0]?.status).toBe('created');
    expect((await supplier.search('PO-1', '', path)).body[path]).toEqual([]);
    expect((await supplier.search('PO-1', '&status=all', path)).body[path]).toMatchObject([{ status }]);
  });

  it('what is accepted and never done is nowhere', async () => {
    const supplier = await start();
    await supplier.plan('PO-1', { kind: 'accepted_then_never' });
    await supplier.post('PO-1');
    vi.advanceTimersByTime(10 * D);
    expect(rig.orders('keyed')).toEqual([]);
  });

  it('a late cancellation meets the order as it is then', async () => {
    const supplier = await start();
    await supplier.post('PO-1');
    await supplier.plan('PO-1', { kind: 'late_save' }, 'cancellations');
    await supplier.post('c', { path: 'cancellations', purchaseOrder: 'PO-1' });
    await supplier.control('POST', `orders/${rig.orders('keyed')[0]}`, { shipping: 'shipped' });
    vi.advanceTimersByTime(D);
    const { orders, cancellations } = rig.book('keyed');
    expect([orders[0]?.status, cancellations]).toEqual(['created', []]);
  });

  it.each([
    { away: 200, count: 1, next: 200, because: 'the bound has not passed' },
    { away: 501, count: 0, next: 201, because: 'the bound is kept, and its key is free' },
  ])('after a restart $away ms later $count is saved: $because', async ({ away, count, next }) => {
    const first = await start();
    await first.post('LATE-1');
    await first.close();
    vi.setSystemTime(1_000_000 + away);
    const second = await start();
    vi.advanceTimersByTime(D);
    expect(rig.orders('keyed')).toHaveLength(count);
    for (const at of createdAt()) expect(at).toBeLessThanOrEqual(1_000_000 + D);
    expect((await second.post('LATE-1')).status).toBe(next);
    expect(rig.orders('keyed')).toHaveLength(1);
  });
});

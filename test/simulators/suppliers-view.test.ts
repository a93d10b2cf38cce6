import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { VIEW_FAULTS } from '../../lib/simulators/supplier-faults.ts';
import { ACCOUNT, KINDS, look, PATHS, type Seen, type Supplier, supplierRig } from './supplier-rig.ts';

let rig: ReturnType<typeof supplierRig>;
beforeEach(() => {
  rig = supplierRig();
});
afterEach(() => rig.stop());

const PLACE = { account: ACCOUNT, environment: 'test' };
const STALL_MS = 150;

async function references(supplier: Supplier, reference: string, query?: string): Promise<string[]> {
  const { body } = await supplier.search(reference, query);
  return body.orders.map((order: { reference: string }) => order.reference);
}

/** Every page of a search, as lists of references. */
async function pages(supplier: Supplier, reference: string, query = '&status=all'): Promise<string[][]> {
  const all: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: Seen = await supplier.search(reference, query + (cursor && `&cursor=${cursor}`));
    all.push(body.orders.map((order: { reference: string }) => order.reference));
    cursor = body.next;
  }
  return all;
}

describe('a search', () => {
  it.each([
    { kind: 'keyed', asked: 'PO-37', shown: ['PO-37', 'PO-371', 'po-37-b'] },
    { kind: 'searchable', asked: 'PO-37', shown: ['PO-37', 'PO-371', 'po-37-b'] },
    { kind: 'searchable', asked: 'po-371', shown: ['PO-371'] },
    { kind: 'unique', asked: 'PO-37', shown: ['PO-37'] },
    { kind: 'unique', asked: 'po-37', shown: [] },
    { kind: 'keyed', asked: '%', shown: [] },
    { kind: 'keyed', asked: 'PO_37', shown: [] },
  ] as const)('of $kind for $asked shows $shown, oldest first', async ({ kind, asked, shown }) => {
    const supplier = await rig.start(kind);
    for (const each of ['PO-36', 'PO-37', 'PO-371', 'po-37-b', 'XPO-37']) await supplier.post(each);
    expect(await references(supplier, asked)).toEqual(shown);
    expect((await supplier.search(asked)).body).toMatchObject({ ...PLACE, reference: asked, next: null });
  });

  it.each(PATHS)('in /%s lists what is open, and everything when it is asked for', async (path) => {
    const supplier = await rig.start('searchable');
    await supplier.post('PO-0');
    await supplier.post('PO-1', { path });
    expect((await supplier.search('PO-1', '', path)).body[path]).toHaveLength(1);
    expect((await supplier.search('PO-2', '', path)).body[path]).toEqual([]);
  });

  it.each([
    { status: 'created', open: 1 },
    { status: 'processing', open: 1 },
    { status: 'rejected', open: 0 },
    { status: 'cancelled', open: 0 },
  ])('lists $open of an order that is $status without status=all', async ({ status, open }) => {
    const supplier = await rig.start('searchable');
    await supplier.post('PO-1');
    await supplier.control('POST', `orders/${rig.orders('searchable')[0]}`, { status });
    expect(await references(supplier, 'PO-1', '')).toHaveLength(open);
    expect((await supplier.search('PO-1')).body.orders).toMatchObject([{ status }]);
  });

  it('hides a saved record up to the visibility lag and no longer, while its id shows it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const supplier = await rig.start('searchable', { visibilityLagMs: 300 });
    await supplier.post('PO-1');
    const [id] = rig.orders('searchable');
    vi.setSystemTime(1_000_299);
    expect(await references(supplier, 'PO-1')).toEqual([]);
    expect((await look(`${supplier.url}/orders/${id}`)).status).toBe(200);
    vi.setSystemTime(1_000_300);
    expect(await references(supplier, 'PO-1')).toEqual(['PO-1']);
  });

  it.each(PATHS)('is no endpoint of blind in /%s', async (path) => {
    const supplier = await rig.start('blind');
    const answer = await supplier.search('PO-1', '', path);
    expect(answer).toEqual({ status: 404, body: { error: 'no_such_endpoint' } });
  });

  it.each([
    { query: '', field: 'reference', because: 'nothing is asked for' },
    { query: '?reference=', field: 'reference', because: 'everything is too much' },
    { query: '?reference=a&status=open', field: 'status', because: 'all is the only word' },
    { query: '?reference=a&limit=0', field: 'limit', because: 'a page has a record' },
    { query: '?reference=a&limit=51', field: 'limit', because: 'a page has at most 50' },
    { query: '?reference=a&page=2', field: 'page', because: 'an unknown word is refused' },
  ])('with "$query" is refused: $because', async ({ query, field }) => {
    const { url } = await rig.start('keyed');
    const answer = await look(`${url}/orders${query}`);
    expect(answer).toEqual({ status: 400, body: { error: 'invalid_request', field } });
  });
});

describe('pages', () => {
  it.each([
    { options: {}, query: '&limit=2', sizes: [2, 2, 1], because: 'the limit asked for' },
    { options: { pageSize: 3 }, query: '', sizes: [3, 2], because: "the supplier's own limit" },
    { options: { pageSize: 3 }, query: '&limit=2', sizes: [2, 2, 1], because: 'the smaller of both' },
    { options: { pageSize: 5 }, query: '', sizes: [5], because: 'a full last page has no next' },
    { options: {}, query: '', sizes: [5], because: 'fifty fit' },
  ])('of $sizes with $options and "$query": $because', async ({ options, query, sizes }) => {
    const supplier = await rig.start('searchable', options);
    const all = ['R-1', 'R-2', 'R-3', 'R-4', 'R-5'];
    for (const reference of all) await supplier.post(reference);
    const shown = await pages(supplier, 'R-', `&status=all${query}`);
    expect(shown.map((page) => page.length)).toEqual(sizes);
    expect(shown.flat()).toEqual(all);
  });

  it('go on from the record they stopped at, whatever is added between', async () => {
    const supplier = await rig.start('searchable', { pageSize: 2 });
    for (const reference of ['R-1', 'R-2', 'R-3']) await supplier.post(reference);
    const first = await supplier.search('R-');
    await supplier.post('R-4');
    const second = await supplier.search('R-', `&status=all&cursor=${first.body.next}`);
    expect(second.body.orders).toMatchObject([{ reference: 'R-3' }, { reference: 'R-4' }]);
  });

  it('end with a bad cursor: unknown, of another search, too old', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const supplier = await rig.start('searchable', { pageSize: 1 });
    for (const reference of ['R-1', 'R-2']) await supplier.post(reference);
    const { next } = (await supplier.search('R-')).body;
    const bad = { status: 400, body: { error: 'bad_cursor' } };
    expect(await supplier.search('R-', '&status=all&cursor=x')).toEqual(bad);
    expect(await supplier.search('R', `&status=all&cursor=${next}`)).toEqual(bad);
    expect(await supplier.search('R-', `&cursor=${next}`)).toEqual(bad);
    vi.setSystemTime(1_059_999);
    expect((await supplier.search('R-', `&status=all&cursor=${next}`)).status).toBe(200);
    vi.setSystemTime(1_060_000);
    expect(await supplier.search('R-', `&status=all&cursor=${next}`)).toEqual(bad);
  });

  it('survive a restart', async () => {
    const first = await rig.start('searchable', { pageSize: 1 });
    for (const reference of ['R-1', 'R-2']) await first.post(reference);
    const { next } = (await first.search('R-')).body;
    await first.close();
    const second = await rig.start('searchable', { pageSize: 1 });
    expect(await references(second, 'R-', `&status=all&cursor=${next}`)).toEqual(['R-2']);
  });
});

interface ViewRow {
  readonly search: object;
  readonly byId: object;
}

describe('each fault of a GET', () => {
  const none = { status: 200, body: { ...PLACE, orders: [], next: null } };
  const one = { status: 200, body: { ...PLACE, order: { status: 'created' } } };
  const VIEWS: Readonly<Record<keyof typeof VIEW_FAULTS, ViewRow>> = {
    hidden: { search: none, byId: one },
    hidden_everywhere: { search: none, byId: { status: 404, body: { error: 'not_found' } } },
    gone: { search: none, byId: { status: 404, body: { error: 'not_found' } } },
    partial_page: { search: none, byId: one },
    search_status: { search: { status: 429, body: { error: 'internal' } }, byId: one },
    search_garbage: {
      search: { status: 200, body: { text: expect.stringMatching(/^<!doctype/) } },
      byId: one,
    },
    search_stall: { search: { status: 'stalled' }, byId: one },
    search_close: { search: { status: 'closed' }, byId: one },
    wrong_account_view: {
      search: { status: 200, body: { account: 'other-1', orders: [{ reference: 'PO-1' }] } },
      byId: { status: 200, body: { account: 'other-1', order: { reference: 'PO-1' } } },
    },
    paged: { search: { status: 200, body: { orders: [{ reference: 'PO-1' }], next: null } }, byId: one },
  };
  const TRUTH = { status: 200, body: { ...PLACE, orders: [{ reference: 'PO-1' }], next: null } };

  it.each(Object.entries(VIEWS))('%s lies until it is cleared, and touches no book', async (kind, row) => {
    const supplier = await rig.start('searchable');
    await supplier.post('PO-1');
    await supplier.post('QO-2');
    await supplier.plan('PO-1', { kind, ...(kind === 'search_status' ? { status: 429 } : {}) });
    const before = rig.book('searchable');
    const [id] = rig.orders('searchable');
    const search = () => look(`${supplier.url}/orders?reference=PO-&status=all`, { waitMs: STALL_MS });
    expect(await search()).toMatchObject(row.search);
    expect(await search()).toMatchObject(row.search);
    const byId = () => look(`${supplier.url}/orders/${id}`);
    expect(await byId()).toMatchObject(row.byId);
    expect((await supplier.search('QO-2')).body.orders).toHaveLength(1);
    const hits = row.byId === one ? 2 : 3;
    expect(rig.book('searchable')).toEqual({ ...before, faults: { [kind]: hits } });
    await supplier.control('DELETE', 'orders/PO-1/faults');
    expect([await search(), await byId()]).toMatchObject([TRUTH, one]);
  });

  it.each(Object.entries(VIEWS))('%s plays as many times as it is told', async (kind, row) => {
    const supplier = await rig.start('searchable');
    await supplier.post('PO-1');
    const fault = { kind, times: 1, ...(kind === 'search_status' ? { status: 429 } : {}) };
    await supplier.plan('PO-1', [fault]);
    const search = () => look(`${supplier.url}/orders?reference=PO-1&status=all`, { waitMs: STALL_MS });
    expect(await search()).toMatchObject(row.search);
    expect(await search()).toMatchObject(TRUTH);
    expect(rig.book('searchable').faults).toEqual({ [kind]: 1 });
  });

  it('a list of them is played in its order', async () => {
    const supplier = await rig.start('searchable');
    await supplier.post('PO-1');
    await supplier.plan('PO-1', [
      { kind: 'search_status', status: 401, times: 2 },
      { kind: 'hidden', times: 1 },
    ]);
    const seen: unknown[] = [];
    for (let n = 0; n < 4; n += 1) {
      const { status, body } = await supplier.search('PO-1');
      seen.push([status, body.orders?.length]);
    }
    expect(seen).toEqual([
      [401, undefined],
      [401, undefined],
      [200, 0],
      [200, 1],
    ]);
  });

  it('a failing search fails also where nothing was saved; a lie about records waits for one', async () => {
    const supplier = await rig.start('searchable');
    for (const kind of ['search_status', 'hidden']) {
      await supplier.plan(kind, [{ kind: 'cut_before_save' }, { kind }]);
      await supplier.post(kind);
    }
    expect((await supplier.search('search_status')).status).toBe(503);
    expect((await supplier.search('hidden')).body.orders).toEqual([]);
    expect(rig.book('searchable').faults).toEqual({ cut_before_save: 2, search_status: 1 });
  });

  it('hides the records of its purchase order only, in a search that shows others', async () => {
    const supplier = await rig.start('searchable');
    for (const reference of ['R-1', 'R-2', 'R-3']) await supplier.post(reference);
    await supplier.plan('R-2', { kind: 'hidden' });
    expect(await references(supplier, 'R-')).toEqual(['R-1', 'R-3']);
  });

  it('paged shows one record a page, and all of them', async () => {
    const supplier = await rig.start('searchable');
    for (const reference of ['R-1', 'R-2', 'R-3']) await supplier.post(reference);
    await supplier.plan('R-2', { kind: 'paged' });
    expect(await pages(supplier, 'R-')).toEqual([['R-1'], ['R-2'], ['R-3']]);
  });

  it('a partial page is the first of several and says that it is the last', async () => {
    const supplier = await rig.start('searchable');
    for (const reference of ['R-1', 'R-2', 'R-3']) await supplier.post(reference);
    await supplier.plan('R-1', [{ kind: 'paged' }, { kind: 'partial_page' }]);
    expect(await pages(supplier, 'R-')).toEqual([['R-1']]);
    await supplier.plan('R-1', { kind: 'partial_page' });
    expect(await pages(supplier, 'R-')).toEqual([['R-1', 'R-2']]);
  });

  it.each(KINDS)('%s takes back what it showed by id', async (kind) => {
    const supplier = await rig.start(kind);
    await supplier.post('PO-1');
    const byId = () => look(`${supplier.url}/orders/${rig.orders(kind)[0]}`);
    expect((await byId()).status).toBe(200);
    await supplier.plan('PO-1', { kind: 'gone' });
    expect((await byId()).status).toBe(404);
  });
});

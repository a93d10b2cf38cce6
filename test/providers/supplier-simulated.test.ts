/** Adapter against supplier, over real sockets: what is sent is saved as meant, and read back as it is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../lib/domain/fingerprint.ts';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import { judgeWrite, type WriteResult } from '../../lib/domain/write-result.ts';
import { parseAnswer } from '../../lib/platform/json.ts';
import type { LookContext, Lookup, Provider, ProviderRecord } from '../../lib/providers/provider.ts';
import { reader } from '../../lib/providers/reader.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { readSupplierBook, startSupplier } from '../../lib/simulators/suppliers.ts';
import { NOW, NOWHERE_ELSE } from '../support/kit.ts';
import {
  ACCOUNT,
  CONFIRMATION,
  ORDER,
  PLACE,
  providerCalled,
  supplierIntent,
} from '../support/supplier-answers.ts';

const KINDS = ['keyed', 'unique', 'searchable', 'blind'] as const;
const folder = mkdtempSync(join(tmpdir(), 'kakutei-suppliers-'));
const suppliers = new Map<string, Awaited<ReturnType<typeof startSupplier>>>();
const file = (kind: string) => join(folder, `${kind}.sqlite`);
const book = (kind: string) => readSupplierBook(file(kind));
const ordersOf = (kind: string, purchaseOrder: string) =>
  book(kind).orders.filter((order) => order.purchase_order === purchaseOrder);

beforeAll(async () => {
  for (const kind of KINDS) {
    const place = { kind, file: file(kind), account: ACCOUNT, control: true, durable: false };
    const tokens = { writeToken: 'write', readToken: 'read' };
    suppliers.set(kind, await startSupplier({ ...place, ...tokens, applyDelayMs: 100, visibilityLagMs: 0 }));
  }
});
afterAll(async () => {
  for (const supplier of suppliers.values()) await supplier.close();
  rmSync(folder, { recursive: true, force: true });
});

function urlOf(kind: string): string {
  const supplier = suppliers.get(kind);
  if (supplier === undefined) throw new Error(`Cannot reach the ${kind} supplier: it was not started.`);
  return supplier.url;
}

const looking = (kind: string, token = 'read'): LookContext => ({
  ...PLACE,
  ...NOWHERE_ELSE,
  get: reader({ baseUrl: urlOf(kind), headers: { authorization: `Bearer ${token}` }, timeoutMs: 2000 }),
});

/** One write as the sender does it. */
async function send(kind: string, provider: Provider, intent: Intent): Promise<WriteResult> {
  const request = provider.write(intent.payload, provider.reference(intent), { ...PLACE, parent: null });
  const report = await sendOnce({
    url: new URL(urlOf(kind) + request.path),
    method: request.method,
    headers: { ...request.headers, authorization: 'Bearer write' },
    body: request.body,
    timeoutMs: 1000,
    lastCheck: async () => null,
  });
  const attempt = { token: 'a1', startedAt: NOW, at: NOW + 5 };
  return judgeWrite(report, provider.readAnswer, attempt, parseAnswer, sha256);
}

async function plan(kind: string, call: string, purchaseOrder: string, ...faults: object[]): Promise<void> {
  const url = `${urlOf(kind)}/control/${call}/${purchaseOrder}/faults`;
  const { status } = await fetch(url, { method: 'PUT', body: JSON.stringify(faults) });
  expect(status).toBe(200);
}

const orderOf = (purchaseOrder: string) => {
  const payload = { ...ORDER, purchase_order: purchaseOrder };
  return supplierIntent(payload, { id: `int_${purchaseOrder}` });
};

/** Records that are this intent's, over every page. */
async function found(provider: Provider, look: LookContext, intent: Intent): Promise<Lookup> {
  if (provider.find === undefined) throw new Error('Cannot search: the adapter offers none.');
  const lookup = await provider.find(look, intent);
  if (lookup.kind === 'failed') return lookup;
  return { ...lookup, records: lookup.records.filter((record) => provider.match(intent, record)) };
}

const idsIn = (lookup: Lookup) =>
  lookup.kind === 'seen' ? lookup.records.map((record) => record.externalId) : lookup.error;

/** Sends, reads back by the id that was given and expects every check to hold. */
async function confirmed(kind: string, name: string, intent: Intent): Promise<ProviderRecord> {
  const provider = providerCalled(name);
  const result = await send(kind, provider, intent);
  const externalId = result.kind === 'acknowledged' ? result.externalId : null;
  expect(externalId, JSON.stringify(result)).not.toBe(null);
  const lookup = await provider.read(looking(kind), intent, externalId);
  expect(lookup).toMatchObject({ kind: 'seen', authorised: true, complete: false });
  expect(idsIn(lookup)).toEqual([externalId]);
  const record = lookup.kind === 'seen' ? lookup.records[0] : undefined;
  if (record === undefined) throw new Error('Cannot verify: nothing was read back.');
  expect(provider.match(intent, record)).toBe(true);
  expect(Object.entries(provider.verify(intent, record)).filter(([, holds]) => !holds)).toEqual([]);
  if (provider.find !== undefined) {
    const whole = await found(provider, looking(kind), intent);
    expect(whole).toMatchObject({ complete: true, authorised: true });
    expect(idsIn(whole)).toEqual([externalId]);
  }
  return record;
}

describe.each(KINDS)('at the %s supplier', (kind) => {
  const orders = providerCalled(`supplier-${kind}`);
  const cancels = providerCalled(`supplier-${kind}-cancellation`);

  it('an order is made once, as it was meant, and read back with every check', async () => {
    const record = await confirmed(kind, orders.name, orderOf('PO-1'));
    const { purchase_order: _, ...content } = ORDER;
    expect(ordersOf(kind, 'PO-1')).toEqual([
      expect.objectContaining({ order_id: record.externalId, ...content }),
    ]);
    expect(record.externalId).toMatch(/^\d{19}$/);
  });

  it('an order is cancelled, the cancellation read back, and then there is nothing left to cancel', async () => {
    const order = await confirmed(kind, orders.name, orderOf('PO-2'));
    const payload = { purchase_order: 'PO-2', order_id: order.externalId, reason: 'twice' };
    const intent = supplierIntent(payload, { id: 'int_cancel-2' });
    const check = await cancels.check?.(looking(kind), intent);
    expect(check).toMatchObject({ kind: 'ready', cancelUntil: order.cancelUntil });
    await confirmed(kind, cancels.name, intent);
    expect(ordersOf(kind, 'PO-2').map((each) => each.status)).toEqual(['cancelled']);
    expect(await cancels.check?.(looking(kind), intent)).toMatchObject({ reason: 'already_cancelled' });
    const again = supplierIntent(payload, { id: 'int_cancel-2~2' });
    expect(await send(kind, cancels, again)).toMatchObject({ kind: 'rejected', proof: 'refused' });
    const lookup = await orders.read(looking(kind), orderOf('PO-2'), order.externalId);
    const record = lookup.kind === 'seen' ? lookup.records[0] : undefined;
    expect(record && orders.verify(orderOf('PO-2'), record)).toMatchObject({ lines: true, status: false });
  });

  it('a confirmation is sent once and read back with every check', async () => {
    const payload = { ...CONFIRMATION, purchase_order: 'PO-3' };
    await confirmed(kind, `supplier-${kind}-confirmation`, supplierIntent(payload, { id: 'int_mail-3' }));
    const sent = book(kind).confirmations.filter((each) => each.purchase_order === 'PO-3');
    expect(sent).toMatchObject([{ to: CONFIRMATION.to, language: 'ja' }]);
  });

  it.each<{ fault: object; result: JsonObject; effects: number }>([
    { fault: { kind: 'cut_before_save' }, result: { code: 'closed_without_answer' }, effects: 0 },
    { fault: { kind: 'cut_after_save' }, result: { code: 'closed_without_answer' }, effects: 1 },
    { fault: { kind: 'status_after_save', status: 500 }, result: { code: 'status_500' }, effects: 1 },
    { fault: { kind: 'status_before_save', status: 503 }, result: { code: 'status_503' }, effects: 0 },
    { fault: { kind: 'cut_body_after_save' }, result: { code: 'body_cut' }, effects: 1 },
    { fault: { kind: 'no_id_after_save' }, result: { code: 'bad_answer' }, effects: 1 },
    {
      fault: { kind: 'accepted_then_never' },
      result: { kind: 'acknowledged', externalId: null },
      effects: 0,
    },
    { fault: { kind: 'ok_with_error' }, result: { kind: 'rejected', proof: 'refused' }, effects: 0 },
  ])(
    '$fault gives $result and $effects in the book, and a search tells',
    async ({ fault, result, effects }) => {
      const intent = orderOf(`F-${Object.values(fault).join('-')}`);
      const purchaseOrder = String(intent.payload['purchase_order']);
      await plan(kind, 'orders', purchaseOrder, fault);
      expect(await send(kind, orders, intent)).toMatchObject({ kind: 'unknown', ...result });
      const saved = ordersOf(kind, purchaseOrder).map((each) => each.order_id);
      expect(saved).toHaveLength(effects);
      if (orders.find === undefined) return;
      expect(idsIn(await found(orders, looking(kind), intent))).toEqual(saved);
    },
  );

  it('one line more than was asked for is found and does not hold', async () => {
    const intent = orderOf('ALTERED-1');
    await plan(kind, 'orders', 'ALTERED-1', { kind: 'altered_quantity' });
    const result = await send(kind, orders, intent);
    const externalId = result.kind === 'acknowledged' ? result.externalId : null;
    const told = { ...intent, acknowledgedId: externalId };
    const lookup = await orders.read(looking(kind), told, externalId);
    const record = lookup.kind === 'seen' ? lookup.records[0] : undefined;
    expect(record && orders.match(told, record)).toBe(true);
    expect(record && orders.verify(told, record)).toMatchObject({ lines: false, total: true, status: true });
  });

  it.each([
    ['wrong_account_saved', { account: 'other-1' }],
    ['wrong_environment_saved', { environment: 'production' }],
  ])('%s: the readback is not authorised', async (fault, place) => {
    const intent = orderOf(fault);
    await plan(kind, 'orders', fault, { kind: fault });
    const result = await send(kind, orders, intent);
    const externalId = result.kind === 'acknowledged' ? result.externalId : null;
    expect(ordersOf(kind, fault)).toMatchObject([place]);
    expect(await orders.read(looking(kind), intent, externalId)).toMatchObject({ authorised: false });
  });

  it('with a wrong token every look has failed', async () => {
    const look = looking(kind, 'guess');
    const failed = { kind: 'failed', error: 'status_401' };
    expect(await orders.read(look, orderOf('PO-1'), '1')).toEqual(failed);
    if (orders.find !== undefined) expect(await orders.find(look, orderOf('PO-1'))).toEqual(failed);
  });
});

describe('the same request once more', () => {
  it.each([
    { kind: 'keyed', result: { kind: 'acknowledged' }, effects: 1, because: 'the key collapses it' },
    {
      kind: 'unique',
      result: { kind: 'unknown', code: 'status_409' },
      effects: 1,
      because: 'the reference exists',
    },
    { kind: 'searchable', result: { kind: 'acknowledged' }, effects: 2, because: 'nothing collapses it' },
    { kind: 'blind', result: { kind: 'acknowledged' }, effects: 2, because: 'nothing collapses it' },
  ])('$kind: $effects in the book, because $because', async ({ kind, result, effects }) => {
    const orders = providerCalled(`supplier-${kind}`);
    await plan(kind, 'orders', 'AGAIN-1', { kind: 'cut_after_save' });
    expect(await send(kind, orders, orderOf('AGAIN-1'))).toMatchObject({ kind: 'unknown' });
    expect(await send(kind, orders, orderOf('AGAIN-1'))).toMatchObject(result);
    expect(ordersOf(kind, 'AGAIN-1')).toHaveLength(effects);
  });

  it('under a key that was used for another request is refused, and nothing new is made', async () => {
    const orders = providerCalled('supplier-keyed');
    const intent = orderOf('REUSED-1');
    await send('keyed', orders, intent);
    const other = { ...intent, payload: { ...intent.payload, purchase_order: 'REUSED-2' } };
    expect(await send('keyed', orders, other)).toMatchObject({ kind: 'rejected', code: 'status_409' });
    expect(ordersOf('keyed', 'REUSED-2')).toEqual([]);
  });
});

describe('a search', () => {
  const orders = providerCalled('supplier-searchable');
  const look = () => looking('searchable');

  it('C29: finds both of two, one a page', async () => {
    const intent = orderOf('TWO-1');
    await plan('searchable', 'orders', 'TWO-1', { kind: 'delivered_twice' }, { kind: 'paged' });
    await send('searchable', orders, intent);
    const lookup = await found(orders, look(), intent);
    expect(lookup).toMatchObject({ complete: true, authorised: true });
    expect(idsIn(lookup)).toEqual(ordersOf('searchable', 'TWO-1').map((each) => each.order_id));
    expect(idsIn(lookup)).toHaveLength(2);
  });

  it('C31: for PO-37 sees PO-371 too and does not take it', async () => {
    await send('searchable', orders, orderOf('PO-371'));
    const intent = orderOf('PO-37');
    const all = await orders.find?.(look(), intent);
    expect(all && idsIn(all)).toHaveLength(1);
    expect(idsIn(await found(orders, look(), intent))).toEqual([]);
  });

  it('finds a record that was refused, and says that it has no effect', async () => {
    const intent = orderOf('REFUSED-1');
    await plan('searchable', 'orders', 'REFUSED-1', { kind: 'accepted_then_rejected', delayMs: 1 });
    expect(await send('searchable', orders, intent)).toMatchObject({
      kind: 'acknowledged',
      externalId: null,
    });
    await vi.waitFor(() => expect(ordersOf('searchable', 'REFUSED-1')).toHaveLength(1));
    const lookup = await found(orders, look(), intent);
    expect(lookup).toMatchObject({ complete: true, records: [{ withoutEffect: true }] });
  });

  it.each([
    ['search_status', { kind: 'failed', error: 'status_503' }],
    ['search_garbage', { kind: 'failed', error: 'bad_answer' }],
    ['search_close', { kind: 'failed', error: 'unreachable' }],
    ['wrong_account_view', { kind: 'seen', authorised: false, records: [] }],
  ])('C32: %s is no zero', async (fault, expected) => {
    const intent = orderOf(fault);
    await plan('searchable', 'orders', fault, { kind: fault });
    await send('searchable', orders, intent);
    expect(await found(orders, look(), intent)).toMatchObject(expected);
    expect(ordersOf('searchable', fault)).toHaveLength(1);
  });
});

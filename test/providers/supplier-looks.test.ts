/** What looks at a supplier see, and what they do not take for zero. */
import { describe, expect, it } from 'vitest';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import type { Lookup, ProviderRecord } from '../../lib/providers/provider.ts';
import { NOW } from '../support/kit.ts';
import {
  type Answer,
  answered,
  CANCELLATION,
  CONFIRMATION,
  LISTED,
  looking,
  ORDER,
  ORDER_ID,
  PLACE,
  pageOf,
  providerCalled,
  REFERENCE,
  type Scripted,
  supplierIntent,
} from '../support/supplier-answers.ts';

const searchable = providerCalled('supplier-searchable');
const blind = providerCalled('supplier-blind');
const intent = supplierIntent();
const NOT_FOUND = answered({ error: 'not_found' }, 404);

async function find(look: Scripted, of: Intent = intent): Promise<Lookup> {
  if (searchable.find === undefined) throw new Error('Cannot search: the adapter offers none.');
  return searchable.find(look, of);
}
const failed = (error: string): Lookup => ({ kind: 'failed', error });
const empty = { kind: 'seen', records: [], complete: true, authorised: true };
const order = (id: number, change: object = {}) => ({ ...LISTED, order_id: String(id), ...change });

/** What was seen, in words. */
function seen(lookup: Lookup): JsonObject {
  if (lookup.kind === 'failed') return { failed: lookup.error };
  const { complete, authorised, records } = lookup;
  return { complete, authorised, ids: records.map((each) => each.externalId) };
}

function only(lookup: Lookup): ProviderRecord {
  const record = lookup.kind === 'seen' && lookup.records.length === 1 ? lookup.records[0] : undefined;
  if (record === undefined) throw new Error(`Cannot go on: not one record but ${JSON.stringify(lookup)}.`);
  return record;
}

const wrong = (checks: Readonly<Record<string, boolean>>) =>
  Object.keys(checks).filter((name) => checks[name] !== true);

describe('a search', () => {
  it('asks for every status, by our reference, and says what it saw', async () => {
    const look = looking(pageOf([LISTED]));
    const lookup = await find(look);
    expect(look.asked).toEqual(['/orders?reference=int_37&status=all&limit=50']);
    expect(seen(lookup)).toEqual({ complete: true, authorised: true, ids: [ORDER_ID] });
    const record = only(lookup);
    expect(record).toMatchObject({ account: 'shop-1', reference: REFERENCE });
    expect(record.cancelUntil).toBe(NOW + 3_600_000);
    expect(searchable.match(intent, record)).toBe(true);
    expect(wrong(searchable.verify(intent, record))).toEqual([]);
  });

  it('that is whole, ours and empty is zero', async () => {
    expect(await find(looking(pageOf([])))).toEqual(empty);
  });

  it.each<{ answer: Answer; error: string; because: string }>([
    { answer: answered({ error: 'unauthorized' }, 401), error: 'status_401', because: 'the token is wrong' },
    { answer: answered({}, 403), error: 'status_403', because: 'the token may not' },
    { answer: NOT_FOUND, error: 'status_404', because: 'there is no such list' },
    { answer: answered({ error: 'no_such_endpoint' }, 404), error: 'status_404', because: 'no such list' },
    { answer: answered({}, 429), error: 'status_429', because: 'we asked too often' },
    { answer: answered({}, 500), error: 'status_500', because: 'it broke' },
    { answer: answered('<html>Log in</html>'), error: 'bad_answer', because: 'it is a login page' },
    { answer: answered('null'), error: 'bad_answer', because: 'it says nothing' },
    { answer: answered('[]'), error: 'bad_answer', because: 'an empty list names no account' },
    { answer: answered(''), error: 'bad_answer', because: 'it is empty' },
    { answer: pageOf([], { orders: undefined }), error: 'bad_answer', because: 'the orders are missing' },
    { answer: pageOf([], { orders: null }), error: 'bad_answer', because: 'null is no list' },
    { answer: pageOf([], { orders: {} }), error: 'bad_answer', because: 'an object is no list' },
    { answer: pageOf([], { next: undefined }), error: 'bad_answer', because: 'there may be another page' },
    { answer: pageOf([], { next: 7 }), error: 'bad_answer', because: 'that is no cursor' },
    { answer: pageOf([], { account: undefined }), error: 'bad_answer', because: 'no account is named' },
    { answer: pageOf([], { reference: undefined }), error: 'bad_answer', because: 'for what is not said' },
    { answer: pageOf([order(1), {}]), error: 'bad_answer', because: 'one record cannot be read' },
    { answer: pageOf([order(1, { status: 'archived' })]), error: 'bad_answer', because: 'the state is new' },
    { answer: pageOf([order(1, { cancel_until: 'soon' })]), error: 'bad_answer', because: 'that is no time' },
    { answer: pageOf([order(1, { reference: null })]), error: 'bad_answer', because: 'it may be ours' },
    { answer: { kind: 'failed', error: 'timeout' }, error: 'timeout', because: 'no answer came' },
  ])('C32: is no zero but $error, because $because', async ({ answer, error }) => {
    expect(await find(looking(answer))).toEqual(failed(error));
  });

  it.each<{ change: object; because: string }>([
    { change: { account: 'shop-2' }, because: 'it is of another account' },
    { change: { account: 'SHOP-1' }, because: 'accounts are compared exactly' },
    { change: { environment: 'production' }, because: 'it is of another environment' },
    { change: { reference: 'int_3' }, because: 'it is for another reference' },
    { change: { reference: '' }, because: 'it is for every reference' },
  ])('C32: is not authorised, because $because', async ({ change }) => {
    expect(await find(looking(pageOf([], change)))).toEqual({ ...empty, authorised: false });
  });

  it.each([
    { reference: 'int_37', ours: true, because: 'it is the one' },
    { reference: 'int_371', ours: false, because: 'the supplier matches beginnings' },
    { reference: 'INT_37', ours: false, because: 'the supplier does not look at case' },
    { reference: 'xint_37', ours: false, because: 'it only ends like ours' },
    { reference: 'int_37 ', ours: false, because: 'white space counts' },
  ])('C31: takes $reference for ours: $ours, because $because', async ({ reference, ours }) => {
    const record = only(await find(looking(pageOf([{ ...LISTED, reference }]))));
    expect(searchable.match(intent, record)).toBe(ours);
    expect(searchable.verify(intent, record)['reference']).toBe(ours);
  });

  it('C31: the purchase order is no identity: PO-371 with our reference is found and does not hold', async () => {
    const record = only(await find(looking(pageOf([{ ...LISTED, purchase_order: 'PO-371' }]))));
    expect(searchable.match(intent, record)).toBe(true);
    expect(wrong(searchable.verify(intent, record))).toEqual(['purchaseOrder']);
  });
});

describe('C29: a search over pages', () => {
  it('turns every page, and asks with the cursor as it was given', async () => {
    const look = looking(pageOf([order(1)], { next: 'a b&c=1' }), pageOf([order(2)]));
    expect(seen(await find(look))).toEqual({ complete: true, authorised: true, ids: ['1', '2'] });
    expect(look.asked[1]).toBe('/orders?reference=int_37&status=all&limit=50&cursor=a+b%26c%3D1');
  });

  it.each<{ second: Answer; because: string }>([
    { second: answered({ error: 'bad_cursor' }, 400), because: 'the cursor expired' },
    { second: answered({}, 500), because: 'it broke' },
    { second: answered('null'), because: 'it says nothing' },
    { second: { kind: 'failed', error: 'timeout' }, because: 'no answer came' },
  ])('is not whole when the second does not come, because $because', async ({ second }) => {
    const lookup = await find(looking(pageOf([order(1)], { next: 'c' }), second));
    expect(seen(lookup)).toEqual({ complete: false, authorised: true, ids: ['1'] });
  });

  it('is not authorised when one page is of another account', async () => {
    const look = looking(pageOf([], { next: 'c' }), pageOf([], { account: 'shop-2' }));
    expect(await find(look)).toEqual({ ...empty, authorised: false });
  });

  it('ends after 20 pages, and then it is not whole', async () => {
    const endless = looking(pageOf([], { next: 'c' }));
    expect(seen(await find(endless))).toEqual({ complete: false, authorised: true, ids: [] });
    expect(endless.asked).toHaveLength(20);
    const last = Array.from({ length: 19 }, () => pageOf([], { next: 'c' }));
    expect(await find(looking(...last, pageOf([])))).toEqual(empty);
  });
});

describe('what became of an order', () => {
  it.each([
    { status: 'created', withoutEffect: undefined, fails: [] },
    { status: 'cancelled', withoutEffect: undefined, fails: ['status'] },
    { status: 'rejected', withoutEffect: true, fails: ['status'] },
  ])('$status: it is found, and what does not hold is $fails', async ({ status, withoutEffect, fails }) => {
    const record = only(await find(looking(pageOf([{ ...LISTED, status }]))));
    expect(record.withoutEffect).toBe(withoutEffect);
    expect(searchable.match(intent, record)).toBe(true);
    expect(wrong(searchable.verify(intent, record))).toEqual(fails);
  });

  it('is not told while it is being processed: neither found nor absent', async () => {
    const pending = { ...LISTED, status: 'processing' };
    expect(await find(looking(pageOf([pending])))).toEqual(failed('still_processing'));
    const byId = await searchable.read(looking(answered({ ...PLACE, order: pending })), intent, ORDER_ID);
    expect(byId).toEqual(failed('still_processing'));
  });

  it('of somebody else does not hold ours up', async () => {
    const other = { ...LISTED, order_id: '1', reference: 'int_371', status: 'processing' };
    const lookup = await find(looking(pageOf([other, LISTED])));
    expect(seen(lookup)).toMatchObject({ complete: true, ids: ['1', ORDER_ID] });
  });
});

describe('a readback', () => {
  const shows = (change: object = {}, place: object = {}) =>
    answered({ ...PLACE, ...place, order: { ...LISTED, ...change } });

  it('asks by id, and is never the whole', async () => {
    const look = looking(shows());
    expect(seen(await searchable.read(look, intent, ORDER_ID))).toEqual({
      complete: false,
      authorised: true,
      ids: [ORDER_ID],
    });
    expect(look.asked).toEqual([`/orders/${ORDER_ID}`]);
  });

  it('C27: asks for exactly the 19 digits that came as a number', async () => {
    const text = JSON.stringify({ ...PLACE, order: LISTED }).replace(`"${ORDER_ID}"`, ORDER_ID);
    const unique = providerCalled('supplier-unique');
    const look = looking(answered(text));
    expect(only(await unique.read(look, intent, ORDER_ID)).externalId).toBe(ORDER_ID);
    expect(look.asked).toEqual(['/orders/8389765489680951453']);
  });

  it('C27: a neighbour with rounded digits is not what was asked for', async () => {
    const look = looking(shows({ order_id: '8389765489680951000' }));
    expect(await searchable.read(look, intent, ORDER_ID)).toEqual(failed('bad_answer'));
  });

  it('without an id is a search', async () => {
    expect(seen(await searchable.read(looking(pageOf([LISTED])), intent, null))).toMatchObject({
      complete: true,
      ids: [ORDER_ID],
    });
  });

  it('of a blind supplier needs an id', async () => {
    const look = looking();
    expect(await blind.read(look, intent, null)).toEqual(failed('no_external_id'));
    expect(look.asked).toEqual([]);
  });

  it('that finds nothing says so only in the words of the supplier', async () => {
    const nothing = { complete: false, authorised: true, ids: [] };
    expect(seen(await searchable.read(looking(NOT_FOUND), intent, ORDER_ID))).toEqual(nothing);
    for (const body of ['', '<html>', '{}', '{"error":"no_such_endpoint"}', '{"error":"not_found","x":1}']) {
      const lookup = await searchable.read(looking(answered(body, 404)), intent, ORDER_ID);
      expect(lookup, body).toEqual(failed('status_404'));
    }
  });

  it.each([
    { place: { account: 'shop-2' }, matches: false, because: 'the account is another' },
    { place: { environment: 'production' }, matches: true, because: 'the environment is another' },
  ])('is not authorised, because $because', async ({ place, matches }) => {
    const lookup = await searchable.read(looking(shows({}, place)), intent, ORDER_ID);
    expect(seen(lookup)).toMatchObject({ authorised: false });
    expect(searchable.match(intent, only(lookup))).toBe(matches);
    expect(wrong(searchable.verify(intent, only(lookup)))).toEqual(Object.keys(place));
  });

  const [first, second] = ORDER.lines;
  const lines = (...shown: object[]) => ({ lines: shown });
  it.each<{ change: object; fails: string[]; because: string }>([
    { change: {}, fails: [], because: 'nothing differs' },
    { change: { total: '26.5' }, fails: [], because: 'the amount is the same' },
    { change: lines({ ...first, quantity: '2.000' }, second), fails: [], because: 'two are two' },
    { change: lines({ ...first, unit_price: '11' }, second), fails: [], because: 'the price is the same' },
    { change: { total: '26.51' }, fails: ['total'], because: 'a cent counts' },
    { change: { total: 'free' }, fails: ['total'], because: 'that is no amount' },
    { change: { currency: 'USD' }, fails: ['currency'], because: 'money has a currency' },
    { change: lines({ ...first, quantity: '3' }, second), fails: ['lines'], because: 'one more is no match' },
    { change: lines({ ...first, unit: 'kg' }, second), fails: ['lines'], because: 'the unit counts' },
    { change: lines({ ...first, unit_price: '11.01' }, second), fails: ['lines'], because: 'a cent counts' },
    { change: lines({ ...first, sku: '1' }, second), fails: ['lines'], because: '001 and 1 are two' },
    { change: lines(second, first), fails: ['lines'], because: 'the order of lines counts' },
    { change: lines(first), fails: ['lines'], because: 'a line is missing' },
    { change: lines(first, second, second), fails: ['lines'], because: 'a line is too many' },
    {
      change: { ship_to: { ...ORDER.ship_to, street: '1-3 Ueno' } },
      fails: ['shipTo'],
      because: 'it goes next door',
    },
  ])('compares what is shown: $fails, because $because', async ({ change, fails }) => {
    const record = only(await searchable.read(looking(shows(change)), intent, ORDER_ID));
    expect(wrong(searchable.verify(intent, record))).toEqual(fails);
  });

  it('C23: composed and decomposed text is the same text', async () => {
    const shipTo = { ...ORDER.ship_to, name: 'ガールズ café'.normalize('NFC') };
    const ours = supplierIntent({ ...ORDER, ship_to: { ...shipTo, name: shipTo.name.normalize('NFD') } });
    const record = only(await searchable.read(looking(shows({ ship_to: shipTo })), ours, ORDER_ID));
    expect(wrong(searchable.verify(ours, record))).toEqual([]);
  });
});

describe('at the blind supplier', () => {
  const { purchase_order: _, reference: __, ...plain } = LISTED;
  const shown = (change: object = {}) => answered({ ...PLACE, order: { ...plain, ...change } });
  const told = supplierIntent(ORDER, { acknowledgedId: ORDER_ID });

  it('an order is known by what it shows', async () => {
    const record = only(await blind.read(looking(shown()), intent, ORDER_ID));
    expect(record.reference).toBe(null);
    expect(blind.match(intent, record)).toBe(true);
    expect(Object.keys(blind.verify(intent, record))).toEqual([
      ...['account', 'environment', 'shipTo', 'lines', 'currency', 'total', 'status'],
    ]);
    expect(wrong(blind.verify(intent, record))).toEqual([]);
  });

  it('another content under an id that nobody gave us is another order', async () => {
    const record = only(await blind.read(looking(shown({ total: '27.00' })), intent, ORDER_ID));
    expect(blind.match(intent, record)).toBe(false);
  });

  it('another content under the id that was given for ours is ours, and does not hold', async () => {
    const record = only(await blind.read(looking(shown({ total: '27.00' })), told, ORDER_ID));
    expect(blind.match(told, record)).toBe(true);
    expect(wrong(blind.verify(told, record))).toEqual(['total']);
  });

  it('another account is never ours, not even under our id', async () => {
    const elsewhere = answered({ ...PLACE, account: 'shop-2', order: plain });
    expect(blind.match(told, only(await blind.read(looking(elsewhere), told, ORDER_ID)))).toBe(false);
  });
});

describe('the two other calls', () => {
  const common = { purchase_order: 'PO-37', reference: REFERENCE, created_at: '2026-11-30T09:00:00.000Z' };
  const CALLS = [
    {
      name: 'supplier-searchable-cancellation',
      payload: CANCELLATION,
      many: 'cancellations',
      record: { ...common, ...CANCELLATION, cancellation_id: 'C-1', status: 'cancelled' },
      id: 'C-1',
      checks: ['purchaseOrder', 'orderId', 'reason'],
      states: { rejected: true },
      other: { order_id: '8389765489680951000' },
      fails: ['orderId'],
    },
    {
      name: 'supplier-searchable-confirmation',
      payload: CONFIRMATION,
      many: 'confirmations',
      record: { ...common, ...CONFIRMATION, message_id: 'M-1', status: 'sent' },
      id: 'M-1',
      checks: ['purchaseOrder', 'to', 'language'],
      states: { bounced: undefined },
      other: { to: 'Tea@example.com', language: 'en' },
      fails: ['to', 'language'],
    },
  ] as const;

  describe.each(CALLS)('$name', ({ name, payload, many, record, id, checks, states, other, fails }) => {
    const provider = providerCalled(name);
    const ours = supplierIntent(payload);
    const look = async (change: object = {}) => {
      const list = [{ ...record, ...change }];
      const page = answered({ ...PLACE, reference: REFERENCE, [many]: list, next: null });
      return only(await provider.read(looking(page), ours, null));
    };

    it('is found by our reference and compared in every field', async () => {
      const shown = await look();
      expect(shown.externalId).toBe(id);
      expect(provider.match(ours, shown)).toBe(true);
      const all = ['account', 'environment', 'reference', ...checks, 'status'];
      expect(Object.keys(provider.verify(ours, shown))).toEqual(all);
      expect(wrong(provider.verify(ours, shown))).toEqual([]);
    });

    it('with other content does not hold', async () => {
      expect(wrong(provider.verify(ours, await look(other)))).toEqual(fails);
    });

    it.each(Object.entries(states))('%s: does not hold, without effect: %s', async (status, without) => {
      const shown = await look({ status });
      expect(shown.withoutEffect).toBe(without);
      expect(wrong(provider.verify(ours, shown))).toEqual(['status']);
    });
  });
});

describe('before a cancellation leaves', () => {
  const cancel = providerCalled('supplier-searchable-cancellation');
  const ours = supplierIntent(CANCELLATION);
  const asks = async (answer: Answer) => cancel.check?.(looking(answer), ours);
  const shows = (change: object = {}, place: object = {}) =>
    answered({ ...PLACE, ...place, order: { ...LISTED, ...change } });

  it('the order is looked at by its id, and until when it can be cancelled is told', async () => {
    const look = looking(shows());
    expect(await cancel.check?.(look, ours)).toMatchObject({ kind: 'ready', cancelUntil: NOW + 3_600_000 });
    expect(look.asked).toEqual([`/orders/${ORDER_ID}`]);
  });

  it.each<{ answer: Answer; reason: string; because: string }>([
    { answer: NOT_FOUND, reason: 'no_such_order', because: 'there is none' },
    { answer: shows({ status: 'rejected' }), reason: 'no_such_order', because: 'it never came about' },
    { answer: shows({ status: 'cancelled' }), reason: 'already_cancelled', because: 'it is cancelled' },
    { answer: shows({ shipping: 'shipped' }), reason: 'shipped', because: 'it is on its way' },
    { answer: shows({}, { account: 'shop-2' }), reason: 'not_ours', because: 'of the account' },
    { answer: shows({}, { environment: 'production' }), reason: 'not_ours', because: 'of the environment' },
    { answer: shows({ purchase_order: 'PO-371' }), reason: 'not_ours', because: 'of the purchase order' },
    {
      answer: shows({ shipping: 'shipped' }, { account: 'shop-2' }),
      reason: 'not_ours',
      because: 'what is not ours comes first',
    },
  ])('$reason holds it back, because $because', async ({ answer, reason }) => {
    expect(await asks(answer)).toMatchObject({ kind: 'not_ready', reason });
  });

  it.each<{ answer: Answer; error: string }>([
    { answer: answered({}, 500), error: 'status_500' },
    { answer: answered({}, 404), error: 'status_404' },
    { answer: answered('null'), error: 'bad_answer' },
    { answer: shows({ status: 'processing' }), error: 'still_processing' },
    { answer: { kind: 'failed', error: 'timeout' }, error: 'timeout' },
  ])('a look that failed ($error) is neither yes nor no', async ({ answer, error }) => {
    expect(await asks(answer)).toEqual(failed(error));
  });

  it('the blind supplier is asked by id too, and shows no purchase order', async () => {
    const { purchase_order: _, reference: __, ...plain } = LISTED;
    const look = looking(answered({ ...PLACE, order: plain }));
    const check = await providerCalled('supplier-blind-cancellation').check?.(look, ours);
    expect(check).toMatchObject({ kind: 'ready' });
  });

  it('an order and its confirmation ask nothing', () => {
    expect(providerCalled('supplier-searchable').check).toBe(undefined);
    expect(providerCalled('supplier-searchable-confirmation').check).toBe(undefined);
  });
});

/** What callers may ask of a supplier, and the one spelling it is kept in. */
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../lib/domain/fingerprint.ts';
import type { JsonObject } from '../../lib/domain/intent.ts';
import { CANCELLATION, CONFIRMATION, ORDER, PLACE, providerCalled } from '../support/supplier-answers.ts';

const searchable = providerCalled('supplier-searchable');
const [first, second] = ORDER.lines;
const line = (change: object) => ({ ...ORDER, lines: [{ ...first, ...change }, second] });
const many = (count: number) => ({
  ...ORDER,
  lines: Array.from({ length: count }, () => ({ ...first, quantity: '1', unit_price: '1.00' })),
  total: `${count}.00`,
});

function read(name: string, payload: unknown): JsonObject | string[] {
  const parsed = providerCalled(name).payload.safeParse(payload);
  return parsed.success ? parsed.data : parsed.error.issues.map((issue) => issue.path.join('/'));
}

describe('an order', () => {
  it('in one spelling is kept as it came', () => {
    expect(read('supplier-searchable', ORDER)).toEqual(ORDER);
  });

  it.each([
    { is: line({ unit_price: '11' }), because: 'the price is at the scale of the currency' },
    { is: line({ unit_price: '11.000' }), because: 'needless zeros say nothing' },
    { is: line({ quantity: '2.0' }), because: 'two pieces are two' },
    { is: { ...ORDER, total: '26.5' }, because: 'the total is at the scale of the currency' },
  ])('is the same request however it is spelled: $because', ({ is }) => {
    const parts = { route: 'r', ...PLACE, parent: null };
    const kept = searchable.payload.parse(is);
    expect(kept).toEqual(ORDER);
    expect(fingerprint({ ...parts, payload: kept })).toBe(fingerprint({ ...parts, payload: ORDER }));
    expect(searchable.payload.parse(kept)).toEqual(kept);
  });

  it('C22: in a currency without smaller parts has whole amounts', () => {
    const yen = { ...ORDER, currency: 'JPY', lines: [{ ...first, unit_price: '11.0' }], total: '22.00' };
    const kept = { ...yen, lines: [{ ...first, unit_price: '11' }], total: '22' };
    expect(read('supplier-searchable', yen)).toEqual(kept);
  });

  it.each<{ payload: unknown; at: string; because: string }>([
    { payload: { ...ORDER, total: '26.51' }, at: 'total', because: 'the total is not the sum' },
    { payload: { ...ORDER, total: '26.505' }, at: 'total', because: 'half a cent is no amount' },
    { payload: { ...ORDER, total: 26.5 }, at: 'total', because: 'a float is no amount' },
    { payload: { ...ORDER, total: '1e1' }, at: 'total', because: 'an exponent is no amount' },
    { payload: { ...ORDER, currency: 'EUX' }, at: 'currency', because: 'ISO 4217 has no such code' },
    { payload: { ...ORDER, currency: 'eur' }, at: 'currency', because: 'codes are in capitals' },
    { payload: { ...ORDER, currency: 'JPY' }, at: 'total', because: 'there is no half yen' },
    { payload: line({ quantity: '2.5' }), at: 'lines/0/quantity', because: 'there is no half piece' },
    { payload: line({ quantity: '0' }), at: 'lines/0/quantity', because: 'nothing is not ordered' },
    { payload: line({ quantity: '-2' }), at: 'lines/0/quantity', because: 'less than nothing neither' },
    { payload: line({ quantity: 2 }), at: 'lines/0/quantity', because: 'quantities are texts' },
    { payload: line({ unit: 'box' }), at: 'lines/0/unit', because: 'the unit is not known' },
    { payload: line({ unit_price: '11.005' }), at: 'lines/0/unit_price', because: 'it is too fine' },
    { payload: line({ discount: '1.00' }), at: 'lines/0', because: 'nobody compares this field' },
    {
      payload: line({ unit: 'kg', quantity: '0.333', unit_price: '1.00' }),
      at: 'lines/0',
      because: 'the line would have to be rounded',
    },
    { payload: { ...ORDER, lines: [], total: '0.00' }, at: 'lines', because: 'nothing is ordered' },
    { payload: many(101), at: 'lines', because: 'it is longer than any supplier takes' },
    { payload: { ...ORDER, note: 'quick' }, at: '', because: 'nobody compares this field' },
    { payload: { ...ORDER, purchase_order: 'PO 37' }, at: 'purchase_order', because: 'of the space' },
    {
      payload: { ...ORDER, ship_to: { ...ORDER.ship_to, floor: '3' } },
      at: 'ship_to',
      because: 'nobody compares this field',
    },
    {
      payload: { ...ORDER, ship_to: { ...ORDER.ship_to, city: '' } },
      at: 'ship_to/city',
      because: 'it leads nowhere',
    },
  ])('is refused at "$at", because $because', ({ payload, at }) => {
    expect(read('supplier-searchable', payload)).toContain(at);
  });

  it('C22: the articles 001 and 1 are two', () => {
    expect(read('supplier-searchable', line({ sku: '1' }))).not.toEqual(ORDER);
  });

  it('is no longer than its key covers: beyond, the keyed supplier would make it again', () => {
    const limits = [20, 21, 100].map((count) => Array.isArray(read('supplier-keyed', many(count))));
    expect(limits).toEqual([false, true, true]);
    for (const kind of ['unique', 'searchable', 'blind']) {
      expect(read(`supplier-${kind}`, many(100))).toEqual(many(100));
    }
  });
});

describe.each(['keyed', 'unique', 'searchable', 'blind'])('at the %s supplier', (kind) => {
  it('a cancellation names an order by its digits', () => {
    const name = `supplier-${kind}-cancellation`;
    expect(read(name, CANCELLATION)).toEqual(CANCELLATION);
    expect(read(name, { ...CANCELLATION, order_id: 37 })).toEqual(['order_id']);
    expect(read(name, { ...CANCELLATION, order_id: '../1' })).toEqual(['order_id']);
    expect(read(name, { ...CANCELLATION, reason: '' })).toEqual(['reason']);
    expect(read(name, { ...CANCELLATION, refund: true })).toEqual(['']);
  });

  it('a confirmation names one address and a language it is written in', () => {
    const name = `supplier-${kind}-confirmation`;
    expect(read(name, CONFIRMATION)).toEqual(CONFIRMATION);
    expect(read(name, { ...CONFIRMATION, to: 'a@example.com, b@example.com' })).toEqual(['to']);
    expect(read(name, { ...CONFIRMATION, language: 'fr' })).toEqual(['language']);
  });
});

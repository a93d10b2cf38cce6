import { describe, expect, it } from 'vitest';
import { signaturesNeeded } from '../../lib/domain/approval.ts';
import type { JsonObject } from '../../lib/domain/intent.ts';
import { BY_APPROVAL } from '../support/kit.ts';

const LIMIT = { field: 'total', amount: '1000.00', currency: 'EUR', currencyField: 'currency' };
const needed = (payload: JsonObject, change: Partial<typeof LIMIT> = {}) =>
  signaturesNeeded({ payload }, { ...BY_APPROVAL, twoFrom: { ...LIMIT, ...change } });

describe('a limit on money', () => {
  it.each<{ payload: JsonObject; signatures: 1 | 2; because: string }>([
    { payload: { total: '999.99', currency: 'EUR' }, signatures: 1, because: 'it is below' },
    { payload: { total: '99.99', currency: 'EUR' }, signatures: 1, because: 'texts are not compared' },
    { payload: { total: '0.00', currency: 'EUR' }, signatures: 1, because: 'nothing is below' },
    { payload: { total: '1000.00', currency: 'EUR' }, signatures: 2, because: 'the limit counts' },
    { payload: { total: '1000', currency: 'EUR' }, signatures: 2, because: 'the limit counts, spelled so' },
    { payload: { total: '1000.01', currency: 'EUR' }, signatures: 2, because: 'it is above' },
    { payload: { total: '10000.00', currency: 'EUR' }, signatures: 2, because: 'texts are not compared' },
    { payload: { total: '1', currency: 'JPY' }, signatures: 2, because: 'another currency is not compared' },
    { payload: { total: '1.00', currency: 'eur' }, signatures: 2, because: 'that is no currency' },
    { payload: { total: '1.00' }, signatures: 2, because: 'no currency is told' },
    { payload: { currency: 'EUR' }, signatures: 2, because: 'no amount is told' },
    { payload: { total: 1, currency: 'EUR' }, signatures: 2, because: 'a number is no amount of money' },
    { payload: { total: '-1', currency: 'EUR' }, signatures: 2, because: 'it cannot be read' },
    { payload: { total: '1.001', currency: 'EUR' }, signatures: 2, because: 'it cannot be read in euros' },
    { payload: { total: ['1'], currency: 'EUR' }, signatures: 2, because: 'a list is no amount' },
  ])('$payload needs $signatures, because $because', ({ payload, signatures }) => {
    expect(needed(payload)).toBe(signatures);
  });

  it('that cannot be read itself asks for two of everything', () => {
    const payload = { total: '1.00', currency: 'EUR' };
    expect(needed(payload, { amount: '1000.005' })).toBe(2);
    expect(needed({ ...payload, currency: 'XXQ' }, { currency: 'XXQ' })).toBe(2);
  });

  it('is compared in its own currency, whatever that is', () => {
    const limit = { amount: '100000', currency: 'JPY' };
    expect(needed({ total: '99999', currency: 'JPY' }, limit)).toBe(1);
    expect(needed({ total: '100000', currency: 'JPY' }, limit)).toBe(2);
  });
});

it('a limit on a number still counts numbers', () => {
  const permission = { ...BY_APPROVAL, twoFrom: { field: 'quantity', amount: 2 } };
  expect(signaturesNeeded({ payload: { quantity: 1 } }, permission)).toBe(1);
  expect(signaturesNeeded({ payload: { quantity: 2 } }, permission)).toBe(2);
});

/** What leaves for a supplier, and what its answers to a write prove. */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../lib/domain/fingerprint.ts';
import type { JsonObject } from '../../lib/domain/intent.ts';
import { classOf } from '../../lib/domain/promise.ts';
import { judgeWrite } from '../../lib/domain/write-result.ts';
import { parseAnswer } from '../../lib/platform/json.ts';
import { PROVIDERS } from '../../lib/providers/registry.ts';
import { NOW, TIMING } from '../support/kit.ts';
import {
  CANCELLATION,
  CONFIRMATION,
  ORDER,
  ORDER_ID,
  PLACE,
  providerCalled,
  REFERENCE,
  supplierIntent,
} from '../support/supplier-answers.ts';

const CALLS = [
  { suffix: '', kind: 'order', path: '/orders', payload: ORDER },
  { suffix: '-cancellation', kind: 'cancellation', path: '/cancellations', payload: CANCELLATION },
  { suffix: '-confirmation', kind: 'confirmation', path: '/confirmations', payload: CONFIRMATION },
] as const;
const KINDS = ['keyed', 'unique', 'searchable', 'blind'] as const;
const ALL = KINDS.flatMap((supplier) =>
  CALLS.map((call) => ({ supplier, name: `supplier-${supplier}${call.suffix}`, ...call })),
);

it('there are twelve, each once', () => {
  const names = PROVIDERS.map((each) => each.name).filter((name) => name.startsWith('supplier-'));
  expect(names.toSorted()).toEqual(ALL.map((each) => each.name).toSorted());
});

describe.each(ALL)('$name', ({ supplier, name, kind, path, payload }) => {
  const provider = providerCalled(name);
  const reference = provider.reference(supplierIntent(payload));
  const request = provider.write(payload, reference, { ...PLACE, parent: null });

  it('sends place, purchase order, our reference where it is taken, and the payload', () => {
    const ours = supplier === 'blind' ? {} : { reference: REFERENCE };
    expect(request).toMatchObject({ method: 'POST', path });
    expect(JSON.parse(request.body)).toEqual({ ...PLACE, ...ours, ...payload });
  });

  it('sends a key where the supplier takes one, and it is the intent', () => {
    const key = supplier === 'keyed' ? { 'idempotency-key': REFERENCE } : {};
    expect(request.headers).toEqual({ 'content-type': 'application/json', ...key });
  });

  it('makes one kind of effect, of the class that its supplier is named after', () => {
    const { applyDelayMs = null, visibilityLagMs = null } = provider.promise;
    const lag = { applyDelayMs, visibilityLagMs };
    expect(provider.kind).toBe(kind);
    expect(classOf(provider.promise, TIMING, lag, NOW, NOW)).toBe(supplier);
  });

  it('searches where our reference is shown, else says what twins are told by', () => {
    const blind = supplier === 'blind';
    expect(provider.promise.referenceShown).toBe(!blind);
    expect(provider.find === undefined).toBe(blind);
    const { purchase_order: _, ...shown } = payload;
    expect(provider.shownContent?.(payload)).toEqual(blind ? shown : undefined);
  });
});

it('past the lifetime of its key the keyed supplier is one that can be searched', () => {
  const { promise } = providerCalled('supplier-keyed');
  const lag = { applyDelayMs: 500, visibilityLagMs: 300 };
  expect(classOf(promise, TIMING, lag, NOW, NOW + 86_400_000 - 15_500)).toBe('searchable');
  expect(classOf(promise, TIMING, lag, NOW, NOW + 86_400_000 - 15_501)).toBe('keyed');
});

/** `unknown`, or what is proved. */
function proved(name: string, status: number, body: string): string {
  const report = { kind: 'answered', status, headers: {}, body, complete: true } as const;
  const attempt = { token: 'a1', startedAt: NOW, at: NOW + 5 };
  const result = judgeWrite(report, providerCalled(name).readAnswer, attempt, parseAnswer, sha256);
  if (result.kind === 'acknowledged') return `acknowledged ${result.externalId}`;
  return result.kind === 'rejected' ? `rejected: ${result.proof}` : 'unknown';
}

const made = (id: unknown, status = 'created'): JsonObject => ({ ...PLACE, order_id: id as string, status });
const number = `{"account":"shop-1","environment":"test","order_id":${ORDER_ID},"status":"created"}`;
const A = 'supplier-keyed';
const B = 'supplier-unique';
const C = 'supplier-searchable';
const D = 'supplier-blind';
const CANCEL = 'supplier-searchable-cancellation';
const MAIL = 'supplier-blind-confirmation';

interface Row {
  readonly name: string;
  readonly status: number;
  readonly body: unknown;
  readonly is: string;
  readonly because: string;
}

describe('an answer', () => {
  it.each<Row>([
    { name: C, status: 201, body: made(ORDER_ID), is: `acknowledged ${ORDER_ID}`, because: 'it was made' },
    { name: A, status: 200, body: made(ORDER_ID), is: `acknowledged ${ORDER_ID}`, because: 'it is a replay' },
    { name: B, status: 201, body: number, is: `acknowledged ${ORDER_ID}`, because: 'C27: digits are kept' },
    { name: B, status: 201, body: made('8.3e18'), is: 'unknown', because: 'C27: a rounded id is none' },
    { name: C, status: 201, body: made(null), is: 'unknown', because: 'an id is missing, not an order' },
    { name: C, status: 201, body: made(undefined), is: 'unknown', because: 'an id is missing, not an order' },
    {
      name: C,
      status: 201,
      body: made(ORDER_ID, 'rejected'),
      is: 'unknown',
      because: 'it contradicts itself',
    },
    { name: C, status: 201, body: '{"account":"shop-1","ord', is: 'unknown', because: 'the body was cut' },
    {
      name: C,
      status: 202,
      body: { ...PLACE, status: 'accepted' },
      is: 'acknowledged null',
      because: 'no id',
    },
    { name: C, status: 202, body: {}, is: 'unknown', because: 'a 202 of another shape says nothing' },
    {
      name: C,
      status: 200,
      body: { ok: false, error: 'account_blocked' },
      is: 'rejected: refused',
      because: 'listed',
    },
    { name: C, status: 200, body: { ok: false, error: 'busy' }, is: 'unknown', because: 'not listed' },
    {
      name: C,
      status: 200,
      body: { ok: true, error: 'account_blocked' },
      is: 'unknown',
      because: 'not listed',
    },
    {
      name: C,
      status: 500,
      body: { ok: false, error: 'account_blocked' },
      is: 'unknown',
      because: 'other status',
    },
    {
      name: C,
      status: 400,
      body: { error: 'invalid_request', field: 'total' },
      is: 'rejected: refused',
      because: 'listed',
    },
    { name: C, status: 400, body: { error: 'invalid_request' }, is: 'rejected: refused', because: 'listed' },
    { name: C, status: 400, body: { error: 'bad' }, is: 'unknown', because: 'another word' },
    {
      name: C,
      status: 400,
      body: { error: 'invalid_request', order_id: '1' },
      is: 'unknown',
      because: 'more than the shape',
    },
    { name: C, status: 422, body: { error: 'invalid_request' }, is: 'unknown', because: 'another status' },
    { name: C, status: 403, body: { error: 'wrong_account' }, is: 'rejected: refused', because: 'listed' },
    {
      name: C,
      status: 403,
      body: { error: 'wrong_account', field: 'account' },
      is: 'unknown',
      because: 'more than the shape',
    },
    { name: C, status: 403, body: { error: 'forbidden' }, is: 'unknown', because: 'another word' },
    { name: C, status: 403, body: '<html>', is: 'unknown', because: 'a proxy may say this after the save' },
    {
      name: C,
      status: 401,
      body: { error: 'unauthorized' },
      is: 'unknown',
      because: 'the promise does not list it',
    },
    {
      name: C,
      status: 404,
      body: { error: 'no_such_order' },
      is: 'unknown',
      because: 'it is an answer to a cancellation',
    },
    { name: A, status: 409, body: { error: 'key_reused' }, is: 'rejected: refused', because: 'listed' },
    {
      name: C,
      status: 409,
      body: { error: 'key_reused' },
      is: 'unknown',
      because: 'this supplier takes no key',
    },
    { name: A, status: 409, body: { error: 'key_in_use' }, is: 'unknown', because: 'the first still runs' },
    {
      name: B,
      status: 409,
      body: { error: 'reference_exists', order_id: ORDER_ID },
      is: 'unknown',
      because: 'one exists',
    },
    { name: A, status: 500, body: { error: 'internal' }, is: 'unknown', because: 'it may have been saved' },
    {
      name: A,
      status: 503,
      body: { error: 'unavailable' },
      is: 'unknown',
      because: 'it may have been saved',
    },
    { name: C, status: 200, body: 'null', is: 'unknown', because: 'it says nothing' },
    { name: D, status: 201, body: made(ORDER_ID), is: `acknowledged ${ORDER_ID}`, because: 'it was made' },
    {
      name: CANCEL,
      status: 201,
      body: { ...PLACE, cancellation_id: 'C-1', status: 'cancelled' },
      is: 'acknowledged C-1',
      because: 'it was made',
    },
    {
      name: CANCEL,
      status: 201,
      body: { ...PLACE, order_id: ORDER_ID, status: 'created' },
      is: 'unknown',
      because: 'an order is no cancellation',
    },
    {
      name: CANCEL,
      status: 404,
      body: { error: 'no_such_order' },
      is: 'rejected: refused',
      because: 'listed',
    },
    { name: CANCEL, status: 404, body: { error: 'not_found' }, is: 'unknown', because: 'another word' },
    { name: CANCEL, status: 409, body: { error: 'too_late' }, is: 'rejected: refused', because: 'listed' },
    {
      name: CANCEL,
      status: 409,
      body: { error: 'already_cancelled' },
      is: 'rejected: refused',
      because: 'listed',
    },
    {
      name: MAIL,
      status: 201,
      body: { ...PLACE, message_id: 'M-1', status: 'sent' },
      is: 'acknowledged M-1',
      because: 'it was made',
    },
    {
      name: MAIL,
      status: 409,
      body: { error: 'too_late' },
      is: 'unknown',
      because: 'it is an answer to a cancellation',
    },
  ])('$name $status $body: $is, because $because', ({ name, status, body, is }) => {
    expect(proved(name, status, typeof body === 'string' ? body : JSON.stringify(body))).toBe(is);
  });

  it('is proof of refusal exactly where the promise lists it', () => {
    for (const { name } of ALL) {
      for (const { status, shape } of providerCalled(name).promise.notExecuted) {
        expect(proved(name, status, shape), `${name} ${status} ${shape}`).toBe('rejected: refused');
        expect(proved(name, status + 1, shape), `${name} ${status + 1} ${shape}`).toBe('unknown');
      }
    }
  });
});

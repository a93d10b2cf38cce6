/** Hand-made answers of suppliers, written down from their contract; shares nothing with the adapters. */
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import type { LookContext, Provider, ReadOnce } from '../../lib/providers/provider.ts';
import { PROVIDERS } from '../../lib/providers/registry.ts';
import { intentOf, NOWHERE_ELSE } from './kit.ts';

export const ACCOUNT = 'shop-1';
export const PLACE = { account: ACCOUNT, environment: 'test' } as const;
export const REFERENCE = 'int_37';
export const ORDER_ID = '8389765489680951453';

export const ORDER = {
  purchase_order: 'PO-37',
  ship_to: { name: 'Tea House', street: '1-2 Ueno', city: 'Tokyo', postal_code: '110-0005', country: 'JP' },
  lines: [
    { sku: '001', quantity: '2', unit: 'piece', unit_price: '11.00' },
    { sku: 'GYOKURO', quantity: '1.5', unit: 'kg', unit_price: '3.00' },
  ],
  currency: 'EUR',
  total: '26.50',
} as const;
export const CANCELLATION = { purchase_order: 'PO-37', order_id: ORDER_ID, reason: 'ordered twice' } as const;
export const CONFIRMATION = { purchase_order: 'PO-37', to: 'tea@example.com', language: 'ja' } as const;

/** The order as a supplier that shows our reference lists it. */
export const LISTED = {
  order_id: ORDER_ID,
  ...ORDER,
  reference: REFERENCE,
  status: 'created',
  created_at: '2026-11-30T09:00:00.000Z',
  cancel_until: '2026-11-30T10:00:00.000Z',
  shipping: 'not_shipped',
};

export function providerCalled(name: string): Provider {
  const provider = PROVIDERS.find((each) => each.name === name);
  if (provider === undefined) throw new Error(`Cannot test ${name}: there is no such provider.`);
  return provider;
}

export function supplierIntent(payload: JsonObject = ORDER, change: Partial<Intent> = {}): Intent {
  return intentOf({ id: REFERENCE, payload, ...PLACE, key: 'PO-37', ...change });
}

export type Answer = Awaited<ReturnType<ReadOnce>>;

export const answered = (body: unknown, status = 200): Answer => ({
  kind: 'answered',
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** One page of a search. */
export const pageOf = (orders: readonly unknown[], change: object = {}): Answer =>
  answered({ ...PLACE, reference: REFERENCE, orders, next: null, ...change });

export interface Scripted extends LookContext {
  /** What was asked for, in order. */
  readonly asked: string[];
}

/** Gives one answer a GET; the last one again and again. */
export function looking(...answers: readonly Answer[]): Scripted {
  const asked: string[] = [];
  const get: ReadOnce = async (path) => {
    asked.push(path);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer === undefined) throw new Error(`Nothing was written down for ${path}.`);
    return answer;
  };
  return { ...PLACE, ...NOWHERE_ELSE, get, asked };
}

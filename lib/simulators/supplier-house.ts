/** What the parts of one running supplier share: its settings, its book, its timers. */
import { DEFAULTS, type SimulatorOptions } from './command.ts';
import type { SupplierBook } from './supplier-book.ts';
import { CALLS, type Call, type SupplierKind } from './supplier-calls.ts';
import type { Turn as SimulatorTurn } from './turn.ts';

export interface SupplierOptions extends SimulatorOptions {
  readonly kind: SupplierKind;
  /** `test` unless told. */
  readonly environment?: string;
  /** How long a key is remembered, from its first request; a day unless told. Keyed only. */
  readonly keyLifetimeMs?: number;
  /** How long an order can be cancelled; an hour unless told. */
  readonly cancelWithinMs?: number;
  /** The most records of a page, 50 unless told. */
  readonly pageSize?: number;
}

export const SUPPLIER_DEFAULTS = {
  ...DEFAULTS,
  environment: 'test',
  keyLifetimeMs: 86_400_000,
  cancelWithinMs: 3_600_000,
  pageSize: 50,
};

export type House = typeof SUPPLIER_DEFAULTS &
  SupplierOptions & {
    readonly book: SupplierBook;
    readonly timers: Set<NodeJS.Timeout>;
    /** Aborted when the supplier stops. */
    readonly stopping: AbortSignal;
  };

export type Turn = SimulatorTurn<House>;

/** An id as this supplier writes it: `unique` has numbers for orders, which need a writer that keeps digits. */
export function shownId(house: House, call: Call, id: string): string | bigint {
  return house.kind === 'unique' && call === 'order' && /^\d+$/.test(id) ? BigInt(id) : id;
}

/** The field `order_id`, `cancellation_id` or `message_id`. */
export function idField(house: House, call: Call, id: string): Record<string, string | bigint> {
  return { [CALLS[call].id]: shownId(house, call, id) };
}

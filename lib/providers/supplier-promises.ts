/**
 * What the four kinds of supplier guarantee, as data. A kind is named after the class that follows from it:
 * `keyed` collapses by idempotency key, `unique` by our reference, `searchable` shows our reference and no
 * more, `blind` shows what it holds by its own id only.
 */
import type { PromiseClass, ProviderPromise } from '../domain/promise.ts';

export type SupplierKind = PromiseClass;

export const SUPPLIER_KINDS: readonly SupplierKind[] = ['keyed', 'unique', 'searchable', 'blind'];

export const KEY_HEADER = 'idempotency-key';
/** The keyed supplier's key covers orders up to this many lines; a longer one it would make again. */
export const MOST_KEYED_LINES = 20;

/** One answer that means "not executed": this status with `{"error": <word>}`. */
export interface Refusal {
  readonly status: number;
  readonly error: string;
}

/** What one kind of call adds to a supplier's promise. */
export interface CallPromise {
  readonly refusals: readonly Refusal[];
  readonly readback: readonly string[];
  readonly cancelUntil: string | null;
}

/** Inside a 200, and with `ok: false` beside the word. */
export const BLOCKED: Refusal = { status: 200, error: 'account_blocked' };

const REFUSED_BY_ALL: readonly Refusal[] = [
  { status: 400, error: 'invalid_request' },
  { status: 403, error: 'wrong_account' },
];
const KEY_REUSED: Refusal = { status: 409, error: 'key_reused' };

/** The refusals of a call at a supplier; without `BLOCKED`, whose shape is its own. */
export function refusalsOf(kind: SupplierKind, call: Pick<CallPromise, 'refusals'>): readonly Refusal[] {
  return [...REFUSED_BY_ALL, ...(kind === 'keyed' ? [KEY_REUSED] : []), ...call.refusals];
}

export function supplierPromise(kind: SupplierKind, call: CallPromise): ProviderPromise {
  const refused = refusalsOf(kind, call).map(({ status, error }) => ({
    status,
    shape: `{"error":"${error}"}`,
  }));
  const blocked = { status: BLOCKED.status, shape: `{"ok":false,"error":"${BLOCKED.error}"}` };
  return {
    ...(kind === 'keyed' ? { key: KEY } : {}),
    ...(kind === 'blind' ? {} : { search: SEARCH, ...BOUNDS }),
    referenceShown: kind !== 'blind',
    uniqueReference: kind === 'unique',
    minQuietMs: 500,
    clockSkewMs: 1000,
    notExecuted: [...refused, blocked],
    accepted: 'effect_follows_or_not',
    readback: call.readback,
    redirects: 'failure',
    expectContinue: false,
    cancelUntil: call.cancelUntil,
  };
}

/** D and L. The blind supplier names neither: without a search, nothing could rest on them. */
const BOUNDS = { applyDelayMs: 60_000, visibilityLagMs: 5000 };

const KEY = {
  header: KEY_HEADER,
  lifetimeMs: 86_400_000,
  scope: 'account',
  inForce: 'with',
  whileRunning: 'conflict',
  bodyCompared: true,
  storesErrors: true,
} as const;

const SEARCH = {
  by: 'reference',
  complete: 'status=all, every page until next is null',
  maxAgeMs: 'for_ever',
  readProbe: 'every page names account and environment and repeats our reference',
} as const;

/** What each fault of the warehouse looks like from outside: misbehaviour of a POST, lies of a GET. */
import { createHash } from 'node:crypto';
import type { Reservation, ViewFaultKind, WriteFaultKind } from './warehouse-book.ts';
import { type Answer, answer, failure, GARBAGE, type Wire } from './wire.ts';

/** Kinds that save nothing, or not yet, have no use for the honest answer. */
export const MISBEHAVIOUR: Readonly<Record<WriteFaultKind, (honest: Answer, status: number) => Wire>> = {
  status_before_commit: (_honest, status) => failure(status),
  before_reset: () => ({ kind: 'reset' }),
  no_answer_no_save: () => ({ kind: 'stall' }),
  late_commit: () => ({ kind: 'close' }),
  close_after_commit: () => ({ kind: 'close' }),
  stall_after_commit: () => ({ kind: 'stall' }),
  status_after_commit: (_honest, status) => failure(status),
  cut_after_commit: (honest) => ({ kind: 'cut', answer: honest }),
  replay: (honest) => answer(honest.status === 201 ? 200 : honest.status, honest.body),
  garbage_after_commit: (honest) => answer(honest.status, GARBAGE),
  redirect_after_commit: () => answer(307, '', { location: '/reservations' }),
  wrong_id: (honest) => withId(honest, inventedId(JSON.stringify(honest.body))),
  no_id: (honest) => withId(honest, undefined),
};

function withId({ status, body }: Answer, reservation_id: string | undefined): Wire {
  return answer(status, typeof body === 'string' ? body : { ...body, reservation_id });
}

export interface Seen {
  readonly all: readonly Reservation[];
  /** Without those that the declared lag may still hide. */
  readonly settled: readonly Reservation[];
  readonly show: (records: readonly Reservation[], suffix?: string) => Wire;
  readonly status: number;
}

export const ABOUT_RECORDS: ReadonlySet<ViewFaultKind> = new Set(['get_three', 'get_empty', 'get_mismatch']);

export const LIES: Readonly<Record<ViewFaultKind, (seen: Seen) => Wire>> = {
  get_lag: ({ settled, show }) => show(settled),
  get_three: ({ all, show }) => show([...all, ...invented(all[0], 'a'), ...invented(all[0], 'b')]),
  get_empty: ({ show }) => show([]),
  get_mismatch: ({ all, show }) => show(all.map((it) => ({ ...it, quantity: it.quantity + 1 }))),
  get_wrong_warehouse: ({ all, show }) => show(all, '-other'),
  get_status: ({ status }) => failure(status),
  get_garbage: () => answer(200, GARBAGE),
  get_close: () => ({ kind: 'close' }),
  get_stall: () => ({ kind: 'stall' }),
};

function invented(record: Reservation | undefined, salt: string): Reservation[] {
  if (record === undefined) return [];
  return [{ ...record, reservationId: inventedId(record.reservationId + salt) }];
}

/** 19 digits below every real id, the same for the same seed. */
function inventedId(seed: string): string {
  const hash = createHash('sha256').update(seed).digest().readBigUInt64BE();
  return `R-${1_000_000_000_000_000_000n + (hash % 1_000_000_000_000_000_000n)}`;
}

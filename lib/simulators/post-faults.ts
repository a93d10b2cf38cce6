/** The faults of a POST that suppliers and media share: when they save, and what they look like from outside. */
import * as z from 'zod';
import { type Answer, answer, failure, type Wire } from './wire.ts';

/** Each with when what was asked for is saved. `later` keeps the declared apply delay. */
export const POST_FAULTS = {
  /** No fault; takes its turn in a list. */
  honest: 'now',
  /** Closes without an answer. */
  cut_before_save: 'never',
  cut_after_save: 'now',
  /** Resets the connection. */
  reset_before_save: 'never',
  reset_after_save: 'now',
  /** Closes without an answer at once, saves later. Until then a key that it has is in use. */
  late_save: 'later',
  /** Never answers. */
  stall: 'never',
  stall_after_save: 'now',
  /** Answers `status`. */
  status_before_save: 'never',
  status_after_save: 'now',
  /** Answers 200 with an error inside. */
  ok_with_error: 'never',
  /** Applies the one POST as if it had arrived twice. */
  delivered_twice: 'now',
  /** Answers with a content-length and half of that body. */
  cut_body_after_save: 'now',
} as const;

const status = z.int().min(200).max(599).optional();
/** What a fault of a POST may say beside its kind. */
export const POST_FAULT_FIELDS = {
  /** 500 unless told. */
  status,
  /** For what is saved later: ms after the request arrived whole, at most the apply delay. */
  delayMs: z.int().min(0).optional(),
};
/** What a fault of a GET may say beside its kind. */
export const VIEW_FAULT_FIELDS = {
  /** 503 unless told. */
  status,
  /** How many GETs it plays on; until cleared unless told. */
  times: z.int().min(1).optional(),
};

export type Misbehaviour = (honest: Answer, fault: { readonly status?: number | undefined }) => Wire;
export const HONEST: Misbehaviour = (honest) => ({ kind: 'answer', answer: honest });
export const STATUS: Misbehaviour = (_honest, fault) => failure(fault.status ?? 500);
const CLOSE: Misbehaviour = () => ({ kind: 'close' });
const RESET: Misbehaviour = () => ({ kind: 'reset' });
const STALL: Misbehaviour = () => ({ kind: 'stall' });

/** Those that save nothing, or not yet, ignore the honest answer. */
export const POST_MISBEHAVIOUR: Readonly<Record<keyof typeof POST_FAULTS, Misbehaviour>> = {
  honest: HONEST,
  cut_before_save: CLOSE,
  cut_after_save: CLOSE,
  reset_before_save: RESET,
  reset_after_save: RESET,
  late_save: CLOSE,
  stall: STALL,
  stall_after_save: STALL,
  status_before_save: STATUS,
  status_after_save: STATUS,
  ok_with_error: () => answer(200, { ok: false, error: 'account_blocked' }),
  delivered_twice: HONEST,
  cut_body_after_save: (honest) => ({ kind: 'cut', answer: honest }),
};

/** Stands for the honest answer of what saves nothing, or not yet; nobody reads it. */
export const NOTHING: Answer = { status: 503, body: '' };

/** Groups of states that rules speak of, and the way back into doubt. */
import { type Intent, type IntentState, STATES } from './intent.ts';

export const SETTLED: readonly IntentState[] = ['confirmed', 'rejected', 'closed'];
export const WAITING: readonly IntentState[] = ['ready', 'absent'];
export const OPEN: readonly IntentState[] = STATES.filter((state) => !SETTLED.includes(state));
export const ANY: readonly IntentState[] = STATES;

/** Why an event does not apply. */
export type Refusal =
  | 'not_in_this_state'
  | 'settled'
  | 'nothing_to_hand_over'
  | 'nothing_to_revoke'
  | 'no_such_attempt'
  | 'has_result';

/** Absence that nobody used in time. The count of searches goes on, so that absent and unknown never take turns for ever. */
export function age(intent: Intent, event: { dueAt: number }, now: number): Intent {
  const dueAt = Math.max(event.dueAt, intent.dueAt ?? 0);
  return { ...toUnknown(intent, now), searches: intent.searches, dueAt };
}

/**
 * Undetermined from here on: the count of searches starts anew and what was decided before is void. That another id was
 * told stays: it is looked into once one is confirmed.
 */
export function toUnknown(intent: Intent, now: number): Intent {
  return {
    ...intent,
    state: 'unknown',
    unknownSince: intent.unknownSince ?? now,
    searchingSince: now,
    searches: 0,
    handover: null,
    waitUntil: null,
    declaredAbsentAt: null,
  };
}

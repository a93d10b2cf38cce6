/** Claims: attempt n is stored before its bytes may leave, and lost ones are told from unanswered ones. */
import { type Attempt, type Intent, lastAttempt } from './intent.ts';
import type { Refusal } from './lifecycle-states.ts';
import type { WriteResult } from './write-result.ts';

export function claim(intent: Intent, event: { attempt: Attempt; dueAt: number }): Intent {
  const attempts = [...intent.attempts, event.attempt];
  const cleared = { handover: null, absentSince: null, declaredAbsentAt: null, waitsFor: null };
  return { ...intent, ...cleared, state: 'sending', attempts, dueAt: event.dueAt };
}

export function resendFirst(
  intent: Intent,
  event: { result: WriteResult; attempt: Attempt; dueAt: number },
): Intent | Refusal {
  const last = lastAttempt(intent);
  if (last === undefined || last.number !== event.attempt.number - 1) return 'no_such_attempt';
  if (last.result !== undefined) return 'has_result';
  const settled = { ...last, result: event.result };
  return {
    ...intent,
    attempts: [...intent.attempts.slice(0, -1), settled, event.attempt],
    dueAt: event.dueAt,
  };
}

export function loseLast(intent: Intent, now: number): Intent {
  const last = lastAttempt(intent);
  if (last === undefined || last.result !== undefined) return intent;
  return { ...intent, attempts: [...intent.attempts.slice(0, -1), { ...last, lostAt: now }] };
}

/** What the result of an attempt does: on time it moves the state, late it is evidence only. */
import { type Attempt, type Handover, type Intent, type IntentState, inDoubt } from './intent.ts';
import { toUnknown } from './lifecycle-states.ts';
import type { WriteResult } from './write-result.ts';

interface ResultEvent {
  readonly number: number;
  readonly result: WriteResult;
  readonly dueAt: number;
  readonly retryAt: number;
}

/** Nothing outside was believed to exist: an acknowledgement now contradicts that. */
const BELIEVED_EMPTY: readonly IntentState[] = ['awaiting_approval', 'ready', 'absent'];

export function recordResult(
  intent: Intent,
  event: ResultEvent,
  now: number,
): Intent | 'no_such_attempt' | 'has_result' {
  const attempt = intent.attempts[event.number - 1];
  if (attempt === undefined) return 'no_such_attempt';
  if (attempt.result !== undefined) return 'has_result';
  const noted = withResult(intent, attempt, event.result);
  const onTime = intent.state === 'sending' && event.number === intent.attempts.length;
  return onTime ? settle(noted, event, now) : keepLate(noted, event, now);
}

function withResult(intent: Intent, attempt: Attempt, result: WriteResult): Intent {
  const attempts = intent.attempts.map((each) => (each === attempt ? { ...attempt, result } : each));
  if (result.kind !== 'acknowledged') return { ...intent, attempts };
  const acknowledgedId = intent.acknowledgedId ?? result.externalId;
  return { ...intent, attempts, seenAt: intent.seenAt ?? result.at, acknowledgedId };
}

function settle(intent: Intent, event: ResultEvent, now: number): Intent {
  const { result } = event;
  if (result.kind === 'acknowledged') {
    return { ...intent, state: 'acknowledged', readbacks: 0, dueAt: event.dueAt };
  }
  // A refusal of attempt 2 proves nothing about attempt 1.
  if (result.kind === 'unknown' || inDoubt(intent)) {
    return { ...toUnknown(intent, now), dueAt: event.dueAt };
  }
  if (result.proof === 'refused') return { ...intent, state: 'rejected', dueAt: null };
  if (intent.noMoreWrites) return { ...intent, state: 'closed', outcome: 'no_effect', dueAt: null };
  return { ...intent, state: 'ready', dueAt: event.retryAt };
}

/** The state has moved on. A late success is never ignored and never overwrites; a late failure is a note. */
function keepLate(intent: Intent, event: ResultEvent, now: number): Intent {
  if (event.result.kind !== 'acknowledged' || intent.state === 'sending') return intent;
  if (BELIEVED_EMPTY.includes(intent.state)) {
    return { ...intent, state: 'handover', handover: contrary(event.result, now), dueAt: event.dueAt };
  }
  if (intent.state === 'handover') {
    return { ...toUnknown(intent, now), dueAt: now };
  }
  const known = intent.state === 'confirmed' && event.result.externalId === intent.externalId;
  // A hand-over that was decided but not carried out rested on less than is known now.
  return known ? intent : { ...intent, handover: null, dueAt: now };
}

function contrary(result: Extract<WriteResult, { kind: 'acknowledged' }>, now: number): Handover {
  const candidates = result.externalId === null ? [] : [result.externalId];
  return { reason: 'contrary_evidence', candidates, at: now };
}

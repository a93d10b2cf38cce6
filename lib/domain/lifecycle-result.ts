/** What the result of an attempt does: on time it moves the state, late it is evidence only. */
import { type Attempt, type Intent, inDoubt } from './intent.ts';
import { BELIEVED_EMPTY, contradict } from './lifecycle-evidence.ts';
import { toUnknown } from './lifecycle-states.ts';
import { tellsOfEffect, type WriteResult } from './write-result.ts';

interface ResultEvent {
  readonly number: number;
  readonly result: WriteResult;
  readonly dueAt: number;
  readonly retryAt: number;
}

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
  if (!tellsOfEffect(result)) return { ...intent, attempts };
  const told = result.kind === 'acknowledged' ? result.externalId : null;
  const acknowledgedId = intent.acknowledgedId ?? told;
  return { ...intent, attempts, seenAt: intent.seenAt ?? result.at, acknowledgedId };
}

function settle(intent: Intent, event: ResultEvent, now: number): Intent {
  const { result } = event;
  if (result.kind === 'acknowledged') {
    return { ...intent, state: 'acknowledged', readbacks: 0, dueAt: event.dueAt };
  }
  // A refusal of attempt 2 proves nothing about attempt 1, nor about what was seen meanwhile.
  if (result.kind === 'unknown' || inDoubt(intent) || intent.seenAt !== null) {
    return { ...toUnknown(intent, now), dueAt: event.dueAt };
  }
  if (result.proof === 'refused') return { ...intent, state: 'rejected', dueAt: null };
  if (intent.noMoreWrites) return { ...intent, state: 'closed', outcome: 'no_effect', dueAt: null };
  return { ...intent, state: 'ready', dueAt: event.retryAt };
}

/** The state has moved on. A late success is never ignored and never overwrites; a late failure is a note. */
function keepLate(intent: Intent, event: ResultEvent, now: number): Intent {
  if (!tellsOfEffect(event.result) || intent.state === 'sending') return intent;
  const externalId = event.result.kind === 'acknowledged' ? event.result.externalId : null;
  if (BELIEVED_EMPTY.includes(intent.state)) return contradict(intent, now, now);
  if (intent.state === 'handover') return { ...toUnknown(intent, now), dueAt: now };
  if (intent.state === 'confirmed') {
    // That something exists is what a confirmed intent says itself.
    const known = event.result.kind === 'unknown' || externalId === intent.externalId;
    return known ? intent : contradict(intent, now, now);
  }
  if (intent.state === 'rejected' || intent.state === 'closed') return contradict(intent, now, now);
  // A hand-over that was decided but not carried out rested on less than is known now.
  return { ...intent, handover: null, dueAt: now };
}

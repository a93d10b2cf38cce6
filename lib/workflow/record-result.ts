/** The answer is never dropped: it is written under its attempt's token, however long the ledger is away. */
import type { Attempt, Intent } from '../domain/intent.ts';
import { transition } from '../domain/lifecycle.ts';
import type { WriteResult } from '../domain/write-result.ts';
import type { Guard, Saved } from '../ledger/ledger.ts';
import { comeBack, type SendDeps, type StepAnswer, wayOf } from './deps.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/** Retries until `until`; then one alarmed log line carries what the ledger could not take. */
export async function recordResult(
  deps: SendDeps,
  claimed: Intent,
  attempt: Attempt,
  result: WriteResult,
  until: number,
): Promise<StepAnswer> {
  let before = claimed;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      const saved = await saveResult(deps, before, attempt, result);
      if (saved.kind === 'saved') return nextAfter(deps, saved.intent, attempt);
      before = saved.current ?? before;
    } catch (error) {
      if (deps.clock.now() + pause >= until) {
        unrecorded(deps, claimed, attempt, result);
        throw error;
      }
    }
    if (deps.clock.now() + pause >= until) {
      unrecorded(deps, claimed, attempt, result);
      return { next: 'search' };
    }
    await deps.clock.sleep(pause);
  }
}

async function saveResult(
  deps: SendDeps,
  before: Intent,
  attempt: Attempt,
  result: WriteResult,
): Promise<Saved> {
  const now = deps.clock.now();
  const retryAt = now + wayOf(deps, before).route.policy.pauseMs;
  const dueAt = now + deps.timing.graceMs;
  const event = { kind: 'result', number: attempt.number, result, dueAt, retryAt } as const;
  const moved = transition(before, event, now);
  // Nobody else writes under our token: a result that is there is ours, from a write whose answer was lost.
  if (moved.kind === 'refused') return { kind: 'saved', intent: before };
  const out = before.state === 'sending' && before.attempts.length === attempt.number;
  const guard: Guard = out
    ? { kind: 'still_out', number: attempt.number, token: attempt.token }
    : { kind: 'unchanged' };
  return deps.ledger.save(before, moved.intent, guard);
}

function unrecorded(deps: SendDeps, intent: Intent, attempt: Attempt, result: WriteResult): void {
  deps.log('error', 'answer_unrecorded', {
    tenant: intent.tenant,
    intentId: intent.id,
    route: intent.route,
    attempt: attempt.number,
    token: attempt.token,
    code: result.kind === 'acknowledged' ? 'acknowledged' : result.code,
    ...(result.kind === 'acknowledged' ? { externalId: result.externalId } : {}),
  });
}

function nextAfter(deps: SendDeps, intent: Intent, attempt: Attempt): StepAnswer {
  const result = intent.attempts[attempt.number - 1]?.result;
  deps.log('info', 'attempt_settled', {
    intentId: intent.id,
    attempt: attempt.number,
    code: result === undefined || result.kind === 'acknowledged' ? 'acknowledged' : result.code,
    state: intent.state,
  });
  switch (intent.state) {
    case 'acknowledged':
      return { next: 'verify' };
    case 'unknown':
    case 'absent':
      return { next: 'search' };
    case 'ready':
      return comeBack(deps, intent.dueAt ?? deps.clock.now()).answer;
    default:
      return { next: 'end' };
  }
}

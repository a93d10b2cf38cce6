/** The answer is never dropped: it is written under its attempt's token, however long the ledger is away. */
import type { Attempt, Intent } from '../domain/intent.ts';
import { transition } from '../domain/lifecycle.ts';
import type { WriteResult } from '../domain/write-result.ts';
import type { Guard, Saved } from '../ledger/ledger.ts';
import { comeBack, type SendDeps, type StepAnswer, wayOf } from './deps.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;
/** Rival writes met in a row; each one moves the intent on, so there cannot be many. */
const MOST_RACES = 20;

/** Starts no try after `until`, so that the last one ends before the sender does; then one alarmed log line carries what it could not take. */
export async function recordResult(
  deps: SendDeps,
  claimed: Intent,
  attempt: Attempt,
  result: WriteResult,
  until: number,
): Promise<StepAnswer> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return nextAfter(deps, await saveThroughRaces(deps, claimed, attempt, result), attempt);
    } catch (error) {
      if (deps.clock.now() + pause >= until) {
        unrecorded(deps, claimed, attempt, result);
        throw error;
      }
    }
    await deps.clock.sleep(pause);
  }
}

/** Writes on time if it still is, else as late evidence. A lost race is tried again at once on what was met. */
async function saveThroughRaces(
  deps: SendDeps,
  claimed: Intent,
  attempt: Attempt,
  result: WriteResult,
): Promise<Intent> {
  let before = claimed;
  for (let race = 0; race < MOST_RACES; race += 1) {
    const saved = await saveResult(deps, before, attempt, result);
    if (saved.kind === 'saved') return saved.intent;
    before = saved.current ?? before;
  }
  throw new Error(`Cannot record attempt ${attempt.number}: others kept writing.`);
}

async function saveResult(
  deps: SendDeps,
  before: Intent,
  attempt: Attempt,
  result: WriteResult,
): Promise<Saved> {
  const now = deps.clock.now();
  const retryAt = now + wayOf(deps, before).route.policy.pauseMs;
  const dueAt = firstLook(deps, before, result)?.dueAt ?? now + deps.timing.graceMs;
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

/** The wait before the first look, where the answer asks for one; undefined: look at once. */
function firstLook(
  deps: SendDeps,
  intent: Intent,
  result: WriteResult | undefined,
): ReturnType<typeof comeBack> | undefined {
  if (result?.kind !== 'unknown' || result.notBefore === undefined) return undefined;
  // Where nothing can be searched, only people can go on, and they need not wait.
  const looks = wayOf(deps, intent).provider.find !== undefined;
  return looks && result.notBefore > deps.clock.now() ? comeBack(deps, result.notBefore) : undefined;
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
      return firstLook(deps, intent, result)?.answer ?? { next: 'search' };
    case 'ready':
      return comeBack(deps, intent.dueAt ?? deps.clock.now()).answer;
    default:
      return { next: 'end' };
  }
}

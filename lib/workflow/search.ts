/**
 * Search: looks outside without writing and tells 0, 1 and many apart. After every wait comes this step;
 * it answers `send` at once for an intent that may be sent. It also audits settled intents.
 */
import type { HandoverReason, Intent } from '../domain/intent.ts';
import { maySend } from '../domain/may-send.ts';
import { planOf } from '../domain/plan.ts';
import {
  endOfSearch,
  isOutOfTime,
  nextLookAt,
  searchedSince,
  showsRefusal,
  windowEndsAt,
} from '../domain/reconciliation.ts';
import { leftAloneUntil } from '../domain/retry-after.ts';
import { STEPS } from '../platform/names.ts';
import type { Way } from '../providers/registry.ts';
import { audit } from './audit.ts';
import { checkFirst } from './check-first.ts';
import { countedCalls, HELD_BACK, tryAgainLater } from './counted-calls.ts';
import {
  apply,
  comeBack,
  contextFor,
  contextOf,
  type LookDeps,
  type RunInput,
  type Step,
  type StepAnswer,
  wayOf,
} from './deps.ts';
import { follow } from './follow.ts';
import { handoverOf, keepSearch, searchOutside } from './look.ts';
import { looksWithin } from './look-context.ts';

const MOST_ROUNDS = 4;

export function search(deps: LookDeps): Step {
  return async (input) => {
    const within = looksWithin(deps, STEPS.Search);
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const answer = await takeStep(within, input);
      if (answer !== 'again') return answer;
    }
    return { next: 'wait', waitSeconds: 1 };
  };
}

async function takeStep(deps: LookDeps, input: RunInput): Promise<StepAnswer | 'again'> {
  const { intent, frozen } = await deps.ledger.readForSend(input, input.route);
  if (intent === undefined) return { next: 'end' };
  const way = wayOf(deps, intent);
  const plan = planOf(intent, await contextFor(deps, way, intent, frozen), deps.clock.now());
  if (plan.do === 'audit') return audit(deps, way, intent);
  if (plan.do === 'check') return checkFirst(deps, way, intent);
  return plan.do === 'look' ? reconcile(deps, way, intent, frozen) : follow(deps, intent, plan);
}

async function reconcile(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  frozen: boolean,
): Promise<StepAnswer | 'again'> {
  // Without a search only an id that somebody named can be looked at.
  if (way.provider.find === undefined && intent.acknowledgedId === null) {
    return handOver(deps, intent, { reason: 'blind', ids: [] });
  }
  const calls = countedCalls(deps, way, intent);
  const { seen, facts } = await searchOutside(deps, way, intent, calls);
  if (seen.error === HELD_BACK && !isOutOfTime(searchedSince(intent) ?? seen.endedAt, seen.endedAt)) {
    return tryAgainLater(deps, intent, calls.needed());
  }
  await keepSearch(deps, intent, facts, seen.shown);
  if (showsRefusal(intent, seen, deps.timing, way.lag)) {
    const refused = await apply(deps, intent, { kind: 'refused_outside', facts });
    return refused === undefined ? 'again' : { next: 'end' };
  }
  const now = deps.clock.now();
  const windowEnd = windowEndsAt(intent, deps.timing, way.lag);
  const nextAt = nextLookAt(intent.searches, windowEnd, now);
  const { answer, dueAt } = comeBack(deps, Math.max(nextAt, seen.notBefore ?? 0, leftAloneUntil(intent)));
  const reason = endOfSearch(intent, seen, facts.verdict, deps.timing, way.lag);
  const handover = reason === undefined ? {} : { handover: handoverOf(reason, facts.candidates, now) };
  const saved = await apply(deps, intent, { kind: 'searched', facts, dueAt, ...handover });
  if (saved === undefined) return 'again';
  if (reason !== undefined) return { next: 'hand_over' };
  return nextAfter(deps, way, saved, frozen, answer);
}

function nextAfter(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  frozen: boolean,
  later: StepAnswer,
): StepAnswer | 'again' {
  if (intent.state === 'acknowledged') return { next: 'verify' };
  if (intent.state === 'absent') return 'again';
  const refusal = maySend(intent, contextOf(deps, way, frozen), deps.clock.now());
  return refusal === null ? { next: 'send' } : later;
}

async function handOver(
  deps: LookDeps,
  intent: Intent,
  end: { reason: HandoverReason; ids: readonly string[] },
): Promise<StepAnswer | 'again'> {
  const now = deps.clock.now();
  const handover = handoverOf(end.reason, end.ids, now);
  const saved = await apply(deps, intent, {
    kind: 'must_hand_over',
    handover,
    dueAt: now + deps.timing.graceMs,
  });
  return saved === undefined ? 'again' : { next: 'hand_over' };
}

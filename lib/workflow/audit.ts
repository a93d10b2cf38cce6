/**
 * The look at an intent outside which nothing more was believed to exist: a second effect of a confirmed one, or
 * an effect of one that is waiting, rejected or closed. Only what a look supports freezes or hands over.
 */
import type { Intent, SearchFacts } from '../domain/intent.ts';
import type { LifeEvent } from '../domain/life-event.ts';
import { isFollowUpPending } from '../domain/lifecycle-looks.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import { DAY_MS, windowMs } from '../domain/promise.ts';
import { MAX_SEARCHES, nextLookAt, pauseAfter } from '../domain/reconciliation.ts';
import type { Way } from '../providers/registry.ts';
import { countedCalls, HELD_BACK, tryAgainLater } from './counted-calls.ts';
import { apply, comeBack, type LookDeps, type StepAnswer } from './deps.ts';
import { handoverOf, keepSearch, type Seen, searchOutside } from './look.ts';
import { isAnothersTurn } from './twin-hold.ts';

export async function audit(deps: LookDeps, way: Way, intent: Intent): Promise<StepAnswer | 'again'> {
  if (await isAnothersTurn(deps, way, intent)) {
    // A twin may stay open for long, and what is to follow a confirmed one does not wait for that.
    return isFollowUpPending(intent) ? { next: 'verify' } : afterTheOther(deps, intent);
  }
  const { seen, facts } = await searchOutside(deps, way, intent, countedCalls(deps, way, intent));
  if (seen.error === HELD_BACK) return tryAgainLater(deps, intent);
  await keepSearch(deps, intent, facts, seen.shown);
  const known = [intent.externalId, intent.attestedId, ...(intent.incident?.candidates ?? [])];
  const others = seen.matched.map((record) => record.externalId).filter((id) => !known.includes(id));
  if (others.length > 0) return contradict(deps, intent, facts, others);
  const until = nextOf(deps, way, intent, seen);
  const settled = SETTLED.includes(intent.state);
  if (until === null && !settled) return handOverUnsupported(deps, intent);
  const next = until === null ? null : comeBack(deps, until);
  const kind = intent.state === 'confirmed' ? 'audited' : 'not_contradicted';
  const saved = await apply(deps, intent, { kind, facts, dueAt: next?.dueAt ?? null });
  if (saved === undefined) return 'again';
  return next?.answer ?? { next: 'end' };
}

/** While a twin is open, what shows may be its effect; once it has settled, that is bound or there is none. */
const TWINS_PAUSE_MS = 600_000;

async function afterTheOther(deps: LookDeps, intent: Intent): Promise<StepAnswer | 'again'> {
  const { answer, dueAt } = comeBack(deps, deps.clock.now() + TWINS_PAUSE_MS);
  const { waitsFor } = intent;
  const waiting = waitsFor === null ? {} : { waitsFor };
  return (await apply(deps, intent, { kind: 'deferred', dueAt, ...waiting })) === undefined
    ? 'again'
    : answer;
}

/** When to look again: while the look is blurred, and while what the evidence speaks of may still be hidden. */
function nextOf(deps: LookDeps, way: Way, intent: Intent, seen: Seen): number | null {
  const now = deps.clock.now();
  const blurred = seen.failed || !seen.complete || !seen.authorised;
  if (intent.contraryAt === null) {
    return blurred && intent.searches + 1 < MAX_SEARCHES ? now + pauseAfter(intent.searches) : null;
  }
  const shows = windowMs(deps.timing, way.lag) ?? DAY_MS;
  const end = intent.contraryAt + (blurred ? Math.max(shows, DAY_MS) : shows);
  return seen.startedAt > end ? null : nextLookAt(intent.searches % MAX_SEARCHES, end, now);
}

/** Freeze first: a crash in between leaves the intent due and the route safe. */
async function contradict(
  deps: LookDeps,
  intent: Intent,
  facts: SearchFacts,
  others: readonly string[],
): Promise<StepAnswer | 'again'> {
  const now = deps.clock.now();
  const confirmed = intent.state === 'confirmed';
  const reason = confirmed ? 'second_effect' : 'contrary_evidence';
  const { tenant, id: intentId, route } = intent;
  deps.log('error', reason, { intentId, route, count: others.length });
  // One word for the metric, whatever the intent was believed to be.
  deps.log('error', 'duplicate_risk', { tenant, intentId, route, reason });
  const why = confirmed ? `second effect of ${intentId}` : `late effect of ${intentId}`;
  await deps.ledger.freeze(route, { by: 'audit', why, at: now });
  const finding = handoverOf(reason, facts.candidates, now);
  const event: LifeEvent = confirmed
    ? { kind: 'second_effect', facts, incident: finding }
    : { kind: 'contradicted', handover: finding, dueAt: now + deps.timing.graceMs };
  if ((await apply(deps, intent, event)) === undefined) return 'again';
  if (!confirmed) deps.log('warn', 'handed_over', { tenant, intentId, route, reason });
  return { next: 'end' };
}

/** Evidence that no look supported still forbids a write: people decide. */
async function handOverUnsupported(deps: LookDeps, intent: Intent): Promise<StepAnswer | 'again'> {
  const now = deps.clock.now();
  const candidates = intent.acknowledgedId === null ? [] : [intent.acknowledgedId];
  const handover = handoverOf('contrary_evidence', candidates, now);
  const event = { kind: 'contradicted', handover, dueAt: now + deps.timing.graceMs } as const;
  if ((await apply(deps, intent, event)) === undefined) return 'again';
  const { tenant, id: intentId, route } = intent;
  deps.log('warn', 'handed_over', { tenant, intentId, route, reason: handover.reason });
  return { next: 'end' };
}

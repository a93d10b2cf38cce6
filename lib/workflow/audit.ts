/**
 * The look at an intent outside which nothing more was believed to exist: a second effect of a confirmed one, or
 * an effect of one that is waiting, rejected or closed. Only what a look proves freezes; where it sees too little, or
 * cannot come about, people are told.
 */
import type { Intent, SearchFacts } from '../domain/intent.ts';
import {
  type AuditEnd,
  endUntold,
  isAuditIncomplete,
  isAuditOutOfTime,
  judgeAudit,
} from '../domain/judge-audit.ts';
import type { LifeEvent } from '../domain/life-event.ts';
import { isFollowUpPending } from '../domain/lifecycle-looks.ts';
import type { Way } from '../providers/registry.ts';
import { countedCalls, HELD_BACK, tryAgainLater } from './counted-calls.ts';
import { apply, comeBack, type LookDeps, type StepAnswer } from './deps.ts';
import { handoverOf, keepSearch, MOST_CANDIDATES, type Seen, searchOutside } from './look.ts';
import { isAnothersTurn } from './twin-hold.ts';

export async function audit(deps: LookDeps, way: Way, intent: Intent): Promise<StepAnswer | 'again'> {
  if (await isAnothersTurn(deps, way, intent)) {
    // A twin may stay open for long, and what is to follow a confirmed one does not wait for that.
    return isFollowUpPending(intent) ? { next: 'verify' } : afterTheOther(deps, intent);
  }
  const calls = countedCalls(deps, way, intent);
  const { seen, facts } = await searchOutside(deps, way, intent, calls);
  const now = deps.clock.now();
  const heldBack = seen.error === HELD_BACK;
  if (heldBack && !isOver(deps, way, intent, now)) {
    const later = await tryAgainLater(deps, intent, calls.needed());
    return isFollowUpPending(intent) && later !== 'again' ? { next: 'verify' } : later;
  }
  await keepSearch(deps, intent, facts, seen.shown);
  return carryOut(
    deps,
    intent,
    { seen, facts },
    heldBack ? endUntold(intent) : judgeAudit(intent, seen, deps.timing, way.lag, now),
  );
}

/** Told once, what is to follow it goes first. */
function isOver(deps: LookDeps, way: Way, intent: Intent, now: number): boolean {
  const isTold = isFollowUpPending(intent) && isAuditIncomplete(intent);
  return !isTold && isAuditOutOfTime(intent, deps.timing, way.lag, now);
}

async function carryOut(
  deps: LookDeps,
  intent: Intent,
  { seen, facts }: { seen: Seen; facts: SearchFacts },
  end: AuditEnd,
): Promise<StepAnswer | 'again'> {
  switch (end.kind) {
    case 'contradicted':
      return contradict(deps, intent, facts, end.ids);
    case 'incomplete':
      return tellIncomplete(deps, intent, facts);
    case 'unsupported':
      return handOverUnsupported(deps, intent, end.ids);
    case 'over':
      return (await apply(deps, intent, auditedEvent(intent, facts, null))) === undefined
        ? 'again'
        : { next: 'end' };
    case 'later': {
      const { answer, dueAt } = comeBack(deps, Math.max(end.until, seen.notBefore ?? 0));
      const saved = await apply(deps, intent, auditedEvent(intent, facts, dueAt));
      return saved === undefined ? 'again' : answer;
    }
  }
}

function auditedEvent(intent: Intent, facts: SearchFacts, dueAt: number | null): LifeEvent {
  return { kind: intent.state === 'confirmed' ? 'audited' : 'not_contradicted', facts, dueAt };
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

/** Its end stands and the route goes on; that nobody knows whether there is more is for people. */
async function tellIncomplete(
  deps: LookDeps,
  intent: Intent,
  facts: SearchFacts,
): Promise<StepAnswer | 'again'> {
  const { tenant, id: intentId, route } = intent;
  const incident = handoverOf('audit_incomplete', [], deps.clock.now());
  const saved = await apply(deps, intent, { kind: 'audit_incomplete', facts, incident });
  if (saved === undefined) return 'again';
  deps.log('warn', 'audit_incomplete', {
    ...{ tenant, intentId, route },
    ...(facts.error === undefined ? {} : { code: facts.error }),
  });
  return isFollowUpPending(saved) ? { next: 'verify' } : { next: 'end' };
}

/** Evidence that no look supported still forbids a write: people decide. */
async function handOverUnsupported(
  deps: LookDeps,
  intent: Intent,
  ids: readonly string[],
): Promise<StepAnswer | 'again'> {
  const now = deps.clock.now();
  const told = intent.acknowledgedId === null ? [] : [intent.acknowledgedId];
  const candidates = [...new Set([...told, ...ids])].slice(0, MOST_CANDIDATES);
  const handover = handoverOf('contrary_evidence', candidates, now);
  const event = { kind: 'contradicted', handover, dueAt: now + deps.timing.graceMs } as const;
  if ((await apply(deps, intent, event)) === undefined) return 'again';
  const { tenant, id: intentId, route } = intent;
  deps.log('warn', 'handed_over', { tenant, intentId, route, reason: handover.reason });
  return { next: 'end' };
}

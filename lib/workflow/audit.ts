/** The look at a settled intent: a second effect of a confirmed one, or evidence against another end. */
import type { Intent } from '../domain/intent.ts';
import type { LifeEvent } from '../domain/life-event.ts';
import { MAX_SEARCHES, pauseAfter } from '../domain/reconciliation.ts';
import type { Way } from '../providers/registry.ts';
import { apply, comeBack, type LookDeps, type StepAnswer } from './deps.ts';
import { handoverOf, keepSearch, searchOutside } from './look.ts';

/** Runs once a settled intent is due; an audit that cannot look is tried again, at most 20 times. */
export async function audit(deps: LookDeps, way: Way, intent: Intent): Promise<StepAnswer | 'again'> {
  const { seen, facts } = await searchOutside(deps, way, intent);
  await keepSearch(deps, intent, facts);
  const now = deps.clock.now();
  const others = seen.matched.map((record) => record.externalId).filter((id) => id !== intent.externalId);
  if (others.length > 0) return contradict(deps, intent, facts, others);
  const blurred = seen.failed || !seen.complete || !seen.authorised;
  const again = blurred && intent.searches + 1 < MAX_SEARCHES;
  const { answer, dueAt } = comeBack(deps, now + pauseAfter(intent.searches));
  const kind = intent.state === 'confirmed' ? 'audited' : 'not_contradicted';
  const saved = await apply(deps, intent, { kind, facts, dueAt: again ? dueAt : null });
  if (saved === undefined) return 'again';
  return again ? answer : { next: 'end' };
}

async function contradict(
  deps: LookDeps,
  intent: Intent,
  facts: Extract<LifeEvent, { kind: 'audited' }>['facts'],
  others: readonly string[],
): Promise<StepAnswer | 'again'> {
  const now = deps.clock.now();
  const confirmed = intent.state === 'confirmed';
  const reason = confirmed ? 'second_effect' : 'contrary_evidence';
  const finding = handoverOf(reason, facts.candidates, now);
  deps.log('error', reason, { intentId: intent.id, route: intent.route, count: others.length });
  // Freeze first: a crash in between leaves the intent due and the route safe.
  if (confirmed)
    await deps.ledger.freeze(intent.route, { by: 'audit', why: `second effect of ${intent.id}`, at: now });
  const event: LifeEvent = confirmed
    ? { kind: 'second_effect', facts, incident: finding }
    : { kind: 'contradicted', handover: finding, dueAt: now + deps.timing.graceMs };
  return (await apply(deps, intent, event)) === undefined ? 'again' : { next: 'end' };
}

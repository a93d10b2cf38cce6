/**
 * Verify: reads the effect back and makes the receipt. Only exactly one matching record with every check
 * true, bound to this intent alone, confirms.
 */
import type { Intent, Receipt } from '../domain/intent.ts';
import type { LifeEvent } from '../domain/life-event.ts';
import { DAY_MS } from '../domain/promise.ts';
import { isOutOfTime, pauseAfter, showsRefusal, windowEndsAt } from '../domain/reconciliation.ts';
import { judgeReadback, needsAudit, needsWholeSearch, type Verification } from '../domain/verification.ts';
import { STEPS } from '../platform/names.ts';
import type { Way } from '../providers/registry.ts';
import { countedCalls, HELD_BACK, tryAgainLater } from './counted-calls.ts';
import { apply, comeBack, evidenceId, type LookDeps, type Step, type StepAnswer, wayOf } from './deps.ts';
import { makeFollowUp } from './follow-up.ts';
import { handoverOf, keepSearch, MOST_CANDIDATES, readOutside, type Seen, searchOutside } from './look.ts';
import { looksWithin } from './look-context.ts';
import { bindingOf, takeHold } from './twin-hold.ts';

export function verify(deps: LookDeps): Step {
  return async (input) => {
    const within = looksWithin(deps, STEPS.Verify);
    const intent = await deps.ledger.read(input);
    if (intent === undefined) return { next: 'end' };
    if (intent.handover !== null && intent.state !== 'handover') return { next: 'hand_over' };
    const way = wayOf(deps, intent);
    if (intent.state === 'confirmed') return followUp(deps, way, intent);
    if (intent.state !== 'acknowledged') return { next: 'search' };
    const { readback, verification } = await readBack(within, way, intent);
    if (verification !== 'refused' && verification.kind === 'held_back') {
      const later = await tryAgainLater(deps, intent, verification.calls);
      return later === 'again' ? MOVED : later;
    }
    if (verification === 'refused') {
      const refused = await apply(deps, intent, { kind: 'refused_outside', facts: null });
      return refused === undefined ? MOVED : { next: 'end' };
    }
    switch (verification.kind) {
      case 'verified':
        return confirm(deps, way, intent, readback, verification);
      case 'later':
        return later(deps, intent, readback.notBefore ?? 0);
      case 'hand_over':
        await keepReadback(deps, intent, readback, verification);
        return handOver(deps, intent, verification);
    }
  };
}

/** The whole search that a receipt needs was held back; `calls` that it needs, where known. */
interface HeldBack {
  readonly kind: 'held_back';
  readonly calls: number | null;
}

async function readBack(
  deps: LookDeps,
  way: Way,
  intent: Intent,
): Promise<{ readback: Seen; verification: Verification | 'refused' | HeldBack }> {
  const alone = await readOutside(deps, way, intent, intent.acknowledgedId);
  const isWhole = alone.complete && alone.authorised;
  const refused = (alone.refused ?? []).length > 0;
  // Whoever asks for time is not searched in the same breath.
  const leftAlone = alone.failed && alone.notBefore !== undefined;
  if (leftAlone || (!refused && (!needsWholeSearch(intent) || isWhole))) {
    return { readback: alone, verification: judgeReadback(intent, alone, null, deps.timing, way.lag) };
  }
  if (way.provider.find === undefined) return { readback: alone, verification: unsearchable(alone) };
  const calls = countedCalls(deps, way, intent);
  const { seen, facts } = await searchOutside(deps, way, intent, calls);
  const readback = { ...alone, notBefore: Math.max(alone.notBefore ?? 0, seen.notBefore ?? 0) };
  const outOfTime = isOutOfTime(intent.seenAt ?? readback.startedAt, readback.startedAt);
  if (seen.error === HELD_BACK && !outOfTime) {
    return { readback, verification: { kind: 'held_back', calls: calls.needed() } };
  }
  await keepSearch(deps, intent, facts, seen.shown);
  if (showsRefusal(intent, seen, deps.timing, way.lag)) return { readback, verification: 'refused' };
  return { readback, verification: judgeReadback(intent, readback, seen, deps.timing, way.lag) };
}

/** Why people have to decide. */
type ByPeople = Omit<Extract<Verification, { kind: 'hand_over' }>, 'kind'>;

/** Which checks did not hold, for the person who is asked: the reason alone does not say. */
async function keepReadback(
  deps: LookDeps,
  intent: Intent,
  { startedAt, endedAt, error, matched }: Seen,
  { reason, failedChecks }: ByPeople,
): Promise<void> {
  const seen = matched.slice(0, MOST_CANDIDATES).map(({ externalId, checks }) => ({ externalId, checks }));
  const failed = failedChecks === undefined ? {} : { failedChecks };
  const facts = { reason, endedAt, seen, ...failed, ...(error === undefined ? {} : { error }) };
  await deps.ledger.addEvidence(
    { tenant: intent.tenant, intentId: intent.id },
    { kind: 'readback', id: evidenceId(deps, startedAt), at: startedAt, facts },
  );
}

/** A complete search is needed and there is none: only people can say that there is one effect and no other. */
function unsearchable(readback: Seen): Verification {
  const candidates = readback.matched.map((record) => record.externalId);
  return { kind: 'hand_over', reason: 'readback_unavailable', candidates };
}

async function confirm(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  readback: Seen,
  verified: Extract<Verification, { kind: 'verified' }>,
): Promise<StepAnswer> {
  const { externalId, url, checks, searchedWhole } = verified;
  const held = await takeHold(deps, way, intent);
  if (held.kind === 'raced') return MOVED;
  // Where no reference shows, an effect counts for the twin whose turn it is.
  const owner = { tenant: intent.tenant, intentId: intent.id };
  const isOurs =
    held.kind === 'mine' && (await deps.ledger.bind(bindingOf(way, externalId), owner)).kind === 'mine';
  if (!isOurs) return handOver(deps, intent, { reason: 'bound_elsewhere', candidates: [externalId] });
  const { payloadDigest, promiseClass } = intent;
  const receipt: Receipt = {
    schema: 'kakutei-receipt/v1',
    externalId,
    url,
    checks,
    readAt: readback.endedAt,
    payloadDigest,
    promiseClass,
    searchedWhole,
  };
  const pending = intent.followWith !== null;
  const dueAt = pending ? deps.clock.now() + deps.timing.graceMs : auditAt(deps, way, intent);
  const saved = await apply(deps, intent, { kind: 'verified', receipt, dueAt });
  return saved === undefined ? MOVED : followUp(deps, way, saved);
}

/** What is to follow a confirmed intent; a crash before it is met by the next run. */
async function followUp(deps: LookDeps, way: Way, intent: Intent): Promise<StepAnswer> {
  if (intent.followWith === null || intent.followUp !== null) return { next: 'end' };
  const made = await makeFollowUp(deps, intent, intent.followWith);
  const now = deps.clock.now();
  // What cannot be made today, because its route changed, is tried again every day and never touches its parent.
  const event: LifeEvent =
    made === undefined
      ? { kind: 'deferred', dueAt: now + DAY_MS }
      : { kind: 'followed_up', followUp: made, dueAt: auditAt(deps, way, intent) };
  return (await apply(deps, intent, event)) === undefined ? MOVED : { next: 'end' };
}

/** Somebody else wrote in between; the search step finds out what is to be done. */
const MOVED: StepAnswer = { next: 'wait', waitSeconds: 1 };

/** When the one more look at a confirmed intent is due, ms. */
function auditAt(deps: LookDeps, way: Way, intent: Intent): number | null {
  if (!needsAudit(intent)) return null;
  const end = windowEndsAt(intent, deps.timing, way.lag);
  return end === null ? null : end + 1;
}

async function later(deps: LookDeps, intent: Intent, notBefore: number): Promise<StepAnswer> {
  const next = deps.clock.now() + pauseAfter(intent.readbacks);
  const { answer, dueAt } = comeBack(deps, Math.max(next, notBefore));
  return (await apply(deps, intent, { kind: 'read_back', dueAt })) === undefined ? MOVED : answer;
}

async function handOver(
  deps: LookDeps,
  intent: Intent,
  { reason, candidates, failedChecks }: ByPeople,
): Promise<StepAnswer> {
  const now = deps.clock.now();
  const handover = handoverOf(reason, candidates.slice(0, MOST_CANDIDATES), now, failedChecks);
  const saved = await apply(deps, intent, {
    kind: 'must_hand_over',
    handover,
    dueAt: now + deps.timing.graceMs,
  });
  return saved === undefined ? MOVED : { next: 'hand_over' };
}

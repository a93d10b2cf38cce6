/**
 * Verify: reads the effect back and makes the receipt. Only exactly one matching record with every check
 * true, bound to this intent alone, confirms.
 */
import type { HandoverReason, Intent, Receipt } from '../domain/intent.ts';
import { pauseAfter, windowEndsAt } from '../domain/reconciliation.ts';
import { judgeReadback, needsWholeSearch, type Verification } from '../domain/verification.ts';
import type { Way } from '../providers/registry.ts';
import { apply, comeBack, type LookDeps, type Step, type StepAnswer, wayOf } from './deps.ts';
import { handoverOf, keepSearch, look, lookContext, type Seen, searchOutside } from './look.ts';

export function verify(deps: LookDeps): Step {
  return async (input) => {
    const intent = await deps.ledger.read(input);
    if (intent === undefined) return { next: 'end' };
    if (intent.handover !== null && intent.state !== 'handover') return { next: 'hand_over' };
    if (intent.state !== 'acknowledged')
      return intent.state === 'confirmed' ? { next: 'end' } : { next: 'search' };
    const way = wayOf(deps, intent);
    const { readback, verification } = await readBack(deps, way, intent);
    switch (verification.kind) {
      case 'verified':
        return confirm(deps, way, intent, readback, verification);
      case 'later':
        return later(deps, intent);
      case 'hand_over':
        return handOver(deps, intent, verification.reason, verification.candidates);
    }
  };
}

async function readBack(
  deps: LookDeps,
  way: Way,
  intent: Intent,
): Promise<{ readback: Seen; verification: Verification }> {
  const readback = await look(deps, way, intent, async () =>
    way.provider.read(await lookContext(deps, way), intent, intent.acknowledgedId),
  );
  const isWhole = readback.complete && readback.authorised;
  if (!needsWholeSearch(intent) || isWhole) {
    return { readback, verification: judgeReadback(intent, readback, null, deps.timing, way.lag) };
  }
  const { seen, facts } = await searchOutside(deps, way, intent);
  await keepSearch(deps, intent, facts);
  return { readback, verification: judgeReadback(intent, readback, seen, deps.timing, way.lag) };
}

async function confirm(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  readback: Seen,
  verified: Extract<Verification, { kind: 'verified' }>,
): Promise<StepAnswer> {
  const { externalId, checks, searchedWhole } = verified;
  const { provider, account, environment } = way.route;
  const binding = { provider, account, environment, kind: way.provider.kind, externalId };
  const bound = await deps.ledger.bind(binding, { tenant: intent.tenant, intentId: intent.id });
  if (bound.kind === 'taken') return handOver(deps, intent, 'bound_elsewhere', [externalId]);
  const { payloadDigest, promiseClass } = intent;
  const receipt: Receipt = {
    schema: 'kakutei-receipt/v1',
    externalId,
    checks,
    readAt: readback.endedAt,
    payloadDigest,
    promiseClass,
    searchedWhole,
  };
  const saved = await apply(deps, intent, { kind: 'verified', receipt, dueAt: auditAt(deps, way, intent) });
  return saved === undefined ? MOVED : { next: 'end' };
}

/** Somebody else wrote in between; the search step finds out what is to be done. */
const MOVED: StepAnswer = { next: 'wait', waitSeconds: 1 };

/** More than one attempt: one more look when everything that was sent must show. */
function auditAt(deps: LookDeps, way: Way, intent: Intent): number | null {
  if (!needsWholeSearch(intent)) return null;
  const end = windowEndsAt(intent, deps.timing, way.lag);
  return end === null ? null : end + 1;
}

async function later(deps: LookDeps, intent: Intent): Promise<StepAnswer> {
  const { answer, dueAt } = comeBack(deps, deps.clock.now() + pauseAfter(intent.readbacks));
  return (await apply(deps, intent, { kind: 'read_back', dueAt })) === undefined ? MOVED : answer;
}

async function handOver(
  deps: LookDeps,
  intent: Intent,
  reason: HandoverReason,
  candidates: readonly string[],
): Promise<StepAnswer> {
  const now = deps.clock.now();
  const handover = handoverOf(reason, candidates.slice(0, 20), now);
  const saved = await apply(deps, intent, {
    kind: 'must_hand_over',
    handover,
    dueAt: now + deps.timing.graceMs,
  });
  return saved === undefined ? MOVED : { next: 'hand_over' };
}

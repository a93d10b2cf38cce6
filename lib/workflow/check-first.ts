/** Before a first write that must be in order there (a cancellation): deadline, shipping, the state outside. */
import { effectsOf, type Intent } from '../domain/intent.ts';
import { HELD_PAUSE_MS } from '../domain/plan.ts';
import type { Check, ReadAnswer } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import { UNCOUNTED } from './counted-calls.ts';
import { apply, comeBack, evidenceId, type LookDeps, type StepAnswer } from './deps.ts';
import { handoverOf } from './look.ts';
import { listening, lookContext } from './look-context.ts';

/** A check that could not be made is made again after a minute; `sendBy` ends that. */
export async function checkFirst(deps: LookDeps, way: Way, intent: Intent): Promise<StepAnswer | 'again'> {
  const { heard, notBefore } = listening(deps.clock);
  const check = await ask(deps, way, intent, heard);
  const now = deps.clock.now();
  await keep(deps, intent, check, now);
  switch (check.kind) {
    case 'ready': {
      const { cancelUntil } = check;
      await apply(deps, intent, { kind: 'checked', cancelUntil, dueAt: now + deps.timing.graceMs });
      return 'again';
    }
    case 'not_ready': {
      const handover = handoverOf('cannot_compensate', [], now);
      const dueAt = now + deps.timing.graceMs;
      const saved = await apply(deps, intent, { kind: 'must_hand_over', handover, dueAt });
      return saved === undefined ? 'again' : { next: 'hand_over' };
    }
    case 'failed': {
      const next = Math.max(now + HELD_PAUSE_MS, notBefore() ?? 0);
      const { answer, dueAt } = comeBack(deps, Math.min(intent.sendBy, next));
      return (await apply(deps, intent, { kind: 'deferred', dueAt })) === undefined ? 'again' : answer;
    }
  }
}

async function ask(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  heard: (answer: ReadAnswer) => void,
): Promise<Check> {
  const failed = (): Check => ({ kind: 'failed', error: 'adapter_failed' });
  if (await isOfAnother(deps, way, intent)) return { kind: 'not_ready', reason: 'not_ours', facts: {} };
  const asked = async () => {
    const context = await lookContext(deps, way, intent, UNCOUNTED, heard);
    return way.provider.check?.(context, intent) ?? failed();
  };
  const check = await asked().catch(failed);
  const late = check.kind === 'ready' && check.cancelUntil !== null && check.cancelUntil <= deps.clock.now();
  return late ? { kind: 'not_ready', reason: 'deadline_passed', facts: check.facts } : check;
}

/** What it changes turned out not to be an effect of the intent that it corrects. */
async function isOfAnother(deps: LookDeps, way: Way, intent: Intent): Promise<boolean> {
  const concerned = way.provider.concerns?.(intent.payload);
  if (concerned === undefined || intent.corrects === null) return false;
  const original = await deps.ledger.read({ tenant: intent.tenant, intentId: intent.corrects });
  return original === undefined || !effectsOf(original).includes(concerned);
}

async function keep(deps: LookDeps, intent: Intent, check: Check, at: number): Promise<void> {
  const word =
    check.kind === 'not_ready' ? check.reason : check.kind === 'failed' ? check.error.slice(0, 64) : 'ready';
  deps.log('info', 'checked', { intentId: intent.id, code: word });
  const facts = {
    said: check.kind,
    reason: word,
    ...(check.kind === 'failed' ? {} : { facts: check.facts }),
  };
  await deps.ledger.addEvidence(
    { tenant: intent.tenant, intentId: intent.id },
    { kind: 'check', id: evidenceId(deps, at), at, facts },
  );
}

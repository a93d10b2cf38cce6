/** Twins go in turn. Whoever has the hold that they share may claim; the others wait, and say for whom. */
import type { Intent } from '../domain/intent.ts';
import { HELD_PAUSE_MS } from '../domain/plan.ts';
import type { Way } from '../providers/registry.ts';
import { apply, comeBack, type Deps, type StepAnswer } from './deps.ts';
import { handoverOf } from './look.ts';
import { takeHold } from './twin-hold.ts';

/** `mine` when the intent may claim; else the answer of the step. */
export async function holdTwins(
  deps: Deps,
  way: Way,
  intent: Intent,
): Promise<'mine' | 'again' | StepAnswer> {
  const held = await takeHold(deps, way, intent);
  switch (held.kind) {
    case 'mine':
      return 'mine';
    case 'raced':
      return 'again';
    case 'waits':
      return waitFor(deps, intent, held.holder);
    case 'undetermined':
      return handOver(deps, intent);
  }
}

async function waitFor(deps: Deps, intent: Intent, first: string): Promise<StepAnswer | 'again'> {
  const { answer, dueAt } = comeBack(deps, deps.clock.now() + HELD_PAUSE_MS);
  // What is unknown goes on being looked for: it is postponed, and waits for nobody.
  const waiting = await apply(
    deps,
    intent,
    intent.state === 'unknown' ? { kind: 'look_again', dueAt } : { kind: 'deferred', dueAt, waitsFor: first },
  );
  return waiting === undefined ? 'again' : answer;
}

async function handOver(deps: Deps, intent: Intent): Promise<StepAnswer | 'again'> {
  const now = deps.clock.now();
  const handover = handoverOf('twin_undetermined', [], now);
  const dueAt = now + deps.timing.graceMs;
  const saved = await apply(deps, intent, { kind: 'must_hand_over', handover, dueAt });
  return saved === undefined ? 'again' : { next: 'hand_over' };
}

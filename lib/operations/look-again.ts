/** Somebody asks for another look now. It starts a search, never a write. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import { isAuditIncomplete } from '../domain/judge-audit.ts';
import { apply, type Deps, type StartRun } from '../workflow/deps.ts';
import { startNextRun } from '../workflow/runs.ts';

export type LookedAgain =
  | { readonly kind: 'started'; readonly intent: Intent }
  /** Settled with nothing left to look into, or bytes may be out right now: nothing to start. */
  | { readonly kind: 'nothing_to_do'; readonly intent: Intent }
  | { readonly kind: 'absent' };

const LOOKS: readonly Intent['state'][] = [
  'awaiting_approval',
  'ready',
  'acknowledged',
  'unknown',
  'absent',
  'handover',
];
const MOST_RACES = 3;

export function lookAgain(deps: Deps & { readonly start: StartRun }) {
  return async (ref: IntentRef, unit: string): Promise<LookedAgain> => {
    let intent = await deps.ledger.read(ref);
    for (let race = 0; race < MOST_RACES; race += 1) {
      if (intent === undefined || intent.unit !== unit) return { kind: 'absent' };
      if (!LOOKS.includes(intent.state) && !isAuditIncomplete(intent))
        return { kind: 'nothing_to_do', intent };
      const woken = await apply(deps, intent, { kind: 'look_again', dueAt: deps.clock.now() });
      if (woken !== undefined) {
        const started = await startNextRun(deps, deps.start, woken);
        // The machine could not be reached: due at once, for the sweep.
        const now = started ? undefined : await deps.ledger.read(ref);
        if (now !== undefined) await apply(deps, now, { kind: 'look_again', dueAt: deps.clock.now() });
        return { kind: 'started', intent: (await deps.ledger.read(ref)) ?? woken };
      }
      intent = await deps.ledger.read(ref);
    }
    return intent === undefined ? { kind: 'absent' } : { kind: 'started', intent };
  };
}

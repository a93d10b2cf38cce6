/** The caller takes an intent back: no further write. It never claims that nothing happened. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import { apply, type Deps, evidenceId } from '../workflow/deps.ts';
import { throughRaces } from './through-races.ts';

export type Withdrawn =
  /** `intent` as it stands: closed, or still looked for with no write to come. */
  | { readonly kind: 'done'; readonly intent: Intent }
  | { readonly kind: 'settled'; readonly intent: Intent }
  | { readonly kind: 'absent' | 'busy' };

/** Withdrawing twice is withdrawing once. A settled intent stays as it is. */
export function withdraw(deps: Deps) {
  return (ref: IntentRef, unit: string, by: string): Promise<Withdrawn> =>
    throughRaces<Withdrawn>(deps, ref, unit, async (intent) => {
      if (intent.noMoreWrites) return { kind: 'done', intent };
      if (SETTLED.includes(intent.state)) return { kind: 'settled', intent };
      const at = deps.clock.now();
      await deps.ledger.addEvidence(ref, { kind: 'withdrawal', id: evidenceId(deps, at), at, facts: { by } });
      const after = await apply(deps, intent, { kind: 'withdrawn' });
      return after === undefined ? 'lost' : { kind: 'done', intent: after };
    });
}

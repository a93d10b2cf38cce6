/** The caller takes an intent back: no further write. It never claims that nothing happened. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import { apply, type Deps } from '../workflow/deps.ts';

export type Withdrawn =
  /** `intent` as it stands: closed, or still looked for with no write to come. */
  | { readonly kind: 'done'; readonly intent: Intent }
  | { readonly kind: 'settled'; readonly intent: Intent }
  | { readonly kind: 'absent' | 'busy' };

const MOST_RACES = 5;

/** Withdrawing twice is withdrawing once. A settled intent stays as it is. */
export function withdraw(deps: Deps) {
  return async (ref: IntentRef, unit: string, by: string): Promise<Withdrawn> => {
    for (let race = 0; race < MOST_RACES; race += 1) {
      const intent = await deps.ledger.read(ref);
      if (intent === undefined || intent.unit !== unit) return { kind: 'absent' };
      if (intent.noMoreWrites) return { kind: 'done', intent };
      if (['confirmed', 'rejected', 'closed'].includes(intent.state)) return { kind: 'settled', intent };
      const at = deps.clock.now();
      const id = `${String(at).padStart(15, '0')}-${deps.newId()}`;
      await deps.ledger.addEvidence(ref, { kind: 'withdrawal', id, at, facts: { by } });
      const after = await apply(deps, intent, { kind: 'withdrawn' });
      if (after !== undefined) return { kind: 'done', intent: after };
    }
    return { kind: 'busy' };
  };
}

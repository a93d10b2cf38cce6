/** What people ask of an intent of their own, tried again on what stands when a run writes in between. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import type { Deps } from '../workflow/deps.ts';

const MOST_RACES = 5;

/** `absent`: there is none, or it is another unit's. `busy`: others kept writing. `work` answers `lost` to try again. */
export async function throughRaces<T>(
  deps: Pick<Deps, 'ledger'>,
  ref: IntentRef,
  unit: string,
  work: (intent: Intent) => Promise<T | 'lost'>,
): Promise<T | { readonly kind: 'absent' | 'busy' }> {
  for (let race = 0; race < MOST_RACES; race += 1) {
    const intent = await deps.ledger.read(ref);
    if (intent === undefined || intent.unit !== unit) return { kind: 'absent' };
    const outcome = await work(intent);
    if (outcome !== 'lost') return outcome;
  }
  return { kind: 'busy' };
}

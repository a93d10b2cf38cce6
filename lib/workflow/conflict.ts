/** The same key with another request: kept as evidence, marked on the intent, and nothing is called outside. */
import { sha256 } from '../domain/fingerprint.ts';
import type { Intent } from '../domain/intent.ts';
import { LedgerUnavailable } from '../ledger/ledger.ts';
import { attempt, type Deps } from './deps.ts';

/** Rival writes met in a row; each one moves the intent on, so there cannot be many. */
const MOST_RACES = 20;

/** One row for each different request, however often it comes; an unsettled intent is looked at again. */
export async function recordConflict(deps: Deps, stored: Intent, offered: Intent): Promise<void> {
  const { tenant, id: intentId, route } = stored;
  await deps.ledger.addEvidence(
    { tenant, intentId },
    {
      kind: 'conflict',
      id: sha256(offered.fingerprint).slice(0, 32),
      at: offered.createdAt,
      facts: { fingerprint: offered.fingerprint, route: offered.route, submittedBy: offered.submittedBy },
    },
  );
  deps.log('warn', 'key_conflict', { tenant, intentId, route });
  await mark(deps, stored);
}

/** Leaves the mark through all rival writes: without it nobody counts the evidence. */
async function mark(deps: Deps, stored: Intent): Promise<void> {
  let before = stored;
  for (let race = 0; race < MOST_RACES; race += 1) {
    const saved = await attempt(deps, before, { kind: 'conflicted' }, { kind: 'unchanged' });
    if (saved.kind === 'saved') return;
    before = saved.current ?? before;
  }
  throw new LedgerUnavailable('Cannot mark the conflict: others kept writing.');
}

/** Events that found no intent are matched again, ever more rarely, for seven days. Nothing is written outside. */
import { DAY_MS } from '../domain/promise.ts';
import type { OutsideEvent } from '../ledger/ledger.ts';
import { errorName } from '../platform/log.ts';
import type { Deps } from './deps.ts';
import { FIRST_REMATCH_MS, giveSafely } from './take-evidence.ts';

const PAGE = 100;
const LONGEST_PAUSE_MS = 3_600_000;
/** Counted from its receipt, exclusive; afterwards it is kept and no longer looked at. */
const TRIED_FOR_MS = 7 * DAY_MS;

/** Page after page until `until`; one that cannot be given is put off, so that it starves no other. */
export async function rematch(deps: Deps, until: number): Promise<void> {
  let handled: number;
  let proposed: number;
  do {
    const events = await deps.ledger.dueEvents(deps.clock.now(), PAGE);
    proposed = events.length;
    handled = 0;
    for (const event of events) handled += (await takeUp(deps, event)) ? 1 : 0;
    // An index that lags proposes again what was handled; the next pass sees what is left.
  } while (proposed === PAGE && handled > 0 && deps.clock.now() < until);
}

/** False when there was nothing to do, or nothing could be done. */
async function takeUp(deps: Deps, event: OutsideEvent): Promise<boolean> {
  const now = deps.clock.now();
  if (event.matchedTo !== null || event.dueAt === null || event.dueAt > now) return false;
  return (await giveSafely(deps, event)) || putOff(deps, event, now);
}

async function putOff(deps: Deps, event: OutsideEvent, now: number): Promise<boolean> {
  const dueAt = nextOf(event, now);
  try {
    const saved = await deps.ledger.saveEvent(event, { ...event, dueAt });
    if (saved && dueAt === null) {
      deps.log('warn', 'webhook_unmatched', { code: event.endpoint, externalId: event.externalId });
    }
    return saved;
  } catch (error) {
    deps.log('error', 'webhook_not_given', { code: event.endpoint, error: errorName(error) });
    return false;
  }
}

/** `changes` counts how often it was put off. */
function nextOf({ changes, receivedAt }: OutsideEvent, now: number): number | null {
  const pause = Math.min(FIRST_REMATCH_MS * 2 ** Math.min(changes + 1, 10), LONGEST_PAUSE_MS);
  return now + pause < receivedAt + TRIED_FOR_MS ? now + pause : null;
}

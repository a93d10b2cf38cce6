/**
 * How many calls searches may make at one account in one minute, so that what cannot be found never floods a provider,
 * and what was just sent is never starved by it.
 */
import type { Intent } from './intent.ts';
import type { ProviderPromise } from './promise.ts';
import { pauseAfter } from './reconciliation.ts';

export const MINUTE_MS = 60_000;
/** Where the promise names no limit. */
const CALLS_PER_MINUTE = 600;
/** Who was searched for this often leaves four fifths of a minute to others, and comes back ever later. */
const MOST_COUNTED = 4;
const LONGEST_PAUSE_MS = 900_000;

type Looked = Pick<Intent, 'state' | 'searches' | 'contraryAt'>;

/**
 * Up to how many calls the minute may hold when one more search for this intent begins: all of them for one that was not
 * searched for yet, half of them after one search, and so on down to a fifth.
 */
export function callsUpTo(intent: Looked, promise: Pick<ProviderPromise, 'rateLimitPerMinute'>): number {
  return Math.floor(callsPerMinute(promise) / (1 + counted(intent)));
}

/** What no minute goes beyond, for searches that have begun. */
export function callsPerMinute({ rateLimitPerMinute }: Pick<ProviderPromise, 'rateLimitPerMinute'>): number {
  return rateLimitPerMinute ?? CALLS_PER_MINUTE;
}

/** When one that was held back tries again, ms: in the next minute, later the longer it has been looked for. */
export function triesAgainAt(intent: Looked, now: number): number {
  const nextMinute = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
  const isFresh = counted(intent) < MOST_COUNTED;
  return nextMinute + (isFresh ? 0 : Math.min(pauseAfter(intent.searches), LONGEST_PAUSE_MS));
}

/** Audits of what nobody disputes can wait, as what is hard to find must. */
function counted({ state, searches, contraryAt }: Looked): number {
  const inDoubt = state === 'unknown' || state === 'acknowledged' || contraryAt !== null;
  return inDoubt ? Math.min(searches, MOST_COUNTED) : MOST_COUNTED;
}

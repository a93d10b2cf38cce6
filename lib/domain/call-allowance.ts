/**
 * How many calls searches may make at one account in one minute, so that what cannot be found never floods a provider,
 * and what was just sent is never starved by it.
 */
import { type Intent, lastAttempt } from './intent.ts';
import type { ProviderPromise } from './promise.ts';
import { pauseAfter } from './reconciliation.ts';

export const MINUTE_MS = 60_000;
/** Where the promise names no limit. */
const CALLS_PER_MINUTE = 600;
/** So long after its last claim an intent is young: most of what can be found is found by then. */
const YOUNG_MS = 900_000;
/** What one search takes off the share of a minute, and how many searches count. */
const SHARE_OF_A_SEARCH = 0.1;
const MOST_COUNTED = 4;
/** Of one that is no longer young, and of audits of undisputed ends. */
const SHARE_OF_OTHERS = 0.3;
const LONGEST_PAUSE_MS = 900_000;

type Looked = Pick<Intent, 'state' | 'attempts' | 'searches' | 'contraryAt' | 'heldBack'>;
type Limit = Pick<ProviderPromise, 'rateLimitPerMinute'>;

/**
 * Up to how many calls the minute may hold when one more search for this intent begins: all of them where an answer is in
 * hand and a receipt waits for it, and for a young one that was not searched for yet; a tenth less after each search;
 * three tenths for everything else.
 */
export function callsUpTo(intent: Looked, promise: Limit, now: number): number {
  return Math.floor(callsPerMinute(promise) * shareOf(intent, now));
}

function shareOf(intent: Looked, now: number): number {
  if (intent.state === 'acknowledged') return 1;
  if (!isYoung(intent, now)) return SHARE_OF_OTHERS;
  return 1 - SHARE_OF_A_SEARCH * Math.min(intent.searches, MOST_COUNTED);
}

/** In doubt, and sent not long ago; or evidence disputes how it ended. */
function isYoung(intent: Looked, now: number): boolean {
  const inDoubt = intent.state === 'unknown' || intent.contraryAt !== null;
  const since = Math.max(lastAttempt(intent)?.claimedAt ?? 0, intent.contraryAt ?? 0);
  return inDoubt && now - since < YOUNG_MS;
}

/** What no minute goes beyond, for searches that have begun. */
export function callsPerMinute({ rateLimitPerMinute }: Limit): number {
  return rateLimitPerMinute ?? CALLS_PER_MINUTE;
}

/**
 * When one that is held back tries again, ms: in the next minute, and where it is not young later the more often it was
 * held back, up to a quarter of an hour.
 */
export function triesAgainAt(intent: Looked, now: number): number {
  const nextMinute = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
  const comesSoon = intent.state === 'acknowledged' || isYoung(intent, now);
  const times = intent.searches + (intent.heldBack?.times ?? 0);
  return nextMinute + (comesSoon ? 0 : Math.min(pauseAfter(times), LONGEST_PAUSE_MS));
}

/**
 * What a search means. 0, 1 and many are three cases, a failed lookup is none of them, and 0 proves
 * absence only when the search STARTED after the window, was complete and was authorised.
 */
import { type Intent, lastAttempt, provedNotExecuted, type Verdict } from './intent.ts';
import { DAY_MS, type Lag, type ProviderPromise, type Timing, windowMs } from './promise.ts';
import type { Policy } from './route.ts';

export const MAX_SEARCHES = 20;
const MAX_UNKNOWN_MS = 7 * DAY_MS;
const LONGEST_PAUSE_MS = DAY_MS / 2;
const FIRST_PAUSE_MS = 1000;

export interface Look {
  readonly startedAt: number;
  readonly failed: boolean;
  readonly complete: boolean;
  readonly authorised: boolean;
  /** External ids that match and have an effect, each once. */
  readonly matched: readonly string[];
  /** Ids that match and that the provider lists as refused, without effect. */
  readonly refused?: readonly string[];
}

/**
 * When an effect of any attempt may have been made: anchored on what was planned and on what was claimed, so that a
 * late second attempt is seen too. Both ends are included. It is never shorter than D allows, and as far wider as the
 * clocks are distrusted: ours by `timing.skewMs`, the provider's by `clockSkewMs`.
 */
export function searchRange(
  intent: Pick<Intent, 'plannedAt' | 'attempts'>,
  policy: Pick<Policy, 'lookBeforeMs' | 'lookAfterMs'>,
  timing: Timing,
  lag: Pick<Lag, 'applyDelayMs'>,
  clockSkewMs: number,
): { readonly from: number; readonly to: number } {
  const first = intent.attempts[0]?.claimedAt ?? intent.plannedAt;
  const last = lastAttempt(intent)?.claimedAt;
  const end = last === undefined ? intent.plannedAt : Math.max(intent.plannedAt, last + timing.senderLifeMs);
  const distrust = timing.skewMs + clockSkewMs;
  return {
    from: Math.min(intent.plannedAt, first) - policy.lookBeforeMs - distrust,
    to: end + Math.max(policy.lookAfterMs, lag.applyDelayMs ?? 0) + distrust,
  };
}

/**
 * Whether a record made at `createdAt`, by the provider's clock, can be the effect of an attempt. What is older than
 * the first claim of one that may have had an effect was made by somebody else, however equal it is.
 */
export function canBeOfAnAttempt(
  intent: Pick<Intent, 'attempts'>,
  createdAt: number,
  timing: Timing,
  clockSkewMs: number,
): boolean {
  // Where every attempt was refused and a record shows all the same, the refusals are what is in doubt.
  const first = intent.attempts.find((each) => !provedNotExecuted(each)) ?? intent.attempts[0];
  return first !== undefined && createdAt >= first.claimedAt - timing.skewMs - clockSkewMs;
}

/** When an empty search starts to prove absence, exclusive; null when D or L is not promised. */
export function windowEndsAt(intent: Pick<Intent, 'attempts'>, timing: Timing, lag: Lag): number | null {
  const window = windowMs(timing, lag);
  const last = lastAttempt(intent);
  return window === null || last === undefined ? null : last.claimedAt + window;
}

/** Whether the provider still lists records as old as the first attempt; else its empty answer is no zero. */
export function reachesBack(
  promise: Pick<ProviderPromise, 'search'>,
  intent: Pick<Intent, 'attempts'>,
  startedAt: number,
): boolean {
  const oldest = promise.search?.maxAgeMs ?? 0;
  const first = intent.attempts[0]?.claimedAt ?? startedAt;
  return oldest === 'for_ever' || startedAt - first < oldest;
}

export function verdictOf(intent: Intent, look: Look, timing: Timing, lag: Lag): Verdict {
  if (look.matched.length > 1) return 'many';
  if (look.failed || !look.complete || !look.authorised) return 'inconclusive';
  if (look.matched.length === 1) return 'found';
  // What was once seen is never absent; a refused record says more than an empty answer.
  if (intent.seenAt !== null || (look.refused ?? []).length > 0) return 'wait';
  const end = windowEndsAt(intent, timing, lag);
  return end !== null && look.startedAt > end ? 'absent' : 'wait';
}

/**
 * The provider's own record says refused, and nothing else can be out: there was one attempt only, or a complete
 * search that started after the window shows refused records only.
 */
export function showsRefusal(
  intent: Pick<Intent, 'attempts'>,
  look: Pick<Look, 'startedAt' | 'failed' | 'complete' | 'authorised' | 'refused'> & {
    readonly matched: readonly unknown[];
  },
  timing: Timing,
  lag: Lag,
): boolean {
  if (look.failed || !look.complete || !look.authorised || look.matched.length > 0) return false;
  if ((look.refused ?? []).length === 0) return false;
  const end = windowEndsAt(intent, timing, lag);
  return intent.attempts.length === 1 || (end !== null && look.startedAt > end);
}

/** Something was seen, and a search that started after everything could show shows nothing. */
export function isGone(intent: Intent, startedAt: number, timing: Timing, lag: Lag): boolean {
  if (intent.seenAt === null) return false;
  const shows = windowMs(timing, lag) ?? DAY_MS;
  return startedAt > Math.max(intent.seenAt, lastAttempt(intent)?.claimedAt ?? 0) + shows;
}

export function isExhausted(looks: number, since: number, now: number): boolean {
  return looks >= MAX_SEARCHES || isOutOfTime(since, now);
}

/** For so long that people are asked, also when the looks themselves were held back. */
export function isOutOfTime(since: number, now: number): boolean {
  return now - since >= MAX_UNKNOWN_MS;
}

/** Why the machine can do no more after a look with this verdict, if so. */
export function endOfSearch(
  intent: Intent,
  look: { readonly startedAt: number; readonly endedAt: number },
  verdict: Verdict,
  timing: Timing,
  lag: Lag,
): 'many' | 'found_but_gone' | 'exhausted' | 'cannot_run' | undefined {
  if (verdict === 'many') return 'many';
  if (verdict === 'found') return undefined;
  if (verdict === 'absent') return isProvedInVain(intent) ? 'cannot_run' : undefined;
  if (verdict === 'wait' && isGone(intent, look.startedAt, timing, lag)) return 'found_but_gone';
  const since = searchedSince(intent) ?? look.startedAt;
  return isExhausted(intent.searches + 1, since, look.endedAt) ? 'exhausted' : undefined;
}

/** Absence is proved once more, after all its searches: whatever keeps it from being sent does not pass by itself. */
function isProvedInVain(intent: Pick<Intent, 'searches' | 'absentSince'>): boolean {
  return intent.absentSince !== null && intent.searches + 1 >= MAX_SEARCHES;
}

export function searchedSince(intent: Pick<Intent, 'searchingSince' | 'unknownSince'>): number | null {
  return intent.searchingSince ?? intent.unknownSince;
}

/** Pause after the `looks`-th look, ms: doubles from one second to half a day. */
export function pauseAfter(looks: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(looks, 30), LONGEST_PAUSE_MS);
}

/** When to look again: by the doubling pause, but not past the end of the window. */
export function nextLookAt(looks: number, windowEnd: number | null, now: number): number {
  const byPause = now + pauseAfter(looks);
  return windowEnd !== null && now <= windowEnd && windowEnd < byPause ? windowEnd + 1 : byPause;
}

/**
 * What a provider guarantees, as data, and the class that follows from it. A field that is left out
 * falls to the safest class: nothing is assumed in the provider's favour.
 */

export type PromiseClass = 'keyed' | 'unique' | 'searchable' | 'blind';

export interface ProviderPromise {
  readonly key?: {
    readonly header: string;
    /** How long the provider remembers a key, ms, counted from the first claim; or `for_ever`. */
    readonly lifetimeMs: number | 'for_ever';
    readonly scope: 'account' | 'environment' | 'endpoint';
    /** Only a key in force before or with the work makes the class `keyed`. */
    readonly inForce: 'before' | 'with' | 'after';
    /** What the provider answers while the first request with this key still runs. */
    readonly whileRunning: 'waits' | 'conflict' | 'undefined';
    readonly bodyCompared: boolean;
    /** Whether a stored error is replayed for the same key. */
    readonly storesErrors: boolean;
  };
  /** Whether its records show our reference; else an effect is known by its content, and twins go in turn. */
  readonly referenceShown: boolean;
  /** Our reference is unique there for ever. */
  readonly uniqueReference: boolean;
  readonly search?: {
    readonly by: 'reference' | 'content';
    /** How one search sees everything: pages, statuses, deleted records. */
    readonly complete: string;
    /** Records older than this are no longer listed, ms. */
    readonly maxAgeMs: number | 'for_ever';
    /** How the same search proves that it saw the right account and environment. */
    readonly readProbe: string;
  };
  /** Quiet time before a resend with the same key or reference, ms. */
  readonly minQuietMs: number;
  /** D: the longest, after the sender's last moment, at which a request may still be applied, ms. */
  readonly applyDelayMs?: number;
  /** L: the longest until an applied record shows in a search, ms. */
  readonly visibilityLagMs?: number;
  /** How far the provider's timestamps may be off ours, ms. */
  readonly clockSkewMs: number;
  /** Exact status and body shape that mean "not executed", in words; the adapter checks them. */
  readonly notExecuted: readonly { readonly status: number; readonly shape: string }[];
  /** What a 202 means there. */
  readonly accepted: 'never_answered' | 'effect_follows_or_not';
  readonly readback: readonly string[];
  readonly redirects: 'failure';
  readonly expectContinue: boolean;
  /** Calls that searches may make at one account in a minute; left out: 600. */
  readonly rateLimitPerMinute?: number;
  /** Until when an effect can be cancelled there; null when it cannot. */
  readonly cancelUntil: string | null;
}

/** Time bounds of our own side. */
export interface Timing {
  /** Z: the longest the sender can live after its claim, ms (the send function's timeout). */
  readonly senderLifeMs: number;
  /** Distrust between clocks, ms: 300 000 in the cloud, 0 in the one-clock local stack. */
  readonly skewMs: number;
  /** Longer than any step can live, ms. */
  readonly graceMs: number;
}

/** D and L in force on a route: the adapter's, or the route's own where it sets them. */
export interface Lag {
  readonly applyDelayMs: number | null;
  readonly visibilityLagMs: number | null;
}

/** W = Z + D + L + skew, computed, never configured; null when D or L is not promised. */
export function windowMs(timing: Timing, lag: Lag): number | null {
  if (lag.applyDelayMs === null || lag.visibilityLagMs === null) return null;
  return timing.senderLifeMs + lag.applyDelayMs + lag.visibilityLagMs + timing.skewMs;
}

/** A key protects until its lifetime minus Z + D + skew after the first claim; D unknown counts as a day. */
export function keyEndsAt(promise: ProviderPromise, timing: Timing, lag: Lag, firstClaimAt: number): number {
  if (promise.key === undefined || promise.key.inForce === 'after') return Number.NEGATIVE_INFINITY;
  if (promise.key.lifetimeMs === 'for_ever') return Number.POSITIVE_INFINITY;
  const margin = timing.senderLifeMs + (lag.applyDelayMs ?? DAY_MS) + timing.skewMs;
  return firstClaimAt + promise.key.lifetimeMs - margin;
}

/** The class in force at `now` for an intent first claimed at `firstClaimAt` (`now` when never claimed). */
export function classOf(
  promise: ProviderPromise,
  timing: Timing,
  lag: Lag,
  firstClaimAt: number,
  now: number,
): PromiseClass {
  if (now < keyEndsAt(promise, timing, lag, firstClaimAt)) return 'keyed';
  if (promise.uniqueReference) return 'unique';
  const searchable = promise.search !== undefined && windowMs(timing, lag) !== null;
  return searchable ? 'searchable' : 'blind';
}

export const DAY_MS = 86_400_000;

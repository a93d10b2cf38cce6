/**
 * The one function that guards every claim, first or not. A flat list of refusals in a fixed order of
 * precedence; each name says the reason and is what people are shown. All limits are exclusive.
 */
import { permissionOf } from './approval.ts';
import { type Attempt, type Intent, inDoubt, lastAttempt, provedNotExecuted } from './intent.ts';
import { classOf, keyEndsAt, type Lag, type ProviderPromise, type Timing, windowMs } from './promise.ts';
import { leftAloneUntil } from './retry-after.ts';
import type { Policy } from './route.ts';

export type SendRefusal =
  | 'something_seen'
  | 'withdrawn'
  | 'original_unsettled'
  | 'deadline_passed'
  | 'too_early'
  | 'frozen'
  | 'permission_missing'
  | 'budget_spent'
  | 'not_repeatable'
  | 'check_first'
  | 'quiet_time'
  | 'search_first'
  | 'window_open'
  | 'absence_too_old'
  | 'blind';

export interface SendContext {
  readonly policy: Policy;
  readonly promise: ProviderPromise;
  readonly lag: Lag;
  readonly timing: Timing;
  /** The route, or everything, is frozen. */
  readonly frozen: boolean;
  /** The intent that this one corrects is still open. */
  readonly originalUnsettled: boolean;
  /** The provider is asked whether a first write is in order. */
  readonly needsCheck: boolean;
  /** Inside the run of send that made the last claim and saw it fail. */
  readonly sawItFail: boolean;
}

/** An absence whose search started longer ago than this is taken again before it opens a send. */
export const ABSENCE_HOLDS_MS = 300_000;

/** A provider's word that a first write is in order is asked again after this time. */
export const CHECK_HOLDS_MS = 60_000;

/** Null when attempt n + 1 may be claimed at `now`; else the first reason why not. */
export function maySend(intent: Intent, context: SendContext, now: number): SendRefusal | null {
  return refusalsOf(intent, context, now)[0] ?? null;
}

/** Every reason why attempt n + 1 may not be claimed at `now`, in their order of precedence. */
export function refusalsOf(intent: Intent, context: SendContext, now: number): SendRefusal[] {
  const { policy } = context;
  const reasons: readonly (readonly [SendRefusal, boolean])[] = [
    ['something_seen', intent.contraryAt !== null || (intent.attempts.length > 0 && intent.seenAt !== null)],
    ['withdrawn', intent.noMoreWrites],
    ['deadline_passed', now >= intent.sendBy],
    ['too_early', now < intent.plannedAt],
    ['frozen', context.frozen],
    ['original_unsettled', context.originalUnsettled],
    ['budget_spent', intent.attempts.length >= policy.attempts],
    ['permission_missing', permissionOf(intent, policy.permission, now).kind === 'refused'],
    ['quiet_time', now < pauseEndsAt(intent, policy)],
    ['not_repeatable', !allRepeatable(intent, policy)],
    ['check_first', mustCheck(intent, context, now)],
  ];
  const held = reasons.flatMap(([name, holds]) => (holds ? [name] : []));
  const byClass = inDoubt(intent) && !declaredAbsent(intent) ? classRefusal(intent, context, now) : null;
  return byClass === null || held.includes(byClass) ? held : [...held, byClass];
}

/** People looked when everything sent must have shown; nothing was claimed since. */
function declaredAbsent(intent: Intent): boolean {
  return intent.state === 'absent' && intent.declaredAbsentAt !== null;
}

function allRepeatable(intent: Intent, policy: Policy): boolean {
  // `repeatOn` guards automatic resends; people who declared absence decided on this one.
  return declaredAbsent(intent) || intent.attempts.every((attempt) => repeatable(attempt, policy));
}

function mustCheck(intent: Intent, context: SendContext, now: number): boolean {
  if (!context.needsCheck || inDoubt(intent)) return false;
  if (intent.checkedAt === null || now - intent.checkedAt > CHECK_HOLDS_MS) return true;
  return intent.cancelUntil !== null && now >= intent.cancelUntil;
}

/** The last moment for the first byte of an attempt claimed at `now`, exclusive. */
export function sendBeforeOf(intent: Intent, context: SendContext, ownDeadline: number, now: number): number {
  const firstClaim = intent.attempts[0]?.claimedAt ?? now;
  const keyEnd = keyEndsAt(context.promise, context.timing, context.lag, firstClaim);
  // Only a resend leans on the key; a first attempt needs no protection from itself.
  const keyLimit =
    inDoubt(intent) && intent.state !== 'absent' && Number.isFinite(keyEnd) ? keyEnd : Infinity;
  const permission = permissionOf(intent, context.policy.permission, now);
  const permitted = permission.kind === 'permitted' ? permission.until : now;
  const checked = context.needsCheck ? (intent.cancelUntil ?? Infinity) : Infinity;
  return Math.min(ownDeadline, intent.sendBy, permitted, keyLimit, checked);
}

function pauseEndsAt(intent: Intent, policy: Policy): number {
  const result = lastAttempt(intent)?.result;
  const ownPause = result === undefined ? Number.NEGATIVE_INFINITY : result.at + policy.pauseMs;
  return Math.max(ownPause, leftAloneUntil(intent));
}

function repeatable(attempt: Attempt, policy: Policy): boolean {
  if (attempt.result === undefined) return policy.repeatOn.includes('lost');
  if (attempt.result.kind === 'acknowledged') return false;
  if (attempt.result.kind === 'rejected') return attempt.result.proof === 'not_sent';
  return policy.repeatOn.includes(attempt.result.code);
}

function classRefusal(intent: Intent, context: SendContext, now: number): SendRefusal | null {
  const firstClaim = intent.attempts[0]?.claimedAt ?? now;
  switch (classOf(context.promise, context.timing, context.lag, firstClaim, now)) {
    case 'keyed':
    case 'unique':
      return gateRefusal(intent, context, now);
    case 'searchable':
      return absenceRefusal(intent, context, now);
    case 'blind':
      return 'blind';
  }
}

/** Same key or reference: quiet time, then one whole look that found nothing, unless the route resends first. */
function gateRefusal(intent: Intent, context: SendContext, now: number): SendRefusal | null {
  const quietUntil = (lastAttempt(intent)?.claimedAt ?? now) + context.promise.minQuietMs;
  if (now < quietUntil) return 'quiet_time';
  if (context.sawItFail && context.policy.resend === 'first') return null;
  const look = intent.lastSearch;
  if (look === null || !look.complete || !look.authorised) return 'search_first';
  return look.candidates.length === 0 && look.startedAt >= quietUntil ? null : 'search_first';
}

function absenceRefusal(intent: Intent, context: SendContext, now: number): SendRefusal | null {
  const window = windowMs(context.timing, context.lag);
  const look = intent.lastSearch;
  if (window === null || intent.state !== 'absent' || look === null || look.verdict !== 'absent') {
    return 'window_open';
  }
  const lastClaim = Math.max(...intent.attempts.filter((a) => !provedNotExecuted(a)).map((a) => a.claimedAt));
  if (look.startedAt <= lastClaim + window) return 'window_open';
  return now - look.startedAt > ABSENCE_HOLDS_MS ? 'absence_too_old' : null;
}

/** What a run does next with an intent: the state, the refusals of `maySend` and the clock, and nothing else. */
import { permissionOf } from './approval.ts';
import { type HandoverReason, type Intent, lastAttempt } from './intent.ts';
import type { LifeEvent } from './life-event.ts';
import { isFollowUpPending } from './lifecycle-looks.ts';
import { maySend, type SendContext, type SendRefusal } from './may-send.ts';
import { DAY_MS, type Timing } from './promise.ts';
import { MAX_SEARCHES, windowEndsAt } from './reconciliation.ts';
import { leftAloneUntil } from './retry-after.ts';
import { needsAudit } from './verification.ts';

export type Plan =
  | { readonly do: 'claim' }
  | { readonly do: 'look' }
  | { readonly do: 'audit' }
  | { readonly do: 'check' }
  | { readonly do: 'follow_up' }
  | { readonly do: 'verify' }
  | { readonly do: 'hand_over' }
  | { readonly do: 'end' }
  /** Write the event first, then plan again. */
  | { readonly do: 'apply'; readonly event: LifeEvent }
  /** Write the event, then come back at `until`. */
  | { readonly do: 'wait'; readonly until: number; readonly waitsFor?: string };

/** While frozen, or while another intent goes first. */
export const HELD_PAUSE_MS = 60_000;
/** People are reminded of a handed-over intent after this time. */
export const REMINDER_MS = DAY_MS;

export function planOf(intent: Intent, context: SendContext, now: number): Plan {
  if (intent.handover !== null && intent.state !== 'handover') return { do: 'hand_over' };
  switch (intent.state) {
    case 'ready':
    case 'absent':
      return planWaiting(intent, context, now);
    case 'unknown':
      return maySend(intent, context, now) === null ? { do: 'claim' } : { do: 'look' };
    case 'sending':
      // A lease gives the right to look, never the right to send.
      return leaseIsOver(intent, context.timing, now)
        ? { do: 'apply', event: { kind: 'lease_over', dueAt: now } }
        : { do: 'end' };
    case 'acknowledged':
      return { do: 'verify' };
    case 'awaiting_approval':
      return planUnpermitted(intent, context, now);
    case 'handover':
      if (intent.waitUntil !== null && intent.waitUntil <= now)
        return { do: 'apply', event: { kind: 'look_again', dueAt: now } };
      return { do: 'wait', until: intent.waitUntil ?? now + REMINDER_MS };
    case 'confirmed':
      // What contradicts it comes first: a follow-up that cannot be made must not hide a second effect.
      if (intent.contraryAt !== null || isAuditDue(intent, context, now)) return { do: 'audit' };
      if (isFollowUpPending(intent)) return { do: 'follow_up' };
      return intent.dueAt === null ? { do: 'end' } : { do: 'audit' };
    case 'rejected':
    case 'closed':
      return intent.dueAt === null ? { do: 'end' } : { do: 'audit' };
  }
}

/** Everything that was sent must show by now, and no search that could be trusted started since. */
function isAuditDue(intent: Intent, { timing, lag }: SendContext, now: number): boolean {
  const end = windowEndsAt(intent, timing, lag);
  if (!needsAudit(intent) || end === null || now <= end || intent.searches >= MAX_SEARCHES) return false;
  return intent.trustedSearchAt === null || intent.trustedSearchAt <= end;
}

/** Over once the worker that claimed can no longer live: claim + Z + skew. */
export function leaseIsOver(intent: Intent, timing: Timing, now: number): boolean {
  return intent.state === 'sending' && leaseEndsAt(intent, timing) <= now;
}

export function leaseEndsAt(intent: Pick<Intent, 'attempts'>, timing: Timing): number {
  return (lastAttempt(intent)?.claimedAt ?? 0) + timing.senderLifeMs + timing.skewMs;
}

function planUnpermitted(intent: Intent, context: SendContext, now: number): Plan {
  if (intent.contraryAt !== null) return { do: 'audit' };
  if (intent.noMoreWrites || now >= intent.sendBy) return { do: 'apply', event: { kind: 'time_over' } };
  if (context.originalUnsettled) {
    return { do: 'wait', until: Math.min(intent.sendBy, now + HELD_PAUSE_MS), ...waiting(intent.corrects) };
  }
  if (permissionOf(intent, context.policy.permission, now).kind === 'permitted') {
    return { do: 'apply', event: { kind: 'permitted', dueAt: now } };
  }
  return { do: 'wait', until: intent.sendBy };
}

function waiting(waitsFor: string | null): { waitsFor?: string } {
  return waitsFor === null ? {} : { waitsFor };
}

function planWaiting(intent: Intent, context: SendContext, now: number): Plan {
  if (intent.contraryAt !== null) return { do: 'audit' };
  const refusal = maySend(intent, context, now);
  return refusal === null ? { do: 'claim' } : planRefused(intent, refusal, context, now);
}

function planRefused(intent: Intent, refusal: SendRefusal, context: SendContext, now: number): Plan {
  switch (refusal) {
    case 'something_seen':
      return handOver(intent, 'contrary_evidence', now);
    case 'withdrawn':
    case 'deadline_passed':
      return { do: 'apply', event: { kind: 'time_over' } };
    case 'too_early':
      return { do: 'wait', until: intent.plannedAt };
    case 'frozen':
      return { do: 'wait', until: now + HELD_PAUSE_MS };
    case 'original_unsettled':
    case 'permission_missing':
      return { do: 'apply', event: { kind: 'permission_lapsed' } };
    case 'check_first':
      return { do: 'check' };
    case 'budget_spent':
      if (intent.state === 'ready') return { do: 'apply', event: { kind: 'budget_spent' } };
      return handOver(intent, 'budget_spent', now);
    case 'not_repeatable':
    case 'blind':
      return handOver(intent, refusal, now);
    case 'quiet_time':
      return { do: 'wait', until: quietUntil(intent, context, now) };
    case 'search_first':
    case 'window_open':
    case 'absence_too_old':
      return { do: 'apply', event: { kind: 'aged', dueAt: now } };
  }
}

/** Its own pause or what the provider asked for, whichever is longer; past `sendBy` nothing is left to wait for. */
function quietUntil(intent: Intent, { policy, promise }: SendContext, now: number): number {
  const ownPause = now + Math.max(policy.pauseMs, promise.minQuietMs, 1);
  return Math.max(ownPause, Math.min(leftAloneUntil(intent), intent.sendBy));
}

function handOver(intent: Intent, reason: HandoverReason, now: number): Plan {
  const candidates = intent.acknowledgedId === null ? [] : [intent.acknowledgedId];
  const handover = { reason, candidates, at: now };
  return { do: 'apply', event: { kind: 'must_hand_over', handover, dueAt: now } };
}

/**
 * What a look means at an intent outside which nothing more was believed to exist. Only what a look proves freezes a
 * route; what it could not see, or not compare, is told to people and never taken for nothing.
 */
import { type Handover, type Intent, lastAttempt } from './intent.ts';
import { SETTLED } from './lifecycle-states.ts';
import { DAY_MS, type Lag, type Timing, windowMs } from './promise.ts';
import { isOutOfTime, MAX_SEARCHES, nextLookAt, pauseAfter } from './reconciliation.ts';

export interface AuditLook {
  readonly startedAt: number;
  readonly failed: boolean;
  readonly complete: boolean;
  readonly authorised: boolean;
  /** What matches, each once. */
  readonly matched: readonly { readonly externalId: string }[];
  /** Ids of these that may be somebody else's: they could not be compared, or differ from what was approved. */
  readonly doubtful?: readonly string[];
}

export type AuditEnd =
  /** Effects that are not on record; the route is frozen. */
  | { readonly kind: 'contradicted'; readonly ids: readonly string[] }
  /** A settled one keeps its end, and people are told that nobody knows whether there is more. */
  | { readonly kind: 'incomplete' }
  /** Evidence against an open one that no look supported: people decide. */
  | { readonly kind: 'unsupported'; readonly ids: readonly string[] }
  /** Look again, at `until` or later. */
  | { readonly kind: 'later'; readonly until: number }
  /** Everything was seen, and there is nothing else. */
  | { readonly kind: 'over' };

export function judgeAudit(intent: Intent, look: AuditLook, timing: Timing, lag: Lag, now: number): AuditEnd {
  const ids = contradicting(intent, look);
  if (ids.length > 0) return { kind: 'contradicted', ids };
  const others = unknownIds(intent, look);
  if (others.length > 0) return endUntold(intent, others);
  const until = nextOf(intent, look, timing, lag, now);
  if (until !== null) return { kind: 'later', until };
  return isBlurred(look) || !SETTLED.includes(intent.state) ? endUntold(intent) : { kind: 'over' };
}

/** People are told: the machine cannot tell, or has tried for as long as it may. */
export function endUntold(
  intent: Pick<Intent, 'state'>,
  ids: readonly string[] = [],
): Extract<AuditEnd, { kind: 'incomplete' | 'unsupported' }> {
  return SETTLED.includes(intent.state) ? { kind: 'incomplete' } : { kind: 'unsupported', ids };
}

/** What a look proves besides what is on record. */
export function contradicting(intent: Intent, look: Pick<AuditLook, 'matched' | 'doubtful'>): string[] {
  return unknownIds(intent, look).filter((id) => !(look.doubtful ?? []).includes(id));
}

function unknownIds(intent: Intent, { matched }: Pick<AuditLook, 'matched'>): string[] {
  const known = [intent.externalId, intent.attestedId, ...(intent.incident?.candidates ?? [])];
  return matched.map((record) => record.externalId).filter((id) => !known.includes(id));
}

/** Held back so often and for so long that people are told; from a person's wish to look on, it has its whole time again. */
export function isAuditOutOfTime(intent: Intent, timing: Timing, lag: Lag, now: number): boolean {
  // It may have waited for a twin until now.
  if ((intent.heldBack?.times ?? 0) + 1 < MAX_SEARCHES) return false;
  const shows = windowMs(timing, lag) ?? DAY_MS;
  const due = intent.contraryAt ?? (lastAttempt(intent)?.claimedAt ?? intent.createdAt) + shows;
  return isOutOfTime(Math.max(due, intent.searchingSince ?? 0), now);
}

/** The last look for another effect saw too little to tell, and people were told. */
export function isAuditIncomplete(intent: { readonly incident: Handover | null }): boolean {
  return intent.incident?.reason === 'audit_incomplete';
}

function isBlurred(look: AuditLook): boolean {
  return look.failed || !look.complete || !look.authorised;
}

/** When to look again: while the look is blurred, and while what the evidence speaks of may still be hidden. */
function nextOf(intent: Intent, look: AuditLook, timing: Timing, lag: Lag, now: number): number | null {
  if (intent.contraryAt === null) {
    return isBlurred(look) && intent.searches + 1 < MAX_SEARCHES ? now + pauseAfter(intent.searches) : null;
  }
  const shows = windowMs(timing, lag) ?? DAY_MS;
  const end = intent.contraryAt + (isBlurred(look) ? Math.max(shows, DAY_MS) : shows);
  return look.startedAt > end ? null : nextLookAt(intent.searches % MAX_SEARCHES, end, now);
}

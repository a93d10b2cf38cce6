/**
 * What people decide about a handed-over intent. They are held to the same proof as the machine: an id is
 * verified before it confirms, and absence counts only if they looked when everything sent must have shown.
 * Decisions that can hide an effect need two people (`proposal.ts`).
 */
import { type Intent, type IntentState, inDoubt, lastAttempt } from './intent.ts';
import { isAuditIncomplete } from './judge-audit.ts';
import { DAY_MS, type Lag, type Timing } from './promise.ts';

export type { Proposal } from './proposal.ts';

export type Decision =
  /** This record is the effect; it is read back before anything is called confirmed. */
  | { readonly kind: 'attach_external_id'; readonly externalId: string }
  /** Somebody looked at the provider at `lookedAt` and there is nothing. */
  | { readonly kind: 'declare_absent'; readonly lookedAt: number }
  /** Several records: one is kept, the others are surplus and are dealt with by people. */
  | { readonly kind: 'settle_many'; readonly keep: string; readonly surplus: readonly string[] }
  | { readonly kind: 'wait_until'; readonly until: number }
  | { readonly kind: 'close'; readonly outcome: 'no_effect'; readonly lookedAt: number }
  /** Two people state the effect; there is no readback and so no receipt. */
  | { readonly kind: 'close'; readonly outcome: 'attested'; readonly externalId: string | null }
  | { readonly kind: 'close'; readonly outcome: 'undetermined' }
  | { readonly kind: 'reopen' };

export const DECISIONS: readonly Decision['kind'][] = [
  'attach_external_id',
  'declare_absent',
  'settle_many',
  'wait_until',
  'close',
  'reopen',
];

/** A person may postpone for at most this long at a time. */
export const LONGEST_WAIT_UNTIL_MS = 30 * DAY_MS;

/** Whether the decision can hide an effect if it is wrong. */
export function needsTwo(decision: Decision): boolean {
  return ['declare_absent', 'settle_many', 'close'].includes(decision.kind);
}

/** In which states a decision makes sense. */
export function decidableIn(kind: Decision['kind']): readonly IntentState[] {
  if (kind === 'reopen') return ['closed'];
  // A confirmed one while a second effect of it, or whether there is one, is open.
  return kind === 'settle_many' ? ['handover', 'confirmed'] : ['handover'];
}

export type DecisionRefusal =
  | 'not_in_this_state'
  /** Nothing of ours can be outside: there is no effect to name, and none to declare absent. */
  | 'nothing_was_sent'
  /** What was once seen is never absent. */
  | 'something_seen'
  | 'looked_in_the_future'
  | 'looked_too_early'
  | 'surplus_missing'
  /** The id to be kept is, or was before, settled as surplus. */
  | 'kept_is_surplus'
  /** Nobody ever saw this id as a match. */
  | 'not_a_candidate'
  | 'until_passed'
  | 'until_too_late';

export interface DecisionContext {
  readonly timing: Timing;
  readonly lag: Lag;
}

/** Null when the decision may stand at `now`; else the first reason why not. */
export function decisionRefusal(
  intent: Intent,
  decision: Decision,
  context: DecisionContext,
  now: number,
): DecisionRefusal | null {
  if (!decidableIn(decision.kind).includes(intent.state)) return 'not_in_this_state';
  if (intent.state === 'confirmed' && intent.incident === null) return 'not_in_this_state';
  if (isBaseless(intent, decision)) return 'nothing_was_sent';
  switch (decision.kind) {
    case 'attach_external_id':
      return intent.surplus.includes(decision.externalId) ? 'kept_is_surplus' : null;
    case 'declare_absent':
      return absenceRefusal(intent, decision.lookedAt, context, now);
    case 'close':
      return decision.outcome === 'no_effect'
        ? absenceRefusal(intent, decision.lookedAt, context, now)
        : null;
    case 'settle_many':
      return settleRefusal(intent, decision.keep, decision.surplus);
    case 'wait_until':
      if (decision.until <= now) return 'until_passed';
      return decision.until > now + LONGEST_WAIT_UNTIL_MS ? 'until_too_late' : null;
    case 'reopen':
      return null;
  }
}

/** It speaks of an effect of ours, of which there can be none. */
function isBaseless(intent: Intent, decision: Decision): boolean {
  switch (decision.kind) {
    case 'attach_external_id':
    case 'settle_many':
      return intent.attempts.length === 0 && intent.seenAt === null;
    case 'declare_absent':
      return !inDoubt(intent);
    case 'close':
      return decision.outcome === 'attested' && intent.attempts.length === 0 && intent.seenAt === null;
    case 'reopen':
      // There is nothing to look for.
      return !inDoubt(intent) && intent.seenAt === null;
    case 'wait_until':
      return false;
  }
}

/** From when on, exclusive, a look at the provider can prove absence to people; null: nothing was ever sent. */
export function absenceShowsAfter(
  intent: Pick<Intent, 'attempts'>,
  { timing, lag }: DecisionContext,
): number | null {
  const last = lastAttempt(intent);
  if (last === undefined) return null;
  // Where the provider names no bound, a day is taken for it.
  const { senderLifeMs, skewMs } = timing;
  return last.claimedAt + senderLifeMs + (lag.applyDelayMs ?? DAY_MS) + (lag.visibilityLagMs ?? 0) + skewMs;
}

function absenceRefusal(
  intent: Intent,
  lookedAt: number,
  context: DecisionContext,
  now: number,
): DecisionRefusal | null {
  if (intent.seenAt !== null || intent.contraryAt !== null) return 'something_seen';
  if (lookedAt > now) return 'looked_in_the_future';
  const after = absenceShowsAfter(intent, context);
  return after !== null && lookedAt <= after ? 'looked_too_early' : null;
}

function settleRefusal(intent: Intent, keep: string, surplus: readonly string[]): DecisionRefusal | null {
  // Where nobody could tell whether there is more, people may say that there is not.
  const isNoneMore = intent.state === 'confirmed' && isAuditIncomplete(intent);
  if (surplus.length === 0 && !isNoneMore) return 'surplus_missing';
  if (surplus.includes(keep)) return 'kept_is_surplus';
  // What is confirmed stays what was read back.
  if (intent.state === 'confirmed' && keep !== intent.externalId) return 'not_a_candidate';
  // What was settled as surplus by mistake may be kept after all.
  const seen = [...seenIds(intent), ...intent.surplus];
  // A slip of the pen would bind another intent's record to this one.
  return [keep, ...surplus].every((id) => seen.includes(id)) ? null : 'not_a_candidate';
}

/** Every external id on file that may be an effect of this intent; none of them is verified. */
export function seenIds(
  intent: Pick<Intent, 'acknowledgedId' | 'attempts' | 'handover' | 'incident' | 'lastSearch'>,
): readonly string[] {
  const told = intent.attempts.map(({ result }) =>
    result?.kind === 'acknowledged' ? result.externalId : null,
  );
  const found = [...(intent.handover?.candidates ?? []), ...(intent.incident?.candidates ?? [])];
  const looked = [...found, ...(intent.lastSearch?.candidates ?? [])];
  const all = [intent.acknowledgedId, ...told, ...looked].filter((id) => id !== null);
  return [...new Set(all)];
}

/** Ids that the decision says are this intent's; one that belongs to another intent refutes it. */
export function idsNamedBy(decision: Decision): readonly string[] {
  switch (decision.kind) {
    case 'attach_external_id':
      return [decision.externalId];
    case 'settle_many':
      return [...new Set([decision.keep, ...decision.surplus])];
    case 'close':
      return decision.outcome === 'attested' && decision.externalId !== null ? [decision.externalId] : [];
    default:
      return [];
  }
}

/** Of these, what is bound with the decision itself: nothing will verify it afterwards. */
export function idsBoundBy(decision: Decision): readonly string[] {
  if (decision.kind === 'attach_external_id') return [];
  const verified = decision.kind === 'settle_many' ? decision.keep : null;
  return idsNamedBy(decision).filter((id) => id !== verified);
}

/** When the machine comes back to what is still open afterwards. */
export function dueAfter(decision: Decision, now: number): number {
  switch (decision.kind) {
    case 'wait_until':
      return decision.until;
    case 'reopen':
      return now + DAY_MS;
    default:
      return now;
  }
}

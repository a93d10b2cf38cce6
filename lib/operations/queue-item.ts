/** One intent as a person who must decide needs it: age, facts, whether a resend is allowed, and until when what helps. */
import { DECISIONS, type Decision, decidableIn } from '../domain/decision.ts';
import type { Intent, Json, SearchFacts } from '../domain/intent.ts';
import type { SendContext } from '../domain/may-send.ts';
import { keyEndsAt } from '../domain/promise.ts';
import type { AttentionList } from '../ledger/ledger.ts';
import { utc } from '../platform/clock.ts';
import { contextFor, type Deps, wayIfAny } from '../workflow/deps.ts';
import { type ResendRefusal, resendRefusals } from '../workflow/resend-refusals.ts';
import type { Language } from './explanation.ts';
import { attemptsOf, type IntentView, viewOf } from './trail.ts';

export interface QueueItem extends IntentView {
  /** In doubt, or approved, since then: UTC, and in ms until now. */
  readonly since: string;
  readonly ageMs: number;
  readonly facts: Facts;
  /** Start of the last search that was complete and authorised, UTC. */
  readonly lastTrustworthySearchAt: string | null;
  readonly resend: { readonly allowed: boolean; readonly reasons: readonly ResendRefusal[] };
  readonly deadline: Deadline;
  readonly allowedDecisions: readonly Decision['kind'][];
}

/** Reference values for looking at the provider oneself, and what is on record. */
export interface Facts {
  readonly reference: string | null;
  readonly account: string;
  readonly environment: string;
  /** External ids that were seen; none of them is verified. */
  readonly candidates: readonly string[];
  /** `mismatch`: names of the checks of the readback that did not hold. */
  readonly failedChecks: readonly string[];
  readonly attempts: readonly Json[];
  readonly lastSearch: Json;
  /** How often its next search was held back since the last one: the account has had its calls of the minute. */
  readonly searchesHeldBack: number;
}

/**
 * `key`: the provider remembers our key until then. `cancel`: it can cancel what was seen until then. `send`, where
 * neither is known: nothing may be sent from then on, whatever people find out.
 */
export interface Deadline {
  readonly at: string;
  readonly of: 'key' | 'cancel' | 'send';
  readonly passed: boolean;
}

export interface Circumstances {
  /** Its route, or everything, is frozen. */
  readonly frozen: boolean;
  readonly list: AttentionList;
  readonly language: Language;
}

export async function queueItem(deps: Deps, intent: Intent, around: Circumstances): Promise<QueueItem> {
  const now = deps.clock.now();
  const way = wayIfAny(deps, intent);
  const ref = { tenant: intent.tenant, intentId: intent.id };
  const conflicts = intent.conflictAt === null ? 0 : await deps.ledger.countConflicts(ref);
  const since = sinceOf(intent, around.list);
  const context = way === undefined ? undefined : await contextFor(deps, way, intent, around.frozen);
  const { trustedSearchAt } = intent;
  const reasons = resendRefusals(intent, context, now);
  return {
    ...viewOf(intent, conflicts, around.language),
    since: utc(since),
    ageMs: Math.max(0, now - since),
    facts: factsOf(intent, way),
    lastTrustworthySearchAt: trustedSearchAt === null ? null : utc(trustedSearchAt),
    resend: { allowed: reasons.length === 0, reasons },
    deadline: deadlineOf(intent, context, now),
    allowedDecisions: decisionsFor(intent),
  };
}

/** When the last of those who approved signed, ms; null where nobody did. */
export function approvedAt(intent: Pick<Intent, 'approval'>): number | null {
  const times = (intent.approval?.signatures ?? []).map((signature) => signature.at);
  return times.length === 0 ? null : Math.max(...times);
}

/** By what the list is sorted, so that the oldest is the first. */
function sinceOf(intent: Intent, list: AttentionList): number {
  if (list === 'approved') return approvedAt(intent) ?? intent.createdAt;
  return intent.unknownSince ?? intent.createdAt;
}

type Way = NonNullable<ReturnType<typeof wayIfAny>>;

function factsOf(intent: Intent, way: Way | undefined): Facts {
  const { account, environment, lastSearch } = intent;
  const isShown = way?.provider.promise.referenceShown !== false;
  const seen = [
    ...(intent.acknowledgedId === null ? [] : [intent.acknowledgedId]),
    ...((intent.incident ?? intent.handover)?.candidates ?? []),
    ...(lastSearch?.candidates ?? []),
  ];
  return {
    // Where no reference shows, people look by key and content.
    reference: isShown ? (way?.provider.reference(intent) ?? lastSearch?.reference ?? null) : null,
    account,
    environment,
    candidates: [...new Set(seen)],
    failedChecks: intent.handover?.failedChecks ?? [],
    attempts: attemptsOf(intent),
    // One that was recorded with a reference, before, is shown without it too.
    lastSearch: lastSearch === null ? null : searchJson(lastSearch, isShown),
    searchesHeldBack: intent.heldBack?.times ?? 0,
  };
}

function searchJson({ cancelUntil, reference, ...facts }: SearchFacts, isShown: boolean): Json {
  const until = cancelUntil === undefined ? {} : { cancelUntil: utc(cancelUntil) };
  const known = { ...facts, reference: isShown ? reference : null };
  return { ...known, ...until, startedAt: utc(facts.startedAt), endedAt: utc(facts.endedAt) };
}

/** The next one that is still ahead; when all have passed, the one that passed last. */
function deadlineOf(intent: Intent, context: SendContext | undefined, now: number): Deadline {
  const first = intent.attempts[0]?.claimedAt;
  const key =
    first === undefined || context === undefined
      ? Number.NEGATIVE_INFINITY
      : keyEndsAt(context.promise, context.timing, context.lag, first);
  const all = [
    { ms: key, of: 'key' },
    { ms: intent.cancelUntil ?? Number.NEGATIVE_INFINITY, of: 'cancel' },
  ] as const;
  const known = all.filter(({ ms }) => Number.isFinite(ms)).sort((a, b) => a.ms - b.ms);
  const send = { ms: intent.sendBy, of: 'send' } as const;
  const next = known.find(({ ms }) => ms > now) ?? known.at(-1) ?? send;
  return { at: utc(next.ms), of: next.of, passed: next.ms <= now };
}

/** What was once seen is never declared absent. */
function decisionsFor(intent: Intent): Decision['kind'][] {
  if (intent.state === 'confirmed' && intent.incident === null) return [];
  const possible = DECISIONS.filter((kind) => decidableIn(kind).includes(intent.state));
  return intent.seenAt === null ? possible : possible.filter((kind) => kind !== 'declare_absent');
}

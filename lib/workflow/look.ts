/** Looks outside, read-only, reduced to what matters to an intent, and kept as evidence. */
import type { Handover, HandoverReason, Intent, Json, JsonObject, SearchFacts } from '../domain/intent.ts';
import { reachesBack, verdictOf } from '../domain/reconciliation.ts';
import type { Readback } from '../domain/verification.ts';
import type { LookContext, Lookup, ProviderRecord } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import { candidatesOf, inRange, inTime, isDoubtful } from './candidates.ts';
import { type Calls, UNCOUNTED } from './counted-calls.ts';
import { evidenceId, type LookDeps } from './deps.ts';
import { asked } from './look-context.ts';
import { ownRecords } from './twin-hold.ts';

export interface Seen extends Readback {
  readonly endedAt: number;
  readonly cancelUntil?: number;
  /** Some answer asked (`Retry-After`) for no other look before, ms. */
  readonly notBefore?: number;
  readonly error?: string;
  /** What was seen where identity is content, with the reasons. */
  readonly shown?: readonly Json[];
  /** Ids of what matches and may be somebody else's all the same: no proof of a second effect. */
  readonly doubtful?: readonly string[];
}

/** At most this many ids or records are kept of one look. */
export const MOST_CANDIDATES = 20;

/** An adapter that throws has failed its lookup; a failed lookup is never zero. */
export async function look(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  ask: (context: LookContext) => Promise<Lookup>,
  calls: Calls = UNCOUNTED,
): Promise<Seen> {
  const startedAt = deps.clock.now();
  const { context, lookup, notBefore } = await asked(deps, way, intent, ask, calls);
  const endedAt = deps.clock.now();
  const when = { startedAt, endedAt, ...(notBefore === null ? {} : { notBefore }) };
  if (lookup.kind === 'failed' || context === null) {
    const error = lookup.kind === 'failed' ? lookup.error : 'adapter_failed';
    const nothing = { failed: true, complete: false, authorised: false, matched: [] };
    return { ...when, ...nothing, error: error.slice(0, 64) };
  }
  // The same id seen on two pages counts once.
  const records = new Map(lookup.records.map((record) => [record.externalId, record]));
  const matched = [...records.values()]
    .filter((record) => way.provider.match(intent, record))
    .filter((record) => inRange(way, record, context.range))
    // What people settled as surplus no longer counts against the one that was kept.
    .filter((record) => !intent.surplus.includes(record.externalId));
  const matching = await ownRecords(deps, way, intent, matched);
  const effects = matching
    .filter((record) => record.withoutEffect !== true)
    .map((record) => ({ record, shown: verified(deps, way, intent, record) }));
  const { complete, authorised } = lookup;
  return {
    ...when,
    failed: false,
    complete,
    authorised,
    matched: effects.map(({ shown }) => shown),
    doubtful: effects
      .filter(({ record, shown }) => isDoubtful(way, intent, record, shown.checks))
      .map(({ record }) => record.externalId),
    refused: matching.filter((record) => record.withoutEffect === true).map((record) => record.externalId),
    ...cancelLimit(matching),
    shown: await candidatesOf(deps, way, intent, [...records.values()], context.range),
  };
}

/**
 * Reads one effect back. A provider with public pages has `publicUrl` among its checks: where the readback did not make
 * that one, it does not hold.
 */
export async function readOutside(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  externalId: string | null,
): Promise<Seen> {
  const seen = await look(deps, way, intent, (context) => way.provider.read(context, intent, externalId));
  if (way.provider.publicPages === undefined) return seen;
  const matched = seen.matched.map((each) => ({ ...each, checks: { publicUrl: false, ...each.checks } }));
  return { ...seen, matched };
}

function verified(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  record: ProviderRecord,
): Readback['matched'][number] {
  const { externalId, url } = record;
  const time = inTime(deps, way, intent, record);
  const checks = { ...way.provider.verify(intent, record), ...(time === undefined ? {} : { time }) };
  return url === undefined ? { externalId, checks } : { externalId, checks, url };
}

/** The earliest time until which something that matches can be cancelled. */
function cancelLimit(records: readonly ProviderRecord[]): { cancelUntil?: number } {
  const limits = records.flatMap(({ cancelUntil }) => (cancelUntil === undefined ? [] : [cancelUntil]));
  return limits.length === 0 ? {} : { cancelUntil: Math.min(...limits) };
}

/** One complete search, or where there is none a look at the one id that is known: what was seen, and the facts. */
export async function searchOutside(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  calls: Calls,
): Promise<{ seen: Seen; facts: SearchFacts }> {
  const { promise } = way.provider;
  const shown = await look(deps, way, intent, (context) => find(way, intent, context), calls);
  const seen = { ...shown, complete: shown.complete && reachesBack(promise, intent, shown.startedAt) };
  const matched = seen.matched.map((record) => record.externalId);
  const verdict = verdictOf(intent, { ...seen, matched }, deps.timing, way.lag);
  return {
    seen,
    facts: {
      startedAt: seen.startedAt,
      endedAt: seen.endedAt,
      verdict,
      complete: seen.complete,
      authorised: seen.authorised,
      candidates: matched.slice(0, MOST_CANDIDATES),
      reference: promise.referenceShown ? way.provider.reference(intent) : null,
      account: way.route.account,
      environment: way.route.environment,
      ...(seen.error === undefined ? {} : { error: seen.error }),
      ...(seen.cancelUntil === undefined ? {} : { cancelUntil: seen.cancelUntil }),
    },
  };
}

async function find({ provider }: Way, intent: Intent, context: LookContext): Promise<Lookup> {
  if (provider.find !== undefined) return provider.find(context, intent);
  if (intent.acknowledgedId === null) return { kind: 'failed', error: 'no_search' };
  return provider.read(context, intent, intent.acknowledgedId);
}

/** Facts first, append-only; the transition rests on them. */
export async function keepSearch(
  deps: LookDeps,
  intent: Intent,
  facts: SearchFacts,
  shown: readonly Json[] = [],
): Promise<void> {
  deps.log('info', 'searched', {
    intentId: intent.id,
    verdict: facts.verdict,
    ...(facts.error ? { code: facts.error } : {}),
  });
  await deps.ledger.addEvidence(
    { tenant: intent.tenant, intentId: intent.id },
    {
      kind: 'search',
      id: evidenceId(deps, facts.startedAt),
      at: facts.startedAt,
      facts: { ...facts, ...(shown.length === 0 ? {} : { seen: shown }) } satisfies JsonObject,
    },
  );
}

export function handoverOf(
  reason: HandoverReason,
  candidates: readonly string[],
  at: number,
  failedChecks: readonly string[] = [],
): Handover {
  return { reason, candidates, at, ...(failedChecks.length === 0 ? {} : { failedChecks }) };
}

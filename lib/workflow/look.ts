/** Looks outside, read-only, reduced to what matters to an intent, and kept as evidence. */
import type { Handover, HandoverReason, Intent, JsonObject, SearchFacts } from '../domain/intent.ts';
import { reachesBack, verdictOf } from '../domain/reconciliation.ts';
import type { Readback } from '../domain/verification.ts';
import type { LookContext, Lookup } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import { evidenceId, type LookDeps } from './deps.ts';

export interface Seen extends Readback {
  readonly endedAt: number;
  readonly error?: string;
}

/** At most this many ids are kept of one look. */
const MOST_CANDIDATES = 20;

export async function lookContext(deps: LookDeps, way: Way): Promise<LookContext> {
  const { baseUrl, readSecretRef, account, environment, policy } = way.route;
  const headers: Record<string, string> =
    readSecretRef === null ? {} : { authorization: `Bearer ${await deps.secret(readSecretRef)}` };
  const get = deps.reader({ baseUrl, headers, timeoutMs: Math.max(policy.requestMs, SHORTEST_READ_MS) });
  return { get, account, environment };
}

/** Reads may take longer than writes: nothing is in doubt while they run. */
const SHORTEST_READ_MS = 2000;

/** An adapter that throws has failed its lookup; a failed lookup is never zero. */
export async function look(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  ask: () => Promise<Lookup>,
): Promise<Seen> {
  const startedAt = deps.clock.now();
  const lookup = await ask().catch((): Lookup => ({ kind: 'failed', error: 'adapter_failed' }));
  const endedAt = deps.clock.now();
  if (lookup.kind === 'failed') {
    const nothing = { failed: true, complete: false, authorised: false, matched: [] };
    return { startedAt, endedAt, ...nothing, error: lookup.error.slice(0, 64) };
  }
  // The same id seen on two pages counts once.
  const records = new Map(lookup.records.map((record) => [record.externalId, record]));
  const matched = [...records.values()]
    .filter((record) => way.provider.match(intent, record))
    .map((record) => ({ externalId: record.externalId, checks: way.provider.verify(intent, record) }));
  const { complete, authorised } = lookup;
  return { startedAt, endedAt, failed: false, complete, authorised, matched };
}

/** One complete search: what was seen and the facts to be kept of it. */
export async function searchOutside(
  deps: LookDeps,
  way: Way,
  intent: Intent,
): Promise<{ seen: Seen; facts: SearchFacts }> {
  const { find, promise } = way.provider;
  const shown = await look(deps, way, intent, async () =>
    find === undefined ? { kind: 'failed', error: 'no_search' } : find(await lookContext(deps, way), intent),
  );
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
      reference: way.provider.reference(intent),
      account: way.route.account,
      environment: way.route.environment,
      ...(seen.error === undefined ? {} : { error: seen.error }),
    },
  };
}

/** Facts first, append-only; the transition rests on them. */
export async function keepSearch(deps: LookDeps, intent: Intent, facts: SearchFacts): Promise<void> {
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
      facts: { ...facts } satisfies JsonObject,
    },
  );
}

export function handoverOf(reason: HandoverReason, candidates: readonly string[], at: number): Handover {
  return { reason, candidates, at };
}

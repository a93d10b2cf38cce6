/** What an adapter is given to look with: its own API by a read credential, and public pages as a stranger. */
import type { Intent } from '../domain/intent.ts';
import { searchRange } from '../domain/reconciliation.ts';
import { laterOf, notBeforeOf } from '../domain/retry-after.ts';
import type { Clock } from '../platform/clock.ts';
import type { LookContext, Lookup, ReadAnswer } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import { type Calls, HELD_BACK, UNCOUNTED } from './counted-calls.ts';
import type { LookDeps } from './deps.ts';

/** Reads may take longer than writes: nothing is in doubt while they run. */
const SHORTEST_READ_MS = 2000;

/** The error word of a look that its step had no time for: recorded as a failed one, and so it counts. */
export const OUT_OF_TIME = 'out_of_time';
/** Kept free at the end of a step to record in, ms. */
const RESERVE_MS = 4000;

/** The looks of one step, which end before it is killed. */
export function looksWithin(deps: LookDeps, step: { readonly timeoutSeconds: number }): LookDeps {
  return { ...deps, looksEndAt: deps.clock.now() + step.timeoutSeconds * 1000 - RESERVE_MS };
}

/** Keeps until when any answer of a look asks to be left alone, ms; null while none does. */
export function listening(clock: Clock): {
  readonly heard: (answer: ReadAnswer) => void;
  readonly notBefore: () => number | null;
} {
  let latest: number | null = null;
  return {
    heard: (answer) => {
      if (answer.kind === 'answered') latest = laterOf(latest, notBeforeOf(answer, clock.now()));
    },
    notBefore: () => latest,
  };
}

export async function lookContext(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  calls: Pick<Calls, 'take' | 'expect'> = UNCOUNTED,
  heard: (answer: ReadAnswer) => void = () => undefined,
): Promise<LookContext> {
  const { baseUrl, readSecretRef, account, environment, policy } = way.route;
  const headers: Record<string, string> =
    readSecretRef === null ? {} : { authorization: `Bearer ${await deps.secret(readSecretRef)}` };
  const timeoutMs = Math.max(policy.requestMs, SHORTEST_READ_MS);
  const read = deps.reader({ baseUrl, headers, timeoutMs });
  const notMade = (error: string): ReadAnswer => {
    const answer = { kind: 'failed', error } as const;
    heard(answer);
    return answer;
  };
  const counted =
    <T>(call: (at: T) => Promise<ReadAnswer>) =>
    async (at: T): Promise<ReadAnswer> => {
      const isLate = deps.clock.now() + timeoutMs > (deps.looksEndAt ?? Number.POSITIVE_INFINITY);
      if (isLate) return notMade(OUT_OF_TIME);
      if (!(await calls.take())) return notMade(HELD_BACK);
      const answer = await call(at);
      heard(answer);
      return answer;
    };
  const range = searchRange(intent, policy, deps.timing, way.lag, way.provider.promise.clockSkewMs);
  return {
    get: counted(read),
    expect: calls.expect,
    visit: counted((url: string) => visit(deps, way, url, timeoutMs)),
    ...{ account, environment, range, baseUrl },
    startedAt: deps.clock.now(),
    visibilityLagMs: way.lag.visibilityLagMs,
  };
}

/** Calls that were not made, because of the account's minute or of the step's end. */
const NOT_MADE: readonly string[] = [HELD_BACK, OUT_OF_TIME];

/** One look of an adapter. What it made of a look with a call that was not made counts for nothing. */
export async function asked(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  ask: (context: LookContext) => Promise<Lookup>,
  calls: Calls,
): Promise<{ context: LookContext | null; lookup: Lookup; notBefore: number | null }> {
  let notMade: string | null = null;
  const { heard, notBefore } = listening(deps.clock);
  const listen = (answer: ReadAnswer): void => {
    heard(answer);
    if (answer.kind === 'failed' && NOT_MADE.includes(answer.error)) notMade ??= answer.error;
  };
  try {
    const context = await lookContext(deps, way, intent, calls, listen);
    const lookup = await ask(context);
    if (notMade !== null) {
      return { context, lookup: { kind: 'failed', error: notMade }, notBefore: notBefore() };
    }
    // Only the whole tells how many calls a search takes.
    if (lookup.kind === 'seen' && lookup.complete) await calls.end();
    return { context, lookup, notBefore: notBefore() };
  } catch {
    const lookup = { kind: 'failed', error: 'adapter_failed' } as const;
    return { context: null, lookup, notBefore: notBefore() };
  }
}

/** No credential goes along, and only to hosts that the route names: the URL is the provider's word. */
async function visit(deps: LookDeps, way: Way, text: string, timeoutMs: number): Promise<ReadAnswer> {
  const url = URL.canParse(text) ? new URL(text) : null;
  const known = url !== null && way.route.publicHosts.includes(url.host);
  // As safe as the way to the provider itself: plain http on loopback only.
  if (!known || url.protocol !== new URL(way.route.baseUrl).protocol) {
    return { kind: 'failed', error: 'host_not_allowed' };
  }
  return deps.reader({ baseUrl: url.origin, headers: {}, timeoutMs })(`${url.pathname}${url.search}`);
}

/** What an adapter is given to look with: its own API by a read credential, and public pages as a stranger. */
import type { Intent } from '../domain/intent.ts';
import { searchRange } from '../domain/reconciliation.ts';
import type { LookContext, ReadAnswer } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import { type Calls, HELD_BACK, UNCOUNTED } from './counted-calls.ts';
import type { LookDeps } from './deps.ts';

/** Reads may take longer than writes: nothing is in doubt while they run. */
const SHORTEST_READ_MS = 2000;

export async function lookContext(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  take: Calls['take'] = UNCOUNTED.take,
): Promise<LookContext> {
  const { baseUrl, readSecretRef, account, environment, policy } = way.route;
  const headers: Record<string, string> =
    readSecretRef === null ? {} : { authorization: `Bearer ${await deps.secret(readSecretRef)}` };
  const timeoutMs = Math.max(policy.requestMs, SHORTEST_READ_MS);
  const read = deps.reader({ baseUrl, headers, timeoutMs });
  const counted =
    <T>(call: (at: T) => Promise<ReadAnswer>) =>
    async (at: T): Promise<ReadAnswer> =>
      (await take()) ? call(at) : { kind: 'failed', error: HELD_BACK };
  const range = searchRange(intent, policy, deps.timing, way.provider.promise.clockSkewMs);
  return {
    get: counted(read),
    visit: counted((url: string) => visit(deps, way, url, timeoutMs)),
    ...{ account, environment, range, baseUrl },
    startedAt: deps.clock.now(),
    visibilityLagMs: way.lag.visibilityLagMs,
  };
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

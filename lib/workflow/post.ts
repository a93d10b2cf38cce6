/** One POST: the frozen request, the last check right before its first byte, and what the wire report means. */
import { permissionOf } from '../domain/approval.ts';
import { sha256 } from '../domain/fingerprint.ts';
import { type Attempt, type Intent, lastAttempt } from '../domain/intent.ts';
import { judgeWrite, type WireReport, type WriteResult } from '../domain/write-result.ts';
import { parseAnswer } from '../platform/json.ts';
import { errorName } from '../platform/log.ts';
import { below } from '../providers/reader.ts';
import type { Way } from '../providers/registry.ts';
import type { WriteRequest } from '../providers/transport.ts';
import type { SendDeps } from './deps.ts';

/** Credentials of a session; null: the secret is the credential. */
type Headers = Readonly<Record<string, string>> | null;

/** Never throws for what happens outside; a fault before the first byte is a proof of not sent. */
export async function post(
  deps: SendDeps,
  way: Way,
  intent: Intent,
  attempt: Attempt,
  session: Headers,
): Promise<WriteResult> {
  const startedAt = deps.clock.now();
  const request = await render(deps, way, intent, session);
  const report: WireReport =
    request === undefined
      ? { kind: 'not_connected', detail: 'not_rendered' }
      : await deps.transport({ ...request, lastCheck: () => lastCheck(deps, way, intent, attempt) });
  if (session !== null && endsSession(way, report)) deps.sessions.drop(way, session);
  const judged = { token: attempt.token, startedAt, at: deps.clock.now() };
  return judgeWrite(report, way.provider.readAnswer, judged, parseAnswer, sha256);
}

/** The server is believed when it says that a session is over, whatever the clock said. */
function endsSession({ provider }: Way, report: WireReport): boolean {
  if (provider.session === undefined || report.kind !== 'answered' || !report.complete) return false;
  try {
    return provider.session.isOver(report.status, parseAnswer(report.body));
  } catch {
    return false;
  }
}

/** The frozen request and the secret, which is in no record; undefined when there is none to be had. */
async function render(
  deps: SendDeps,
  way: Way,
  { frozen }: Intent,
  session: Headers,
): Promise<Omit<WriteRequest, 'lastCheck'> | undefined> {
  const { baseUrl, writeSecretRef, policy } = way.route;
  try {
    const secret = session ?? (await bearer(deps, writeSecretRef));
    return {
      url: below(baseUrl, frozen.path),
      method: frozen.method,
      headers: { ...frozen.headers, ...secret },
      body: frozen.body,
      timeoutMs: policy.requestMs,
    };
  } catch (error) {
    deps.log('error', 'request_not_rendered', { route: way.route.name, error: errorName(error) });
    return undefined;
  }
}

async function bearer(deps: SendDeps, ref: string | null): Promise<Record<string, string>> {
  return ref === null ? {} : { authorization: `Bearer ${await deps.secret(ref)}` };
}

/** Right before the first byte: still mine, still permitted, not frozen, in time. The clock is asked last. */
async function lastCheck(deps: SendDeps, way: Way, intent: Intent, attempt: Attempt): Promise<string | null> {
  const { intent: now, frozen } = await deps.ledger.readForSend(
    { tenant: intent.tenant, intentId: intent.id },
    way.route.name,
  );
  const last = now === undefined ? undefined : lastAttempt(now);
  if (now?.state !== 'sending' || last?.token !== attempt.token) return 'not_mine';
  if (last.lostAt !== undefined || last.result !== undefined) return 'not_mine';
  if (frozen) return 'frozen';
  if (now.noMoreWrites) return 'withdrawn';
  if (now.seenAt !== null) return 'something_seen';
  const permission = permissionOf(now, way.route.policy.permission, deps.clock.now());
  if (permission.kind === 'refused') return permission.reason;
  return deps.clock.now() < attempt.sendBefore ? null : 'too_late';
}

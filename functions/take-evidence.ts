import { sha256 } from '../lib/domain/fingerprint.ts';
import type { OutsideEvent } from '../lib/ledger/ledger.ts';
import { isSignedWith, type Signed, signedNow } from '../lib/platform/signature.ts';
import type { WebhookWays } from '../lib/providers/registry.ts';
import { FIRST_REMATCH_MS, speaksOfEffect, takeEvidence } from '../lib/workflow/take-evidence.ts';
import { api } from './handler.ts';
import { ProblemError, problem } from './problem.ts';
import { boundedBody, readEvent } from './webhook-body.ts';
import { log, taking } from './wiring.ts';

/**
 * Takes one signed event: 204 once it is stored, whatever becomes of it then. The signature is all the
 * authentication there is; without one that holds, nothing is told and nothing is kept.
 */
export const handler = api('take-evidence', log, async (request) => {
  const { clock, routes } = taking();
  const body = boundedBody(request);
  const receivedAt = clock.now();
  const webhook = routes.webhookOf(request.path['endpoint'] ?? '');
  const signed = signedNow(request.headers, receivedAt);
  if (webhook === undefined || signed === undefined) return problem('bad-signature');
  if (!(await isSigned(webhook, signed, body))) return problem('bad-signature');
  const told = readEvent(body);
  const event: OutsideEvent = {
    ...told,
    endpoint: webhook.endpoint,
    id: signed.id,
    receivedAt,
    seen: speaksOfEffect(told.type),
    digest: sha256(body),
    matchedTo: null,
    dueAt: receivedAt + FIRST_REMATCH_MS,
    changes: 0,
  };
  await takeEvidence(taking())(event);
  return { statusCode: 204, headers: { 'cache-control': 'no-store' } };
});

/** By any live secret. One that cannot be read is no proof against the event: the sender is to send it again. */
async function isSigned(webhook: WebhookWays, signed: Signed, body: string): Promise<boolean> {
  let unread = 0;
  for (const ref of webhook.secretRefs) {
    try {
      if (isSignedWith(await taking().secret(ref), signed, body)) return true;
    } catch {
      log()('error', 'webhook_secret_bad', { code: webhook.endpoint });
      unread += 1;
    }
  }
  if (unread > 0) {
    const detail = 'The signature could not be checked. Nothing was stored; send it again.';
    throw new ProblemError('acceptance-undetermined', { detail, retryAfterSeconds: 5 });
  }
  return false;
}

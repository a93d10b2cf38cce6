/**
 * Signed events from outside. An event is stored first, then given to the intent that it speaks of: as evidence,
 * and as a reason to look. It never decides. What finds no intent, or was cut off on the way, is matched again by
 * the sweep.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Intent, IntentRef } from '../domain/intent.ts';
import { transition } from '../domain/lifecycle.ts';
import type { OutsideEvent } from '../ledger/ledger.ts';
import { errorName } from '../platform/log.ts';
import type { Way, WebhookWays } from '../providers/registry.ts';
import type { Deps } from './deps.ts';

/** What an event says of an effect, by its type; any other type is kept and wakes nothing. */
const SPEAKS_OF: Readonly<Record<string, 'effect' | 'change'>> = {
  'order.created': 'effect',
  'cancellation.created': 'effect',
  'confirmation.sent': 'effect',
  'order.rejected': 'change',
  'order.cancelled': 'change',
};

/** Whether events of this type speak of an effect. */
export function speaksOfEffect(type: string): boolean {
  return SPEAKS_OF[type] === 'effect';
}

/** When an event that was just received is first matched again, if it has to be. */
export const FIRST_REMATCH_MS = 60_000;
/** Rival writes met in a row; each one moves the intent on. */
const MOST_RACES = 5;

/** Rejects only while it is not stored; whatever fails afterwards is left to the sweep. */
export function takeEvidence(deps: Deps) {
  return async (event: OutsideEvent): Promise<void> => {
    const kept = await deps.ledger.takeEvent(event);
    if (kept.digest !== event.digest) {
      deps.log('warn', 'webhook_changed', { code: event.endpoint, externalId: event.externalId });
    }
    if (kept.matchedTo === null) await giveSafely(deps, kept);
  };
}

/** Gives the event to its intent. False when there is none yet, or when it could not be told. */
export async function giveSafely(deps: Deps, event: OutsideEvent): Promise<boolean> {
  try {
    return await give(deps, event);
  } catch (error) {
    deps.log('error', 'webhook_not_given', { code: event.endpoint, error: errorName(error) });
    return false;
  }
}

/** The mark on the event comes last: until then a repeat, or the sweep, does again what may not have been done. */
async function give(deps: Deps, event: OutsideEvent): Promise<boolean> {
  const intent = await intentOf(deps, event);
  if (intent === undefined) return false;
  const ref = { tenant: intent.tenant, intentId: intent.id };
  const { endpoint, id, receivedAt, type, seen, reference, externalId, account, environment, kind, digest } =
    event;
  const facts = { endpoint, type, seen, reference, externalId, account, environment, kind, digest };
  // Two senders may use the same id.
  const evidence = { kind: 'webhook', id: `${endpoint}/${id}`, at: receivedAt, facts };
  await deps.ledger.addEvidence(ref, evidence);
  if (SPEAKS_OF[type] !== undefined) await wake(deps, intent, event);
  await deps.ledger.saveEvent(event, { ...event, matchedTo: ref, dueAt: null });
  deps.log('info', 'webhook_matched', { intentId: intent.id, code: endpoint, externalId });
  return true;
}

async function wake(deps: Deps, met: Intent, { seen, externalId }: OutsideEvent): Promise<void> {
  let before = met;
  for (let race = 0; race < MOST_RACES; race += 1) {
    const now = deps.clock.now();
    const moved = transition(before, { kind: 'evidence_came', seen, externalId, dueAt: now }, now);
    if (moved.kind === 'refused' || isDeepStrictEqual(moved.intent, before)) return;
    const saved = await deps.ledger.save(before, moved.intent, { kind: 'unchanged' });
    if (saved.kind === 'saved') return;
    before = saved.current ?? before;
  }
  throw new Error(`Cannot wake intent ${met.id}: others kept writing.`);
}

/** By our reference; where none is told, by the id that an intent is known to own. */
async function intentOf(deps: Deps, event: OutsideEvent): Promise<Intent | undefined> {
  const webhook = deps.routes.webhookOf(event.endpoint);
  if (webhook === undefined) return undefined;
  const ways = webhook.ways.filter((way) => isOf(way, event));
  const ref =
    event.reference === null
      ? await ownerOf(deps, webhook, ways, event)
      : refOf(webhook.tenant, event.reference);
  const intent = ref === undefined ? undefined : await deps.ledger.read(ref);
  return intent !== undefined && ways.some((way) => leads(way, intent)) ? intent : undefined;
}

function refOf(tenant: string, reference: string): IntentRef | undefined {
  return INTENT_ID.test(reference) ? { tenant, intentId: reference } : undefined;
}

const INTENT_ID = /^int_[0-9a-f]{40}$/;

function isOf({ route, provider }: Way, event: OutsideEvent): boolean {
  const samePlace = route.account === event.account && route.environment === event.environment;
  return samePlace && provider.kind === event.kind;
}

/** The intent went this way: the right reference under another account is not its own. */
function leads({ route }: Way, intent: Intent): boolean {
  const samePlace = route.account === intent.account && route.environment === intent.environment;
  return samePlace && route.name === intent.route && route.provider === intent.provider;
}

async function ownerOf(
  deps: Deps,
  { tenant }: WebhookWays,
  ways: readonly Way[],
  { account, environment, kind, externalId }: OutsideEvent,
): Promise<IntentRef | undefined> {
  if (externalId === null) return undefined;
  for (const provider of new Set(ways.map((way) => way.route.provider))) {
    const owner = await deps.ledger.boundTo({ provider, account, environment, kind, externalId });
    if (owner !== undefined) return owner.tenant === tenant ? owner : undefined;
  }
  return undefined;
}

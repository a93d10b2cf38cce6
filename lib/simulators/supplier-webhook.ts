/** Signed events (Standard Webhooks): one HTTP request each, no repeat. */
import { createHmac, randomUUID } from 'node:crypto';
import type { WebhookTarget } from './supplier-book.ts';
import type { Call } from './supplier-calls.ts';
import { type House, shownId } from './supplier-house.ts';
import type { SavedRecord } from './supplier-records.ts';
import { jsonOf } from './wire.ts';

const TIMEOUT_MS = 5_000;

export const EVENT_TYPES = {
  'order.created': 'order',
  'order.rejected': 'order',
  'order.cancelled': 'order',
  'cancellation.created': 'cancellation',
  'confirmation.sent': 'confirmation',
} as const satisfies Record<string, Call>;
export type EventType = keyof typeof EVENT_TYPES;

const TYPE_OF: Readonly<Partial<Record<`${Call} ${string}`, EventType>>> = {
  'order created': 'order.created',
  'order rejected': 'order.rejected',
  'order cancelled': 'order.cancelled',
  'cancellation cancelled': 'cancellation.created',
  'confirmation sent': 'confirmation.sent',
};

export interface SupplierEvent {
  readonly type: EventType;
  /** `webhook-id`. */
  readonly id: string;
  /** ms. */
  readonly at: number;
  readonly account: string;
  readonly environment: string;
  readonly kind: Call;
  readonly reference: string | null;
  readonly externalId: string | null;
}

/** Sends the event of what just became of a record, if there is one and the target wants them unasked. */
export function announce(house: House, kind: Call, record: SavedRecord): void {
  const type = TYPE_OF[`${kind} ${record.status}`];
  const target = house.book.webhookTarget();
  if (type === undefined || target?.auto !== true) return;
  const { account, environment, reference, id: externalId } = record;
  const event = { type, id: newEventId(), at: Date.now(), account, environment, kind, reference, externalId };
  // Nobody waits for it: an event that does not arrive is lost.
  sendEvent(house, target, event).catch(() => {});
}

export function newEventId(): string {
  return `evt_${randomUUID()}`;
}

/** The status of the answer; throws when there is none. */
export async function sendEvent(house: House, target: WebhookTarget, event: SupplierEvent): Promise<number> {
  const body = eventBody(house, event);
  const timestamp = String(Math.floor(event.at / 1000));
  const key = Buffer.from(target.secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64');
  const response = await fetch(
    target.url.replace(/\/$/, '') + (target.endpoint ? `/${target.endpoint}` : ''),
    {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      signal: AbortSignal.any([house.stopping, AbortSignal.timeout(TIMEOUT_MS)]),
    },
  );
  await response.body?.cancel();
  return response.status;
}

function eventBody(house: House, event: SupplierEvent): string {
  const { type, at, account, environment, kind, externalId } = event;
  const data = {
    account,
    environment,
    kind,
    reference: house.kind === 'blind' ? null : event.reference,
    external_id: externalId === null ? null : shownId(house, kind, externalId),
  };
  return jsonOf({ type, timestamp: new Date(at).toISOString(), data });
}

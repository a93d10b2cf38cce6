/** Behind the supplier's back: faults, records that nobody sent, the whole book, events on demand. No token. */
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { targetSchema } from './supplier-book.ts';
import { CALLS, type Call, callOf, purchaseOrderSchema, readOwnOrder } from './supplier-calls.ts';
import { planSchema } from './supplier-faults.ts';
import type { House } from './supplier-house.ts';
import { announce, EVENT_TYPES, type EventType, newEventId, sendEvent } from './supplier-webhook.ts';
import { commit } from './turn.ts';
import { type Answer, firstField, invalid, NOT_FOUND, parsed, wholeBody } from './wire.ts';

/** The path is what stands behind `/control/`. */
export async function control(house: House, request: IncomingMessage, path: string): Promise<Answer> {
  const bytes = await wholeBody(request);
  const value = typeof bytes === 'string' ? undefined : parsed(bytes);
  const [first = '', second, third] = path.split('/');
  const call = callOf(first);
  if (call !== undefined && third === 'faults') return plan(house, call, second, request.method, value);
  switch (`${request.method} ${path}`) {
    case 'GET book':
      return { status: 200, body: { ...house.book.truth() } };
    case 'POST orders':
      return addOrder(house, value);
    case 'PUT webhook':
      return aim(house, value);
    case 'POST webhook/send':
      return send(house, value);
    case `POST orders/${second}`:
      return changeOrder(house, second ?? '', value);
    default:
      return NOT_FOUND;
  }
}

/** PUT replaces the faults of a purchase order, DELETE ends them, also those that its name brings. */
function plan(house: House, call: Call, name: string | undefined, method = '', value: unknown): Answer {
  const purchaseOrder = purchaseOrderSchema.safeParse(name).data;
  if (purchaseOrder === undefined) return invalid('purchase_order');
  if (method !== 'PUT' && method !== 'DELETE') return { status: 405, body: { error: 'method_not_allowed' } };
  const faults = method === 'DELETE' ? [] : planSchema.safeParse([value].flat()).data;
  if (faults === undefined) return invalid('fault');
  for (const fault of faults) {
    if (fault.kind === 'altered_quantity' && call !== 'order') return invalid('kind');
    if (fault.kind === 'key_in_use' && house.kind !== 'keyed') return invalid('kind');
    if ('delayMs' in fault && (fault.delayMs ?? 0) > house.applyDelayMs) return invalid('delayMs');
  }
  house.book.planFaults(call, purchaseOrder, faults);
  return { status: 200, body: { purchase_order: purchaseOrder, faults } };
}

/** Takes its reference's slot when that is free; breaks the promise of uniqueness when it is not. */
function addOrder(house: House, value: unknown): Answer {
  const body = readOwnOrder(house, value);
  if (typeof body === 'string') return invalid(body);
  return commit(house, ({ now, after }) => {
    const cancelUntil = now + house.cancelWithinMs;
    const record = { ...body, status: CALLS.order.made, createdAt: now, cancelUntil };
    const slot = house.kind === 'unique' ? body.reference : null;
    const saved =
      house.book.save('order', { ...record, slot }) ?? house.book.save('order', { ...record, slot: null });
    if (saved === undefined)
      throw new Error('Cannot add an order: it broke a constraint that it has no part in');
    after.push(() => announce(house, 'order', saved));
    return { status: 201, body: { order_id: saved.id } };
  });
}

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const changeSchema = z.strictObject({
  status: z.enum(CALLS.order.statuses).optional(),
  shipping: z.enum(['not_shipped', 'shipped']).optional(),
  cancel_until: time.optional(),
});

function changeOrder(house: House, id: string, value: unknown): Answer {
  const { success, data, error } = changeSchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  return commit(house, ({ after }) => {
    const { cancel_until: cancelUntil, ...to } = data;
    const order = house.book.changeOrder(id, { ...to, cancelUntil });
    if (order === undefined) return NOT_FOUND;
    if (to.status !== undefined) after.push(() => announce(house, 'order', order));
    return { status: 200, body: { order_id: id, status: order.status, shipping: order.shipping } };
  });
}

function aim(house: House, value: unknown): Answer {
  const { success, data, error } = targetSchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  house.book.setWebhookTarget(data);
  return { status: 200, body: { url: data.url, endpoint: data.endpoint ?? null, auto: data.auto } };
}

const sendSchema = z.strictObject({
  type: z.enum(Object.keys(EVENT_TYPES) as EventType[]),
  reference: z.string().min(1).max(128).optional(),
  /** The external id, of whatever kind; else that of the oldest record with exactly this reference. */
  order_id: z.string().min(1).max(64).optional(),
  /** The same event again has the same id. */
  id: z.string().min(1).max(128).optional(),
  /** `webhook-timestamp` and the body's time; now unless told. */
  at: time.optional(),
  kind: z.enum(Object.keys(CALLS) as Call[]).optional(),
  account: z.string().min(1).max(500).optional(),
  environment: z.string().min(1).max(500).optional(),
  /** Signs with this one. */
  secret: targetSchema.shape.secret.optional(),
});

/** 502 when nobody answered, 409 when there is nowhere to send to. */
async function send(house: House, value: unknown): Promise<Answer> {
  const { success, data, error } = sendSchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  const target = house.book.webhookTarget();
  if (target === undefined) return { status: 409, body: { error: 'no_webhook' } };
  const kind = data.kind ?? EVENT_TYPES[data.type];
  const { reference = null, id = newEventId(), at = Date.now() } = data;
  const found = reference === null ? undefined : house.book.search(kind, reference, true)[0];
  const { account = house.account, environment = house.environment } = data;
  const externalId = data.order_id ?? found?.id ?? null;
  const event = { type: data.type, id, at, account, environment, kind, reference, externalId };
  try {
    const status = await sendEvent(house, { ...target, secret: data.secret ?? target.secret }, event);
    return { status: 200, body: { status, id } };
  } catch {
    return { status: 502, body: { error: 'no_answer', id } };
  }
}

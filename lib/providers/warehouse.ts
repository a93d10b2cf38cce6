/**
 * The warehouse: reservations by order number. The order number is the idempotency key and our reference;
 * `GET /orders/<order>` shows every reservation of that order and names the account, which is the read probe.
 */
import * as z from 'zod';
import type { Intent, JsonObject } from '../domain/intent.ts';
import type { Reading } from '../domain/write-result.ts';
import { parseAnswer } from '../platform/json.ts';
import { defineProvider, type LookContext, type Lookup } from './provider.ts';

const payload = z.strictObject({
  order_id: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'letters, digits and "-", 1 to 64'),
  sku: z.string().min(1).max(64),
  quantity: z.number().int().min(1).max(1_000_000),
});

const reservation = z.object({
  reservation_id: z.string().min(1).max(128),
  sku: z.string(),
  quantity: z.union([z.number(), z.string()]),
});
const order = z.object({
  order_id: z.string(),
  warehouse: z.string(),
  reservations: z.array(reservation).max(1000),
});
const created = z.object({ reservation_id: z.string().min(1).max(128) });
const conflict = z.object({ error: z.literal('idempotency_conflict') });
const invalid = z.object({ error: z.literal('invalid_request') });

export const warehouse = defineProvider({
  name: 'warehouse',
  kind: 'reservation',
  payload,
  takesParent: false,
  promise: {
    key: {
      header: 'idempotency-key',
      lifetimeMs: 'for_ever',
      scope: 'account',
      inForce: 'with',
      whileRunning: 'waits',
      bodyCompared: true,
      storesErrors: false,
    },
    referenceShown: true,
    uniqueReference: false,
    search: {
      by: 'reference',
      complete: 'one page holds every reservation of the order, whatever its status',
      maxAgeMs: 'for_ever',
      readProbe: 'the answer names the warehouse account and repeats the order number',
    },
    minQuietMs: 100,
    applyDelayMs: 60_000,
    visibilityLagMs: 0,
    clockSkewMs: 0,
    notExecuted: [
      { status: 400, shape: '{"error":"invalid_request"}' },
      { status: 409, shape: '{"error":"idempotency_conflict"}' },
    ],
    accepted: 'never_answered',
    readback: ['order_id', 'warehouse', 'reservation_id', 'sku', 'quantity'],
    redirects: 'failure',
    expectContinue: false,
    cancelUntil: null,
  },
  reference: orderOf,
  write: (body, reference) => ({
    method: 'POST',
    path: '/reservations',
    headers: { 'content-type': 'application/json', 'idempotency-key': reference },
    body: JSON.stringify({ order_id: body['order_id'], sku: body['sku'], quantity: body['quantity'] }),
  }),
  readAnswer,
  find: lookAtOrder,
  read: lookAtOrder,
  match: (intent, record) => record.reference === orderOf(intent),
  verify: (intent, record) => ({
    account: record.account === intent.account,
    reference: record.reference === orderOf(intent),
    sku: record.content['sku'] === intent.payload['sku'],
    quantity: record.content['quantity'] === intent.payload['quantity'],
  }),
});

/** The order number, also on a route whose callers use keys of their own. */
function orderOf({ payload: fields }: Pick<Intent, 'payload'>): string {
  return String(fields['order_id']);
}

function readAnswer(status: number, body: unknown): Reading {
  if (status === 200 || status === 201) {
    const answer = created.safeParse(body);
    return answer.success
      ? { kind: 'acknowledged', externalId: answer.data.reservation_id }
      : { kind: 'unrecognised' };
  }
  const refused =
    (status === 409 && conflict.safeParse(body).success) ||
    (status === 400 && invalid.safeParse(body).success);
  return { kind: refused ? 'not_executed' : 'unrecognised' };
}

async function lookAtOrder(look: LookContext, intent: Intent): Promise<Lookup> {
  const answer = await look.get(`/orders/${encodeURIComponent(orderOf(intent))}`);
  if (answer.kind === 'failed') return answer;
  if (answer.status !== 200) return { kind: 'failed', error: `status_${answer.status}` };
  const parsed = order.safeParse(parsedOrNull(answer.body));
  if (!parsed.success) return { kind: 'failed', error: 'bad_answer' };
  const { order_id, warehouse: account, reservations } = parsed.data;
  return {
    kind: 'seen',
    complete: true,
    authorised: account === look.account && order_id === orderOf(intent),
    records: reservations.map((each) => ({
      externalId: each.reservation_id,
      account,
      reference: order_id,
      content: { sku: each.sku, quantity: each.quantity } satisfies JsonObject,
    })),
  };
}

function parsedOrNull(text: string): unknown {
  try {
    return parseAnswer(text);
  } catch {
    return null;
  }
}

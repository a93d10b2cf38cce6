/** Events from outside, and the holds of twins, on the DynamoDB table. */
import * as z from 'zod';
import type { IntentRef } from '../domain/intent.ts';
import { TABLE } from '../platform/names.ts';
import type { Store } from './dynamo-store.ts';
import { DUE_EVENTS, eventPartition, holdPartition, type Item, partitionOf, refOf } from './item.ts';
import { type Ledger, LedgerUnavailable, type OutsideEvent } from './ledger.ts';

const SORT_KEY = 'EVENT';
const maybe = <T extends z.ZodType>(schema: T) => schema.nullable().default(null as never);

const stored = z.object({
  endpoint: z.string(),
  id: z.string(),
  receivedAt: z.number(),
  type: z.string(),
  seen: z.boolean(),
  reference: maybe(z.string()),
  externalId: maybe(z.string()),
  account: z.string(),
  environment: z.enum(['test', 'production']),
  kind: z.string(),
  digest: z.string(),
  matchedTo: maybe(z.object({ tenant: z.string(), intentId: z.string() })),
  dueAt: maybe(z.number()),
  changes: z.number(),
});

export function eventToItem(event: OutsideEvent): Item {
  const all: Record<string, unknown> = {
    ...event,
    pk: eventPartition(event),
    sk: SORT_KEY,
    dueShard: event.dueAt === null ? null : DUE_EVENTS,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

export function eventFromItem(item: Item): OutsideEvent {
  return stored.parse(item);
}

export async function takeEvent(store: Store, event: OutsideEvent): Promise<OutsideEvent> {
  const met = await store.put(eventToItem(event));
  if (met === 'done') return event;
  if (met === undefined) throw new LedgerUnavailable('Cannot tell which event is stored.');
  return eventFromItem(met);
}

export async function saveEvent(store: Store, before: OutsideEvent, after: OutsideEvent): Promise<boolean> {
  const next = { ...after, changes: before.changes + 1 };
  const met = await store.put(eventToItem(next), 'changes = :changes', { ':changes': before.changes });
  return met === 'done';
}

export async function dueEvents(store: Store, now: number, limit: number): Promise<OutsideEvent[]> {
  const { items } = await store.query({
    IndexName: TABLE.indexes.due.name,
    KeyConditionExpression: 'dueShard = :events AND dueAt <= :now',
    ExpressionAttributeValues: { ':events': DUE_EVENTS, ':now': now },
    Limit: limit,
  });
  const read = await Promise.all(items.map((item) => store.get(String(item['pk']), SORT_KEY)));
  // One that cannot be read must not keep the others from being matched.
  return read.flatMap((item) => stored.safeParse(item).data ?? []);
}

export async function hold(
  store: Store,
  key: string,
  owner: IntentRef,
  from: IntentRef | null,
): ReturnType<Ledger['hold']> {
  const mine = partitionOf(owner);
  const held = await store.put(
    { pk: holdPartition(key), sk: 'HOLD', owner: mine },
    'attribute_not_exists(pk) OR #owner IN (:mine, :from)',
    { ':mine': mine, ':from': from === null ? mine : partitionOf(from) },
    { '#owner': 'owner' },
  );
  if (held === 'done') return { kind: 'mine' };
  if (held === undefined) throw new LedgerUnavailable('Cannot tell who holds this content.');
  return { kind: 'taken', by: refOf(String(held['owner'])) };
}

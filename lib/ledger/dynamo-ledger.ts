/** The ledger on one DynamoDB table. Facts travel in one conditional update; nothing here decides. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import type { NewId } from '../platform/ids.ts';
import { TABLE } from '../platform/names.ts';
import { decodeCursor, duePlace, encodeCursor } from './cursor.ts';
import { split, whole } from './dynamo-bytes.ts';
import { callsOf } from './dynamo-calls.ts';
import { dueEvents, hold, saveEvent, takeEvent } from './dynamo-events.ts';
import { attentionPage, countConflicts, evidencePage, listPage } from './dynamo-queries.ts';
import { type Store, type StoreOptions, storeOf } from './dynamo-store.ts';
import {
  bindingPartition,
  evidenceSortKey,
  INTENT_SORT_KEY,
  type Item,
  isOurs,
  listPartition,
  partitionOf,
  refOf,
  toItem,
} from './item.ts';
import { type Ledger, LedgerUnavailable, type RouteState } from './ledger.ts';
import { updateOf } from './update.ts';

export function dynamoLedger(options: StoreOptions & { readonly newId: NewId }): Ledger {
  const store = storeOf(options);
  return {
    create: (intent) => create(store, intent),
    read: async (ref) => {
      const item = await store.get(partitionOf(ref), INTENT_SORT_KEY);
      return item === undefined ? undefined : whole(store, item);
    },
    readForSend: (ref, route) => readForSend(store, ref, route),
    save: async (before, wanted, guard) => {
      const after = { ...wanted, writeToken: options.newId() };
      const failed = await store.update(updateOf(before, after, guard));
      if (failed === 'done') return { kind: 'saved', intent: { ...after, version: before.version + 1 } };
      const current = failed === undefined ? undefined : await whole(store, failed);
      if (current !== undefined && isOurs(current, before, after)) return { kind: 'saved', intent: current };
      return { kind: 'lost', current };
    },
    bind: async (binding, owner) => {
      const pk = bindingPartition(binding);
      const held = await store.put({ pk, sk: 'BINDING', owner: partitionOf(owner) });
      return { kind: held === 'done' || held?.['owner'] === partitionOf(owner) ? 'mine' : 'taken' };
    },
    boundTo: async (binding) => {
      const held = await store.get(bindingPartition(binding), 'BINDING');
      return held === undefined ? undefined : refOf(String(held['owner']));
    },
    hold: (key, owner, from) => hold(store, key, owner, from),
    ...callsOf(store),
    addEvidence: async (ref, evidence) => {
      const facts = JSON.stringify(evidence.facts);
      await store.put({ ...evidence, facts, pk: partitionOf(ref), sk: evidenceSortKey(evidence) });
    },
    evidence: (ref, limit, cursor) => evidencePage(store, ref, limit, cursor),
    countConflicts: (ref) => countConflicts(store, ref),
    due: async (shard, now, limit, cursor) => {
      const dueShard = `due#${shard}`;
      const { items, last } = await store.query({
        IndexName: TABLE.indexes.due.name,
        KeyConditionExpression: 'dueShard = :shard AND dueAt <= :now',
        ExpressionAttributeValues: { ':shard': dueShard, ':now': now },
        Limit: limit,
        ...(cursor === null ? {} : { ExclusiveStartKey: decodeCursor(cursor, duePlace(dueShard)) }),
      });
      return { items: items.map((item) => refOf(String(item['pk']))), cursor: encodeCursor(last) };
    },
    takeEvent: (event) => takeEvent(store, event),
    saveEvent: (before, after) => saveEvent(store, before, after),
    dueEvents: (now, limit) => dueEvents(store, now, limit),
    attention: (tenant, unit, list, limit, cursor) => attentionPage(store, tenant, unit, list, limit, cursor),
    list: (tenant, unit, day, limit, cursor) =>
      listPage(store, tenant, listPartition(tenant, unit, day), limit, cursor),
    freeze: async (route, freeze) => {
      const item = { ...freeze, frozen: true, pk: `R#${route}`, sk: 'ROUTE' };
      const met = await store.put(item, 'attribute_not_exists(pk) OR frozen = :no', { ':no': false });
      return routeState(met === 'done' || met === undefined ? item : met);
    },
    thaw: async (route, thaw) => {
      const item = { ...thaw, frozen: false, pk: `R#${route}`, sk: 'ROUTE' };
      // An item that nobody froze may be thawed as well: the condition holds for every item.
      await store.put(item, 'attribute_not_exists(pk) OR attribute_exists(pk)');
      return routeState(item);
    },
  };
}

async function create(store: Store, intent: Intent): ReturnType<Ledger['create']> {
  const { item, bytes } = split(toItem(intent));
  if (bytes !== undefined) await store.put(bytes);
  const met = await store.put(item);
  if (met === 'done') return { kind: 'created', intent };
  if (met === undefined) throw new LedgerUnavailable('Cannot tell which intent is stored under this key.');
  const stored = await whole(store, met);
  return { kind: stored.submitToken === intent.submitToken ? 'created' : 'exists', intent: stored };
}

async function readForSend(store: Store, ref: IntentRef, route: string): ReturnType<Ledger['readForSend']> {
  const found = await store.batchGet([
    { pk: partitionOf(ref), sk: INTENT_SORT_KEY },
    { pk: `R#${route}`, sk: 'ROUTE' },
    { pk: 'R#*', sk: 'ROUTE' },
  ]);
  const item = found.find((each) => each['sk'] === INTENT_SORT_KEY);
  return {
    intent: item === undefined ? undefined : await whole(store, item),
    frozen: found.some((each) => each['sk'] === 'ROUTE' && each['frozen'] === true),
  };
}

function routeState({ frozen, by, why, at }: Item): RouteState {
  return { frozen: frozen === true, by: String(by), why: String(why), at: Number(at) };
}

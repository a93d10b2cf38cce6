/** The ledger on one DynamoDB table. Facts travel in one conditional update; nothing here decides. */
import { sha256 } from '../domain/fingerprint.ts';
import type { Intent, IntentRef } from '../domain/intent.ts';
import type { NewId } from '../platform/ids.ts';
import { TABLE } from '../platform/names.ts';
import { decodeCursor, duePlace, encodeCursor, evidencePlace, listPlace } from './cursor.ts';
import { type Store, type StoreOptions, storeOf } from './dynamo-store.ts';
import {
  bindingPartition,
  evidenceSortKey,
  INLINE_BYTES,
  INTENT_SORT_KEY,
  type Item,
  isOurs,
  listPartition,
  partitionOf,
  refOf,
  toItem,
} from './item.ts';
import { type Evidence, type Ledger, LedgerUnavailable, type Page, type RouteState } from './ledger.ts';
import { fromItem } from './stored-intent.ts';
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

/** A large payload goes into its own item, addressed by its content, put before the intent that needs it. */
function split(item: Item): { item: Item; bytes?: Item } {
  const { payload, frozen, ...rest } = item;
  const text = JSON.stringify({ payload, frozen });
  if (Buffer.byteLength(text) <= INLINE_BYTES) return { item };
  const bytesKey = `P#${sha256(text)}`;
  return { item: { ...rest, bytesKey }, bytes: { pk: rest['pk'], sk: bytesKey, text } };
}

async function whole(store: Store, item: Item): Promise<Intent> {
  const { bytesKey, pk } = item;
  if (typeof bytesKey !== 'string') return fromItem(item);
  const bytes = await store.get(String(pk), bytesKey);
  if (bytes === undefined) throw new LedgerUnavailable('Cannot find the stored request of this intent.');
  return fromItem({ ...item, ...(JSON.parse(String(bytes['text'])) as Item) });
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

async function evidencePage(
  store: Store,
  ref: IntentRef,
  limit: number,
  cursor: string | null,
): Promise<Page<Evidence>> {
  const pk = partitionOf(ref);
  const { items, last } = await store.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': pk, ':prefix': 'E#' },
    Limit: limit,
    ConsistentRead: true,
    ...(cursor === null ? {} : { ExclusiveStartKey: decodeCursor(cursor, evidencePlace(pk)) }),
  });
  const evidence = items.map((item) => ({
    kind: String(item['kind']),
    id: String(item['id']),
    at: Number(item['at']),
    facts: JSON.parse(String(item['facts'])) as Evidence['facts'],
  }));
  return { items: evidence, cursor: encodeCursor(last) };
}

async function countConflicts(store: Store, ref: IntentRef): Promise<number> {
  let total = 0;
  let from: Item | undefined;
  do {
    const { count, last } = await store.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': partitionOf(ref), ':prefix': 'E#conflict#' },
      Select: 'COUNT',
      ConsistentRead: true,
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    total += count;
    from = last;
  } while (from !== undefined);
  return total;
}

async function listPage(
  store: Store,
  tenant: string,
  listDay: string,
  limit: number,
  cursor: string | null,
): Promise<Page<Intent>> {
  const { items, last } = await store.query({
    IndexName: TABLE.indexes.list.name,
    KeyConditionExpression: 'listDay = :day',
    ExpressionAttributeValues: { ':day': listDay },
    ScanIndexForward: false,
    Limit: limit,
    ...(cursor === null ? {} : { ExclusiveStartKey: decodeCursor(cursor, listPlace(tenant, listDay)) }),
  });
  const intents = await Promise.all(items.map((item) => store.get(String(item['pk']), INTENT_SORT_KEY)));
  const present = intents.filter((item): item is Item => item !== undefined);
  return { items: await Promise.all(present.map((item) => whole(store, item))), cursor: encodeCursor(last) };
}

function routeState({ frozen, by, why, at }: Item): RouteState {
  return { frozen: frozen === true, by: String(by), why: String(why), at: Number(at) };
}

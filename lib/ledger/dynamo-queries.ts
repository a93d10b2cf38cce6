/** Pages of the DynamoDB ledger. An index gives keys only; every item is read again, consistently. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import { TABLE } from '../platform/names.ts';
import { attentionPlace, decodeCursor, encodeCursor, evidencePlace, listPlace } from './cursor.ts';
import { whole } from './dynamo-bytes.ts';
import type { Store } from './dynamo-store.ts';
import { attentionPartition, INTENT_SORT_KEY, type Item, partitionOf } from './item.ts';
import type { AttentionList, Evidence, Page } from './ledger.ts';

export async function evidencePage(
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

export async function countConflicts(store: Store, ref: IntentRef): Promise<number> {
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

export async function listPage(
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
  return { items: await readAll(store, items), cursor: encodeCursor(last) };
}

export async function attentionPage(
  store: Store,
  tenant: string,
  unit: string,
  list: AttentionList,
  limit: number,
  cursor: string | null,
): Promise<Page<Intent>> {
  const attentionOf = attentionPartition(tenant, unit, list);
  const { items, last } = await store.query({
    IndexName: TABLE.indexes.attention.name,
    KeyConditionExpression: 'attentionOf = :list',
    ExpressionAttributeValues: { ':list': attentionOf },
    Limit: limit,
    ...(cursor === null
      ? {}
      : { ExclusiveStartKey: decodeCursor(cursor, attentionPlace(tenant, attentionOf)) }),
  });
  return { items: await readAll(store, items), cursor: encodeCursor(last) };
}

async function readAll(store: Store, proposed: readonly Item[]): Promise<Intent[]> {
  const items = await Promise.all(proposed.map((item) => store.get(String(item['pk']), INTENT_SORT_KEY)));
  const present = items.filter((item): item is Item => item !== undefined);
  return Promise.all(present.map((item) => whole(store, item)));
}

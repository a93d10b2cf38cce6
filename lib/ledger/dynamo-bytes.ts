/** Large requests: kept in an item of their own beside the intent, which names it. */
import { sha256 } from '../domain/fingerprint.ts';
import type { Intent } from '../domain/intent.ts';
import type { Store } from './dynamo-store.ts';
import { INLINE_BYTES, type Item } from './item.ts';
import { LedgerUnavailable } from './ledger.ts';
import { fromItem } from './stored-intent.ts';

/** A large payload goes into its own item, addressed by its content, put before the intent that needs it. */
export function split(item: Item): { item: Item; bytes?: Item } {
  const { payload, frozen, ...rest } = item;
  const text = JSON.stringify({ payload, frozen });
  if (Buffer.byteLength(text) <= INLINE_BYTES) return { item };
  const bytesKey = `P#${sha256(text)}`;
  return { item: { ...rest, bytesKey }, bytes: { pk: rest['pk'], sk: bytesKey, text } };
}

export async function whole(store: Store, item: Item): Promise<Intent> {
  const { bytesKey, pk } = item;
  if (typeof bytesKey !== 'string') return fromItem(item);
  const bytes = await store.get(String(pk), bytesKey);
  if (bytes === undefined) throw new LedgerUnavailable('Cannot find the stored request of this intent.');
  return fromItem({ ...item, ...(JSON.parse(String(bytes['text'])) as Item) });
}

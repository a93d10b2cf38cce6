/**
 * Calls of searches, counted by account and minute in one item an account. The updates add, and are not told from their
 * own repetition by the SDK: then too much is counted, which holds a search back and never lets one out.
 */

import type { Store } from './dynamo-store.ts';
import { callsPartition, type Item } from './item.ts';
import { type Account, type Ledger, MINUTES_AHEAD } from './ledger.ts';

const SORT_KEY = 'CALLS';
const NAMES = { '#minute': 'minute', '#used': 'used' };

export function callsOf(store: Store): Pick<Ledger, 'beginSearch' | 'takeCalls' | 'endSearch'> {
  const take: Ledger['takeCalls'] = (account, wanted) => takeCalls(store, account, wanted);
  return {
    takeCalls: take,
    beginSearch: async (account, { minute, upTo, ...wanted }) => {
      const each = async () => Number((await store.get(callsPartition(account), SORT_KEY))?.['each'] ?? 1);
      const calls = wanted.calls ?? (await each());
      const room = Math.max(upTo, calls);
      return (await take(account, { minute, calls, upTo: room })) ? calls : null;
    },
    endSearch: async (account, calls) => {
      await store.update({
        Key: { pk: callsPartition(account), sk: SORT_KEY },
        UpdateExpression: 'SET #each = :calls',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#each': 'each' },
        ExpressionAttributeValues: { ':calls': calls },
      });
    },
  };
}

async function takeCalls(
  store: Store,
  account: Account,
  { minute, calls, upTo }: Parameters<Ledger['takeCalls']>[1],
): Promise<boolean> {
  if (calls > upTo) return false;
  const Key = { pk: callsPartition(account), sk: SORT_KEY };
  const span = { ':minute': minute, ':latest': minute + MINUTES_AHEAD };
  const add = (): Promise<'done' | Item | undefined> =>
    store.update({
      Key,
      UpdateExpression: 'SET #used = #used + :calls',
      ConditionExpression: '#minute BETWEEN :minute AND :latest AND #used <= :room',
      ExpressionAttributeNames: NAMES,
      ExpressionAttributeValues: { ...span, ':calls': calls, ':room': upTo - calls },
    });
  if ((await add()) === 'done') return true;
  const begun = await store.update({
    Key,
    UpdateExpression: 'SET #minute = :minute, #used = :calls',
    ConditionExpression: 'attribute_not_exists(pk) OR NOT #minute BETWEEN :minute AND :latest',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: { ...span, ':calls': calls },
  });
  // Full, or begun by somebody else between the two.
  return begun === 'done' || (await add()) === 'done';
}

/** Calls of searches in memory, counted as `dynamo-calls.ts` counts them. */
import { callsPartition } from './item.ts';
import { type Ledger, MINUTES_AHEAD } from './ledger.ts';

export function callsInMemory(): Pick<Ledger, 'beginSearch' | 'takeCalls' | 'endSearch'> {
  const counts = new Map<string, { minute: number; used: number; each: number }>();
  const takeCalls: Ledger['takeCalls'] = async (account, { minute, calls, upTo }) => {
    const pk = callsPartition(account);
    const held = counts.get(pk) ?? { minute: Number.NaN, used: 0, each: 1 };
    const goesOn = held.minute >= minute && held.minute <= minute + MINUTES_AHEAD;
    const used = (goesOn ? held.used : 0) + calls;
    if (used > upTo) return false;
    counts.set(pk, { ...held, minute: goesOn ? held.minute : minute, used });
    return true;
  };
  return {
    takeCalls,
    beginSearch: async (account, { minute, upTo, ...wanted }) => {
      const calls = wanted.calls ?? counts.get(callsPartition(account))?.each ?? 1;
      return (await takeCalls(account, { minute, calls, upTo: Math.max(upTo, calls) })) ? calls : null;
    },
    endSearch: async (account, calls) => {
      const held = counts.get(callsPartition(account));
      if (held !== undefined) held.each = calls;
    },
  };
}

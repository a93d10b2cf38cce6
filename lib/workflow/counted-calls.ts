/** The calls of one search, taken from its account's minute before they are made. */
import { callsPerMinute, callsUpTo, MINUTE_MS, triesAgainAt } from '../domain/call-allowance.ts';
import type { Intent } from '../domain/intent.ts';
import type { Way } from '../providers/registry.ts';
import { apply, comeBack, type Deps, type LookDeps, type StepAnswer } from './deps.ts';

/** The error word of a search that was held back: nothing is known from it, and it does not count as one. */
export const HELD_BACK = 'calls_used_up';

/** The calls of one look: whether one more may be made, and that it was the last. */
export interface Calls {
  readonly take: () => Promise<boolean>;
  readonly end: () => Promise<void>;
}

/** Readbacks of a known id, and looks that people ask for: few, and never held back. */
export const UNCOUNTED: Calls = { take: async () => true, end: async () => undefined };

/** Taken at once where a search takes more calls than the last one at its account did. */
const MORE_AT_ONCE = 10;

export function countedCalls(deps: Pick<Deps, 'ledger' | 'clock'>, way: Way, intent: Intent): Calls {
  const { promise } = way.provider;
  const account = {
    provider: way.route.provider,
    account: way.route.account,
    environment: way.route.environment,
  };
  const minute = () => Math.floor(deps.clock.now() / MINUTE_MS);
  let granted = 0;
  let made = 0;
  const more = async (): Promise<number> => {
    if (made === 0) {
      const upTo = callsUpTo(intent, promise);
      return (await deps.ledger.beginSearch(account, { minute: minute(), upTo })) ?? 0;
    }
    const wanted = { minute: minute(), calls: MORE_AT_ONCE, upTo: callsPerMinute(promise) };
    return (await deps.ledger.takeCalls(account, wanted)) ? MORE_AT_ONCE : 0;
  };
  const takeOne = async (): Promise<boolean> => {
    if (made === granted) granted += await more();
    if (made === granted) return false;
    made += 1;
    return true;
  };
  // One after the other: calls made side by side must not each begin a search.
  let last: Promise<unknown> = Promise.resolve();
  return {
    take: () => {
      const taken = last.then(takeOne);
      last = taken.catch(() => undefined);
      return taken;
    },
    end: async () => {
      if (made > 0 && made !== granted) await deps.ledger.endSearch(account, made);
    },
  };
}

/** Held back until a later minute; whom it waits for among twins stays. */
export async function tryAgainLater(deps: LookDeps, intent: Intent): Promise<StepAnswer | 'again'> {
  deps.log('info', 'search_held_back', { intentId: intent.id, route: intent.route });
  const { answer, dueAt } = comeBack(deps, triesAgainAt(intent, deps.clock.now()));
  const { waitsFor } = intent;
  const event = { kind: 'deferred', dueAt, ...(waitsFor === null ? {} : { waitsFor }) } as const;
  return (await apply(deps, intent, event)) === undefined ? 'again' : answer;
}

/** The calls of one search, taken from its account's minute before they are made. */
import { callsPerMinute, callsUpTo, MINUTE_MS, triesAgainAt } from '../domain/call-allowance.ts';
import type { Intent } from '../domain/intent.ts';
import { familyOf } from '../providers/one-account.ts';
import type { Way } from '../providers/registry.ts';
import { apply, comeBack, type Deps, type LookDeps, type StepAnswer } from './deps.ts';

/** The error word of a search that was held back: nothing is known from it, and it does not count as one. */
export const HELD_BACK = 'calls_used_up';

/** The calls of one look. */
export interface Calls {
  /** Whether one more may be made. */
  readonly take: () => Promise<boolean>;
  /** So many more follow: they are taken at once or not at all, so that no search stops in their middle. */
  readonly expect: (calls: number) => void;
  /** The whole was seen. */
  readonly end: () => Promise<void>;
  /** How many it needs, as far as that is known; null when it made none. */
  readonly needed: () => number | null;
}

/** Readbacks of a known id, and dry runs: few, and never held back. */
export const UNCOUNTED: Calls = {
  take: async () => true,
  expect: () => undefined,
  end: async () => undefined,
  needed: () => null,
};

/** Taken at once, at least, where a search takes more calls than it was begun with. */
const MORE_AT_ONCE = 10;

export function countedCalls(deps: Pick<Deps, 'ledger' | 'clock'>, way: Way, intent: Intent): Calls {
  const { promise } = way.provider;
  const { account, environment } = way.route;
  // Adapters to the same account share its minute.
  const place = { provider: familyOf(way.provider), account, environment };
  const minute = () => Math.floor(deps.clock.now() / MINUTE_MS);
  let [granted, made, expected] = [0, 0, 0];
  // Twice what was made: a search that tells nothing of its length is not held back once for every ten calls.
  const needed = () => Math.max(granted + MORE_AT_ONCE, 2 * made, expected);
  const begin = async (): Promise<void> => {
    const wanted = {
      minute: minute(),
      upTo: callsUpTo(intent, promise, deps.clock.now()),
      calls: intent.heldBack?.calls ?? null,
    };
    granted = (await deps.ledger.beginSearch(place, wanted)) ?? 0;
  };
  const goOn = async (): Promise<void> => {
    const calls = Math.max(MORE_AT_ONCE, expected - granted);
    const wanted = { minute: minute(), upTo: callsPerMinute(promise), calls };
    if (await deps.ledger.takeCalls(place, wanted)) granted += calls;
    // Who begins next takes enough at once.
    else await deps.ledger.endSearch(place, needed());
  };
  const takeOne = async (): Promise<boolean> => {
    if (made === granted) await (made === 0 ? begin() : goOn());
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
    expect: (calls) => {
      expected = made + calls;
    },
    end: async () => {
      if (made > 0 && made !== granted) await deps.ledger.endSearch(place, made);
    },
    needed: () => (made === 0 ? null : needed()),
  };
}

/** Held back until a later minute; that it waits, and for whom among twins, stays. */
export async function tryAgainLater(
  deps: LookDeps,
  intent: Intent,
  calls: number | null,
): Promise<StepAnswer | 'again'> {
  deps.log('info', 'search_held_back', { intentId: intent.id, route: intent.route });
  const { answer, dueAt } = comeBack(deps, triesAgainAt(intent, deps.clock.now()));
  return (await apply(deps, intent, { kind: 'held_back', dueAt, calls })) === undefined ? 'again' : answer;
}

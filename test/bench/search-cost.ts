/**
 * What looking for posts costs where they cannot be found: calls at a medium, counted there. Counts of a simulation on a
 * clock of its own, the same on every machine.
 */
import { callsPerMinute } from '../../lib/domain/call-allowance.ts';
import { MEDIUM_PROMISE } from '../../lib/providers/medium-promise.ts';
import { type CrowdCost, crowd, type LoneCost, loneCost } from '../support/many-runs.ts';

export interface SearchCost {
  /** One post that is not there, by the number of others in its account's hour. */
  readonly alone: readonly (LoneCost & { readonly others: number })[];
  readonly crowd: CrowdCost & {
    readonly lost: number;
    readonly fresh: number;
    readonly allowedPerMinute: number;
  };
}

const OTHERS = [0, 10, 100, 700];
const CROWD = { lost: 1000, minutes: 20, fresh: 10 };

export async function measureSearches(): Promise<SearchCost> {
  const alone: (LoneCost & { others: number })[] = [];
  for (const others of OTHERS) alone.push({ others, ...(await loneCost(others)) });
  const { lost, fresh } = CROWD;
  const allowedPerMinute = callsPerMinute(MEDIUM_PROMISE);
  return { alone, crowd: { lost, fresh, allowedPerMinute, ...(await crowd(CROWD)) } };
}

/**
 * What looking for posts costs where they cannot be found: calls at a medium, counted there. Counts of a simulation on a
 * clock of its own, the same on every machine.
 */
import { ALLOWED_PER_MINUTE, type CrowdCost, crowd, type LoneCost, loneCost } from '../support/many-runs.ts';

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
const CROWD = { lost: 1000, minutes: 20, fresh: 10, visibilityLagMs: 30_000 };

export async function measureSearches(): Promise<SearchCost> {
  const alone: (LoneCost & { others: number })[] = [];
  for (const others of OTHERS) alone.push({ others, ...(await loneCost(others)) });
  const { lost, fresh } = CROWD;
  return { alone, crowd: { lost, fresh, allowedPerMinute: ALLOWED_PER_MINUTE, ...(await crowd(CROWD)) } };
}

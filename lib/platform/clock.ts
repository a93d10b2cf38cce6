/** Time comes in as an argument; this is the only place that reads the machine's clock. */
export interface Clock {
  /** ms since the epoch */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** A moment as systems compare it: UTC, ISO 8601. */
export function utc(ms: number): string {
  return new Date(ms).toISOString();
}

/** How many pieces of work end per second while a fixed number of them is always under way. */
import { systemClock } from '../../lib/platform/clock.ts';

/**
 * Work ended within `ms`, per second, up to the last end in it: work that ends in waves would else count by the
 * luck of one wave more. What is still under way then is waited for and not counted.
 */
export async function rateOf(work: () => Promise<unknown>, atOnce: number, ms: number): Promise<number> {
  const startedAt = systemClock.now();
  let ended = 0;
  let lastAt = startedAt + ms;
  const worker = async (): Promise<void> => {
    while (systemClock.now() < startedAt + ms) {
      await work();
      const now = systemClock.now();
      if (now >= startedAt + ms) return;
      ended += 1;
      lastAt = now;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (ended * 1000) / (lastAt - startedAt);
}

/** The middle one; of an even number the upper of the two. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** Runs `work` for every item, `atOnce` at a time. */
export async function forEach<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

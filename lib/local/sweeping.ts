/** The local scheduler: one sweep a second, never two at once. */
import { systemClock } from '../platform/clock.ts';

const EVERY_MS = 1000;

/** Returns the end: no pass starts after it, the one under way is waited for. */
export function startSweeping(pass: () => Promise<unknown>): () => Promise<void> {
  let ended = false;
  let wake = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const loop = async (): Promise<void> => {
    while (!ended) {
      // A pass that fails is followed by the next one; it has logged why.
      await pass().catch(() => undefined);
      await Promise.race([systemClock.sleep(EVERY_MS), stopped]);
    }
  };
  const running = loop();
  return async () => {
    ended = true;
    wake();
    await running;
  };
}

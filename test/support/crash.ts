/** Faults at the boundaries of the product: every ledger call, POST, GET and start of a run is a point to die at. */
import { type Ledger, LedgerUnavailable } from '../../lib/ledger/ledger.ts';
import type { Transport } from '../../lib/providers/transport.ts';
import type { StartRun } from '../../lib/workflow/deps.ts';

export const CRASH_MODES = ['kill_before', 'kill_after', 'fail_before', 'fail_after'] as const;
export type CrashMode = (typeof CRASH_MODES)[number];

export interface CrashPoint {
  /** Boundary call, from 0. */
  readonly at: number;
  readonly mode: CrashMode;
}

const NEVER = new Promise<never>(() => undefined);

export function crashes(points: readonly CrashPoint[]) {
  const names: string[] = [];
  let hits = 0;
  let die = (): void => undefined;
  let death = new Promise<'dead'>(() => undefined);
  const arm = (): void => {
    death = new Promise((resolve) => {
      die = () => resolve('dead');
    });
  };
  arm();

  const kill = (): Promise<never> => {
    die();
    return NEVER;
  };

  /** Makes the call, or what the plan says; `failed` is what the caller sees of a fault. */
  const boundary = async <T>(
    name: string,
    call: () => Promise<T>,
    failed: (applied: boolean) => T,
  ): Promise<T> => {
    const point = points.find((each) => each.at === names.length);
    names.push(name);
    if (point === undefined) return call();
    hits += 1;
    if (point.mode === 'kill_before') return kill();
    if (point.mode === 'fail_before') return failed(false);
    await call();
    return point.mode === 'kill_after' ? kill() : failed(true);
  };

  return {
    names,
    hits: () => hits,
    /** The result of some work, or `dead` when a point killed it; what was killed never goes on. */
    live: async <T>(work: Promise<T>): Promise<T | 'dead'> => {
      const outcome = await Promise.race([work, death]);
      if (outcome === 'dead') arm();
      return outcome;
    },
    ledger: (ledger: Ledger): Ledger => {
      const away = (): never => {
        throw new LedgerUnavailable('away');
      };
      const wrapped = Object.entries(ledger).map(([name, method]) => {
        const call = method as (...args: unknown[]) => Promise<unknown>;
        return [name, (...args: unknown[]) => boundary(name, () => call(...args), away)] as const;
      });
      return Object.fromEntries(wrapped) as unknown as Ledger;
    },
    transport:
      (transport: Transport): Transport =>
      (request) =>
        boundary(
          'POST',
          () => transport(request),
          (applied) =>
            applied
              ? { kind: 'sent_no_answer', how: 'closed' }
              : { kind: 'not_connected', detail: 'refused' },
        ),
    start:
      (start: StartRun): StartRun =>
      (name, input) =>
        boundary(
          'start',
          () => start(name, input),
          () => {
            throw new Error('away');
          },
        ),
  };
}

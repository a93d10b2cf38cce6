/**
 * A scheduler that owns order and time. Every boundary call waits for its turn before and after; turns are
 * given by a seeded choice, and so is the passing of time. A sender that outlives its limit never gets another.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { ReadOnce } from '../../lib/providers/provider.ts';
import type { Transport } from '../../lib/providers/transport.ts';
import type { Step } from '../../lib/workflow/deps.ts';
import type { fakeClock } from './kit.ts';

interface Sender {
  readonly diesAt: number;
}
interface Turn {
  readonly grant: () => void;
  readonly sender: Sender | undefined;
}

/** Mulberry32: the same numbers for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Schedule = ReturnType<typeof schedule>;

export function schedule(seed: number, clock: () => ReturnType<typeof fakeClock>) {
  const next = random(seed);
  const senders = new AsyncLocalStorage<Sender>();
  const waiting: Turn[] = [];
  let granted = 0;
  let killed = 0;

  const turn = (): Promise<void> =>
    new Promise((grant) => waiting.push({ grant, sender: senders.getStore() }));

  const between = async <T>(call: () => Promise<T>): Promise<T> => {
    await turn();
    const result = await call();
    await turn();
    return result;
  };

  /** Lets everything that was granted run until it waits again. */
  const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

  return {
    random: next,
    granted: () => granted,
    killed: () => killed,
    /** Gives one turn; false when nobody waits. */
    step: async (): Promise<boolean> => {
      await settle();
      const at = Math.floor(next() * waiting.length);
      const [chosen] = waiting.splice(at, 1);
      if (chosen === undefined) return false;
      granted += 1;
      if (chosen.sender !== undefined && clock().now() >= chosen.sender.diesAt) killed += 1;
      else chosen.grant();
      // Time moves between turns only: a sender that was alive when its turn came has done with it before it does.
      await settle();
      return true;
    },
    ledger: (ledger: Ledger): Ledger => {
      const wrapped = Object.entries(ledger).map(([name, method]) => {
        const call = method as (...args: unknown[]) => Promise<unknown>;
        return [name, (...args: unknown[]) => between(() => call(...args))] as const;
      });
      return Object.fromEntries(wrapped) as unknown as Ledger;
    },
    /** The sleeper: a turn lies between the last check and the first byte. */
    transport:
      (transport: Transport): Transport =>
      (request) =>
        between(() =>
          transport({
            ...request,
            lastCheck: async () => {
              const refusal = await request.lastCheck();
              await turn();
              return refusal;
            },
          }),
        ),
    get:
      (get: ReadOnce): ReadOnce =>
      (path) =>
        between(() => get(path)),
    /** The time limit of the send function, enforced. */
    sender:
      (step: Step, lifeMs: number): Step =>
      (input) =>
        senders.run({ diesAt: clock().now() + lifeMs }, () => step(input)),
  };
}

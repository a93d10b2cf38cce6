/** What is saved after its request was answered or cut off, never later than the declared apply delay. */
import { commit, type Turn } from './turn.ts';

interface Late {
  /** When its request arrived whole. */
  readonly at: number;
}

interface Saver<Held extends Late> {
  readonly applyDelayMs: number;
  readonly timers: Set<NodeJS.Timeout>;
  readonly book: {
    atomically<T>(work: () => T): T;
    /** Its number. */
    postpone(held: Held & { readonly dueAt: number }): number;
    /** Once only. */
    takePending(n: number): Held | undefined;
    allPending(): { n: number; dueAt: number }[];
  };
}

/** Unless told otherwise, what is saved later is aimed at this share of the declared bound. */
const LATE_SHARE = 0.6;
/** And never at more than this, so that a slow timer still keeps it. */
const LATEST_SHARE = 0.9;

export function lateSaves<Held extends Late, House extends Saver<Held>>(
  save: (turn: Turn<House>, held: Held) => void,
) {
  const schedule = (house: House, n: number, dueAt: number): void => {
    const timer = setTimeout(() => {
      house.timers.delete(timer);
      commit(house, (turn) => {
        const held = house.book.takePending(n);
        if (held !== undefined) save(turn, held);
      });
    }, dueAt - Date.now());
    house.timers.add(timer);
  };
  return {
    /** Saves in a later turn, or in this one where its time has come. */
    postpone: (turn: Turn<House>, held: Held, delayMs?: number): void => {
      const { house } = turn;
      const wanted = delayMs ?? house.applyDelayMs * LATE_SHARE;
      const dueAt = Math.floor(held.at + Math.min(wanted, house.applyDelayMs * LATEST_SHARE));
      if (dueAt <= turn.now) {
        save(turn, held);
        return;
      }
      const n = house.book.postpone({ ...held, dueAt });
      turn.after.push(() => schedule(house, n, dueAt));
    },
    /** Goes on with what an earlier process left to be saved. */
    resumePending: (house: House): void => {
      for (const { n, dueAt } of house.book.allPending()) schedule(house, n, dueAt);
    },
  };
}

/** Past the bound nothing is saved: the bound is a promise, the fault is not. */
export function isInTime({ house, now }: Turn<{ readonly applyDelayMs: number }>, { at }: Late): boolean {
  return now <= at + house.applyDelayMs;
}

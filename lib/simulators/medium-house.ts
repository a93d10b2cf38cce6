/** What the parts of one running medium share: its settings, its book, its timers. */
import { DEFAULTS, type SimulatorOptions } from './command.ts';
import type { MediumBook } from './medium-book.ts';
import type { Account } from './medium-records.ts';
import type { Rewrite } from './medium-rewrites.ts';
import type { Turn as SimulatorTurn } from './turn.ts';

export interface MediumOptions extends Omit<SimulatorOptions, 'account'> {
  /** Added to the book where it does not know them; every one of them can be posted for. */
  readonly accounts: readonly Account[];
  /** None unless told; what control sets takes their place, also after a restart. */
  readonly rewrites?: readonly Rewrite[];
  /** The offset of the times that it shows, like `+09:00`, which is the default. */
  readonly zone?: string;
  /** The most posts of a page, 30 unless told. */
  readonly pageSize?: number;
}

export const MEDIUM_DEFAULTS = {
  ...DEFAULTS,
  rewrites: [] as readonly Rewrite[],
  zone: '+09:00',
  pageSize: 30,
};

export type House = typeof MEDIUM_DEFAULTS &
  MediumOptions & { readonly book: MediumBook; readonly timers: Set<NodeJS.Timeout> };

export type Turn = SimulatorTurn<House>;

const ZONE = /^([+-])(0\d|1[0-4]):([0-5]\d)$/;

export function isZone(zone: string): boolean {
  return ZONE.test(zone);
}

/** Whole seconds, cut off, in the time of `zone`. */
export function localTime(ms: number, zone: string): string {
  const [, sign, hours, minutes] = ZONE.exec(zone) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  return new Date(ms + offset).toISOString().slice(0, 19) + zone;
}

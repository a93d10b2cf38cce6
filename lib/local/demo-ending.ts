/** How a scenario of the demo must end, how it did end, and what must be zero; the judges of both chapters agree on it. */
import type { IntentView } from '../operations/trail.ts';

/** What lets an intent rest; all else is still open. */
export const SETTLED = ['confirmed', 'rejected', 'closed', 'handover'];

/** From when until when a write was permitted, ms; the end is exclusive. */
export interface Permit {
  readonly from: number;
  readonly until: number;
}

/** How a scenario must end. */
export interface Stated {
  readonly state: string;
  /** Effects in the book. */
  readonly effects: number;
  readonly handovers?: number;
  readonly conflicts?: number;
  /** POSTs in the book, where not one more may go out whatever is promised. */
  readonly posts?: number;
}

/** What its judge looks at. */
export interface Tale<How extends Stated> {
  readonly name: string;
  /** Its name tells the class that the other side has there. */
  readonly route: string;
  readonly stated: How;
}

/** What the book of the other side says. */
interface Counted {
  /** POSTs in the book. */
  readonly posts: number;
  readonly effects: number;
  /** Every effect is as approved, value for value. */
  readonly equal: boolean;
  /** POSTs that no approval covered when they arrived. */
  readonly violations: number;
  /** POSTs after the effect was confirmed. */
  readonly reopened: number;
}

export interface Row extends Counted {
  readonly scenario: string;
  readonly route: string;
  readonly state: string;
  readonly report: string;
  readonly intents: number;
  readonly attempts: number;
  readonly errorKinds: readonly string[];
  readonly conflicts: number;
  readonly handovers: number;
  readonly seconds: number;
}

/** What must be zero. */
interface Faults {
  readonly duplicates: number;
  readonly lost: number;
  readonly wronglyConfirmed: number;
}

export interface Ending {
  readonly row: Row;
  readonly faults: Faults;
  /** Sentences about what did not hold. */
  readonly unmet: readonly string[];
}

/** In the order in which it is printed. */
export function rowOf(
  { name, route }: Tale<Stated>,
  views: readonly IntentView[],
  { posts, effects, equal, violations, reopened }: Counted,
  seconds: number,
): Row {
  return {
    scenario: name,
    route,
    state: shared(views.map(({ state }) => state)),
    report: shared(views.map(({ report }) => report)),
    intents: new Set(views.map(({ id }) => id)).size,
    attempts: sum(views, ({ attempts }) => attempts),
    ...{ posts, effects, equal },
    errorKinds: views.flatMap(({ errorKinds }) => errorKinds),
    conflicts: sum(views, ({ conflicts }) => conflicts),
    handovers: views.filter(({ state }) => state === 'handover').length,
    ...{ violations, reopened, seconds },
  };
}

/** One word where all agree. */
function shared(words: readonly string[]): string {
  return words.length === 0 ? '-' : [...new Set(words)].join(' ');
}

export function sum<Each>(all: readonly Each[], of: (each: Each) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

/** From when on it was known, ms; infinite where it never was. */
export function knownAt({ state, receipt }: IntentView): number {
  if (state !== 'confirmed') return Number.POSITIVE_INFINITY;
  return Date.parse((receipt as { readonly readAt: string }).readAt);
}

export function covers({ from, until }: Permit, at: number): boolean {
  return from <= at && at < until;
}

/** Sentences about what ended otherwise than stated. */
export function otherwise(row: Row, stated: Readonly<Partial<Row>>): string[] {
  return Object.entries(stated).flatMap(([name, value]) => {
    const is = row[name as keyof Row];
    return is === value ? [] : [`${name} is ${String(is)}, not ${String(value)}`];
  });
}

/** The end of a scenario, with every sentence under its name. */
export function endingOf(row: Row, faults: Faults, unmet: readonly string[]): Ending {
  const extra = row.posts > row.attempts ? ['more POSTs on the wire than attempts on record'] : [];
  const { violations, reopened } = row;
  const broken = [...unmet, ...extra, ...nonZero({ violations, reopened, ...faults })];
  return { row, faults, unmet: broken.map((each) => `${row.scenario}: ${each}`) };
}

export function nonZero(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${name} is ${count}`]));
}

/** What is printed under the table, and the last line of JSON. */
export type Sums = Readonly<
  Record<'scenarios' | 'confirmed' | 'unconfirmed' | 'rejected' | 'effects', number> &
    Faults &
    Record<'handovers' | 'permissionViolations' | 'reopened', number>
>;

export function sumsOf(endings: readonly Ending[]): Sums {
  const reported = (report: string) => endings.filter(({ row }) => row.report === report).length;
  return {
    scenarios: endings.length,
    confirmed: reported('confirmed'),
    unconfirmed: reported('unconfirmed'),
    rejected: reported('rejected'),
    effects: sum(endings, ({ row }) => row.effects),
    duplicates: sum(endings, ({ faults }) => faults.duplicates),
    lost: sum(endings, ({ faults }) => faults.lost),
    wronglyConfirmed: sum(endings, ({ faults }) => faults.wronglyConfirmed),
    handovers: sum(endings, ({ row }) => row.handovers),
    permissionViolations: sum(endings, ({ row }) => row.violations),
    reopened: sum(endings, ({ row }) => row.reopened),
  };
}

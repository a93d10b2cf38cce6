/** What the purchase-order chapter is held to. Success is counted in the suppliers' books, never from our answer. */
import type { IntentView } from '../operations/trail.ts';
import { type Permit, type Request, SETTLED } from './demo-orders-desk.ts';
import { type Books, type Call, effectsOf, idOf, isAsApproved, postsOf } from './demo-orders-supplier.ts';

/** One intent of a scenario, as it stood in the end. */
export interface Work {
  readonly call: Call;
  readonly purchaseOrder: string;
  readonly request: Request;
  /** Null for a standing permission. */
  readonly permits: readonly Permit[] | null;
  readonly view: IntentView;
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

export interface Row {
  readonly scenario: string;
  /** Its name tells the class of the supplier. */
  readonly route: string;
  readonly state: string;
  readonly report: string;
  readonly intents: number;
  readonly attempts: number;
  /** POSTs in the book. */
  readonly posts: number;
  readonly effects: number;
  /** Every effect is as approved, value for value. */
  readonly equal: boolean;
  readonly errorKinds: readonly string[];
  readonly conflicts: number;
  readonly handovers: number;
  /** POSTs that no approval covered when they arrived. */
  readonly violations: number;
  /** POSTs after the effect was confirmed. */
  readonly reopened: number;
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

export type Sums = Readonly<
  Record<'scenarios' | 'confirmed' | 'unconfirmed' | 'rejected' | 'effects', number> &
    Faults &
    Record<'handovers' | 'permissionViolations' | 'reopened', number>
>;

type Figures = ReturnType<typeof figuresOf>;

export function judge(
  scenario: { readonly name: string; readonly route: string; readonly stated: Stated },
  works: readonly Work[],
  books: Books,
  seconds: number,
  unmet: readonly string[],
): Ending {
  const figures = works.map((work) => figuresOf(work, books));
  const sum = (of: (each: Figures) => number) => figures.reduce((total, each) => total + of(each), 0);
  const row: Row = {
    scenario: scenario.name,
    route: scenario.route,
    state: shared(works.map((work) => work.view.state)),
    report: shared(works.map((work) => work.view.report)),
    intents: new Set(works.map((work) => work.view.id)).size,
    attempts: works.reduce((total, work) => total + work.view.attempts, 0),
    posts: sum((each) => each.posts),
    effects: sum((each) => each.effects),
    equal: figures.length > 0 && figures.every((each) => each.equal),
    errorKinds: works.flatMap((work) => work.view.errorKinds),
    conflicts: works.reduce((total, work) => total + work.view.conflicts, 0),
    handovers: works.filter((work) => work.view.state === 'handover').length,
    violations: sum((each) => each.violations),
    reopened: sum((each) => each.reopened),
    seconds,
  };
  const faults = {
    duplicates: sum((each) => each.duplicates),
    lost: sum((each) => each.lost),
    wronglyConfirmed: sum((each) => each.wronglyConfirmed),
  };
  const broken = [...unmet, ...otherwise(row, scenario.stated), ...nonZero({ ...faults })];
  return { row, faults, unmet: broken.map((each) => `${scenario.name}: ${each}`) };
}

function figuresOf({ call, purchaseOrder, request, permits, view }: Work, books: Books) {
  const effects = effectsOf(books, call, purchaseOrder);
  const posts = postsOf(books, call, purchaseOrder).map((post) => Date.parse(post.at));
  const confirmed = view.state === 'confirmed';
  const equal = effects.length > 0 && effects.every((each) => isAsApproved(each, request));
  const isRight = equal && effects.length === 1 && effects.map(idOf)[0] === view.externalId;
  const isLost = !SETTLED.includes(view.state) || (confirmed && effects.length === 0);
  const readAt = confirmed ? readBackAt(view) : Number.POSITIVE_INFINITY;
  return {
    posts: posts.length,
    effects: effects.length,
    equal,
    duplicates: Math.max(0, effects.length - 1),
    lost: isLost ? 1 : 0,
    wronglyConfirmed: confirmed && !isRight ? 1 : 0,
    violations: permits === null ? 0 : posts.filter((at) => !isPermitted(permits, at)).length,
    reopened: posts.filter((at) => at > readAt).length,
  };
}

function isPermitted(permits: readonly Permit[], at: number): boolean {
  return permits.some(({ from, until }) => from <= at && at < until);
}

/** From when on it was known, ms. */
function readBackAt({ receipt }: IntentView): number {
  const { readAt } = receipt as { readonly readAt: string };
  return Date.parse(readAt);
}

/** One word where all agree. */
function shared(words: readonly string[]): string {
  return words.length === 0 ? '-' : [...new Set(words)].join(' ');
}

/** Sentences about what ended otherwise than stated. */
function otherwise(row: Row, { state, effects, handovers = 0, conflicts = 0, posts }: Stated): string[] {
  const stated = { state, effects, handovers, conflicts, ...(posts === undefined ? {} : { posts }) };
  const ended = Object.entries(stated).flatMap(([name, value]) => {
    const is = row[name as keyof Row];
    return is === value ? [] : [`${name} is ${String(is)}, not ${value}`];
  });
  const unlike = row.equal ? [] : ['the supplier holds something else than was approved'];
  const extra = row.posts > row.attempts ? ['more POSTs on the wire than attempts on record'] : [];
  const { violations, reopened } = row;
  return [...ended, ...unlike, ...extra, ...nonZero({ violations, reopened })];
}

function nonZero(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${name} is ${count}`]));
}

export function sumsOf(endings: readonly Ending[]): Sums {
  const reported = (report: string) => endings.filter(({ row }) => row.report === report).length;
  const sum = (of: (each: Ending) => number) => endings.reduce((total, each) => total + of(each), 0);
  return {
    scenarios: endings.length,
    confirmed: reported('confirmed'),
    unconfirmed: reported('unconfirmed'),
    rejected: reported('rejected'),
    effects: sum(({ row }) => row.effects),
    duplicates: sum(({ faults }) => faults.duplicates),
    lost: sum(({ faults }) => faults.lost),
    wronglyConfirmed: sum(({ faults }) => faults.wronglyConfirmed),
    handovers: sum(({ row }) => row.handovers),
    permissionViolations: sum(({ row }) => row.violations),
    reopened: sum(({ row }) => row.reopened),
  };
}

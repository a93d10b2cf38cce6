/** What the publishing chapter is held to. Success is counted in the medium's book, never from our answer. */
import type { IntentView } from '../operations/trail.ts';
import type { MediumTruth, TruePost } from '../simulators/medium-truth.ts';
import { type Permit, type Request, SETTLED } from './demo-orders-desk.ts';
import type { Ending, Stated as OrderStated, Row } from './demo-orders-judge.ts';
import { effectsOf, type Post, requestsOf } from './demo-publishing-medium.ts';

/** One intent of a scenario, as it stood in the end. */
export interface Work {
  readonly post: Post;
  readonly request: Request;
  readonly permit: Permit;
  readonly view: IntentView;
}

/** How a scenario must end. */
export interface Stated extends OrderStated {
  /** false where the medium itself made something else of it. */
  readonly equal?: boolean;
}

interface Stand {
  readonly works: readonly Work[];
  readonly effects: readonly TruePost[];
  /** When each POST arrived, ms. */
  readonly posts: readonly number[];
}

/** A scenario is counted as one, by its texts: what tells equal posts apart is nothing but their ids. */
export function judge(
  scenario: { readonly name: string; readonly route: string; readonly stated: Stated },
  works: readonly Work[],
  book: MediumTruth,
  seconds: number,
  unmet: readonly string[],
): Ending {
  const stand = standOf(works, book);
  const faults = faultsOf(stand);
  const row = rowOf(scenario, stand, seconds);
  const broken = [...unmet, ...otherwise(row, scenario.stated), ...nonZero(faults)];
  return { row, faults, unmet: broken.map((each) => `${scenario.name}: ${each}`) };
}

function standOf(works: readonly Work[], book: MediumTruth): Stand {
  const texts = [...new Set(works.map(({ post }) => post.text))];
  const requests = texts.flatMap((text) => requestsOf(book, text));
  return {
    works,
    effects: texts.flatMap((text) => effectsOf(book, text)),
    posts: requests.map(({ at }) => Date.parse(at)),
  };
}

function rowOf(scenario: { name: string; route: string }, { works, effects, posts }: Stand, seconds: number) {
  const total = (of: (view: IntentView) => number) => works.reduce((sum, { view }) => sum + of(view), 0);
  const row: Row = {
    scenario: scenario.name,
    route: scenario.route,
    state: shared(works.map(({ view }) => view.state)),
    report: shared(works.map(({ view }) => view.report)),
    intents: new Set(works.map(({ view }) => view.id)).size,
    attempts: total((view) => view.attempts),
    posts: posts.length,
    effects: effects.length,
    equal: effects.length > 0 && effects.every((each) => works.some((work) => isAsApproved(each, work))),
    errorKinds: works.flatMap(({ view }) => view.errorKinds),
    conflicts: total((view) => view.conflicts),
    handovers: works.filter(({ view }) => view.state === 'handover').length,
    violations: posts.filter((at) => !works.some(({ permit }) => covers(permit, at))).length,
    reopened: posts.filter((at) => at > settledAt(works)).length,
    seconds,
  };
  return row;
}

/** What must be zero. */
function faultsOf({ works, effects }: Stand) {
  const confirmed = works.filter(({ view }) => view.state === 'confirmed');
  const right = confirmed.filter((work) =>
    effects.some((each) => each.id === work.view.externalId && isAsApproved(each, work)),
  );
  const distinct = new Set(right.map(({ view }) => view.externalId)).size;
  const unsettled = works.filter(({ view }) => !SETTLED.includes(view.state)).length;
  return {
    duplicates: Math.max(0, effects.length - works.length),
    lost: unsettled + Math.max(0, confirmed.length - effects.length),
    wronglyConfirmed: confirmed.length - distinct,
  };
}

/** Whether readers see what was approved, of the account it was approved for, where it belongs. */
function isAsApproved(made: TruePost, { post, request }: Work): boolean {
  const { text, visibility } = request.payload;
  const asked = String(text).replaceAll('\r\n', '\n');
  return (
    asRead(made.text) === asked &&
    made.author_id === request.account &&
    made.visibility === visibility &&
    made.parent === post.parent
  );
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
};

/** As a page shows it: the medium encodes entities once. */
function asRead(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot);/g, (it) => CHARACTERS[it] ?? it);
}

function covers({ from, until }: Permit, at: number): boolean {
  return from <= at && at < until;
}

/** From when on all of them were known, ms. */
function settledAt(works: readonly Work[]): number {
  const times = works.map(({ view }) => {
    if (view.state !== 'confirmed') return Number.POSITIVE_INFINITY;
    return Date.parse((view.receipt as { readonly readAt: string }).readAt);
  });
  return Math.max(...times);
}

/** One word where all agree. */
function shared(words: readonly string[]): string {
  return words.length === 0 ? '-' : [...new Set(words)].join(' ');
}

/** Sentences about what ended otherwise than stated. */
function otherwise(row: Row, { handovers = 0, conflicts = 0, equal = true, ...more }: Stated): string[] {
  const ended = Object.entries({ ...more, handovers, conflicts, equal }).flatMap(([name, value]) => {
    const is = row[name as keyof Row];
    return is === value ? [] : [`${name} is ${String(is)}, not ${value}`];
  });
  const extra = row.posts > row.attempts ? ['more POSTs on the wire than attempts on record'] : [];
  const { violations, reopened } = row;
  return [...ended, ...extra, ...nonZero({ violations, reopened })];
}

function nonZero(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${name} is ${count}`]));
}

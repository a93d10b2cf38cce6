/** What the publishing chapter is held to. Success is counted in the medium's book, never from our answer. */
import type { IntentView } from '../operations/trail.ts';
import type { MediumTruth, TruePost } from '../simulators/medium-truth.ts';
import {
  covers,
  type Ending,
  endingOf,
  knownAt,
  otherwise,
  type Permit,
  rowOf,
  SETTLED,
  type Stated as StatedOfAll,
  type Tale,
} from './demo-ending.ts';
import type { Request } from './demo-orders-desk.ts';
import { effectsOf, type Post, requestsOf } from './demo-publishing-medium.ts';

/** One intent of a scenario, as it stood in the end. */
export interface Work {
  readonly post: Post;
  readonly request: Request;
  readonly permit: Permit;
  readonly view: IntentView;
}

/** How a scenario must end. */
export interface Stated extends StatedOfAll {
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
  scenario: Tale<Stated>,
  works: readonly Work[],
  book: MediumTruth,
  seconds: number,
  unmet: readonly string[],
): Ending {
  const stand = standOf(works, book);
  const views = works.map(({ view }) => view);
  const row = rowOf(scenario, views, countedIn(stand), seconds);
  const { handovers = 0, conflicts = 0, equal = true, ...more } = scenario.stated;
  const unlike = otherwise(row, { ...more, handovers, conflicts, equal });
  return endingOf(row, faultsOf(stand), [...unmet, ...unlike]);
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

function countedIn({ works, effects, posts }: Stand) {
  const settledAt = Math.max(...works.map(({ view }) => knownAt(view)));
  return {
    posts: posts.length,
    effects: effects.length,
    equal: effects.length > 0 && effects.every((each) => works.some((work) => isAsApproved(each, work))),
    violations: posts.filter((at) => !works.some(({ permit }) => covers(permit, at))).length,
    reopened: posts.filter((at) => at > settledAt).length,
  };
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

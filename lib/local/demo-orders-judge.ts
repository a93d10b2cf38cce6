/** What the purchase-order chapter is held to. Success is counted in the suppliers' books, never from our answer. */
import type { IntentView } from '../operations/trail.ts';
import {
  covers,
  type Ending,
  endingOf,
  knownAt,
  otherwise,
  type Permit,
  rowOf,
  SETTLED,
  type Stated,
  sum,
  type Tale,
} from './demo-ending.ts';
import type { Request } from './demo-orders-desk.ts';
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

type Figures = ReturnType<typeof figuresOf>;

export function judge(
  scenario: Tale<Stated>,
  works: readonly Work[],
  books: Books,
  seconds: number,
  unmet: readonly string[],
): Ending {
  const figures = works.map((work) => figuresOf(work, books));
  const total = (name: Exclude<keyof Figures, 'equal'>) => sum(figures, (each) => each[name]);
  const counted = {
    posts: total('posts'),
    effects: total('effects'),
    equal: figures.length > 0 && figures.every((each) => each.equal),
    violations: total('violations'),
    reopened: total('reopened'),
  };
  const views = works.map(({ view }) => view);
  const row = rowOf(scenario, views, counted, seconds);
  const faults = {
    duplicates: total('duplicates'),
    lost: total('lost'),
    wronglyConfirmed: total('wronglyConfirmed'),
  };
  const unlike = row.equal ? [] : ['the supplier holds something else than was approved'];
  const { handovers = 0, conflicts = 0, state, effects, ...posts } = scenario.stated;
  const stated = { state, effects, handovers, conflicts, ...posts };
  return endingOf(row, faults, [...unmet, ...otherwise(row, stated), ...unlike]);
}

function figuresOf({ call, purchaseOrder, request, permits, view }: Work, books: Books) {
  const effects = effectsOf(books, call, purchaseOrder);
  const posts = postsOf(books, call, purchaseOrder).map((post) => Date.parse(post.at));
  const confirmed = view.state === 'confirmed';
  const equal = effects.length > 0 && effects.every((each) => isAsApproved(each, request));
  const isRight = equal && effects.length === 1 && effects.map(idOf)[0] === view.externalId;
  const isLost = !SETTLED.includes(view.state) || (confirmed && effects.length === 0);
  return {
    posts: posts.length,
    effects: effects.length,
    equal,
    duplicates: Math.max(0, effects.length - 1),
    lost: isLost ? 1 : 0,
    wronglyConfirmed: confirmed && !isRight ? 1 : 0,
    violations:
      permits === null ? 0 : posts.filter((at) => !permits.some((permit) => covers(permit, at))).length,
    reopened: posts.filter((at) => at > knownAt(view)).length,
  };
}

/** The judge of the publishing chapter: every way to be wrong is noticed, on books that are made for it. */
import { describe, expect, test } from 'vitest';
import { judge, type Stated, type Work } from '../../lib/local/demo-publishing-judge.ts';
import type { IntentView } from '../../lib/operations/trail.ts';
import type { MediumTruth, TruePost, TrueRequest } from '../../lib/simulators/medium-truth.ts';

const SECOND = 1000;
const T0 = Date.parse('2026-11-01T00:00:00.000Z');
const at = (seconds: number) => new Date(T0 + seconds * SECOND).toISOString();
const TEXT = 'Tea & cake\r\nat five';

const made: TruePost = {
  id: '4611686018427387905',
  ...{ author_id: '900001', text: 'Tea &amp; cake\nat five', sent_text: TEXT, parent: null },
  ...{ created_at: at(2), visibility: 'public', deleted: false, media: [], links: [], sent: true },
};
const request: TrueRequest = {
  ...{ account: '900001', text: TEXT, parent: null, at: at(2), status: 201, fault: null },
};

function bookOf(posts: readonly TruePost[], requests: readonly TrueRequest[]): MediumTruth {
  return { accounts: [], posts, media: [], requests, faults: {} };
}

function workOf(change: Partial<IntentView> = {}): Work {
  const view = {
    ...{ id: 'int_1', key: 'POST-1', state: 'confirmed', report: 'confirmed', attempts: 1, conflicts: 0 },
    ...{ errorKinds: [], externalId: made.id, receipt: { readAt: at(3) }, ...change },
  } as unknown as IntentView;
  return {
    post: { route: 'posts-searchable', key: 'POST-1', text: TEXT, parent: null },
    request: {
      ...{ account: '900001', environment: 'test', route: 'posts-searchable' },
      payload: { text: TEXT, visibility: 'public' },
    },
    permit: { from: T0, until: T0 + 60 * SECOND },
    view,
  };
}

const ONE: Stated = { state: 'confirmed', effects: 1, posts: 1 };
const HANDED = { state: 'handover', report: 'unconfirmed', externalId: null, receipt: null } as const;

function unmetIn(
  posts: readonly TruePost[],
  requests: readonly TrueRequest[],
  works: readonly Work[] = [workOf()],
  stated = ONE,
) {
  const scenario = { name: '1-x', route: 'posts-searchable', stated };
  return judge(scenario, works, bookOf(posts, requests), 1, []).unmet;
}

test('one post, as approved but for entities and line ends, is as stated', () => {
  expect(unmetIn([made], [request])).toEqual([]);
});

test('what somebody else wrote by hand is no effect of ours', () => {
  expect(unmetIn([made, { ...made, id: '9', sent: false }], [request])).toEqual([]);
});

test('one that was deleted stays an effect', () => {
  const stated = { ...ONE, state: 'handover', handovers: 1 };
  expect(unmetIn([{ ...made, deleted: true }], [request], [workOf(HANDED)], stated)).toEqual([]);
});

test('two equal posts are two effects of two intents, one each', () => {
  const second = { ...made, id: '4611686018427387906' };
  const works = [workOf(), workOf({ id: 'int_2', externalId: second.id, receipt: { readAt: at(9) } })];
  const stated = { ...ONE, effects: 2, posts: 2 };
  expect(unmetIn([made, second], [request, { ...request, at: at(8) }], works, stated)).toEqual([]);
});

describe('what does not hold is said', () => {
  const second = { ...made, id: '4611686018427387906' };
  const later = { ...request, at: at(8) };

  test.each<{
    posts: TruePost[];
    requests: TrueRequest[];
    works?: Work[];
    stated?: Stated;
    said: string;
    because: string;
  }>([
    {
      ...{ posts: [made, second], requests: [request] },
      ...{ said: 'duplicates is 1', because: 'one intent, two posts' },
    },
    {
      ...{ posts: [], requests: [request], said: 'lost is 1', because: 'confirmed, and nothing there' },
    },
    {
      ...{ posts: [made], requests: [request], works: [workOf({ state: 'unknown' })] },
      ...{ said: 'lost is 1', because: 'it never settled' },
    },
    {
      ...{ posts: [second], requests: [request] },
      ...{ said: 'wronglyConfirmed is 1', because: 'its id is of another post' },
    },
    {
      ...{ posts: [{ ...made, text: 'Tea' }], requests: [request] },
      ...{ said: 'wronglyConfirmed is 1', because: 'readers see something else' },
    },
    {
      ...{ posts: [made, second], requests: [request, later], works: [workOf(), workOf({ id: 'int_2' })] },
      ...{ stated: { ...ONE, effects: 2, posts: 2 } },
      ...{ said: 'wronglyConfirmed is 1', because: 'two intents confirmed by one post' },
    },
    {
      ...{ posts: [{ ...made, author_id: '900002' }], requests: [request] },
      ...{ said: 'equal is false, not true', because: 'another account' },
    },
    {
      ...{ posts: [{ ...made, parent: '7' }], requests: [request] },
      ...{ said: 'equal is false, not true', because: 'another parent' },
    },
    {
      ...{ posts: [{ ...made, visibility: 'draft' }], requests: [request] },
      ...{ said: 'equal is false, not true', because: 'nobody sees a draft' },
    },
    {
      ...{ posts: [made], requests: [request], stated: { ...ONE, equal: false } },
      ...{ said: 'equal is true, not false', because: 'the medium was to make something else of it' },
    },
    {
      ...{ posts: [made], requests: [{ ...request, at: at(61) }] },
      ...{ said: 'violations is 1', because: 'the approval was over' },
    },
    {
      ...{ posts: [made], requests: [{ ...request, at: at(-1) }] },
      ...{ said: 'violations is 1', because: 'nobody had signed' },
    },
    {
      ...{ posts: [made], requests: [request, later], works: [workOf({ attempts: 2 })] },
      ...{ stated: { ...ONE, posts: 2 }, said: 'reopened is 1', because: 'it was known by then' },
    },
    {
      ...{ posts: [made], requests: [request, { ...request, at: at(2.5) }] },
      ...{ stated: { ...ONE, posts: 2 } },
      ...{ said: 'more POSTs on the wire than attempts on record', because: 'one attempt, two POSTs' },
    },
    {
      ...{ posts: [made], requests: [request], works: [workOf({ conflicts: 1 })] },
      ...{ said: 'conflicts is 1, not 0', because: 'nothing else came under its key' },
    },
    {
      ...{ posts: [made], requests: [request], works: [workOf(HANDED)] },
      ...{ said: 'handovers is 1, not 0', because: 'it was to be confirmed' },
    },
    {
      ...{ posts: [], requests: [], works: [] },
      ...{ said: 'state is -, not confirmed', because: 'a scenario that broke has no work' },
    },
  ])('$said: $because', ({ posts, requests, works, stated, said }) => {
    expect(unmetIn(posts, requests, works, stated)).toContain(`1-x: ${said}`);
  });
});

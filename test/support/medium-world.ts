/** The product in memory beside one scripted medium. Writes, posts and what was shown are counted at the medium. */
import assert from 'node:assert/strict';
import type { Intent, Json } from '../../lib/domain/intent.ts';
import { reportOf } from '../../lib/domain/report.ts';
import type { Policy, Route } from '../../lib/domain/route.ts';
import { approve, revoke } from '../../lib/operations/approve.ts';
import { medium } from '../../lib/providers/medium.ts';
import type { Submission } from '../../lib/workflow/accept.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { POLICY, routeTo } from './kit.ts';
import { type MediumSettings, OUR_ID, type ScriptedMedium, scriptedMedium } from './medium-scripted.ts';
import { type World, type WorldOptions, world } from './world.ts';

export interface MediumWorldOptions extends MediumSettings {
  readonly policy?: Partial<Policy>;
  readonly route?: Partial<Route>;
  /** Calls of searches that the medium allows in a minute; as it promises unless told. */
  readonly callsPerMinute?: number;
  /** A second route, `posts-2`, to the same account. */
  readonly route2?: Partial<Route>;
  readonly world?: WorldOptions;
}

export type MediumWorld = ReturnType<typeof mediumWorld>;

const BASE_URL = 'http://127.0.0.1:4';
const DAY_MS = 86_400_000;
export const TEXT = 'Tea at five.';
export const POST = { text: TEXT, visibility: 'public' } as const;

/** As willing to send again as a policy can be: what holds a resend back is not the policy. */
const EAGER: Policy = {
  ...POLICY,
  resend: 'after_search',
  repeatOn: [
    ...['not_sent', 'closed_without_answer', 'timeout', 'body_cut', 'bad_answer', 'lost'],
    ...['status_500', 'status_503'],
  ],
};

export function mediumWorld(options: MediumWorldOptions = {}) {
  const made: { outside?: ScriptedMedium } = {};
  const route = postsRoute(BASE_URL, options);
  const { callsPerMinute } = options;
  const limit = callsPerMinute === undefined ? {} : { rateLimitPerMinute: callsPerMinute };
  const w = world({
    ...options.world,
    beside: (clock) => {
      const outside = scriptedMedium(clock, options);
      made.outside = outside;
      return {
        ...{
          baseUrl: BASE_URL,
          routes: [route, { ...route, name: 'posts-2', ...options.route2 }],
          providers: [{ ...medium, promise: { ...medium.promise, ...limit } }],
        },
        ...{ transport: outside.transport, get: outside.get },
      };
    },
  });
  const { outside } = made;
  if (outside === undefined) throw new Error('The world has no medium.');
  w.deps.reader = (to: { readonly baseUrl: string; readonly headers?: Readonly<Record<string, string>> }) => {
    return (path) => outside.get(path, to.headers?.['authorization']);
  };
  const counts = {
    writes: () => outside.posts.length,
    posts: () => outside.book().filter((post) => post.sent).length,
  };
  return { w, outside, ...mediumDesk(w, counts) };
}

export function postsRoute(baseUrl: string, { policy, route }: MediumWorldOptions): Route {
  return routeTo(baseUrl, {
    ...{ name: 'posts', provider: 'medium', account: OUR_ID, action: 'post', keyField: null },
    ...{ readSecretRef: 'local:medium-read', publicHosts: [new URL(baseUrl).host] },
    policy: { ...EAGER, ...policy },
    ...route,
  });
}

/** What the medium's book says of what was sent. */
export interface MediumCounts {
  /** POSTs that arrived. */
  readonly writes: () => number;
  /** Posts that came of them. */
  readonly posts: () => number;
}

/** What callers and people do, and what an intent comes to. */
export function mediumDesk(w: World, counts: MediumCounts) {
  const submitted = async (change: Partial<Submission> = {}): Promise<Intent> => {
    const accepted = await w.submit({ route: 'posts', key: 'post-1', payload: POST, ...change });
    if (accepted.kind !== 'accepted') throw new Error(`Not accepted: ${accepted.kind}`);
    return accepted.intent;
  };
  const evidence = async ({ id }: Pick<Intent, 'id'>) => {
    const { items } = await w.ledger.evidence({ tenant: 'acme', intentId: id }, 100, null);
    return items.filter((each) => each.kind === 'search').map((each) => each.facts);
  };
  return {
    submitted,
    /** Submitted, and sent once by hand: its answer, or the lack of one, is recorded; nothing was looked for yet. */
    sent: async (change: Partial<Submission> = {}): Promise<Intent> => {
      const intent = await submitted(change);
      const input = w.queue.shift();
      if (input === undefined) throw new Error('Its acceptance started no run.');
      await w.steps['Send']?.(input);
      return w.read(intent.id);
    },
    /** A person approves it, for just under a day unless told. */
    sign: async ({ id }: Pick<Intent, 'id'>, forMs = DAY_MS - 400_000): Promise<void> => {
      const { fingerprint } = await w.read(id);
      const wish = { by: 'ann', fingerprint, until: w.clock.now() + forMs };
      const signed = await approve(w.deps)({ tenant: 'acme', intentId: id }, 'sales', wish);
      if (signed.kind !== 'done') throw new Error(`Not signed: ${signed.kind}`);
    },
    /** A person takes the approval back. */
    revoke: async ({ id }: Pick<Intent, 'id'>): Promise<void> => {
      const revoked = await revoke(w.deps)({ tenant: 'acme', intentId: id }, 'sales', 'ann');
      if (revoked.kind !== 'done') throw new Error(`Not revoked: ${revoked.kind}`);
    },
    /** What an ending is judged by: its run goes on, then the sweep, until nothing open is due any more. */
    ending: async ({ id }: Pick<Intent, 'id'>) => {
      await w.run(runInput(await w.read(id)));
      const intent = await w.untilQuiet(id);
      oneStory(intent);
      return {
        ...{ state: intent.state, reason: intent.handover?.reason ?? null },
        ...{ writes: counts.writes(), posts: counts.posts() },
      };
    },
    /** The records of its searches, oldest first. */
    searches: evidence,
    /** What its last search showed people, with every reason. */
    seenLast: async (intent: Pick<Intent, 'id'>): Promise<Json> =>
      (await evidence(intent)).at(-1)?.['seen'] ?? [],
  };
}

/** No ending tells of a failure and of a confirmed effect at once. */
function oneStory(intent: Intent): void {
  const confirmed = intent.state === 'confirmed';
  const told = [intent.externalId !== null, intent.receipt !== null];
  assert.deepEqual(told, [confirmed, confirmed], `what ${intent.state} tells`);
  if (confirmed) assert.equal(Object.values(intent.receipt?.checks ?? {}).includes(false), false);
  if (!['confirmed', 'rejected', 'closed'].includes(intent.state))
    assert.equal(reportOf(intent), 'unconfirmed');
}

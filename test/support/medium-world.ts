/** The product in memory beside one scripted medium. Writes, posts and what was shown are counted at the medium. */
import { expect } from 'vitest';
import type { Intent, Json } from '../../lib/domain/intent.ts';
import { reportOf } from '../../lib/domain/report.ts';
import type { Policy, Route } from '../../lib/domain/route.ts';
import { approve } from '../../lib/operations/approve.ts';
import { medium } from '../../lib/providers/medium.ts';
import type { Submission } from '../../lib/workflow/accept.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { POLICY, routeTo } from './kit.ts';
import { type MediumSettings, OUR_ID, type ScriptedMedium, scriptedMedium } from './medium-scripted.ts';
import { type World, type WorldOptions, world } from './world.ts';

export interface MediumWorldOptions extends MediumSettings {
  readonly policy?: Partial<Policy>;
  readonly route?: Partial<Route>;
  readonly world?: WorldOptions;
}

export type MediumWorld = ReturnType<typeof mediumWorld>;

const BASE_URL = 'http://127.0.0.1:4';
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
  const route = postsRoute(options);
  const w = world({
    ...options.world,
    beside: (clock) => {
      const outside = scriptedMedium(clock, options);
      made.outside = outside;
      return {
        ...{ baseUrl: BASE_URL, routes: [route], providers: [medium] },
        ...{ transport: outside.transport, get: outside.get },
      };
    },
  });
  const { outside } = made;
  if (outside === undefined) throw new Error('The world has no medium.');
  w.deps.reader = (to: { readonly baseUrl: string; readonly headers?: Readonly<Record<string, string>> }) => {
    return (path) => outside.get(path, to.headers?.['authorization']);
  };
  return { w, outside, ...desk(w, outside) };
}

function postsRoute({ policy, route }: MediumWorldOptions): Route {
  return routeTo(BASE_URL, {
    ...{ name: 'posts', provider: 'medium', account: OUR_ID, action: 'post', keyField: null },
    ...{ readSecretRef: 'local:medium-read', publicHosts: [new URL(BASE_URL).host] },
    policy: { ...EAGER, ...policy },
    ...route,
  });
}

function desk(w: World, outside: ScriptedMedium) {
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
    /** A person approves it, for a day. */
    sign: async ({ id }: Pick<Intent, 'id'>): Promise<void> => {
      const { fingerprint } = await w.read(id);
      const wish = { by: 'ann', fingerprint, until: w.clock.now() + 86_000_000 };
      const signed = await approve(w.deps)({ tenant: 'acme', intentId: id }, 'sales', wish);
      if (signed.kind !== 'done') throw new Error(`Not signed: ${signed.kind}`);
    },
    /** What an ending is judged by: its run goes on, then the sweep, until nothing open is due any more. */
    ending: async ({ id }: Pick<Intent, 'id'>) => {
      await w.run(runInput(await w.read(id)));
      const intent = await w.untilQuiet(id);
      oneStory(intent);
      return {
        ...{ state: intent.state, reason: intent.handover?.reason ?? null },
        ...{ writes: outside.posts.length, posts: outside.book().filter((post) => post.sent).length },
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
  expect([intent.externalId !== null, intent.receipt !== null], intent.state).toEqual([confirmed, confirmed]);
  if (confirmed) expect(Object.values(intent.receipt?.checks ?? {})).not.toContain(false);
  if (!['confirmed', 'rejected', 'closed'].includes(intent.state))
    expect(reportOf(intent)).toBe('unconfirmed');
}

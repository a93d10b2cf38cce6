/** The dry run: what it shows, that it changes nothing anywhere, and that the steps then do what it said. */
import { describe, expect, test } from 'vitest';
import type { Intent, Verdict } from '../../lib/domain/intent.ts';
import { MAX_SEARCHES } from '../../lib/domain/reconciliation.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { dryRunView } from '../../lib/operations/dry-run-view.ts';
import type { Lookup, Provider } from '../../lib/providers/provider.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import type { RunInput } from '../../lib/workflow/deps.ts';
import { type DryRun, dryRun } from '../../lib/workflow/dry-run.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import type { Next } from '../../lib/workflow/what-next.ts';
import { ACKNOWLEDGED, attemptOf, BY_APPROVAL, IN_STATE, NOW, POLICY, routeTo } from '../support/kit.ts';
import { type MediumWorldOptions, mediumWorld, POST } from '../support/medium-world.ts';
import type { PLAYS } from '../support/scripted-warehouse.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

/** One intent at one moment, with what its provider counts. */
interface Scene {
  readonly w: World;
  readonly id: string;
  /** Writes that arrived, and effects that exist. */
  readonly book: () => readonly [number, number];
}

const READS: readonly (keyof Ledger)[] = ['read', 'readForSend', 'boundTo'];
const AFTER_SEARCH = { policy: { ...POLICY, resend: 'after_search' as const } };
const TEA = { sku: 'TEA-01', quantity: 2 };
/** Longer than a route here pauses after an attempt, ms. */
const PAUSE_MS = 200;
/** Longer than the window of every route here, ms. */
const PAST_WINDOW_MS = 1_200_000;

/** A warehouse that lists every reservation as refused. */
const REFUSING: Provider = {
  ...warehouse,
  find: async (look, intent) =>
    withoutEffect((await warehouse.find?.(look, intent)) ?? { kind: 'failed', error: 'no_search' }),
  read: async (look, intent, id) => withoutEffect(await warehouse.read(look, intent, id)),
};

function withoutEffect(lookup: Lookup): Lookup {
  if (lookup.kind === 'failed') return lookup;
  return { ...lookup, records: lookup.records.map((record) => ({ ...record, withoutEffect: true })) };
}

/** Everything that is no pure reading throws. */
function readingOnly(ledger: Ledger): Ledger {
  return new Proxy(ledger, {
    get: (target, name: keyof Ledger) =>
      READS.includes(name)
        ? target[name]
        : () => {
            throw new Error(`A dry run called ${name}.`);
          },
  });
}

/** Looks on a ledger that takes no write, and makes sure that nothing anywhere is another than before. */
async function dry({ w, id, book }: Scene): Promise<DryRun> {
  const ref = { tenant: 'acme', intentId: id };
  const stored = async () => [await w.ledger.read(ref), await w.ledger.evidence(ref, 100, null)];
  const before = { stored: await stored(), book: book(), queued: w.queue.length };
  const run = await dryRun({ ...w.deps, ledger: readingOnly(w.ledger) })(runInput(await w.read(id)));
  expect({ stored: await stored(), book: book(), queued: w.queue.length }).toEqual(before);
  if (run === undefined) throw new Error('There is no such intent.');
  return run;
}

/** Claimed and sent once by hand; nothing was looked for yet. */
async function sent(
  play: keyof typeof PLAYS,
  options: WorldOptions = {},
  pauseMs = PAUSE_MS,
): Promise<Scene> {
  const w = world({ script: [play], route: AFTER_SEARCH, ...options });
  const { id, input } = await w.begin();
  await w.steps['Send']?.(input);
  w.clock.advance(pauseMs);
  return { w, id, book: () => [w.outside.posts(), w.outside.effects(ORDER)] };
}

async function posted(options: MediumWorldOptions, change: (s: ReturnType<typeof mediumWorld>) => void) {
  const s = mediumWorld(options);
  const { id } = await s.sent();
  s.w.clock.advance(PAUSE_MS);
  change(s);
  const book = () => [s.outside.posts.length, s.outside.book().length] as const;
  return { w: s.w, id, book };
}

async function put(scene: Scene, change: Partial<Intent>): Promise<Scene> {
  const stored = await scene.w.read(scene.id);
  await scene.w.ledger.save(stored, { ...stored, ...change }, { kind: 'unchanged' });
  return scene;
}

const alien = (s: Scene): Scene => {
  s.w.outside.add(ORDER, TEA);
  return s;
};
const later = (s: Scene, ms = PAST_WINDOW_MS): Scene => {
  s.w.clock.advance(ms);
  return s;
};

interface Case {
  readonly name: string;
  readonly scene: () => Promise<Scene>;
  readonly verdict: Verdict;
  readonly next: Next;
  readonly because: string;
}

const CASES: readonly Case[] = [
  {
    name: 'one that was saved without an answer',
    scene: () => sent('lost'),
    verdict: 'found',
    next: { do: 'confirm', reason: null },
    because: 'exactly one matches, and all its checks hold',
  },
  {
    name: 'two that match',
    scene: async () => alien(await sent('lost')),
    verdict: 'many',
    next: { do: 'hand_over', reason: 'many' },
    because: 'none is chosen',
  },
  {
    name: 'one that matches and is another order',
    scene: async () => {
      const scene = await sent('swallowed');
      scene.w.outside.add(ORDER, { sku: 'TEA-01', quantity: 3 });
      return scene;
    },
    verdict: 'found',
    next: { do: 'hand_over', reason: 'mismatch' },
    because: 'a check that does not hold is for people',
  },
  {
    name: 'nothing, at a keyed provider, in the window',
    scene: () => sent('swallowed'),
    verdict: 'wait',
    next: { do: 'send', reason: null },
    because: 'the key makes both one, and one whole look found nothing',
  },
  {
    name: 'nothing, at a keyed provider, at once',
    scene: () => sent('swallowed', {}, 0),
    verdict: 'wait',
    next: { do: 'wait', reason: 'quiet_time' },
    because: 'the route pauses after every attempt',
  },
  {
    name: 'nothing, and no attempt is left',
    scene: () => sent('swallowed', { route: { policy: { ...AFTER_SEARCH.policy, attempts: 1 } } }),
    verdict: 'wait',
    next: { do: 'wait', reason: 'budget_spent' },
    because: 'the budget stands, and the effect may still show',
  },
  {
    name: 'nothing after the window, and no attempt is left',
    scene: async () =>
      later(await sent('swallowed', { route: { policy: { ...AFTER_SEARCH.policy, attempts: 1 } } })),
    verdict: 'absent',
    next: { do: 'hand_over', reason: 'budget_spent' },
    because: 'people decide what the budget forbids',
  },
  {
    name: 'nothing after the window, and it was withdrawn',
    scene: async () => put(later(await sent('swallowed')), { noMoreWrites: true }),
    verdict: 'absent',
    next: { do: 'close', reason: 'withdrawn' },
    because: 'nothing is outside, and nobody wants it',
  },
  {
    name: 'a provider that does not answer',
    scene: async () => {
      const scene = await sent('lost');
      const fails = () => ({ kind: 'failed', error: 'timeout' }) as const;
      scene.w.outside.views.push(fails, fails, fails);
      return scene;
    },
    verdict: 'inconclusive',
    next: { do: 'wait', reason: 'search_first' },
    because: 'a failed lookup is never zero',
  },
  {
    name: 'a post of content, in the window',
    scene: () => posted({ script: ['cut_before_save'] }, () => undefined),
    verdict: 'wait',
    next: { do: 'wait', reason: 'window_open' },
    because: 'it may show later',
  },
  {
    name: 'no post of content, after the window',
    scene: async () => later(await posted({ script: ['cut_before_save'] }, () => undefined)),
    verdict: 'absent',
    next: { do: 'send', reason: null },
    because: 'a whole look that started after the window proves absence',
  },
  {
    name: 'a list that answers 503',
    scene: async () =>
      later(
        await posted({ script: ['cut_before_save'] }, (s) => s.outside.faults.set('list_status', Infinity)),
      ),
    verdict: 'inconclusive',
    next: { do: 'wait', reason: 'window_open' },
    because: 'nothing is concluded from a failure',
  },
  {
    name: 'two posts with the same text',
    scene: () => posted({ script: ['delivered_twice_unanswered'] }, () => undefined),
    verdict: 'many',
    next: { do: 'hand_over', reason: 'many' },
    because: 'nobody can tell them apart',
  },
  {
    name: 'one that is another intent’s already',
    scene: async () => {
      const scene = await sent('lost');
      const place = { provider: 'warehouse', account: 'tokyo-1', environment: 'test' } as const;
      const other = { tenant: 'acme', intentId: `int_${'7'.repeat(40)}` };
      await scene.w.ledger.bind({ ...place, kind: warehouse.kind, externalId: 'R-1' }, other);
      return scene;
    },
    verdict: 'found',
    next: { do: 'hand_over', reason: 'bound_elsewhere' },
    because: 'one external id is one intent',
  },
  {
    name: 'one that the provider lists as refused',
    scene: async () => {
      const scene = await sent('lost');
      scene.w.deps.routes = registryOf([routeTo('http://127.0.0.1:1', AFTER_SEARCH)], [REFUSING]);
      return scene;
    },
    verdict: 'wait',
    next: { do: 'reject', reason: null },
    because: 'its only attempt is there and has no effect',
  },
  {
    name: 'a post of the second attempt',
    scene: async () => {
      const scene = later(await posted({ script: ['cut_before_save', 'cut_after_save'] }, () => undefined));
      const input = runInput(await scene.w.read(scene.id));
      await scene.w.steps['Search']?.(input);
      await scene.w.steps['Send']?.(input);
      return later(scene, PAUSE_MS);
    },
    verdict: 'found',
    next: { do: 'confirm', reason: null },
    because: 'the whole search shows that one and no other',
  },
  {
    name: 'a list that answers 503 for the last time that is looked',
    scene: async () =>
      put(
        await posted({ script: ['cut_before_save'] }, (s) => s.outside.faults.set('list_status', Infinity)),
        {
          searches: MAX_SEARCHES - 1,
        },
      ),
    verdict: 'inconclusive',
    next: { do: 'hand_over', reason: 'exhausted' },
    because: 'looking has a limit',
  },
  {
    name: 'nothing after the window, although something was seen once',
    scene: async () => put(later(await sent('swallowed')), { seenAt: NOW }),
    verdict: 'wait',
    next: { do: 'hand_over', reason: 'found_but_gone' },
    because: 'what was once seen is never absent',
  },
  {
    name: 'a provider without a search',
    scene: async () => {
      const scene = await sent('lost');
      const { find: _find, ...searchless } = warehouse;
      scene.w.deps.routes = registryOf([routeTo('http://127.0.0.1:1', AFTER_SEARCH)], [searchless]);
      return scene;
    },
    verdict: 'inconclusive',
    next: { do: 'hand_over', reason: 'blind' },
    because: 'no id is known, and there is no other way to look',
  },
  {
    name: 'one whose answer is in, and that is not read back yet',
    scene: () => sent('plain'),
    verdict: 'found',
    next: { do: 'confirm', reason: null },
    because: 'the readback of its id holds',
  },
];

/** What the steps really did, in the words of a dry run. */
async function stepped({ w, id }: Scene): Promise<Next> {
  const input: RunInput = runInput(await w.read(id));
  let answer = await w.steps['Search']?.(input);
  if (answer?.next === 'verify') answer = await w.steps['Verify']?.(input);
  const { state, handover } = await w.read(id);
  if (state === 'confirmed') return { do: 'confirm', reason: null };
  if (handover !== null) return { do: 'hand_over', reason: handover.reason };
  if (state === 'rejected') return { do: 'reject', reason: null };
  if (state === 'closed') return { do: 'close', reason: 'withdrawn' };
  return { do: answer?.next === 'send' ? 'send' : 'wait', reason: null };
}

/** An empty list is a promise: nothing is left that stands against a write. */
const saysThatOneMayLeave = ({ sendRefusals }: DryRun): boolean => sendRefusals?.length === 0;

describe.each(CASES)('$name', ({ scene, verdict, next, because }) => {
  test(`is ${verdict}, and nothing is written anywhere`, async () => {
    const run = await dry(await scene());
    expect({ verdict: run.looked?.facts.verdict, next: run.next }, because).toEqual({ verdict, next });
    expect(saysThatOneMayLeave(run), String(run.sendRefusals)).toBe(next.do === 'send');
  });

  test(`then the steps do as it said: ${next.do}`, async () => {
    const there = await scene();
    await dry(there);
    const { do: word, reason } = await stepped(there);
    expect(word).toBe(next.do);
    if (word === 'hand_over') expect(reason).toBe(next.reason);
  });
});

test('a second dry run finds what the first one found: no look counts', async () => {
  const scene = await sent('lost');
  const [first, second] = [await dry(scene), await dry(scene)];
  expect(second).toEqual(first);
  expect((await scene.w.read(scene.id)).searches).toBe(0);
});

test('a single match is shown with every check, and with what was read back', async () => {
  const { looked } = await dry(await sent('lost'));
  const checks = { account: true, quantity: true, reference: true, sku: true };
  expect(looked?.seen.matched).toEqual([{ externalId: 'R-1', checks }]);
  expect(looked?.readback?.matched).toEqual([{ externalId: 'R-1', checks }]);
});

test('a search says nothing of a public page, a readback always does', async () => {
  const one = await dry(await posted({ script: ['cut_after_save'] }, () => undefined));
  const checks = { author: true, payload: true, media: true, parent: true, visibility: true, time: true };
  expect(one.looked?.seen.matched.map((each) => each.checks)).toEqual([checks]);
  expect(one.looked?.readback?.matched.map((each) => each.checks)).toEqual([{ ...checks, publicUrl: true }]);
  const two = await dry(await posted({ script: ['delivered_twice_unanswered'] }, () => undefined));
  expect(two.looked?.seen.matched.map((each) => each.checks)).toEqual([checks, checks]);
});

test('a twin that waits says so, and for whom', async () => {
  const s = mediumWorld({ script: ['cut_before_save'] });
  const first = await s.sent();
  const twin = await s.submitted({ key: 'post-2' });
  await s.w.steps['Send']?.(runInput(twin));
  const scene: Scene = { w: s.w, id: twin.id, book: () => [s.outside.posts.length, s.outside.book().length] };
  expect(dryRunView(await dry(scene))).toMatchObject({
    sendRefusals: ['waits_for_another'],
    waitsFor: first.id,
    next: { do: 'wait', reason: 'waits_for_another' },
  });
});

test('what a person decides first is not said to be free to leave', async () => {
  const scene = await put(await sent('swallowed'), {
    ...{ state: 'handover', handover: { reason: 'reopened', candidates: [], at: NOW } },
  });
  expect((await dry(scene)).sendRefusals?.[0]).toBe('handed_over');
});

test('where identity is content, near misses are shown with what does not agree', async () => {
  const scene = await posted({ script: ['cut_before_save'] }, ({ outside }) => {
    outside.add({ text: 'Cake at five.' });
    outside.add({ text: POST.text, parent: '37' });
  });
  const { looked, next } = await dry(scene);
  expect(looked?.facts.reference).toBeNull();
  expect(looked?.seen.matched).toEqual([]);
  const reasons = (looked?.seen.shown ?? []).map((each) => each as { near: boolean; reasons: object });
  expect(reasons.map(({ near }) => near)).toEqual([true, true]);
  expect(reasons.map((each) => each.reasons)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ author: true, payload: false, parent: true, binding: 'free' }),
      expect.objectContaining({ author: true, payload: true, parent: false, binding: 'free' }),
    ]),
  );
  expect(next).toEqual({ do: 'wait', reason: 'window_open' });
});

test('every reason against a write is told, in their order', async () => {
  const scene = await sent('swallowed', { route: { policy: { ...AFTER_SEARCH.policy, attempts: 1 } } });
  await scene.w.ledger.freeze('warehouse', { by: 'otto', why: 'test', at: 1 });
  expect(await dry(scene)).toMatchObject({ sendRefusals: ['frozen', 'budget_spent'] });
});

test('an absence that is too old is looked for again, and only then a write may leave', async () => {
  const scene = later(await posted({ script: ['cut_before_save'] }, () => undefined));
  await scene.w.steps['Search']?.(runInput(await scene.w.read(scene.id)));
  expect((await scene.w.read(scene.id)).state).toBe('absent');
  expect(await dry(later(scene))).toMatchObject({ sendRefusals: [], next: { do: 'send', reason: null } });
});

describe('what has settled', () => {
  async function settled(): Promise<Scene> {
    const w = world();
    const { id, state } = await w.settle();
    expect(state).toBe('confirmed');
    return { w, id, book: () => [w.outside.posts(), w.outside.effects(ORDER)] };
  }

  test('with its one effect: an audit would find nothing against it', async () => {
    const run = await dry(await settled());
    expect(run).toMatchObject({ contradicting: [], sendRefusals: null, next: { do: 'end', reason: null } });
    expect(run.looked?.readback?.matched).toHaveLength(1);
  });

  test('with a second effect: the ids are told, and no route is frozen by looking', async () => {
    const scene = alien(await settled());
    const run = await dry(scene);
    expect(run).toMatchObject({ contradicting: ['R-2'], next: { do: 'end', reason: null } });
    expect((await scene.w.ledger.readForSend(runInput(run.intent), 'warehouse')).frozen).toBe(false);
  });

  test('and evidence disputes it: the audit that is due would freeze', async () => {
    const scene = alien(await settled());
    await put(scene, { contraryAt: scene.w.clock.now(), dueAt: scene.w.clock.now() });
    expect((await dry(scene)).next).toEqual({ do: 'freeze', reason: 'second_effect' });
    await scene.w.steps['Search']?.(runInput(await scene.w.read(scene.id)));
    expect((await scene.w.read(scene.id)).incident?.reason).toBe('second_effect');
  });
});

describe('in every other state', () => {
  test.each<{ name: string; change: Partial<Intent>; next: Next }>([
    { name: 'ready', change: {}, next: { do: 'send', reason: null } },
    { name: 'withdrawn', change: { noMoreWrites: true }, next: { do: 'close', reason: 'withdrawn' } },
    {
      name: 'planned',
      change: { plannedAt: 9e12, sendBy: 9.1e12 },
      next: { do: 'wait', reason: 'too_early' },
    },
    {
      name: 'out right now',
      change: { state: 'sending', attempts: [attemptOf(1)] },
      next: { do: 'wait', reason: 'under_way' },
    },
    {
      name: 'handed over',
      change: { state: 'handover', handover: { reason: 'many', candidates: [], at: 1 } },
      next: { do: 'decide', reason: 'many' },
    },
    {
      name: 'behind a twin',
      change: { waitsFor: `int_${'7'.repeat(40)}` },
      next: { do: 'wait', reason: 'waits_for_another' },
    },
    {
      name: 'rejected',
      change: { state: 'rejected', dueAt: null, attempts: IN_STATE.rejected.attempts },
      next: { do: 'end', reason: null },
    },
    {
      name: 'seen, and gone',
      change: {
        ...{ state: 'acknowledged', acknowledgedId: 'R-1', seenAt: 1 },
        attempts: [attemptOf(1, { claimedAt: 1, result: ACKNOWLEDGED })],
      },
      next: { do: 'hand_over', reason: 'found_but_gone' },
    },
  ])('$name: $next.do', async ({ change, next }) => {
    const w = world();
    const { id } = await w.begin();
    const scene: Scene = { w, id, book: () => [w.outside.posts(), w.outside.effects(ORDER)] };
    const run = await dry(await put(scene, change));
    expect(run.next).toEqual(next);
    expect(saysThatOneMayLeave(run), String(run.sendRefusals)).toBe(next.do === 'send');
  });

  test('without its approval it waits for that', async () => {
    const w = world({ route: { policy: { ...POLICY, permission: BY_APPROVAL } } });
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(`Not accepted: ${accepted.kind}`);
    const scene: Scene = { w, id: accepted.intent.id, book: () => [w.outside.posts(), 0] };
    expect(await dry(scene)).toMatchObject({
      sendRefusals: ['permission_missing'],
      next: { do: 'wait', reason: 'permission_missing' },
    });
  });

  test('when its route leads elsewhere, nobody looks and people will be told', async () => {
    const w = world();
    const { id } = await w.begin();
    const scene: Scene = { w, id, book: () => [w.outside.posts(), w.outside.gets()] };
    const run = await dry(await put(scene, { account: 'kobe-9' }));
    expect(run).toMatchObject({ looked: null, next: { do: 'hand_over', reason: 'cannot_run' } });
  });
});

test('an intent that is not stored is undefined', async () => {
  const { deps } = world();
  const input = { tenant: 'acme', intentId: `int_${'9'.repeat(40)}`, route: 'warehouse' };
  expect(await dryRun(deps)(input)).toBeUndefined();
});

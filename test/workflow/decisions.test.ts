/** Decisions of people, on the steps: what they let out, what they never let out, and what ends by them. */
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../lib/domain/decision.ts';
import type { Intent, IntentRef } from '../../lib/domain/intent.ts';
import type { LifeEvent } from '../../lib/domain/life-event.ts';
import { approve } from '../../lib/operations/approve.ts';
import { agree, type Decided, decide } from '../../lib/operations/decide.ts';
import { setFrozen } from '../../lib/operations/freeze.ts';
import { lookAgain } from '../../lib/operations/look-again.ts';
import { withdraw } from '../../lib/operations/withdraw.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { apply } from '../../lib/workflow/deps.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { CRASH_MODES, crashes } from '../support/crash.ts';
import { BY_APPROVAL, NOW, POLICY, routeTo, WINDOW_MS } from '../support/kit.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const { key: _key, search: _search, ...bare } = warehouse.promise;
const SEARCHABLE: WorldOptions = { keyed: false, promise: { ...bare, key: undefined } as never };
const { find: _find, ...unsearchable } = warehouse;

/** A provider that has no search and promises nothing: only people can tell what became of a lost answer. */
function blind(options: WorldOptions = {}): World {
  const w = world({ keyed: false, ...options });
  const routes = registryOf(
    [routeTo('http://127.0.0.1:1', options.route)],
    [{ ...unsearchable, promise: bare }],
  );
  Object.assign(w.deps, { routes });
  return w;
}
const policy = (change: Partial<typeof POLICY>): WorldOptions => ({
  route: { policy: { ...POLICY, ...change } },
});

const refOf = (intent: Pick<Intent, 'id'>): IntentRef => ({ tenant: 'acme', intentId: intent.id });
const absentAt = (lookedAt: number): Decision => ({ kind: 'declare_absent', lookedAt });
const attach = (externalId: string): Decision => ({ kind: 'attach_external_id', externalId });

/** As somebody who has read the intent right before. */
async function decideAs(
  w: World,
  by: string,
  intent: Pick<Intent, 'id'>,
  decision: Decision,
): Promise<Decided> {
  const { version } = await w.read(intent.id);
  return decide(w.deps)(refOf(intent), 'sales', { by, version, decision, reason: 'looked it up' });
}

async function agreeAs(w: World, by: string, intent: Pick<Intent, 'id'>, id?: string): Promise<Decided> {
  const { version, proposal } = await w.read(intent.id);
  const agreesTo = id ?? proposal?.id ?? 'none';
  return agree(w.deps)(refOf(intent), 'sales', { by, version, agreesTo, reason: null });
}

async function byTwo(w: World, intent: Pick<Intent, 'id'>, decision: Decision): Promise<Intent> {
  const proposed = await decideAs(w, 'ann', intent, decision);
  if (proposed.kind !== 'proposed') throw new Error(JSON.stringify(proposed));
  const done = await agreeAs(w, 'otto', intent);
  if (done.kind !== 'done') throw new Error(JSON.stringify(done));
  return done.intent;
}

async function sweepAndRun(w: World): Promise<void> {
  await sweep(w.deps).runOnce();
  await w.drain();
}

/** Submits and runs until people are asked, with everything that was sent shown by now. */
async function handedOver(w: World): Promise<Intent> {
  const { id } = await w.settle();
  const intent = await w.untilQuiet(id);
  if (intent.state !== 'handover') throw new Error(`Not handed over but ${intent.state}.`);
  w.clock.advance(HOUR_MS);
  return intent;
}

async function state(w: World, { id }: Pick<Intent, 'id'>): Promise<string> {
  const { state: now, handover } = await w.read(id);
  return now === 'handover' ? `handover ${handover?.reason}` : now;
}

describe('absence declared by two people', () => {
  it('lets exactly one further POST out where nothing else can tell', async () => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    expect([await state(w, intent), w.outside.posts()]).toEqual(['handover blind', 1]);
    await decideAs(w, 'ann', intent, absentAt(w.clock.now()));
    await sweepAndRun(w);
    expect([await state(w, intent), w.outside.posts()], 'one person alone').toEqual(['handover blind', 1]);
    const { state: absent, declaredAbsentAt } = await byTwo(w, intent, absentAt(w.clock.now()));
    expect([absent, declaredAbsentAt, w.outside.posts()]).toEqual(['absent', w.clock.now(), 1]);
    const after = await w.untilQuiet(intent.id);
    expect([after.state, w.outside.posts(), w.outside.effects(ORDER)]).toEqual(['confirmed', 2, 1]);
  });

  it('lets one POST out, not one after the other', async () => {
    const w = blind({ script: ['swallowed', 'swallowed'] });
    const intent = await handedOver(w);
    await byTwo(w, intent, absentAt(w.clock.now()));
    await w.untilQuiet(intent.id);
    expect([await state(w, intent), w.outside.posts()]).toEqual(['handover blind', 2]);
  });

  it.each([-1, 0, 1])('looked up %i ms around the time by which all must show', async (distance) => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    const claimedAt = intent.attempts[0]?.claimedAt ?? Number.NaN;
    const proposed = await decideAs(w, 'ann', intent, absentAt(claimedAt + WINDOW_MS + distance));
    if (distance > 0) expect(proposed.kind).toBe('proposed');
    else
      expect(proposed).toEqual({
        kind: 'refused',
        reason: 'looked_too_early',
        after: claimedAt + WINDOW_MS,
      });
    await agreeAs(w, 'otto', intent);
    await sweepAndRun(w);
    expect(w.outside.posts()).toBe(distance > 0 ? 2 : 1);
  });

  it('counts a day where the provider names no bound', async () => {
    const route = { applyDelayMs: null, visibilityLagMs: null };
    const w = blind({ script: ['swallowed'], route });
    const { applyDelayMs: _d, visibilityLagMs: _l, ...promise } = bare;
    const routes = registryOf(
      [routeTo('http://127.0.0.1:1', route)],
      [{ ...unsearchable, promise } as never],
    );
    Object.assign(w.deps, { routes });
    const intent = await handedOver(w);
    const after = NOW + 15_000 + DAY_MS;
    expect(await decideAs(w, 'ann', intent, absentAt(w.clock.now()))).toMatchObject({ after });
    w.clock.advance(after + 1 - w.clock.now());
    expect(await decideAs(w, 'ann', intent, absentAt(after + 1))).toMatchObject({ kind: 'proposed' });
  });

  it('opens no write without a valid approval, and does when there is a new one', async () => {
    const permission = { ...BY_APPROVAL, longestMs: DAY_MS };
    const w = blind({ script: ['swallowed'], ...policy({ permission, sendWithinMs: 3 * DAY_MS }) });
    const { id } = await w.settle();
    const sign = (intent: Intent) =>
      approve(w.deps)(refOf(intent), 'sales', {
        by: 'ann',
        fingerprint: intent.fingerprint,
        until: w.clock.now() + 60_000,
      });
    await sign(await w.read(id));
    await sweepAndRun(w);
    const intent = await w.read(id);
    expect([await state(w, intent), w.outside.posts()]).toEqual(['handover blind', 1]);
    w.clock.advance(HOUR_MS);
    await byTwo(w, intent, absentAt(w.clock.now()));
    await sweepAndRun(w);
    expect([await state(w, intent), w.outside.posts()]).toEqual(['awaiting_approval', 1]);
    await sign(intent);
    await sweepAndRun(w);
    expect([await state(w, intent), w.outside.posts(), w.outside.effects(ORDER)]).toEqual([
      'confirmed',
      2,
      1,
    ]);
  });

  const STOPS: readonly {
    name: string;
    options: WorldOptions;
    stop: (w: World, intent: Intent) => Promise<unknown>;
    expected: string;
  }[] = [
    {
      name: 'the budget is spent',
      options: policy({ attempts: 1 }),
      stop: async () => undefined,
      expected: 'handover budget_spent',
    },
    {
      name: 'the route is frozen',
      options: {},
      stop: (w) => setFrozen(w.deps)('warehouse', true, { by: 'otto', why: 'stop' }),
      expected: 'absent',
    },
    {
      name: 'sendBy is over',
      options: {},
      stop: async (w) => w.clock.advance(2 * DAY_MS),
      expected: 'closed',
    },
    {
      name: 'it was withdrawn',
      options: {},
      stop: (w, intent) => withdraw(w.deps)(refOf(intent), 'sales', 'shop'),
      expected: 'closed',
    },
    {
      name: 'the standing permission is over',
      options: policy({ permission: { kind: 'standing', version: 't', until: NOW + 60_000 } }),
      stop: async () => undefined,
      expected: 'awaiting_approval',
    },
  ];
  it.each(STOPS)('lets nothing out when $name', async ({ options, stop, expected }) => {
    const w = blind({ script: ['swallowed'], ...options });
    const intent = await handedOver(w);
    await stop(w, intent);
    await byTwo(w, intent, absentAt(w.clock.now()));
    await sweepAndRun(w);
    expect([await state(w, intent), w.outside.posts()]).toEqual([expected, 1]);
  });

  it('is void once an effect was seen: no POST, and people see the evidence', async () => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    const before = await byTwo(w, intent, absentAt(w.clock.now()));
    const event = { kind: 'evidence_came', seen: true, externalId: 'R-5', dueAt: w.clock.now() } as const;
    expect(await apply(w.deps, before, event)).toBeDefined();
    await w.untilQuiet(intent.id);
    expect([await state(w, intent), w.outside.posts()]).toEqual(['handover contrary_evidence', 1]);
    expect(await decideAs(w, 'ann', intent, absentAt(w.clock.now()))).toMatchObject({
      reason: 'something_seen',
    });
  });
});

describe('an id given by a person', () => {
  it('confirms only by the readback of the next run', async () => {
    const w = blind({ script: ['lost'] });
    const intent = await handedOver(w);
    const gets = w.outside.gets();
    const done = await decideAs(w, 'ann', intent, attach('R-1'));
    expect(done).toMatchObject({ kind: 'done', intent: { state: 'acknowledged', externalId: null } });
    expect([w.outside.posts(), w.outside.gets(), w.queue.length], 'nothing is called or started').toEqual([
      1,
      gets,
      0,
    ]);
    await sweepAndRun(w);
    expect(await w.read(intent.id)).toMatchObject({ state: 'confirmed', externalId: 'R-1' });
    expect([w.outside.posts(), w.outside.gets()]).toEqual([1, gets + 1]);
  });

  it('that is not what the provider shows is handed over again, and the right one still confirms', async () => {
    const w = blind({ script: ['lost'] });
    const intent = await handedOver(w);
    await decideAs(w, 'ann', intent, attach('R-9'));
    await sweepAndRun(w);
    expect(await state(w, intent)).toBe('handover mismatch');
    await decideAs(w, 'ann', intent, attach('R-1'));
    await sweepAndRun(w);
    expect([await state(w, intent), w.outside.posts()]).toEqual(['confirmed', 1]);
  });

  it("that is another intent's record is refused", async () => {
    const w = blind({ script: ['lost'] });
    const intent = await handedOver(w);
    await bindTo(w, 'R-1', 'int_other');
    expect(await decideAs(w, 'ann', intent, attach('R-1'))).toEqual({
      kind: 'refused',
      reason: 'bound_elsewhere',
    });
    expect(await state(w, intent)).toBe('handover blind');
  });
});

const bindingOf = (externalId: string) =>
  ({
    provider: 'warehouse',
    account: 'tokyo-1',
    environment: 'test',
    kind: 'reservation',
    externalId,
  }) as const;
const bindTo = (w: World, externalId: string, intentId: string) =>
  w.ledger.bind(bindingOf(externalId), { tenant: 'acme', intentId });
const holderOf = async (w: World, externalId: string) =>
  (await w.ledger.boundTo(bindingOf(externalId)))?.intentId;

/** Two or more records under our reference, one of which we made. */
async function handedOverMany(surplus = 1): Promise<{ w: World; intent: Intent }> {
  const w = world({ ...SEARCHABLE, script: ['lost'], ...policy({ resend: 'after_search' }) });
  const { id, input } = await w.begin();
  await w.steps['Send']?.(input);
  for (let count = 0; count < surplus; count += 1) w.outside.add(ORDER, { sku: 'TEA-01', quantity: 2 });
  const intent = await w.untilQuiet(id);
  expect(await state(w, intent)).toBe('handover many');
  return { w, intent };
}

describe('many records', () => {
  const settle = (keep: string, ...surplus: string[]): Decision => ({ kind: 'settle_many', keep, surplus });

  it('settled on one: it confirms, the others are bound here and count no longer', async () => {
    const { w, intent } = await handedOverMany(2);
    await decideAs(w, 'ann', intent, settle('R-1', 'R-2', 'R-3'));
    expect(await holderOf(w, 'R-2'), 'a proposal binds nothing').toBeUndefined();
    await agreeAs(w, 'otto', intent);
    expect([await holderOf(w, 'R-2'), await holderOf(w, 'R-3')]).toEqual([intent.id, intent.id]);
    expect(await state(w, intent)).toBe('acknowledged');
    await sweepAndRun(w);
    const after = await w.read(intent.id);
    expect(after).toMatchObject({ state: 'confirmed', externalId: 'R-1', surplus: ['R-2', 'R-3'] });
    expect([w.outside.posts(), await holderOf(w, 'R-1')]).toEqual([1, intent.id]);
  });

  it('settled but for one that was left out is handed over again', async () => {
    const { w, intent } = await handedOverMany(2);
    await byTwo(w, intent, settle('R-1', 'R-2'));
    await sweepAndRun(w);
    expect(await state(w, intent)).toBe('handover many');
    await byTwo(w, intent, settle('R-1', 'R-3'));
    await sweepAndRun(w);
    expect(await w.read(intent.id)).toMatchObject({ state: 'confirmed', surplus: ['R-2', 'R-3'] });
  });

  it.each(['R-1', 'R-3'])("of which %s is another intent's: refused, and nothing is bound", async (taken) => {
    const { w, intent } = await handedOverMany(2);
    await bindTo(w, taken, 'int_other');
    const refused = { kind: 'refused', reason: 'bound_elsewhere' };
    expect(await decideAs(w, 'ann', intent, settle('R-1', 'R-2', 'R-3'))).toEqual(refused);
    expect(await holderOf(w, 'R-2')).toBeUndefined();
  });

  it.each(['R-1', 'R-2'])(
    "of which %s became another intent's since are refused at the agreement",
    async (id) => {
      const { w, intent } = await handedOverMany();
      await decideAs(w, 'ann', intent, settle('R-1', 'R-2'));
      await bindTo(w, id, 'int_other');
      expect(await agreeAs(w, 'otto', intent)).toEqual({ kind: 'refused', reason: 'bound_elsewhere' });
      expect(await state(w, intent)).toBe('handover many');
    },
  );
});

describe('closing and opening again', () => {
  it('attested: no receipt, no further look, and the id is nobody else’s', async () => {
    const w = blind({ script: ['lost'] });
    const intent = await handedOver(w);
    const after = await byTwo(w, intent, { kind: 'close', outcome: 'attested', externalId: 'R-1' });
    expect(after).toMatchObject({ state: 'closed', outcome: 'attested', attestedId: 'R-1', receipt: null });
    expect(await holderOf(w, 'R-1')).toBe(intent.id);
    const gets = w.outside.gets();
    w.clock.advance(30 * DAY_MS);
    await sweepAndRun(w);
    expect([w.outside.posts(), w.outside.gets()]).toEqual([1, gets]);
  });

  it("attested with another intent's id is refused", async () => {
    const w = blind({ script: ['lost'] });
    const intent = await handedOver(w);
    await bindTo(w, 'R-1', 'int_other');
    const decided = await decideAs(w, 'ann', intent, {
      kind: 'close',
      outcome: 'attested',
      externalId: 'R-1',
    });
    expect(decided).toEqual({ kind: 'refused', reason: 'bound_elsewhere' });
  });

  it('reopened it is handed over again, and one look later it is what the look shows', async () => {
    const w = world({ ...SEARCHABLE, script: ['lost'], ...policy({ resend: 'after_search' }) });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    const unknown = await w.read(id);
    const handover = { reason: 'exhausted', candidates: [], at: w.clock.now() } as const;
    const due = { dueAt: w.clock.now() };
    const asked = await apply(w.deps, unknown, { kind: 'must_hand_over', handover, ...due });
    if (asked === undefined) throw new Error('not handed over');
    await apply(w.deps, asked, { kind: 'handed_over', ...due });
    await byTwo(w, unknown, { kind: 'close', outcome: 'undetermined' });
    expect(await state(w, unknown)).toBe('closed');
    expect(await decideAs(w, 'ann', unknown, { kind: 'reopen' })).toMatchObject({ kind: 'done' });
    expect(await state(w, unknown)).toBe('handover reopened');
    await lookAgain(w.deps)(refOf(unknown), 'sales');
    expect((await w.untilQuiet(id)).state).toBe('confirmed');
    expect(w.outside.posts()).toBe(1);
  });

  it('is possible when the route is gone, as far as nothing outside is needed for it', async () => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    w.clock.advance(2 * DAY_MS);
    Object.assign(w.deps, { routes: registryOf([]) });
    const gone = { kind: 'refused', reason: 'route_not_configured' };
    expect(await decideAs(w, 'ann', intent, attach('R-1'))).toEqual(gone);
    expect(await decideAs(w, 'ann', intent, absentAt(w.clock.now()))).toEqual(gone);
    const early: Decision = { kind: 'close', outcome: 'no_effect', lookedAt: NOW + DAY_MS };
    expect(await decideAs(w, 'ann', intent, early), 'no bound is known any more').toMatchObject({
      reason: 'looked_too_early',
    });
    const after = await byTwo(w, intent, { ...early, lookedAt: w.clock.now() });
    expect(after).toMatchObject({ state: 'closed', outcome: 'no_effect' });
  });
});

describe('looking again', () => {
  it('after the time that a person named, and not before', async () => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    const until = w.clock.now() + 2 * DAY_MS;
    expect(await decideAs(w, 'ann', intent, { kind: 'wait_until', until })).toMatchObject({
      kind: 'done',
      intent: { state: 'handover', dueAt: until },
    });
    w.clock.advance(2 * DAY_MS - 1);
    await sweepAndRun(w);
    expect(await w.read(intent.id)).toMatchObject({ waitUntil: until, runs: intent.runs });
    w.clock.advance(1);
    await sweepAndRun(w);
    const after = await w.read(intent.id);
    expect([after.waitUntil, after.searchingSince, w.outside.posts()]).toEqual([null, until, 1]);
    expect(await state(w, intent)).toBe('handover blind');
  });

  it.each<[keyof Found, Found[keyof Found]]>([
    ['lost', { state: 'confirmed', posts: 1 }],
    ['swallowed', { state: 'unknown', posts: 1 }],
  ])('while unknown (%s) starts a search, never a write', async (play, expected) => {
    const w = world({ ...SEARCHABLE, script: [play], ...policy({ resend: 'after_search' }) });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    expect(await state(w, { id })).toBe('unknown');
    const looked = await lookAgain(w.deps)({ tenant: 'acme', intentId: id }, 'sales');
    expect(looked.kind).toBe('started');
    const run = w.queue.shift();
    if (run === undefined) throw new Error('no run');
    const first = await w.steps['Send']?.(run);
    expect([first?.next, w.outside.posts(), w.outside.gets()]).toEqual(['search', 1, 0]);
    const second = await w.steps['Search']?.(run);
    if (second?.next === 'verify') await w.steps['Verify']?.(run);
    expect(w.outside.gets()).toBeGreaterThan(0);
    expect([await state(w, { id }), w.outside.posts()]).toEqual([expected.state, expected.posts]);
  });

  it('at a handed-over intent never sends, however often', async () => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    for (let time = 0; time < 3; time += 1) {
      await lookAgain(w.deps)(refOf(intent), 'sales');
      await w.drain();
      w.clock.advance(DAY_MS);
    }
    expect([await state(w, intent), w.outside.posts()]).toEqual(['handover blind', 1]);
  });
});
type Found = Record<'lost' | 'swallowed', { state: string; posts: number }>;

describe('a proposal', () => {
  const proposed = async (): Promise<{ w: World; intent: Intent; id: string }> => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    const answer = await decideAs(w, 'ann', intent, absentAt(w.clock.now()));
    if (answer.kind !== 'proposed') throw new Error(answer.kind);
    return { w, intent, id: answer.intent.proposal?.id ?? '' };
  };

  it.each<[string, Decided]>([
    ['ann', { kind: 'not_second', who: 'proposer' }],
    ['shop', { kind: 'not_second', who: 'submitter' }],
  ])('is not carried out by %s', async (by, expected) => {
    const { w, intent } = await proposed();
    expect(await agreeAs(w, by, intent)).toEqual(expected);
    await sweepAndRun(w);
    expect([await state(w, intent), w.outside.posts()]).toEqual(['handover blind', 1]);
  });

  it.each([-1, 0, 1])('agreed to %i ms around its end', async (distance) => {
    const { w, intent } = await proposed();
    w.clock.advance(DAY_MS + distance);
    expect((await agreeAs(w, 'otto', intent)).kind).toBe(distance < 0 ? 'done' : 'proposal_gone');
  });

  it('is replaced by a second one, and both stay in the evidence', async () => {
    const { w, intent, id } = await proposed();
    await decideAs(w, 'otto', intent, { kind: 'close', outcome: 'undetermined' });
    expect((await agreeAs(w, 'carl', intent, id)).kind).toBe('proposal_gone');
    expect(await agreeAs(w, 'ann', intent)).toMatchObject({ kind: 'done', intent: { state: 'closed' } });
    const { items } = await w.ledger.evidence(refOf(intent), 10, null);
    const facts = items.filter(({ kind }) => kind === 'decision').map((each) => each.facts);
    expect(facts).toMatchObject([
      {
        did: 'proposed',
        by: 'ann',
        reason: 'looked it up',
        decision: { kind: 'declare_absent', lookedAt: expect.stringMatching(/^2026-.*Z$/) },
      },
      { did: 'proposed', by: 'otto', decision: { kind: 'close' } },
      { did: 'agreed', by: 'ann', proposedBy: 'otto', decision: { kind: 'close', outcome: 'undetermined' } },
    ]);
  });

  it.each<[string, LifeEvent | 'look_again']>([
    ['evidence from outside', { kind: 'evidence_came', seen: false, externalId: null, dueAt: NOW }],
    ['a conflict under its key', { kind: 'conflicted' }],
    ['another look', 'look_again'],
  ])('is void after %s', async (_, event) => {
    const { w, intent, id } = await proposed();
    const read = await w.read(intent.id);
    if (event === 'look_again') await lookAgain(w.deps)(refOf(intent), 'sales');
    else await apply(w.deps, read, event);
    const old = { by: 'otto', version: read.version, agreesTo: id, reason: null };
    expect(await agree(w.deps)(refOf(intent), 'sales', old)).toEqual({ kind: 'stale' });
    expect(await agreeAs(w, 'otto', intent, id)).toEqual({ kind: 'proposal_gone' });
    await sweepAndRun(w);
    expect(w.outside.posts()).toBe(1);
  });

  it('is judged again at the agreement: what the provider promises may be known better by then', async () => {
    const { w, intent } = await proposed();
    const route = routeTo('http://127.0.0.1:1', { applyDelayMs: DAY_MS });
    const routes = registryOf([route], [{ ...unsearchable, promise: bare }]);
    Object.assign(w.deps, { routes });
    expect(await agreeAs(w, 'otto', intent)).toMatchObject({ reason: 'looked_too_early' });
    await sweepAndRun(w);
    expect(w.outside.posts()).toBe(1);
  });

  it('outlives reminders and owners', async () => {
    const { w, intent } = await proposed();
    const dueAt = w.clock.now();
    for (const event of [
      { kind: 'run_started', dueAt },
      { kind: 'deferred', dueAt },
      { kind: 'owned', owner: { by: 'otto', at: dueAt } },
    ] as const) {
      await apply(w.deps, await w.read(intent.id), event);
    }
    expect((await agreeAs(w, 'otto', intent)).kind).toBe('done');
  });

  it('of which two people make two at once: one stands, the other is stale', async () => {
    const w = blind({ script: ['swallowed'] });
    const intent = await handedOver(w);
    const answers = await Promise.all(
      ['ann', 'otto'].map((by) => decideAs(w, by, intent, absentAt(w.clock.now()))),
    );
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['proposed', 'stale']);
  });

  it("of another unit's or of no intent is absent", async () => {
    const { w, intent, id } = await proposed();
    const { version } = await w.read(intent.id);
    const wish = { by: 'otto', version, agreesTo: id, reason: null };
    expect(await agree(w.deps)(refOf(intent), 'rental', wish)).toEqual({ kind: 'absent' });
    expect(await agree(w.deps)({ tenant: 'umbra', intentId: intent.id }, 'sales', wish)).toEqual({
      kind: 'absent',
    });
  });
});

it('a crash at every call of proposing and agreeing leaves a state that goes on, with one further POST', async () => {
  for (const mode of CRASH_MODES) {
    let reached = 0;
    for (let at = 0; at < 12; at += 1) {
      const w = blind({ script: ['swallowed'] });
      const intent = await handedOver(w);
      const plan = crashes([{ at, mode }]);
      const faulty = { ...w.deps, ledger: plan.ledger(w.ledger) };
      const lookedAt = w.clock.now();
      const attempt = (work: (version: number, agreesTo: string) => Promise<Decided>) =>
        // Whoever got no answer reads again and tries again.
        [1, 2].map((_) => async () => {
          const { version, proposal, state: now } = await w.read(intent.id);
          if (now !== 'handover') return;
          await plan.live(work(version, proposal?.id ?? 'none').catch(() => 'failed' as const));
        });
      const wish = { by: 'ann', decision: absentAt(lookedAt), reason: 'looked' };
      const steps = [
        ...attempt((version) => decide(faulty)(refOf(intent), 'sales', { ...wish, version })),
        ...attempt((version, agreesTo) =>
          agree(faulty)(refOf(intent), 'sales', { by: 'otto', version, agreesTo, reason: null }),
        ),
      ];
      for (const step of steps) await step();
      reached += plan.hits();
      const after = await w.untilQuiet(intent.id);
      const found = [after.state, w.outside.posts(), w.outside.effects(ORDER)];
      expect(found, `${mode} at ${at}`).toEqual(['confirmed', 2, 1]);
    }
    expect(reached, `${mode} was met`).toBeGreaterThan(5);
  }
});

/** Evidence that comes once everything has ended: between two saves, for a second time, or against what people closed. */
import { describe, expect, test } from 'vitest';
import type { FollowUp, Intent } from '../../lib/domain/intent.ts';
import type { ProviderPromise } from '../../lib/domain/promise.ts';
import { again } from '../../lib/operations/again.ts';
import { agree, decide } from '../../lib/operations/decide.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { intentIdOf } from '../../lib/workflow/accept.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { IN_STATE, NOW } from '../support/kit.ts';
import { cutAfterSave, type Listening, listening } from '../support/outside-events.ts';
import { type Desk, scriptedDesk } from '../support/scripted-desk.ts';
import { ORDER, type World } from '../support/world.ts';

const LINES = { sku: 'TEA-01', quantity: 2 };
const DAY = 86_400_000;
/** Nothing there makes one of two equal requests. */
const KEYLESS = { key: undefined } as unknown as Partial<ProviderPromise>;
/** The id that a submission of `ORDER` gets. */
const SUBMITTED = intentIdOf('acme', 'sales', { environment: 'test', action: 'reserve' }, ORDER);
const refOf = (intentId: string) => ({ tenant: 'acme', intentId });
const told = (id: string, reference: string, externalId: string) => ({ id, reference, externalId });

async function pass(w: World): Promise<void> {
  await sweep(w.deps).runOnce();
  await w.drain();
}
const isFrozen = async (w: World): Promise<boolean> =>
  (await w.ledger.readForSend(refOf(SUBMITTED), 'warehouse')).frozen;
const events = (w: World): string[] => w.logged.map(({ event }) => event);

describe('evidence of a second effect while the follow-up is still to be made', () => {
  const TOLD: FollowUp = { route: 'notes', payload: { text: 'told' } };

  /** Confirmed, and the run died before it could make the follow-up. */
  async function cutOff(): Promise<Listening & { desk: Desk; id: string }> {
    const desk = scriptedDesk();
    const cut = cutAfterSave((_, after) => after.state === 'confirmed');
    const l = listening({ beside: desk.beside, wrapLedger: cut.wrap });
    const { id, state, followUp } = await l.w.settle({ followWith: TOLD });
    expect([cut.hits(), state, followUp]).toEqual([1, 'confirmed', null]);
    return { ...l, desk, id };
  }
  async function followed(w: World, desk: Desk, intent: Intent): Promise<void> {
    if (intent.followUp === null) throw new Error('Nothing follows it.');
    expect((await w.untilQuiet(intent.followUp)).state).toBe('confirmed');
    expect([desk.posts(), desk.effects('/notes', { text: 'told' })]).toEqual([1, 1]);
  }

  test.each<[boolean, string | undefined, string]>([
    [false, undefined, 'a look finds nothing'],
    [true, 'second_effect', 'a look finds it'],
  ])('that exists: %s ends with %j and the follow-up made, because %s', async (isThere, incident) => {
    const { w, tell, desk, id } = await cutOff();
    if (isThere) w.outside.add(ORDER, LINES);
    await tell(told('e9', id, isThere ? 'R-2' : 'R-77'));
    const end = await w.untilQuiet(id);
    expect([end.state, end.incident?.reason, end.contraryAt, end.dueAt]).toEqual([
      'confirmed',
      incident,
      null,
      null,
    ]);
    expect(await isFrozen(w)).toBe(isThere);
    await followed(w, desk, end);
  });

  test('that comes after the plan to make it is looked into after it was made', async () => {
    const { w, tell, desk, id } = await cutOff();
    const input = runInput(await w.read(id));
    expect(await w.steps['Send']?.(input)).toEqual({ next: 'verify' });
    w.outside.add(ORDER, LINES);
    await tell(told('e9', id, 'R-2'));
    await w.steps['Verify']?.(input);
    const between = await w.read(id);
    expect([between.followUp !== null, between.contraryAt, between.dueAt]).toEqual([true, NOW, NOW]);
    const end = await w.untilQuiet(id);
    expect([end.incident?.reason, end.contraryAt, end.dueAt]).toEqual(['second_effect', null, null]);
    await followed(w, desk, end);
  });

  test.each([true, false])('is found by the audit, the route of the follow-up gone: %s', async (gone) => {
    const desk = scriptedDesk();
    const { w } = listening({ beside: desk.beside, keyed: false, promise: KEYLESS });
    const { id, input } = await w.begin({ followWith: TOLD });
    const { all } = w.deps.routes;
    const left = all.filter(({ route }) => !gone || route.name === 'warehouse');
    w.deps.routes = registryOf(
      left.map(({ route }) => route),
      left.map(({ provider }) => provider),
    );
    await w.run(input);
    expect((await w.read(id)).promiseClass).toBe('searchable');
    w.outside.add(ORDER, LINES);
    for (let day = 0; day < 3; day += 1) {
      w.clock.advance(DAY);
      await pass(w);
    }
    const end = await w.read(id);
    expect([end.state, end.incident?.reason]).toEqual(['confirmed', 'second_effect']);
    expect([end.followUp === null, end.dueAt === null]).toEqual([gone, !gone]);
  });
});

describe('later evidence', () => {
  test.each<[boolean, string]>([
    [true, 'the window of a false one before it says nothing'],
    [false, 'it is the first'],
  ])('has a window of its own, after an earlier one: %s, because %s', async (isSecond) => {
    const at = { tell: Number.POSITIVE_INFINITY, add: Number.POSITIVE_INFINITY };
    const past = (what: 'tell' | 'add'): boolean => {
      const isPast = l.w.clock.now() >= at[what];
      if (isPast) at[what] = Number.POSITIVE_INFINITY;
      return isPast;
    };
    const l: Listening = listening({
      keyed: false,
      route: { visibilityLagMs: 5000 },
      wrapLedger: (ledger) => ({
        ...ledger,
        // At the beginning of a look at what came before.
        readForSend: async (ref, route) => {
          if (past('tell')) await l.tell(told('e2', ref.intentId, 'R-2'), { ...l.w.deps, ledger });
          if (past('add')) l.w.outside.add(ORDER, LINES);
          return ledger.readForSend(ref, route);
        },
      }),
    });
    const { id } = await l.w.settle();
    // A window is 20 500: the second event comes near the end of the first one's, and what it tells of after it.
    at.add = l.w.clock.now() + 25_000;
    if (isSecond) {
      at.tell = l.w.clock.now() + 20_000;
      await l.tell(told('e1', id, 'R-8'));
    } else {
      l.w.clock.advance(20_000);
      await l.tell(told('e2', id, 'R-2'));
    }
    const end = await l.w.untilQuiet(id);
    expect([at.tell, at.add]).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
    expect([end.state, end.incident?.reason, end.contraryAt]).toEqual(['confirmed', 'second_effect', null]);
    expect(l.w.outside.effects(ORDER)).toBe(2);
  });

  test('of a second effect that is known freezes no second time', async () => {
    const { w, tell } = listening({ keyed: false });
    const { id } = await w.settle();
    w.outside.add(ORDER, LINES);
    await tell(told('e1', id, 'R-2'));
    await w.untilQuiet(id);
    expect([(await w.read(id)).incident?.reason, await isFrozen(w)]).toEqual(['second_effect', true]);
    await w.ledger.thaw('warehouse', { by: 'otto', why: 'settled with the warehouse', at: w.clock.now() });
    const looks = w.outside.gets();
    await tell(told('e2', id, 'R-2'));
    const end = await w.untilQuiet(id);
    expect([await isFrozen(w), w.outside.gets() > looks, end.contraryAt]).toEqual([false, true, null]);
    expect(events(w).filter((event) => event === 'duplicate_risk')).toHaveLength(1);
    w.outside.add(ORDER, LINES);
    await tell(told('e3', id, 'R-3'));
    await w.untilQuiet(id);
    expect(await isFrozen(w), 'a third one is news').toBe(true);
  });

  test('of a closed intent is over once people opened it and closed it again', async () => {
    const { w, tell } = listening();
    const { id, unit } = IN_STATE.unknown;
    await w.ledger.create({ ...IN_STATE.unknown, state: 'closed', outcome: 'undetermined', dueAt: null });
    await tell(told('e1', id, 'R-1'));
    const wish = (by: string, { version }: Intent) => ({ by, version, reason: 'looked there' });
    const opened = await decide(w.deps)(refOf(id), unit, {
      ...wish('ann', await w.read(id)),
      decision: { kind: 'reopen' },
    });
    expect(opened).toMatchObject({ kind: 'done', intent: { state: 'handover', contraryAt: null } });
    const decision = { kind: 'close', outcome: 'undetermined' } as const;
    const proposed = await decide(w.deps)(refOf(id), unit, { ...wish('ann', await w.read(id)), decision });
    if (proposed.kind !== 'proposed') throw new Error(proposed.kind);
    const agreesTo = proposed.intent.proposal?.id ?? '';
    const agreed = await agree(w.deps)(refOf(id), unit, { ...wish('bea', proposed.intent), agreesTo });
    expect(agreed).toMatchObject({
      kind: 'done',
      intent: { state: 'closed', contraryAt: null, dueAt: null },
    });
    const looks = w.outside.gets();
    w.clock.advance(3 * DAY);
    await pass(w);
    expect([w.outside.gets(), (await w.read(id)).contraryAt]).toEqual([looks, null]);
    expect((await again(w.deps)(refOf(id), unit, { by: 'ann', reason: 'wanted' })).kind).toBe('accepted');
  });

  test.each<[boolean, Intent['state'], string]>([
    [true, 'handover', 'there is one that they did not know of'],
    [false, 'closed', 'there is none'],
  ])('of another id, over which people closed: %s is %s in the end, because %s', async (isThere, state) => {
    const { w, tell } = listening();
    const { id, unit } = IN_STATE.handover;
    w.outside.add(ORDER, LINES);
    await w.ledger.create({ ...IN_STATE.acknowledged, dueAt: NOW * 2 });
    await tell(told('e1', id, 'R-2'));
    const before = await w.read(id);
    expect(before.contraryAt).toBe(NOW);
    const handover = { reason: 'mismatch', candidates: ['R-1'], at: NOW } as const;
    await w.ledger.save(before, { ...before, state: 'handover', handover }, { kind: 'unchanged' });
    const decision = { kind: 'close', outcome: 'attested', externalId: 'R-1' } as const;
    const wish = { by: 'ann', version: before.version + 1, decision, reason: 'it is there' };
    const proposed = await decide(w.deps)(refOf(id), unit, wish);
    if (proposed.kind !== 'proposed') throw new Error(proposed.kind);
    const { version, proposal } = proposed.intent;
    const second = { by: 'bea', version, agreesTo: proposal?.id ?? '', reason: null };
    expect(await agree(w.deps)(refOf(id), unit, second)).toMatchObject({ intent: { dueAt: NOW } });
    if (isThere) w.outside.add(ORDER, LINES);
    const end = await w.untilQuiet(id);
    expect([end.state, end.contraryAt]).toEqual([state, null]);
  });

  test('that no look supports is handed over in the log too', async () => {
    const { w, tell } = listening();
    const accepted = await w.submit({ plannedAt: NOW + 3_600_000 });
    expect(accepted.kind).toBe('accepted');
    await tell(told('e1', SUBMITTED, 'R-5'));
    const end = await w.untilQuiet(SUBMITTED);
    expect([end.state, end.handover?.reason]).toEqual(['handover', 'contrary_evidence']);
    const logged = w.logged.filter(({ event }) => event === 'handed_over');
    expect(logged.map(({ fields }) => [fields.intentId, fields['reason']])).toEqual([
      [SUBMITTED, 'contrary_evidence'],
    ]);
  });
});

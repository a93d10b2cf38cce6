/** What follows a confirmed intent: made exactly once, an intent of its own, and never a part of its parent's truth. */
import { describe, expect, it } from 'vitest';
import type { FollowUp, Intent } from '../../lib/domain/intent.ts';
import { approve } from '../../lib/operations/approve.ts';
import { viewOf } from '../../lib/operations/trail.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { apply } from '../../lib/workflow/deps.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { verify } from '../../lib/workflow/verify.ts';
import { CRASH_MODES, crashes } from '../support/crash.ts';
import { BY_APPROVAL, NOW, POLICY, routeTo } from '../support/kit.ts';
import { type Desk, type DeskOptions, scriptedDesk } from '../support/scripted-desk.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const TOLD: FollowUp = { route: 'notes', payload: { text: 'Two packs of tea are reserved.' } };
const ORDERED = { followWith: TOLD };

function desked(options: DeskOptions = {}, more: WorldOptions = {}): { w: World; desk: Desk } {
  const desk = scriptedDesk(options);
  return { w: world({ ...more, beside: desk.beside }), desk };
}

/** Every intent there is but the one. */
async function others(w: World, id: string): Promise<readonly Intent[]> {
  const days = ['2026-11-30', '2026-12-01', '2026-12-02'];
  const pages = await Promise.all(days.map((day) => w.ledger.list('acme', 'sales', day, 100, null)));
  return pages.flatMap((page) => page.items).filter((each) => each.id !== id);
}
async function pass(w: World): Promise<void> {
  await sweep(w.deps).runOnce();
  await w.drain();
}
const thenOf = (intent: Intent) => viewOf(intent, 0).then;

describe('what follows', () => {
  it('is made when its parent is confirmed, due at once, under a key of the server’s', async () => {
    const { w, desk } = desked();
    const accepted = await w.submit({ ...ORDERED, traceIds: { conversation: 'c-1' } });
    if (!('intent' in accepted)) throw new Error(accepted.kind);
    expect(thenOf(accepted.intent)).toEqual({ route: 'notes', state: 'waiting', id: null });
    await w.drain();
    const parent = await w.read(accepted.intent.id);
    const [next, ...more] = await others(w, parent.id);
    expect(more).toEqual([]);
    expect(next).toMatchObject({
      key: `${ORDER}~then-${parent.id.slice(4, 16)}`,
      unit: 'sales',
      submittedBy: 'shop',
      state: 'ready',
      dueAt: w.clock.now(),
      payload: TOLD.payload,
      parent: null,
      followWith: null,
      traceIds: { conversation: 'c-1', follows: parent.id },
    });
    expect([parent.state, parent.followUp, parent.dueAt]).toEqual(['confirmed', next?.id, null]);
    expect(thenOf(parent)).toEqual({ route: 'notes', state: 'created', id: next?.id });
    expect(desk.posts()).toBe(0);
    await pass(w);
    expect([(await w.read(next?.id ?? '')).state, desk.effects('/notes', TOLD.payload)]).toEqual([
      'confirmed',
      1,
    ]);
  });

  it('is one for each parent, also where two parents have one key', async () => {
    const { w, desk } = desked();
    desk.orders.set('R-9', { status: 'open', shipped: false, cancelUntil: null });
    const order = await w.settle(ORDERED);
    const cancelling = { key: ORDER, route: 'cancellations', payload: { order: 'R-9' } };
    const cancel = await w.settle({ ...cancelling, ...ORDERED });
    expect([order.state, cancel.state, order.key]).toEqual(['confirmed', 'confirmed', cancel.key]);
    expect(order.followUp).not.toBe(cancel.followUp);
    await w.untilQuiet(order.followUp ?? '');
    await w.untilQuiet(cancel.followUp ?? '');
    expect(desk.effects('/notes', TOLD.payload)).toBe(2);
  });

  it.each<{ play: 'lost' | 'empty500' | 'refused'; end: Intent['state']; effects: number }>([
    { play: 'lost', end: 'confirmed', effects: 1 },
    { play: 'empty500', end: 'handover', effects: 0 },
    { play: 'refused', end: 'rejected', effects: 0 },
  ])('that is $end after a $play answer leaves its parent as it was', async ({ play, end, effects }) => {
    const { w, desk } = desked({ script: [play] });
    const parent = await w.settle(ORDERED);
    expect((await w.untilQuiet(parent.followUp ?? '')).state).toBe(end);
    expect(await w.read(parent.id)).toEqual(parent);
    expect([w.outside.effects(ORDER), desk.effects('/notes')]).toEqual([1, effects]);
  });

  it('waits for its own approval where its route asks for one, whatever its parent had', async () => {
    const { w, desk } = desked({ route: { policy: { ...POLICY, permission: BY_APPROVAL } } });
    const parent = await w.settle(ORDERED);
    expect(parent.state).toBe('confirmed');
    const id = parent.followUp ?? '';
    await pass(w);
    const waiting = await w.read(id);
    expect([waiting.state, waiting.approval, desk.posts()]).toEqual(['awaiting_approval', null, 0]);
    const wish = { fingerprint: waiting.fingerprint, until: undefined };
    const sign = (by: string) => approve(w.deps)({ tenant: 'acme', intentId: id }, 'sales', { ...wish, by });
    expect(await sign('shop'), 'who submitted the parent submitted this').toMatchObject({
      reason: 'submitter',
    });
    expect(await sign('ann')).toMatchObject({ kind: 'done' });
    await pass(w);
    expect([(await w.read(id)).state, desk.posts()]).toEqual(['confirmed', 1]);
  });

  it('comes before the audit of its parent, and the audit still comes', async () => {
    const { w } = desked({}, { script: ['unavailable'] });
    const parent = await w.settle(ORDERED);
    expect(parent).toMatchObject({ state: 'confirmed', attempts: [{}, {}], followUp: expect.any(String) });
    expect(parent.dueAt).toBeGreaterThan(w.clock.now());
    w.outside.add(ORDER, { sku: 'TEA-01', quantity: 2 });
    expect((await w.untilQuiet(parent.id)).incident).toMatchObject({ reason: 'second_effect' });
  });

  it('stands in the fingerprint: the same key with another one, or none, is a conflict', async () => {
    const { w } = desked();
    expect(await w.submit(ORDERED)).toMatchObject({ kind: 'accepted' });
    expect(await w.submit(ORDERED)).toMatchObject({ kind: 'same' });
    expect(await w.submit()).toEqual({ kind: 'conflict' });
    const other = { route: 'notes', payload: { text: 'Another text.' } };
    expect(await w.submit({ followWith: other })).toEqual({ kind: 'conflict' });
  });

  it.each<[string, FollowUp, string]>([
    ['an unknown route', { route: 'nowhere', payload: {} }, '/then/route'],
    ['another tenant’s payload', { route: 'notes', payload: { words: 'x' } }, '/then/payload/text'],
    [
      'another key',
      { route: 'warehouse', payload: { order_id: 'PO-38', sku: 'TEA-01', quantity: 1 } },
      '/then/payload/order_id',
    ],
  ])('with %s is refused before anything is stored', async (_, followWith, pointer) => {
    const { w } = desked();
    const refused = await w.submit({ followWith });
    expect(refused).toMatchObject({ kind: 'invalid' });
    expect(refused.kind === 'invalid' && refused.faults.map((fault) => fault.pointer)).toContain(pointer);
    expect(await others(w, '')).toEqual([]);
  });
});

describe('nothing follows', () => {
  async function ended(how: 'rejected' | 'withdrawn' | 'late'): Promise<{ w: World; parent: Intent }> {
    const { w } = desked({}, { script: ['refused'] });
    if (how === 'rejected') return { w, parent: await w.settle(ORDERED) };
    const accepted = await w.submit({ ...ORDERED, plannedAt: NOW + 1000, sendBy: NOW + 2000 });
    if (!('intent' in accepted)) throw new Error(accepted.kind);
    if (how === 'withdrawn') await apply(w.deps, accepted.intent, { kind: 'withdrawn' });
    else w.clock.advance(2000);
    return { w, parent: await w.untilQuiet(accepted.intent.id) };
  }

  it.each(['rejected', 'withdrawn', 'late'] as const)(
    'a parent that ended %s, and the view says so',
    async (how) => {
      const { w, parent } = await ended(how);
      expect(parent.state).toBe(how === 'rejected' ? 'rejected' : 'closed');
      expect(thenOf(parent)).toEqual({ route: 'notes', state: 'not_created', id: null });
      expect(viewOf(parent, 0).explanation).toContain('No follow-up is made');
      w.clock.advance(3 * 86_400_000);
      await pass(w);
      expect(await others(w, parent.id)).toEqual([]);
    },
  );

  it('a reopened parent, until it is confirmed after all', async () => {
    const { w, parent } = await ended('late');
    const decide = async (
      decision: { kind: 'reopen' } | { kind: 'attach_external_id'; externalId: string },
    ) => apply(w.deps, await w.read(parent.id), { kind: 'decided', decision, dueAt: w.clock.now() });
    expect((await decide({ kind: 'reopen' }))?.state).toBe('handover');
    await pass(w);
    expect(await others(w, parent.id)).toEqual([]);
    w.outside.add(ORDER, { sku: 'TEA-01', quantity: 2 });
    await decide({ kind: 'attach_external_id', externalId: 'R-1' });
    const confirmed = await w.untilQuiet(parent.id);
    expect(confirmed.state).toBe('confirmed');
    expect((await others(w, parent.id)).map((each) => each.id)).toEqual([confirmed.followUp]);
  });

  it('a parent whose route lets nothing follow any more stays confirmed, and is tried every day', async () => {
    const { w } = desked();
    const { input, id } = await w.begin(ORDERED);
    const only = registryOf([routeTo('http://127.0.0.1:1')], [warehouse]);
    await w.steps['Send']?.(input);
    expect(await verify({ ...w.deps, routes: only })(input)).toEqual({ next: 'end' });
    const parent = await w.read(id);
    expect(parent).toMatchObject({ state: 'confirmed', followUp: null, dueAt: w.clock.now() + 86_400_000 });
    expect(w.logged.map((line) => line.event)).toContain('follow_up_refused');
    const after = await w.untilQuiet(id);
    expect([after.receipt, after.followUp]).toEqual([parent.receipt, (await others(w, id))[0]?.id]);
  });
});

describe('exactly one', () => {
  it('when verify runs many times at once, and again later', async () => {
    const { w } = desked();
    const { input, id } = await w.begin(ORDERED);
    await w.steps['Send']?.(input);
    await Promise.all(Array.from({ length: 10 }, () => w.steps['Verify']?.(input)));
    await w.run(input);
    await w.run(runInput(await w.read(id)));
    expect((await others(w, id)).map((each) => each.id)).toEqual([(await w.read(id)).followUp]);
  });

  it.each([
    { name: 'plain', script: [] },
    { name: 'answer lost', script: ['lost'] },
  ] as const)('whatever call is the last one before a crash: $name', async ({ script }) => {
    const play = async (points: Parameters<typeof crashes>[0]) => {
      const plan = crashes(points);
      const faults = {
        live: plan.live,
        wrapLedger: plan.ledger,
        wrapTransport: plan.transport,
        wrapStart: plan.start,
      };
      const { w, desk } = desked({}, { script, ...faults });
      let id: string | undefined;
      while (id === undefined) {
        const accepted = await plan.live(w.submit(ORDERED).catch(() => 'failed' as const));
        if (accepted !== 'dead' && accepted !== 'failed' && 'intent' in accepted) id = accepted.intent.id;
      }
      const parent = await w.untilQuiet(id);
      const next = await w.untilQuiet(parent.followUp ?? '');
      const rest = await others(w, id);
      return { plan, desk, w, parent, next, rest };
    };
    const dry = await play([]);
    expect(dry.plan.names.filter((name) => name === 'create')).toHaveLength(2);
    for (let at = 0; at < dry.plan.names.length; at += 1) {
      for (const mode of CRASH_MODES) {
        const { plan, desk, w, parent, next, rest } = await play([{ at, mode }]);
        const where = `${mode} at ${at} (${dry.plan.names[at]})`;
        expect(plan.hits(), where).toBe(1);
        expect([parent.state, parent.externalId, next.state], where).toEqual([
          'confirmed',
          'R-1',
          'confirmed',
        ]);
        expect(
          rest.map((each) => each.id),
          where,
        ).toEqual([parent.followUp]);
        expect([w.outside.effects(ORDER), desk.effects('/notes')], where).toEqual([1, 1]);
      }
    }
  });
});

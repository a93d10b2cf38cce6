/** Corrections wait for what they correct; cancellations ask the provider first. Each has an approval of its own. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { approve } from '../../lib/operations/approve.ts';
import { viewOf } from '../../lib/operations/trail.ts';
import { apply } from '../../lib/workflow/deps.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { CRASH_MODES, crashes } from '../support/crash.ts';
import { BY_APPROVAL, NOW, POLICY } from '../support/kit.ts';
import { type Desk, type DeskOptions, type DeskOrder, scriptedDesk } from '../support/scripted-desk.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const OPEN_ORDER: DeskOrder = { status: 'open', shipped: false, cancelUntil: NOW + 3_600_000 };
const APPROVED = { route: { policy: { ...POLICY, permission: BY_APPROVAL } } };

function desked(options: DeskOptions = {}, more: WorldOptions = {}): { w: World; desk: Desk } {
  const desk = scriptedDesk(options);
  desk.orders.set('R-1', OPEN_ORDER);
  return { w: world({ ...more, beside: desk.beside }), desk };
}

async function cancelled(w: World, corrects: string | null = null, change: object = {}): Promise<Intent> {
  const payload = { order: 'R-1' };
  const accepted = await w.submit({ key: 'C-1', route: 'cancellations', payload, corrects, ...change });
  if (!('intent' in accepted)) throw new Error(accepted.kind);
  return accepted.intent;
}

/** The sweep, and what it starts. */
async function pass(w: World): Promise<void> {
  await sweep(w.deps).runOnce();
  await w.drain();
}
const signed = (w: World, intent: Intent) =>
  approve(w.deps)({ tenant: 'acme', intentId: intent.id }, 'sales', {
    by: 'ann',
    fingerprint: intent.fingerprint,
    until: undefined,
  });

describe('a correction', () => {
  it('waits for its original by name, looks every minute, and goes on by itself', async () => {
    const { w, desk } = desked({}, { script: ['saved500'] });
    const original = await w.begin();
    await w.steps['Send']?.(original.input);
    const handover = { reason: 'exhausted', candidates: [], at: NOW } as const;
    const before = await w.read(original.id);
    await w.ledger.save(
      before,
      { ...before, state: 'handover', handover, dueAt: NOW * 2 },
      { kind: 'unchanged' },
    );
    const made = await cancelled(w, original.id);
    expect([made.state, made.corrects]).toEqual(['awaiting_approval', original.id]);
    for (let minute = 0; minute < 30; minute += 1) {
      await pass(w);
      const waiting = await w.read(made.id);
      expect([waiting.state, waiting.waitsFor]).toEqual(['awaiting_approval', original.id]);
      expect(waiting.dueAt).toBe(w.clock.now() + 60_000);
      w.clock.advance(60_000 - 1);
      await sweep(w.deps).runOnce();
      expect(w.queue).toEqual([]);
      w.clock.advance(1);
    }
    expect(desk.posts()).toBe(0);
    await apply(w.deps, await w.read(original.id), { kind: 'look_again', dueAt: w.clock.now() });
    expect((await w.untilQuiet(original.id)).state).toBe('confirmed');
    const after = await w.untilQuiet(made.id);
    expect([after.state, after.waitsFor, desk.effects('/cancellations')]).toEqual(['confirmed', null, 1]);
    expect(await w.read(original.id)).toMatchObject({
      state: 'confirmed',
      externalId: 'R-1',
      incident: null,
    });
  });

  it.each<[Intent['state'], Partial<Intent>]>([
    ['rejected', { state: 'rejected', dueAt: null }],
    ['closed', { state: 'closed', outcome: 'undetermined', dueAt: null }],
  ])('goes on after an original that ended %s', async (_, change) => {
    const { w, desk } = desked({}, { script: ['saved500'] });
    const original = await w.begin();
    await w.steps['Send']?.(original.input);
    const made = await cancelled(w, original.id);
    await pass(w);
    const before = await w.read(original.id);
    await w.ledger.save(before, { ...before, ...change }, { kind: 'unchanged' });
    expect((await w.untilQuiet(made.id)).state).toBe('confirmed');
    expect(desk.posts()).toBe(1);
  });

  it('approved meanwhile goes as soon as its original has settled; unapproved it waits on', async () => {
    for (const early of [true, false]) {
      const { w, desk } = desked(APPROVED, { script: ['saved500'] });
      const original = await w.begin();
      await w.steps['Send']?.(original.input);
      const made = await cancelled(w, original.id);
      if (early) expect(await signed(w, made)).toMatchObject({ kind: 'done' });
      await pass(w);
      const waiting = await w.read(made.id);
      expect([waiting.state, waiting.waitsFor, desk.posts()]).toEqual(['awaiting_approval', original.id, 0]);
      await w.untilQuiet(original.id);
      w.clock.advance(60_000);
      await pass(w);
      const after = await w.read(made.id);
      expect([after.state, after.waitsFor]).toEqual([early ? 'confirmed' : 'awaiting_approval', null]);
      expect(desk.posts()).toBe(early ? 1 : 0);
      if (early) continue;
      expect(after.dueAt).toBe(made.sendBy);
      await signed(w, after);
      await pass(w);
      expect([(await w.read(made.id)).state, desk.posts()]).toEqual(['confirmed', 1]);
    }
  });

  it('that is ready falls back when its original is open again', async () => {
    const { w, desk } = desked();
    const original = await w.settle();
    const made = await cancelled(w, original.id, { plannedAt: NOW + 600_000 });
    await pass(w);
    expect((await w.read(made.id)).state).toBe('ready');
    const handover = { reason: 'reopened', candidates: [], at: NOW } as const;
    const before = await w.read(original.id);
    await w.ledger.save(
      before,
      { ...before, state: 'handover', handover, dueAt: NOW * 2 },
      { kind: 'unchanged' },
    );
    w.clock.advance(600_000);
    await pass(w);
    await pass(w);
    expect(await w.read(made.id)).toMatchObject({ state: 'awaiting_approval', attempts: [] });
    expect(desk.posts()).toBe(0);
  });

  it('has its own id and key, and does not settle with its original', async () => {
    const { w } = desked({ script: ['empty500'] });
    const original = await w.settle();
    const made = await cancelled(w, original.id);
    expect(made.id).not.toBe(original.id);
    expect(await w.untilQuiet(made.id)).toMatchObject({ state: 'handover', attempts: [{ number: 1 }] });
    expect(await w.read(original.id)).toEqual(original);
    expect(viewOf(await w.read(made.id), 0)).toMatchObject({ corrects: original.id });
  });

  it.each([
    ['nobody’s', 'sales', `int_${'0'.repeat(40)}`],
    ['another unit’s', 'rental', null],
  ])('of an intent that is %s is refused as of none', async (_, unit, id) => {
    const { w } = desked();
    const original = await w.settle();
    const payload = { order: 'R-1' };
    const submission = { key: 'C-1', route: 'cancellations', payload, unit, corrects: id ?? original.id };
    expect(await w.submit(submission)).toEqual({
      kind: 'invalid',
      faults: [{ pointer: '/corrects', detail: 'There is no such intent.' }],
    });
  });

  it('stands in the fingerprint: the same key without it, or of another intent, is a conflict', async () => {
    const { w } = desked();
    const original = await w.settle();
    const other = await w.settle({
      key: 'PO-38',
      payload: { order_id: 'PO-38', sku: 'TEA-01', quantity: 1 },
    });
    await cancelled(w, original.id);
    const again = { key: 'C-1', route: 'cancellations', payload: { order: 'R-1' } };
    expect(await w.submit({ ...again, corrects: original.id })).toMatchObject({ kind: 'same' });
    expect(await w.submit({ ...again, corrects: other.id })).toEqual({ kind: 'conflict' });
    expect(await w.submit(again)).toEqual({ kind: 'conflict' });
  });
});

describe('a cancellation', () => {
  it.each<{ order: Partial<DeskOrder> | null; at?: number; posts: 0 | 1; because: string }>([
    { order: {}, posts: 1, because: 'the order is open' },
    { order: { cancelUntil: null }, posts: 1, because: 'there is no deadline' },
    { order: { cancelUntil: NOW + 1 }, posts: 1, because: 'the deadline is a millisecond away' },
    { order: { cancelUntil: NOW }, posts: 0, because: 'the deadline is exclusive' },
    { order: { cancelUntil: NOW - 1 }, posts: 0, because: 'the deadline has passed' },
    { order: { shipped: true }, posts: 0, because: 'it is shipped' },
    { order: { status: 'cancelled' }, posts: 0, because: 'it is cancelled already' },
    { order: null, posts: 0, because: 'there is no such order' },
  ])('leaves with $posts POST when $because', async ({ order, posts }) => {
    const { w, desk } = desked();
    if (order === null) desk.orders.delete('R-1');
    else desk.orders.set('R-1', { ...OPEN_ORDER, ...order });
    const made = await cancelled(w);
    await w.drain();
    const after = await w.read(made.id);
    expect([after.state, after.handover?.reason ?? null]).toEqual(
      posts === 1 ? ['confirmed', null] : ['handover', 'cannot_compensate'],
    );
    expect([desk.posts(), desk.effects('/cancellations')]).toEqual([posts, posts]);
    const { items } = await w.ledger.evidence({ tenant: 'acme', intentId: made.id }, 20, null);
    expect(items.filter((each) => each.kind === 'check')).toHaveLength(1);
  });

  it('sends no byte from its deadline on, also when that comes between check and claim', async () => {
    const { w, desk } = desked();
    desk.orders.set('R-1', { ...OPEN_ORDER, cancelUntil: NOW + 5000 });
    const { input, id } = await w.begin({ key: 'C-1', route: 'cancellations', payload: { order: 'R-1' } });
    expect(await w.steps['Send']?.(input)).toEqual({ next: 'search' });
    expect(await w.steps['Search']?.(input)).toEqual({ next: 'send' });
    expect(await w.read(id)).toMatchObject({ checkedAt: NOW, cancelUntil: NOW + 5000 });
    w.clock.advance(5000);
    await w.run(input);
    expect(await w.read(id)).toMatchObject({ state: 'handover', attempts: [] });
    expect(desk.posts()).toBe(0);
  });

  it('carries the deadline to the last check before its first byte', async () => {
    const { w, desk } = desked(
      {},
      {
        wrapTransport: (transport) => (request) => {
          w.clock.advance(2000);
          return transport(request);
        },
      },
    );
    desk.orders.set('R-1', { ...OPEN_ORDER, cancelUntil: NOW + 2000 });
    const made = await cancelled(w);
    await w.drain();
    const after = await w.read(made.id);
    expect(after.attempts[0]).toMatchObject({
      sendBefore: NOW + 2000,
      result: { detail: 'withheld:too_late' },
    });
    expect([after.state, after.handover?.reason, desk.posts()]).toEqual(['handover', 'cannot_compensate', 0]);
  });

  it('is asked for again every minute while the question fails, and never sent on a failure', async () => {
    const { w, desk } = desked();
    desk.failures.push('status_500', 'timeout', 'status_503');
    const made = await cancelled(w);
    await w.drain();
    for (let asked = 1; asked <= 2; asked += 1) {
      const waiting = await w.read(made.id);
      expect([waiting.state, waiting.dueAt, desk.posts()]).toEqual(['ready', w.clock.now() + 60_000, 0]);
      w.clock.advance(60_000);
      await pass(w);
    }
    expect((await w.untilQuiet(made.id)).state).toBe('confirmed');
    expect(desk.posts()).toBe(1);
    const { items } = await w.ledger.evidence({ tenant: 'acme', intentId: made.id }, 20, null);
    const checks = items.filter((each) => each.kind === 'check').map((each) => each.facts['reason']);
    expect(checks).toEqual(['status_500', 'timeout', 'status_503', 'ready']);
  });

  it('whose question fails for good is closed at sendBy with nothing sent', async () => {
    const { w, desk } = desked();
    for (let each = 0; each < 20; each += 1) desk.failures.push('status_500');
    const made = await cancelled(w, null, { sendBy: NOW + 600_000 });
    const after = await w.untilQuiet(made.id);
    expect([after.state, after.outcome, desk.posts()]).toEqual(['closed', 'no_effect', 0]);
    expect(w.clock.now()).toBe(NOW + 600_000);
  });

  it('is asked for again when the answer is more than a minute old', async () => {
    const { w, desk } = desked();
    const { input, id } = await w.begin({ key: 'C-1', route: 'cancellations', payload: { order: 'R-1' } });
    await w.steps['Search']?.(input);
    w.clock.advance(60_001);
    desk.orders.set('R-1', { ...OPEN_ORDER, shipped: true });
    await w.run(input);
    expect(await w.read(id)).toMatchObject({ state: 'handover', handover: { reason: 'cannot_compensate' } });
    expect(desk.posts()).toBe(0);
  });

  it('after a lost answer is looked for, not asked about: what it did cannot be done twice', async () => {
    const { w, desk } = desked({ script: ['lost'] });
    const { input, id } = await w.begin({ key: 'C-1', route: 'cancellations', payload: { order: 'R-1' } });
    await w.steps['Search']?.(input);
    await w.steps['Send']?.(input);
    desk.orders.set('R-1', { ...OPEN_ORDER, status: 'cancelled' });
    expect((await w.untilQuiet(id)).state).toBe('confirmed');
    expect([desk.posts(), desk.effects('/cancellations')]).toEqual([1, 1]);
  });

  it('handed over goes on when a person looks again and the provider says yes', async () => {
    const { w, desk } = desked();
    desk.orders.set('R-1', { ...OPEN_ORDER, cancelUntil: NOW });
    const made = await cancelled(w);
    await w.drain();
    const handed = await w.read(made.id);
    expect(handed.state).toBe('handover');
    desk.orders.set('R-1', { ...OPEN_ORDER, cancelUntil: NOW + 60_000 });
    await apply(w.deps, handed, { kind: 'look_again', dueAt: w.clock.now() });
    await w.run(runInput(handed));
    expect([(await w.read(made.id)).state, desk.posts()]).toEqual(['confirmed', 1]);
  });

  it('crashed at every call is sent once, after one yes', async () => {
    const play = async (points: Parameters<typeof crashes>[0]) => {
      const plan = crashes(points);
      const faults = {
        live: plan.live,
        wrapLedger: plan.ledger,
        wrapTransport: plan.transport,
        wrapStart: plan.start,
      };
      const { w, desk } = desked({ script: ['lost'] }, faults);
      let made: Intent | undefined;
      while (made === undefined) {
        const accepted = await plan.live(cancelled(w).catch(() => 'failed' as const));
        if (accepted !== 'dead' && accepted !== 'failed') made = accepted;
      }
      return { plan, desk, end: await w.untilQuiet(made.id) };
    };
    const dry = await play([]);
    for (let at = 0; at < dry.plan.names.length; at += 1) {
      for (const mode of CRASH_MODES) {
        const { desk, end, plan } = await play([{ at, mode }]);
        const where = `${mode} at ${at} (${dry.plan.names[at]})`;
        expect([plan.hits(), end.state, desk.effects('/cancellations')], where).toEqual([1, 'confirmed', 1]);
      }
    }
  });
});

it('a found duplicate is compensated: the original stays confirmed with its incident', async () => {
  const { w, desk } = desked({}, { script: ['unavailable'] });
  const original = await w.settle();
  w.outside.add(ORDER, { sku: 'TEA-01', quantity: 2 });
  const audited = await w.untilQuiet(original.id);
  expect(audited.incident).toMatchObject({ reason: 'second_effect' });
  desk.orders.set('R-2', OPEN_ORDER);
  const made = await cancelled(w, original.id, { payload: { order: 'R-2' } });
  expect((await w.untilQuiet(made.id)).state).toBe('confirmed');
  expect(desk.effects('/cancellations', { order: 'R-2' })).toBe(1);
  expect(await w.read(original.id)).toMatchObject({ state: 'confirmed', externalId: 'R-1' });
});

/** A person orders a settled effect once more: whose key, whose approval, and how often. */
import { describe, expect, it } from 'vitest';
import { type Intent, STATES } from '../../lib/domain/intent.ts';
import { SETTLED } from '../../lib/domain/lifecycle-states.ts';
import { again, nextKey } from '../../lib/operations/again.ts';
import { approve } from '../../lib/operations/approve.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { CRASH_MODES, crashes } from '../support/crash.ts';
import { BY_APPROVAL, IN_STATE, NOW, POLICY, routeTo } from '../support/kit.ts';
import { type Desk, type DeskOptions, scriptedDesk } from '../support/scripted-desk.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';

const TEXT = 'Tea at five.';
const APPROVED: DeskOptions = { route: { policy: { ...POLICY, permission: BY_APPROVAL } } };
const WISH = { by: 'ann', reason: 'the customer ordered the same once more' };

function desked(options: DeskOptions = {}, more: WorldOptions = {}): { w: World; desk: Desk } {
  const desk = scriptedDesk(options);
  return { w: world({ ...more, beside: desk.beside }), desk };
}
const note = (key = 'PO-37') => ({ key, route: 'notes', payload: { text: TEXT } });
const refOf = (intentId: string) => ({ tenant: 'acme', intentId });
const ask = (w: World, id: string, wish = WISH, unit = 'sales') => again(w.deps)(refOf(id), unit, wish);

async function made(w: World, id: string, wish = WISH): Promise<Intent> {
  const outcome = await ask(w, id, wish);
  if (!('intent' in outcome)) throw new Error(outcome.kind);
  return outcome.intent;
}
async function pass(w: World): Promise<void> {
  await sweep(w.deps).runOnce();
  await w.drain();
}
async function evidenceOf(w: World, id: string) {
  const { items } = await w.ledger.evidence(refOf(id), 50, null);
  return items.filter((each) => each.kind === 'again').map((each) => each.facts);
}

describe('the key', () => {
  it.each([
    ['PO-37', 'PO-37~2'],
    ['PO-37~2', 'PO-37~3'],
    ['PO-37~9', 'PO-37~10'],
    ['PO-37~then-0a1b2c3d4e5f', 'PO-37~then-0a1b2c3d4e5f~2'],
    ['PO-37~then-012345678901', 'PO-37~then-012345678901~2'],
    ['PO-37~then-0a1b2c3d4e5f~2', 'PO-37~then-0a1b2c3d4e5f~3'],
    ['2', '2~2'],
  ])('after %s is %s', (key, next) => {
    expect(nextKey(key)).toBe(next);
  });
});

describe('ordering once more', () => {
  it('makes a new intent of the same request, by the person who asks, due at once and started by the sweep', async () => {
    const { w, desk } = desked();
    const sent = await w.settle({ ...note(), parent: 'D-0', followWith: note() });
    // Its audit too: what comes later must not touch it.
    const first = await w.untilQuiet(sent.id);
    const next = await made(w, first.id);
    const { route, payload, parent, key, frozen } = first;
    expect(next).toMatchObject({ route, payload, parent, frozen, key: `${key}~2`, submittedBy: 'ann' });
    expect(next).toMatchObject({ state: 'ready', followWith: null, approval: null, dueAt: w.clock.now() });
    expect(next.traceIds).toEqual({ again: first.id });
    expect([w.queue.length, next.id === first.id]).toEqual([0, false]);
    await pass(w);
    expect((await w.untilQuiet(next.id)).state).toBe('confirmed');
    expect(await w.read(first.id)).toEqual(first);
    // The first, what followed it, and the new one.
    expect(desk.effects('/notes', { text: TEXT })).toBe(3);
  });

  it('is one new intent however often it is asked, and the next one after that', async () => {
    const { w, desk } = desked();
    const first = await w.settle(note());
    expect((await ask(w, first.id)).kind).toBe('accepted');
    const many = await Promise.all(
      Array.from({ length: 5 }, () => ask(w, first.id, { ...WISH, by: 'otto' })),
    );
    expect(many.map((each) => each.kind)).toEqual(many.map(() => 'same'));
    const second = await w.untilQuiet((await made(w, first.id)).id);
    const third = await made(w, second.id);
    expect([second.key, third.key]).toEqual(['PO-37~2', 'PO-37~3']);
    await w.untilQuiet(third.id);
    expect(desk.effects('/notes')).toBe(3);
  });

  it('keeps the reason on both, one row for each person and reason', async () => {
    const { w } = desked();
    const first = await w.settle(note());
    const next = await made(w, first.id);
    await made(w, first.id);
    await made(w, first.id, { by: 'otto', reason: 'so did I' });
    const rows = (of: object) => [
      { ...WISH, ...of },
      { by: 'otto', reason: 'so did I', ...of },
    ];
    const sorted = async (id: string) =>
      (await evidenceOf(w, id)).toSorted((a, b) => (String(a['by']) < String(b['by']) ? -1 : 1));
    expect(await sorted(first.id)).toEqual(rows({ madeUnder: next.key }));
    expect(await sorted(next.id)).toEqual(rows({ of: first.id }));
  });

  it.each(STATES)('of one that is %s: only where it is settled', async (state) => {
    const { w } = desked();
    const { id } = await w.begin(note());
    const before = await w.read(id);
    const { attempts, handover, outcome, externalId, receipt, dueAt } = IN_STATE[state];
    const change = { state, attempts, handover, outcome, externalId, receipt, dueAt };
    await w.ledger.save(before, { ...before, ...change }, { kind: 'unchanged' });
    const outcomeOf = await ask(w, id);
    expect(outcomeOf.kind).toBe(SETTLED.includes(state) ? 'accepted' : 'not_settled');
    expect(await evidenceOf(w, id)).toHaveLength(SETTLED.includes(state) ? 1 : 0);
  });

  it.each<Partial<Intent>>([
    { state: 'rejected', contraryAt: NOW },
    { state: 'closed', outcome: 'no_effect', contraryAt: NOW },
    { state: 'confirmed', contraryAt: NOW },
  ])('waits while evidence against its end is looked into: %o', async (change) => {
    const { w } = desked();
    const first = await w.settle(note());
    await w.ledger.save(first, { ...first, ...change, dueAt: NOW }, { kind: 'unchanged' });
    expect(await ask(w, first.id)).toEqual({ kind: 'not_settled' });
  });

  it('of another unit’s, or of none, is as of one that is not there', async () => {
    const { w } = desked();
    const first = await w.settle(note());
    expect(await ask(w, first.id, WISH, 'rental')).toEqual({ kind: 'absent' });
    expect(await ask(w, `int_${'0'.repeat(40)}`)).toEqual({ kind: 'absent' });
    expect(await again(w.deps)({ tenant: 'umbra', intentId: first.id }, 'sales', WISH)).toEqual({
      kind: 'absent',
    });
    expect(await evidenceOf(w, first.id)).toEqual([]);
  });

  it.each([
    ['is gone', []],
    ['leads to another account', [routeTo('http://127.0.0.1:1', { account: 'osaka-1' })]],
    ['does another action', [routeTo('http://127.0.0.1:1', { action: 'order' })]],
  ])('is refused where its route %s: nobody asked for that', async (_, routes) => {
    const { w } = desked();
    const first = await w.settle();
    const deps = { ...w.deps, routes: registryOf(routes, [warehouse]) };
    expect(await again(deps)(refOf(first.id), 'sales', WISH)).toEqual({ kind: 'route_changed' });
  });

  it('of a rejected order on a route whose key is a field goes under that number', async () => {
    const { w } = desked({}, { script: ['refused'] });
    const first = await w.settle();
    expect(first.state).toBe('rejected');
    const next = await made(w, first.id);
    expect([next.key, next.payload['order_id']]).toEqual(['PO-37~2', 'PO-37']);
    expect((await w.untilQuiet(next.id)).state).toBe('confirmed');
    expect([w.outside.posts(), w.outside.effects('PO-37')]).toEqual([2, 1]);
  });

  it('of a confirmed order that the provider makes one by its key is for people: there is no second effect', async () => {
    const { w } = desked();
    const first = await w.settle();
    const next = await w.untilQuiet((await made(w, first.id)).id);
    expect([next.state, next.handover?.reason]).toEqual(['handover', 'bound_elsewhere']);
    expect(w.outside.effects('PO-37')).toBe(1);
  });

  it('of a correction corrects the same intent, and waits for it', async () => {
    const { w, desk } = desked({ script: ['refused'] });
    desk.orders.set('R-1', { status: 'open', shipped: false, cancelUntil: null });
    const original = await w.settle();
    const payload = { order: 'R-1' };
    const accepted = await w.submit({ key: 'C-1', route: 'cancellations', payload, corrects: original.id });
    if (!('intent' in accepted)) throw new Error(accepted.kind);
    const refused = await w.untilQuiet(accepted.intent.id);
    expect(refused.state).toBe('rejected');
    const next = await made(w, refused.id);
    expect([next.corrects, next.state]).toEqual([original.id, 'awaiting_approval']);
    expect((await w.untilQuiet(next.id)).state).toBe('confirmed');
  });
});

describe('on a route that asks for approval', () => {
  async function approved(w: World, id: string, by = 'ann'): Promise<string> {
    const { fingerprint } = await w.read(id);
    return (await approve(w.deps)(refOf(id), 'sales', { by, fingerprint, until: undefined })).kind;
  }

  it('the new intent starts without one, and who asked for it may not give it', async () => {
    const { w, desk } = desked(APPROVED);
    const accepted = await w.submit(note());
    if (!('intent' in accepted)) throw new Error(accepted.kind);
    await approved(w, accepted.intent.id);
    const first = await w.untilQuiet(accepted.intent.id);
    const next = await made(w, first.id);
    expect([next.state, next.approval, next.dueAt]).toEqual(['awaiting_approval', null, next.sendBy]);
    await pass(w);
    expect(desk.posts()).toBe(1);
    expect(await approved(w, next.id, 'ann')).toBe('refused');
    expect(await approved(w, next.id, 'otto')).toBe('done');
    await pass(w);
    expect([(await w.read(next.id)).state, desk.effects('/notes')]).toEqual(['confirmed', 2]);
  });

  it('two approvals of identical input are two intents and two effects; a repeat is none', async () => {
    const { w, desk } = desked(APPROVED);
    const ids: string[] = [];
    for (const key of ['PO-37', 'PO-38']) {
      const accepted = await w.submit(note(key));
      if (!('intent' in accepted)) throw new Error(accepted.kind);
      ids.push(accepted.intent.id);
      await approved(w, accepted.intent.id);
    }
    expect(await w.submit(note('PO-37'))).toMatchObject({ kind: 'same' });
    await pass(w);
    for (const id of ids) expect((await w.untilQuiet(id)).state).toBe('confirmed');
    expect(await w.submit(note('PO-38'))).toMatchObject({ kind: 'same' });
    await pass(w);
    expect(desk.effects('/notes', { text: TEXT })).toBe(2);
  });
});

it('a crash at every call leaves one new intent with its reason on both, once it was asked again', async () => {
  const play = async (points: Parameters<typeof crashes>[0]) => {
    const { w } = desked();
    const first = await w.settle(note());
    const plan = crashes(points);
    const deps = { ...w.deps, ledger: plan.ledger(w.ledger) };
    const once = () => plan.live(again(deps)(refOf(first.id), 'sales', WISH).catch(() => 'failed' as const));
    await once();
    const outcome = await once();
    if (typeof outcome === 'string' || !('intent' in outcome)) throw new Error('not made');
    return { w, first, next: outcome.intent, plan };
  };
  const dry = await play([]);
  expect(dry.plan.names).toContain('create');
  // The first asking only: what is not asked again is not made.
  for (let at = 0; at < dry.plan.names.length / 2; at += 1) {
    for (const mode of CRASH_MODES) {
      const { w, first, next, plan } = await play([{ at, mode }]);
      const where = `${mode} at ${at} (${dry.plan.names[at]})`;
      expect([plan.hits(), next.key], where).toEqual([1, 'PO-37~2']);
      expect(await evidenceOf(w, first.id), where).toEqual([{ ...WISH, madeUnder: 'PO-37~2' }]);
      expect(await evidenceOf(w, next.id), where).toEqual([{ ...WISH, of: first.id }]);
    }
  }
});

/** Corrections whose original is disputed, and cancellations of what is no effect of theirs. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { approve } from '../../lib/operations/approve.ts';
import { PROVIDERS, registryOf } from '../../lib/providers/registry.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { BY_APPROVAL, NOW, POLICY } from '../support/kit.ts';
import { cutAfterSave, listenFor } from '../support/outside-events.ts';
import { type Desk, type DeskOptions, scriptedDesk } from '../support/scripted-desk.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const LINES = { sku: 'TEA-01', quantity: 2 };
const MINUTE = 60_000;
const HOUR = 3_600_000;
const OPEN_ORDER = { status: 'open', shipped: false, cancelUntil: null } as const;

function desked(options: DeskOptions = {}, more: WorldOptions = {}): { w: World; desk: Desk } {
  const desk = scriptedDesk(options);
  for (const id of ['R-1', 'R-2']) desk.orders.set(id, OPEN_ORDER);
  return { w: world({ ...more, beside: desk.beside }), desk };
}
const asked = (corrects: string | null, order = 'R-1') =>
  ({ key: 'C-1', route: 'cancellations', payload: { order }, corrects }) as const;

async function cancelled(w: World, corrects: string, change: object = {}): Promise<Intent> {
  const accepted = await w.submit({ ...asked(corrects), ...change });
  if (!('intent' in accepted)) throw new Error(accepted.kind);
  return accepted.intent;
}
async function pass(w: World): Promise<void> {
  await sweep(w.deps).runOnce();
  await w.drain();
}
async function forced(w: World, id: string, change: Partial<Intent>): Promise<void> {
  const before = await w.read(id);
  const saved = await w.ledger.save(before, { ...before, ...change }, { kind: 'unchanged' });
  if (saved.kind !== 'saved') throw new Error('Somebody else wrote.');
}

describe('a correction whose original ended, while evidence disputes the end', () => {
  it.each<{ isThere: boolean; ends: Intent['state']; posts: number; because: string }>([
    { isThere: false, ends: 'confirmed', posts: 1, because: 'the end stands' },
    { isThere: true, ends: 'awaiting_approval', posts: 0, because: 'people settle the original first' },
  ])('waits for the look, then is $ends, because $because', async ({ isThere, ends, posts }) => {
    const { w, desk } = desked({}, { script: ['refused'] });
    const tell = listenFor(w, ['warehouse'], 'reservation');
    const original = await w.settle();
    expect(original.state).toBe('rejected');
    if (isThere) w.outside.add(ORDER, LINES);
    await tell({ id: 'e1', reference: original.id, externalId: 'R-1' });
    const made = await cancelled(w, original.id);
    // Its run comes before the look at the original.
    await w.run(runInput(made));
    const waiting = await w.read(made.id);
    expect([waiting.state, waiting.waitsFor, desk.posts()]).toEqual(['awaiting_approval', original.id, 0]);
    const end = await w.untilQuiet(original.id);
    expect([end.state, end.contraryAt]).toEqual([isThere ? 'handover' : 'rejected', null]);
    for (let minute = 0; minute < 5; minute += 1) {
      w.clock.advance(MINUTE);
      await pass(w);
    }
    expect([(await w.read(made.id)).state, desk.posts()]).toEqual([ends, posts]);
    expect(desk.effects('/cancellations')).toBe(posts);
  });
});

it('an approved correction that was cut off when it fell back goes on once its original has settled', async () => {
  const cut = cutAfterSave(
    (before, after) => before.state === 'ready' && after.state === 'awaiting_approval',
  );
  const policy = { ...POLICY, permission: BY_APPROVAL };
  const { w, desk } = desked({ route: { policy } }, { wrapLedger: cut.wrap });
  const original = await w.settle();
  const made = await cancelled(w, original.id, { plannedAt: NOW + HOUR });
  const wish = { by: 'ann', fingerprint: made.fingerprint, until: undefined };
  expect(await approve(w.deps)({ tenant: 'acme', intentId: made.id }, 'sales', wish)).toMatchObject({
    kind: 'done',
  });
  await pass(w);
  expect((await w.read(made.id)).state).toBe('ready');
  const handover = { reason: 'reopened', candidates: [], at: NOW } as const;
  await forced(w, original.id, { state: 'handover', handover, dueAt: NOW * 2 });
  w.clock.advance(HOUR);
  await sweep(w.deps).runOnce();
  const input = w.queue.shift();
  if (input === undefined) throw new Error('The sweep started no run.');
  await expect(w.steps['Send']?.(input)).rejects.toThrow('lost');
  expect([cut.hits(), (await w.read(made.id)).state]).toEqual([1, 'awaiting_approval']);
  await forced(w, original.id, { state: 'confirmed', handover: null, dueAt: null });
  for (let minute = 0; minute < 5; minute += 1) {
    w.clock.advance(MINUTE);
    await pass(w);
  }
  expect([(await w.read(made.id)).state, desk.posts()]).toEqual(['confirmed', 1]);
  expect(desk.effects('/cancellations', { order: 'R-1' })).toBe(1);
});

describe('a cancellation at a provider that says which effect it changes', () => {
  /** The desk, with cancellations that name the order that they concern. */
  function concerned(more: WorldOptions = {}): { w: World; desk: Desk } {
    const { w, desk } = desked({}, more);
    const concerns = (payload: Intent['payload']): string => String(payload['order']);
    const ways = w.deps.routes.all;
    w.deps.routes = registryOf(
      ways.map(({ route }) => route),
      ways.map(({ provider }) => (provider.kind === 'cancellation' ? { ...provider, concerns } : provider)),
    );
    return { w, desk };
  }
  const faulty = (pointer: string, detail: string) => ({ kind: 'invalid', faults: [{ pointer, detail }] });

  it('must correct an intent, and be of an effect of that one', async () => {
    const { w, desk } = concerned();
    const original = await w.settle();
    expect(original.externalId).toBe('R-1');
    expect(await w.submit(asked(null))).toEqual(
      faulty('/corrects', 'It must name the intent whose effect is changed.'),
    );
    expect(await w.submit(asked(`int_${'0'.repeat(40)}`))).toEqual(
      faulty('/corrects', 'There is no such intent.'),
    );
    expect(await w.submit({ ...asked(original.id), unit: 'rental' })).toEqual(
      faulty('/corrects', 'There is no such intent.'),
    );
    expect(await w.submit(asked(original.id, 'R-2'))).toEqual(
      faulty('/payload', 'The intent to be corrected has no such effect.'),
    );
    expect(w.queue).toEqual([]);
    const made = await cancelled(w, original.id);
    expect((await w.untilQuiet(made.id)).state).toBe('confirmed');
    expect([desk.posts(), desk.effects('/cancellations', { order: 'R-1' })]).toEqual([1, 1]);
  });

  it.each<{ change: Partial<Intent>; because: string }>([
    { change: { surplus: ['R-2'] }, because: 'people settled it as surplus' },
    {
      change: { incident: { reason: 'second_effect', candidates: ['R-1', 'R-2'], at: NOW } },
      because: 'it is the second effect of an incident',
    },
  ])('may be of another id than the confirmed one when $because', async ({ change }) => {
    const { w, desk } = concerned();
    const original = await w.settle();
    await forced(w, original.id, change);
    const made = await cancelled(w, original.id, asked(original.id, 'R-2'));
    expect((await w.untilQuiet(made.id)).state).toBe('confirmed');
    expect(desk.effects('/cancellations', { order: 'R-2' })).toBe(1);
    expect(desk.effects('/cancellations')).toBe(1);
  });

  it('sends nothing when its original turned out to have another effect', async () => {
    const { w, desk } = concerned({ script: ['saved500'] });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    await forced(w, id, { acknowledgedId: 'R-2' });
    const made = await cancelled(w, id, asked(id, 'R-2'));
    await forced(w, id, { acknowledgedId: null });
    expect(await w.untilQuiet(id)).toMatchObject({ state: 'confirmed', externalId: 'R-1' });
    const end = await w.untilQuiet(made.id);
    expect([end.state, end.handover?.reason, desk.posts()]).toEqual(['handover', 'cannot_compensate', 0]);
    const { items } = await w.ledger.evidence({ tenant: 'acme', intentId: made.id }, 20, null);
    const checks = items.filter(({ kind }) => kind === 'check').map(({ facts }) => facts['reason']);
    expect(checks).toEqual(['not_ours']);
  });

  it.each(PROVIDERS.filter(({ kind }) => kind === 'cancellation').map((each) => [each.name, each] as const))(
    '%s names the order by its id there',
    (_, provider) => {
      const payload = { purchase_order: 'PO-37', order_id: '77', reason: 'twice' };
      expect(provider.concerns?.(payload)).toBe('77');
    },
  );
});

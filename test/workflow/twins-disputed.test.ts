/** Twins whose first one ended without an effect while evidence says otherwise, and twins of two units. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { decide } from '../../lib/operations/decide.ts';
import { viewOf } from '../../lib/operations/trail.ts';
import { withdraw } from '../../lib/operations/withdraw.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { POLICY } from '../support/kit.ts';
import { cutAfterSave, listenFor, type Tell } from '../support/outside-events.ts';
import { type Desk, type DeskOptions, scriptedDesk } from '../support/scripted-desk.ts';
import { type World, world } from '../support/world.ts';

const TEXT = 'Tea at five.';
const MINUTE = 60_000;
const SEARCH_FIRST = { route: { policy: { ...POLICY, resend: 'after_search' as const } } };
const note = (key: string, unit = 'sales') => ({ key, unit, route: 'notes', payload: { text: TEXT } });
const refOf = (intentId: string) => ({ tenant: 'acme', intentId });

function desked(script: NonNullable<DeskOptions['script']>): { w: World; desk: Desk; tell: Tell } {
  const desk = scriptedDesk({ script, ...SEARCH_FIRST });
  const w = world({ beside: desk.beside });
  return { w, desk, tell: listenFor(w, ['notes'], 'note') };
}
async function minutes(w: World, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    w.clock.advance(MINUTE);
    await sweep(w.deps).runOnce();
    await w.drain();
  }
}

describe('the second of two equal notes, whose first one ended without an effect', () => {
  const END: Readonly<Record<'rejected' | 'closed', DeskOptions['script']>> = {
    rejected: ['refused', 'swallowed'],
    closed: ['away', 'swallowed'],
  };
  /** The first one ended, had its effect all the same, and an event says so. */
  async function disputed(
    end: 'rejected' | 'closed',
  ): Promise<ReturnType<typeof desked> & { first: Intent }> {
    const d = desked(END[end] ?? []);
    const { id, input } = await d.w.begin(note('A'));
    await d.w.steps['Send']?.(input);
    if (end === 'closed') await withdraw(d.w.deps)(refOf(id), 'sales', 'shop');
    const first = await d.w.untilQuiet(id);
    expect([first.state, first.outcome]).toEqual([end, end === 'closed' ? 'no_effect' : null]);
    const appliedAt = d.w.clock.now();
    d.desk.book.push({ id: 'D-9', path: '/notes', body: { text: TEXT }, appliedAt, refused: false });
    await d.tell({ id: 'e1', reference: id, externalId: 'D-9' });
    return { ...d, first };
  }

  it.each(['rejected', 'closed'] as const)(
    'waits by name while evidence against its being %s is looked into, and takes nothing of it',
    async (end) => {
      const { w, desk, first } = await disputed(end);
      const posts = desk.posts();
      const { input, id } = await w.begin(note('B'));
      // Its run comes before the look at the first.
      await w.run(input);
      const waiting = await w.read(id);
      expect([waiting.state, waiting.waitsFor, waiting.seenAt]).toEqual(['ready', first.id, null]);
      await minutes(w, 20);
      const found = await w.read(first.id);
      expect([found.state, found.handover?.reason, found.handover?.candidates]).toEqual([
        'handover',
        'contrary_evidence',
        ['D-9'],
      ]);
      // Not by the freeze alone.
      await w.ledger.thaw('notes', { by: 'otto', why: 'looked into', at: w.clock.now() });
      await minutes(w, 5);
      const still = await w.read(id);
      expect([still.state, still.waitsFor, still.externalId]).toEqual(['ready', first.id, null]);
      expect([desk.posts(), desk.effects('/notes')]).toEqual([posts, 1]);
    },
  );

  it('goes once people have settled the first, and each has its own effect', async () => {
    const { w, desk, first } = await disputed('rejected');
    const second = await w.settle(note('B'));
    await minutes(w, 5);
    const { version } = await w.read(first.id);
    const decision = { kind: 'attach_external_id', externalId: 'D-9' } as const;
    const wish = { by: 'ann', version, decision, reason: 'it is there' };
    expect(await decide(w.deps)(refOf(first.id), 'sales', wish)).toMatchObject({ kind: 'done' });
    await w.ledger.thaw('notes', { by: 'otto', why: 'looked into', at: w.clock.now() });
    await minutes(w, 120);
    const ends = [await w.read(first.id), await w.read(second.id)];
    expect(ends.map((each) => [each.state, each.externalId])).toEqual([
      ['confirmed', 'D-9'],
      ['confirmed', 'D-2'],
    ]);
    // One was refused, one came to nothing, one took effect.
    expect([desk.posts(), desk.effects('/notes')]).toEqual([3, 2]);
  });

  it('goes when a look does not support the evidence', async () => {
    const { w, desk, tell } = desked(['refused']);
    const first = await w.settle(note('A'));
    await tell({ id: 'e1', reference: first.id, externalId: 'D-9' });
    const { input, id } = await w.begin(note('B'));
    await w.run(input);
    expect([(await w.read(id)).waitsFor, desk.posts()]).toEqual([first.id, 1]);
    await minutes(w, 5);
    expect(await w.read(first.id)).toMatchObject({ state: 'rejected', contraryAt: null });
    expect([(await w.read(id)).state, desk.posts(), desk.effects('/notes')]).toEqual(['confirmed', 2, 1]);
  });
});

it('what is to follow a confirmed first one is made while a twin stays open, though the audit waits for that', async () => {
  const desk = scriptedDesk({ script: ['plain', 'swallowed'], ...SEARCH_FIRST });
  const cut = cutAfterSave((_, after) => after.state === 'confirmed');
  const w = world({ beside: desk.beside, wrapLedger: cut.wrap });
  const first = await w.settle({
    ...note('A'),
    followWith: { route: 'notes', payload: { text: 'It was served.' } },
  });
  expect([cut.hits(), first.state, first.followUp]).toEqual([1, 'confirmed', null]);
  const second = await w.begin(note('B'));
  await w.steps['Send']?.(second.input);
  const open = await w.read(second.id);
  const handover = { reason: 'exhausted', candidates: [], at: w.clock.now() } as const;
  const handed = { ...open, state: 'handover', handover, dueAt: w.clock.now() * 2 } as const;
  expect((await w.ledger.save(open, handed, { kind: 'unchanged' })).kind).toBe('saved');
  await minutes(w, 30);
  const after = await w.read(first.id);
  expect([after.state, after.followUp === null, after.dueAt === null]).toEqual(['confirmed', false, false]);
  expect(desk.effects('/notes', { text: 'It was served.' })).toBe(1);
});

describe('a twin of another unit', () => {
  it.each([
    ['legal', 'elsewhere'],
    ['sales', 'by its id'],
  ])('of a first one of sales: in %s it waits for one that is shown %s', async (unit, shown) => {
    const { w, desk } = desked(['swallowed']);
    const first = await w.begin(note('A', 'sales'));
    await w.steps['Send']?.(first.input);
    const second = await w.begin(note('B', unit));
    await w.steps['Send']?.(second.input);
    await w.steps['Search']?.(second.input);
    const view = viewOf(await w.read(second.id), 0);
    const foreign = shown === 'elsewhere';
    expect([view.state, view.waitsFor]).toEqual(['ready', foreign ? 'elsewhere' : first.id]);
    for (const language of ['en', 'ja'] as const) {
      const told = JSON.stringify(viewOf(await w.read(second.id), 0, language));
      expect(told.includes(first.id)).toBe(!foreign);
      expect(/taken for its own|twin|見分けがつかない/.test(told)).toBe(!foreign);
    }
    expect(desk.posts()).toBe(1);
  });

  it('goes on by itself once the other unit’s has settled', async () => {
    const { w, desk } = desked(['lost']);
    const first = await w.begin(note('A', 'sales'));
    await w.steps['Send']?.(first.input);
    const second = await w.settle(note('B', 'legal'));
    expect(second.waitsFor).toBe('elsewhere');
    await w.run(runInput(await w.read(first.id)));
    await w.untilQuiet(first.id);
    const end = await w.untilQuiet(second.id);
    expect([end.state, end.waitsFor, desk.effects('/notes')]).toEqual(['confirmed', null, 2]);
  });
});

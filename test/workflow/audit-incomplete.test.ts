/** Audits that see too little, or cannot come about: the end stands, nothing is frozen, and people are told. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { agree, decide } from '../../lib/operations/decide.ts';
import { lookAgain } from '../../lib/operations/look-again.ts';
import { queue } from '../../lib/operations/queue.ts';
import { apply } from '../../lib/workflow/deps.ts';
import { dryRun } from '../../lib/workflow/dry-run.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import type { MediumPlay } from '../support/medium-plays.ts';
import {
  type MediumWorld,
  type MediumWorldOptions,
  mediumWorld,
  POST,
  TEXT,
} from '../support/medium-world.ts';
import { cutAfterSave, listening } from '../support/outside-events.ts';
import type { World } from '../support/world.ts';

const DAY = 86_400_000;
const YEAR = 365 * DAY;
const REF = ({ id }: Pick<Intent, 'id'>) => ({ tenant: 'acme', intentId: id });
const isFrozen = async (w: World, intent: Intent) =>
  (await w.ledger.readForSend(REF(intent), intent.route)).frozen;
const events = (w: World, name: string) => w.logged.filter(({ event }) => event === name).length;
const again = (w: World, intent: Intent) => lookAgain(w.deps)(REF(intent), 'sales');

async function queued(w: World) {
  const wish = { tenant: 'acme', unit: 'sales', list: 'doubtful', limit: 25, cursor: null } as const;
  const { items } = await queue(w.deps)({ ...wish, language: 'en' });
  return items.map(({ state, reason, allowedDecisions }) => ({ state, reason, allowedDecisions }));
}

const ASKED = { state: 'confirmed', reason: 'audit_incomplete', allowedDecisions: ['settle_many'] };

describe('twenty looks of an audit that all see too little', () => {
  async function blurred(script: MediumPlay[]): Promise<MediumWorld & { intent: Intent }> {
    const s = mediumWorld({ script });
    s.outside.faults.set('list_status', s.w.clock.now() + YEAR);
    const { id } = await s.submitted();
    const intent = await s.w.untilQuiet(id, YEAR, 500);
    return { ...s, intent };
  }

  it('are told: the intent stays confirmed, the route goes on, and the queue says what to do', async () => {
    const { w, intent } = await blurred(['delivered_twice']);
    expect(intent).toMatchObject({ state: 'confirmed', searches: 20, dueAt: null });
    expect([await queued(w), await isFrozen(w, intent)]).toEqual([[ASKED], false]);
    expect([events(w, 'audit_incomplete'), events(w, 'duplicate_risk')]).toEqual([1, 0]);
  });

  it.each<[MediumPlay, string | null, boolean, string]>([
    ['delivered_twice', 'second_effect', true, 'the second one shows at last'],
    ['plain', null, false, 'there is none'],
  ])(
    'of a post that was %s end with %j once people have it looked for again, because %s',
    async (play, reason, frozen) => {
      const { w, outside, intent } = await blurred([play]);
      outside.faults.clear();
      expect((await again(w, intent)).kind).toBe('started');
      const end = await w.untilQuiet(intent.id);
      expect([end.state, end.incident?.reason ?? null, end.dueAt]).toEqual(['confirmed', reason, null]);
      expect(await isFrozen(w, intent)).toBe(frozen);
    },
  );

  it('are made once more when people ask for it, and told once more', async () => {
    const { w, intent } = await blurred(['plain']);
    await again(w, intent);
    const end = await w.untilQuiet(intent.id, YEAR, 500);
    expect([end.searches, end.incident?.reason, end.dueAt]).toEqual([20, 'audit_incomplete', null]);
    expect(events(w, 'audit_incomplete')).toBe(2);
  });

  it('are over when two people say that there is nothing else', async () => {
    const { w, intent } = await blurred(['plain']);
    const decision = { kind: 'settle_many', keep: intent.externalId ?? '', surplus: [] } as const;
    const mine = { by: 'otto', version: intent.version, reason: 'looked at the page' };
    const proposed = await decide(w.deps)(REF(intent), 'sales', { ...mine, decision });
    if (proposed.kind !== 'proposed') throw new Error(proposed.kind);
    const { version, proposal } = proposed.intent;
    const word = { by: 'ann', version, agreesTo: proposal?.id ?? '', reason: null };
    expect(await agree(w.deps)(REF(intent), 'sales', word)).toMatchObject({ kind: 'done' });
    expect(await w.read(intent.id)).toMatchObject({ state: 'confirmed', incident: null, dueAt: null });
    expect(await queued(w)).toEqual([]);
  });
});

describe('an audit that is held back', () => {
  function crowded(options: MediumWorldOptions, wrap: (ledger: Ledger) => Ledger = (ledger) => ledger) {
    const room = { full: false };
    const wrapLedger = (ledger: Ledger): Ledger => {
      const beginSearch: Ledger['beginSearch'] = async (...wanted) =>
        room.full ? null : ledger.beginSearch(...wanted);
      return wrap({ ...ledger, beginSearch });
    };
    return { room, ...mediumWorld({ ...options, world: { wrapLedger } }) };
  }

  it('for seven days is told, and no look was made; people who ask again give it seven more', async () => {
    const s = crowded({ script: ['delivered_twice'] });
    s.room.full = true;
    const { id } = await s.submitted();
    await s.w.drain();
    const held = await s.w.untilQuiet(id, 6 * DAY, 5000);
    expect([held.incident, events(s.w, 'audit_incomplete')]).toEqual([null, 0]);
    const told = await s.w.untilQuiet(id, 2 * DAY, 5000);
    expect([told.state, told.incident?.reason, told.dueAt]).toEqual(['confirmed', 'audit_incomplete', null]);
    expect((await s.searches(told)).map((each) => each['error'])).toEqual(['calls_used_up']);
    await again(s.w, told);
    await s.w.drain();
    const woken = await s.w.read(id);
    expect([woken.dueAt === null, events(s.w, 'audit_incomplete')]).toEqual([false, 1]);
    s.room.full = false;
    expect((await s.w.untilQuiet(id)).incident?.reason).toBe('second_effect');
  });

  it('does not hold back what is to follow, and comes all the same', async () => {
    const cut = cutAfterSave((_, after) => after.state === 'confirmed');
    const s = crowded({ script: ['delivered_twice'] }, cut.wrap);
    const followWith = { route: 'posts', payload: { ...POST, text: 'Cake at six.' } };
    const { id } = await s.submitted({ followWith });
    await s.w.drain();
    expect([cut.hits(), await s.w.read(id)]).toMatchObject([1, { state: 'confirmed', followUp: null }]);
    s.room.full = true;
    s.w.clock.advance(DAY);
    await s.w.run(runInput(await s.w.read(id)));
    const after = await s.w.read(id);
    expect([after.followUp === null, after.searches, after.dueAt === null]).toEqual([false, 0, false]);
    s.room.full = false;
    expect((await s.w.untilQuiet(id)).incident?.reason).toBe('second_effect');
  });

  it('against an open intent ends with people as well: nothing may be sent, and nobody can look', async () => {
    const s = crowded({});
    const intent = await s.submitted();
    const told = { kind: 'evidence_came', seen: true, externalId: null, dueAt: s.w.clock.now() } as const;
    await apply(s.w.deps, intent, told);
    s.room.full = true;
    await s.w.run(runInput(intent));
    expect((await s.w.read(intent.id)).state).toBe('ready');
    const end = await s.w.untilQuiet(intent.id, 8 * DAY, 5000);
    const { posts } = s.outside;
    expect([end.state, end.handover?.reason, posts]).toEqual(['handover', 'contrary_evidence', []]);
  });
});

describe('a post that is no proof of a second one', () => {
  const LINKED = 'Tickets: https://x.test/show?id=1';

  it.each<{ what: string; asked: string; add: (s: MediumWorld) => void }>([
    {
      what: 'whose link leads elsewhere, as the medium may have changed it',
      asked: LINKED,
      add: (s) => {
        const target = 'https://x.test/show?id=2';
        s.outside.add({ text: 'Tickets: https://s.test/2', links: [{ shown: 'https://s.test/2', target }] });
      },
    },
    {
      what: 'that is older than our first claim',
      asked: TEXT,
      add: (s) => void s.outside.add({ text: TEXT, createdAt: s.w.clock.now() - 60_000 }),
    },
  ])('$what is told and freezes nothing', async ({ asked, add }) => {
    const s = mediumWorld();
    add(s);
    const { id } = await s.submitted({ payload: { ...POST, text: asked } });
    await s.w.drain();
    const forecast = async () => (await dryRun(s.w.deps)(runInput(await s.w.read(id))))?.next;
    s.w.clock.advance(DAY);
    expect(await forecast()).toEqual({ do: 'decide', reason: 'audit_incomplete' });
    const end = await s.w.untilQuiet(id);
    expect([end.state, end.incident, end.lastSearch?.candidates.length]).toMatchObject([
      ...['confirmed', { reason: 'audit_incomplete' }, 2],
    ]);
    expect([await isFrozen(s.w, end), events(s.w, 'duplicate_risk')]).toEqual([false, 0]);
    expect(await queued(s.w)).toEqual([ASKED]);
  });

  it('beside one that is: the route is frozen', async () => {
    const s = mediumWorld({ script: ['delivered_twice'] });
    s.outside.add({ text: TEXT, createdAt: s.w.clock.now() - 60_000 });
    const { id } = await s.submitted();
    await s.w.drain();
    const end = await s.w.untilQuiet(id);
    expect([end.incident?.reason, await isFrozen(s.w, end)]).toEqual(['second_effect', true]);
  });
});

it('evidence against a refusal that nobody could look into is told, and disputes it until somebody can', async () => {
  const { w, tell } = listening({ script: ['refused'] });
  const { id, state } = await w.settle();
  expect(state).toBe('rejected');
  w.outside.views.push(
    ...Array.from({ length: 200 }, () => () => ({ kind: 'failed', error: 'timeout' }) as const),
  );
  await tell({ id: 'e1', reference: id, externalId: 'R-9' });
  const end = await w.untilQuiet(id);
  expect(end).toMatchObject({ state: 'rejected', incident: { reason: 'audit_incomplete' }, dueAt: null });
  expect(end.contraryAt).not.toBeNull();
  expect(await queued(w)).toMatchObject([{ state: 'rejected', reason: 'audit_incomplete' }]);
  w.outside.views.length = 0;
  await again(w, end);
  const clear = await w.untilQuiet(id);
  expect([clear.state, clear.incident, clear.contraryAt, clear.dueAt]).toEqual([
    'rejected',
    null,
    null,
    null,
  ]);
});

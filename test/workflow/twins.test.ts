/** Intents that nobody could tell apart by what the provider shows: they go in turn, and each has its own effect. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { apply } from '../../lib/workflow/deps.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { bindingOf, holdKeyOf } from '../../lib/workflow/twin-hold.ts';
import { CRASH_MODES, crashes } from '../support/crash.ts';
import { NOW, POLICY } from '../support/kit.ts';
import { random } from '../support/schedule.ts';
import { type Desk, type DeskOptions, scriptedDesk } from '../support/scripted-desk.ts';
import { type World, type WorldOptions, world } from '../support/world.ts';

const TEXT = 'Tea at five.';
const SEARCH_FIRST = { route: { policy: { ...POLICY, resend: 'after_search' as const } } };

function desked(options: DeskOptions = {}, more: WorldOptions = {}): { w: World; desk: Desk } {
  const desk = scriptedDesk(options);
  return { w: world({ ...more, beside: desk.beside }), desk };
}
const note = (key: string, payload = {}) => ({ key, route: 'notes', payload: { text: TEXT, ...payload } });

async function stored(w: World, key: string): Promise<Intent> {
  const accepted = await w.submit(note(key));
  if (!('intent' in accepted)) throw new Error(accepted.kind);
  return accepted.intent;
}
/** Accepted and sent once by hand: whatever came back is recorded, and nothing was looked for yet. */
async function sent(w: World, key: string): Promise<Intent> {
  const { id, input } = await w.begin(note(key));
  await w.steps['Send']?.(input);
  return w.read(id);
}
async function forced(w: World, id: string, change: Partial<Intent>): Promise<Intent> {
  const before = await w.read(id);
  const saved = await w.ledger.save(before, { ...before, ...change }, { kind: 'unchanged' });
  if (saved.kind !== 'saved') throw new Error('lost');
  return saved.intent;
}
const wayTo = (w: World) => w.deps.routes.find('acme', 'notes') as NonNullable<ReturnType<typeof get>>;
const get = (w: World) => w.deps.routes.find('acme', 'notes');
const handedOver = (reason: 'exhausted' | 'reopened') => ({ reason, candidates: [], at: NOW });

describe('the second of two equal notes', () => {
  it('waits for the first by name, and both take effect, one after the other', async () => {
    const { w, desk } = desked({ script: ['lost'], ...SEARCH_FIRST });
    const first = await sent(w, 'PO-37');
    const second = await w.settle(note('PO-38'));
    expect([second.state, second.waitsFor, desk.posts()]).toEqual(['ready', first.id, 1]);
    expect(second.dueAt).toBe(w.clock.now() + 60_000);
    await w.run(runInput(first));
    const ends = [await w.untilQuiet(first.id), await w.untilQuiet(second.id)];
    expect(ends.map((each) => [each.state, each.externalId, each.waitsFor])).toEqual([
      ['confirmed', 'D-1', null],
      ['confirmed', 'D-2', null],
    ]);
    expect([desk.posts(), desk.effects('/notes')]).toEqual([2, 2]);
  });

  it.each<{ end: string; change: Partial<Intent>; bound?: string; outcome: string; because: string }>([
    {
      end: 'confirmed',
      change: { state: 'confirmed', dueAt: null },
      outcome: 'goes',
      because: 'it is bound',
    },
    { end: 'rejected', change: { state: 'rejected', dueAt: null }, outcome: 'goes', because: 'no effect' },
    {
      end: 'closed without an effect',
      change: { state: 'closed', outcome: 'no_effect', dueAt: null },
      outcome: 'goes',
      because: 'two people looked, or nothing was sent',
    },
    {
      end: 'closed, attested and bound',
      change: { state: 'closed', outcome: 'attested', attestedId: 'D-9', dueAt: null },
      bound: 'D-9',
      outcome: 'goes',
      because: 'its record is known',
    },
    {
      end: 'closed, attested, not bound',
      change: { state: 'closed', outcome: 'attested', attestedId: 'D-9', dueAt: null },
      outcome: 'twin_undetermined',
      because: 'the record could be taken for ours',
    },
    {
      end: 'closed, attested without an id',
      change: { state: 'closed', outcome: 'attested', attestedId: null, dueAt: null },
      outcome: 'twin_undetermined',
      because: 'nobody knows which record it is',
    },
    {
      end: 'closed undetermined',
      change: { state: 'closed', outcome: 'undetermined', dueAt: null },
      outcome: 'twin_undetermined',
      because: 'there may be a record of it',
    },
    {
      end: 'handed over',
      change: { state: 'handover', handover: handedOver('exhausted') },
      outcome: 'waits',
      because: 'people may still settle it',
    },
    { end: 'unknown', change: {}, outcome: 'waits', because: 'it is looked for' },
  ])('after a first one that is $end: $outcome, because $because', async ({ change, bound, outcome }) => {
    const { w, desk } = desked({ script: ['swallowed'], ...SEARCH_FIRST });
    const first = await sent(w, 'PO-37');
    await forced(w, first.id, change);
    const ref = { tenant: 'acme', intentId: first.id };
    if (bound !== undefined) await w.ledger.bind(bindingOf(wayTo(w), bound), ref);
    const second = await w.settle(note('PO-38'));
    const told = { goes: 'confirmed', waits: 'ready' }[outcome] ?? 'handover';
    expect([second.state, second.handover?.reason ?? null]).toEqual([
      told,
      told === 'handover' ? outcome : null,
    ]);
    expect(second.waitsFor).toBe(outcome === 'waits' ? first.id : null);
    expect(desk.posts()).toBe(outcome === 'goes' ? 2 : 1);
    expect(desk.effects('/notes')).toBe(outcome === 'goes' ? 1 : 0);
  });

  it('goes on once people have settled the first, and not before', async () => {
    const { w, desk } = desked({ script: ['swallowed'], ...SEARCH_FIRST });
    const first = await sent(w, 'PO-37');
    await forced(w, first.id, { state: 'handover', handover: handedOver('exhausted'), dueAt: NOW * 2 });
    const second = await stored(w, 'PO-38');
    await w.untilQuiet(second.id, 3_600_000, 90).catch(() => undefined);
    expect([(await w.read(second.id)).state, desk.posts()]).toEqual(['ready', 1]);
    await forced(w, first.id, { state: 'closed', outcome: 'no_effect', handover: null, dueAt: null });
    expect((await w.untilQuiet(second.id)).state).toBe('confirmed');
    expect([desk.posts(), desk.effects('/notes')]).toEqual([2, 1]);
  });

  it('ends at its own deadline while it waits, with nothing sent', async () => {
    const { w, desk } = desked({ script: ['swallowed'], ...SEARCH_FIRST });
    const first = await sent(w, 'PO-37');
    await forced(w, first.id, { state: 'handover', handover: handedOver('exhausted'), dueAt: NOW * 2 });
    const accepted = await w.submit({ ...note('PO-38'), sendBy: w.clock.now() + 300_000 });
    if (!('intent' in accepted)) throw new Error(accepted.kind);
    const second = await w.untilQuiet(accepted.intent.id);
    expect([second.state, second.outcome, desk.posts()]).toEqual(['closed', 'no_effect', 1]);
  });

  it('is not held by one that took the hold and never claimed, once that is withdrawn', async () => {
    const { w, desk } = desked();
    const first = await stored(w, 'PO-37');
    const key = holdKeyOf(wayTo(w), first);
    await w.ledger.hold(key, { tenant: 'acme', intentId: first.id }, null);
    const second = await stored(w, 'PO-38');
    await w.run(runInput(second));
    expect((await w.read(second.id)).waitsFor).toBe(first.id);
    await apply(w.deps, await w.read(first.id), { kind: 'withdrawn' });
    expect((await w.untilQuiet(second.id)).state).toBe('confirmed');
    expect(desk.posts()).toBe(1);
  });
});

describe('what is seen outside', () => {
  it.each([
    { play: 'lost', posts: 2, because: 'the record of the first is its own, the other one is ours' },
    { play: 'swallowed', posts: 3, because: 'the record of the first is not taken for ours' },
    { play: 'late', posts: 2, because: 'it shows late' },
  ] as const)('after a $play answer of the second: $because', async ({ play, posts }) => {
    const { w, desk } = desked({ script: ['plain', play], ...SEARCH_FIRST });
    await w.settle(note('PO-37'));
    const second = await w.untilQuiet((await w.settle(note('PO-38'))).id);
    expect([second.state, second.externalId]).toEqual(['confirmed', 'D-2']);
    expect([desk.posts(), desk.effects('/notes')]).toEqual([posts, 2]);
  });

  it('a record that was refused to somebody never rejects a twin whose effect is late', async () => {
    const { w, desk } = desked({ script: ['swallowed'], ...SEARCH_FIRST });
    const record = { path: '/notes', body: { text: TEXT } };
    desk.book.push({ ...record, id: 'D-1', appliedAt: NOW, refused: true });
    desk.book.push({ ...record, id: 'D-2', appliedAt: NOW + 10_000, refused: false });
    const intent = await w.untilQuiet((await w.settle(note('PO-38'))).id);
    expect([intent.state, intent.externalId, desk.posts()]).toEqual(['confirmed', 'D-2', 1]);
  });

  it('counts for the twin whose turn it is: a reopened first one cannot take it', async () => {
    const { w, desk } = desked({ script: ['swallowed', 'lost'], ...SEARCH_FIRST });
    const first = await sent(w, 'PO-37');
    await forced(w, first.id, { state: 'closed', outcome: 'no_effect', dueAt: null });
    const second = await sent(w, 'PO-38');
    const decided = async (decision: Parameters<typeof decide>[1]) => decide(w, decision, first.id);
    await decided({ kind: 'reopen' });
    await decided({ kind: 'attach_external_id', externalId: 'D-1' });
    await w.run(runInput(first));
    expect(await w.read(first.id)).toMatchObject({
      state: 'handover',
      externalId: null,
      handover: { reason: 'bound_elsewhere' },
    });
    await w.run(runInput(second));
    expect(await w.read(second.id)).toMatchObject({ state: 'confirmed', externalId: 'D-1' });
    expect(desk.posts()).toBe(2);
  });

  it('an unknown one whose turn is over goes on being looked for and sends nothing', async () => {
    const key = { header: 'k', lifetimeMs: 'for_ever', scope: 'account', inForce: 'with' } as const;
    const rest = { whileRunning: 'waits', bodyCompared: true, storesErrors: false } as const;
    const promise = { referenceShown: false, key: { ...key, ...rest } };
    const { w, desk } = desked({ script: ['swallowed', 'swallowed'], promise, ...SEARCH_FIRST });
    const first = await sent(w, 'PO-37');
    await forced(w, first.id, { state: 'closed', outcome: 'no_effect', dueAt: null });
    const second = await sent(w, 'PO-38');
    await forced(w, second.id, { state: 'handover', handover: handedOver('exhausted') });
    await forced(w, first.id, { state: 'unknown', outcome: null, dueAt: w.clock.now() });
    w.clock.advance(1000);
    const states = w.entered.length;
    await w.run(runInput(first));
    expect(w.entered.length - states, 'states entered').toBeLessThan(20);
    expect([(await w.read(first.id)).state, desk.posts()]).toEqual(['unknown', 2]);
  });
});

async function decide(
  w: World,
  decision: { kind: 'reopen' } | { kind: 'attach_external_id'; externalId: string },
  id: string,
): Promise<void> {
  const moved = await apply(w.deps, await w.read(id), { kind: 'decided', decision, dueAt: w.clock.now() });
  if (moved === undefined) throw new Error('refused');
}

describe('the audit of a confirmed first one', () => {
  async function atItsAudit(): Promise<{ w: World; desk: Desk; first: Intent; second: Intent }> {
    const { w, desk } = desked({ script: ['unavailable', 'plain', 'lost'] });
    const first = await w.settle(note('PO-37'));
    expect([first.state, first.attempts.length]).toEqual(['confirmed', 2]);
    const second = await sent(w, 'PO-38');
    expect(second.state).toBe('unknown');
    w.clock.advance((first.dueAt ?? 0) - w.clock.now());
    return { w, desk, first, second };
  }

  it('waits while a twin is open: its effect is no second effect of the first', async () => {
    const { w, desk, first, second } = await atItsAudit();
    await w.run(runInput(first));
    expect(await w.read(first.id)).toMatchObject({ incident: null, dueAt: w.clock.now() + 600_000 });
    await w.run(runInput(second));
    expect((await w.untilQuiet(second.id)).state).toBe('confirmed');
    const audited = await w.untilQuiet(first.id);
    expect([audited.state, audited.incident, audited.dueAt]).toEqual(['confirmed', null, null]);
    expect(desk.effects('/notes')).toBe(2);
  });

  it('still finds an effect that is nobody’s', async () => {
    const { w, desk, first, second } = await atItsAudit();
    // By hand: a sweep would audit the first one before there is anything to find.
    for (let runs = 0; runs < 9 && (await w.read(second.id)).state !== 'confirmed'; runs += 1) {
      const { dueAt } = await w.read(second.id);
      w.clock.advance(Math.max(0, (dueAt ?? 0) - w.clock.now()));
      await w.run(runInput(second));
    }
    expect((await w.read(second.id)).state).toBe('confirmed');
    desk.book.push({ id: 'D-66', path: '/notes', body: { text: TEXT }, appliedAt: NOW, refused: false });
    const audited = await w.untilQuiet(first.id);
    expect(audited.incident).toMatchObject({ reason: 'second_effect', candidates: ['D-1', 'D-66'] });
  });
});

/** No flight begins before the one before it has ended. */
function overlaps(desk: Desk): number {
  return desk.flights.filter((flight, index) => flight.from < (desk.flights[index - 1]?.to ?? -1)).length;
}

describe('twenty equal notes at once', () => {
  it.each([1, 2, 3])('are never two at a time, and twenty in the end (seed %i)', async (seed) => {
    const chance = random(seed);
    const pauses = async (): Promise<void> => {
      for (let left = Math.floor(chance() * 4); left > 0; left -= 1) await new Promise(setImmediate);
    };
    const paused = (ledger: Ledger): Ledger =>
      Object.fromEntries(
        Object.entries(ledger).map(([name, method]) => [
          name,
          async (...args: never[]) => {
            await pauses();
            return (method as (...given: never[]) => Promise<unknown>)(...args);
          },
        ]),
      ) as never;
    const ids: string[] = [];
    let inFlight = 0;
    const unsettled: number[] = [];
    const { w, desk } = desked(
      { script: ['plain', 'lost', 'plain', 'swallowed', 'late'], ...SEARCH_FIRST },
      {
        wrapLedger: paused,
        wrapTransport: (transport) => async (request) => {
          inFlight += 1;
          const all = await Promise.all(ids.map((id) => w.read(id)));
          const begun = all.filter((each) => each.attempts.length > 0 && each.state !== 'confirmed');
          unsettled.push(begun.length, inFlight);
          const report = await transport(request);
          inFlight -= 1;
          return report;
        },
      },
    );
    for (let each = 1; each <= 20; each += 1) ids.push((await stored(w, `PO-${each}`)).id);
    const all = () => Promise.all(ids.map((id) => w.read(id)));
    for (let round = 0; round < 400; round += 1) {
      await Promise.all(w.queue.splice(0).map((input) => w.run(input)));
      const open = (await all()).flatMap(({ dueAt, state }) => (state === 'confirmed' ? [] : [dueAt ?? 0]));
      if (open.length === 0) break;
      w.clock.advance(Math.max(0, Math.min(...open) - w.clock.now()));
      await sweep(w.deps).runOnce();
    }
    const ends = await all();
    expect(ends.map((each) => each.state)).toEqual(ids.map(() => 'confirmed'));
    expect(new Set(ends.map((each) => each.externalId)).size).toBe(20);
    expect([desk.effects('/notes'), desk.posts()]).toEqual([20, 21]);
    expect(Math.max(...unsettled), 'begun and not settled while a POST is out').toBe(1);
    expect(overlaps(desk)).toBe(0);
  });
});

describe('a crash at every call of two twins', () => {
  it.each([
    { name: 'plain', script: [] },
    { name: 'both answers lost', script: ['lost', 'lost'] },
  ] as const)('$name: two effects, one after the other', async ({ script }) => {
    const play = async (points: Parameters<typeof crashes>[0]) => {
      const plan = crashes(points);
      const faults = {
        live: plan.live,
        wrapLedger: plan.ledger,
        wrapTransport: plan.transport,
        wrapStart: plan.start,
      };
      const { w, desk } = desked({ script, ...SEARCH_FIRST }, faults);
      const ids: string[] = [];
      for (const key of ['PO-37', 'PO-37~2']) {
        for (let id: string | undefined; id === undefined; ) {
          const accepted = await plan.live(w.submit(note(key)).catch(() => 'failed' as const));
          if (accepted !== 'dead' && accepted !== 'failed' && 'intent' in accepted) id = accepted.intent.id;
          if (id !== undefined) ids.push(id);
        }
      }
      const ends: Intent[] = [];
      for (const id of ids) ends.push(await w.untilQuiet(id));
      return { plan, desk, ends };
    };
    const dry = await play([]);
    expect(dry.plan.names.filter((name) => name === 'hold').length).toBeGreaterThan(3);
    for (let at = 0; at < dry.plan.names.length; at += 1) {
      for (const mode of CRASH_MODES) {
        const { plan, desk, ends } = await play([{ at, mode }]);
        const where = `${mode} at call ${at} (${dry.plan.names[at]})`;
        expect(plan.hits(), where).toBe(1);
        expect(
          ends.map((each) => each.state),
          where,
        ).toEqual(['confirmed', 'confirmed']);
        expect(new Set(ends.map((each) => each.externalId)).size, where).toBe(2);
        expect(desk.effects('/notes'), where).toBe(2);
        expect(overlaps(desk), where).toBe(0);
      }
    }
  });
});

describe('the hold', () => {
  async function holds(referenceShown: boolean): Promise<{ calls: number; posts: number }> {
    let calls = 0;
    const counted = (ledger: Ledger): Ledger => ({
      ...ledger,
      hold: (...args) => {
        calls += 1;
        return ledger.hold(...args);
      },
    });
    const { w, desk } = desked({ promise: { referenceShown } }, { wrapLedger: counted });
    expect((await w.settle(note('PO-37'))).state).toBe('confirmed');
    return { calls, posts: desk.posts() };
  }

  it('costs two writes where no reference shows, and none where one does', async () => {
    expect(await holds(false)).toEqual({ calls: 2, posts: 1 });
    expect(await holds(true)).toEqual({ calls: 0, posts: 1 });
    const w = world();
    await w.settle();
    expect(w.outside.posts()).toBe(1);
  });

  it('is one for what shows the same, and another for another text, parent or account', () => {
    const { w } = desked();
    const way = wayTo(w);
    const of = (payload: object, parent: string | null = null, account = 'tokyo-1') =>
      holdKeyOf(
        { ...way, route: { ...way.route, account } },
        { parent, payload: { text: TEXT, ...payload } },
      );
    expect(of({ tag: 'unseen' })).toBe(of({}));
    const others = [
      of({}),
      of({ text: 'Tea at six.' }),
      of({}, 'D-1'),
      of({}, 'D-2'),
      of({}, null, 'osaka-1'),
    ];
    expect(new Set(others).size).toBe(others.length);
  });
});

/** Signed events from outside, past the edge: what they wake, what they block, and that they decide nothing. */
import { describe, expect, test } from 'vitest';
import type { Intent, IntentState } from '../../lib/domain/intent.ts';
import type { Ledger, OutsideEvent } from '../../lib/ledger/ledger.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { intentIdOf } from '../../lib/workflow/accept.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { speaksOfEffect, takeEvidence } from '../../lib/workflow/take-evidence.ts';
import { IN_STATE, intentOf, NOW, POLICY, WINDOW_MS } from '../support/kit.ts';
import { ORDER, type WorldOptions, world } from '../support/world.ts';

const LINES = { sku: 'TEA-01', quantity: 2 };
const STORED = intentOf().id;
/** The id that a submission of `ORDER` gets. */
const SUBMITTED = intentIdOf('acme', 'sales', { environment: 'test', action: 'reserve' }, ORDER);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const WEEK = 7 * 86_400_000;

type Told = Partial<OutsideEvent>;

function eventWorld(options: WorldOptions = {}) {
  const w = world(options);
  const [way] = w.deps.routes.all;
  if (way === undefined) throw new Error('The world has no way out.');
  const webhook = { endpoint: 'hook', tenant: 'acme', routes: ['warehouse'], secretRefs: ['local:hook'] };
  w.deps.routes = registryOf([way.route], [way.provider], [webhook]);
  const eventOf = (told: Told = {}): OutsideEvent => {
    const receivedAt = told.receivedAt ?? w.clock.now();
    return {
      endpoint: 'hook',
      id: 'evt-1',
      receivedAt,
      type: 'order.created',
      seen: speaksOfEffect(told.type ?? 'order.created'),
      reference: STORED,
      externalId: 'R-1',
      account: 'tokyo-1',
      environment: 'test',
      kind: 'reservation',
      digest: 'd-1',
      matchedTo: null,
      dueAt: receivedAt + MINUTE,
      changes: 0,
      ...told,
    };
  };
  const evidenceOf = async (id = STORED) =>
    (await w.ledger.evidence({ tenant: 'acme', intentId: id }, 100, null)).items.filter(
      ({ kind }) => kind === 'webhook',
    );
  return {
    ...w,
    eventOf,
    take: (told: Told = {}) => takeEvidence(w.deps)(eventOf(told)),
    pass: () => sweep(w.deps).runOnce(),
    /** What stands of an event that was taken. */
    standing: (told: Told = {}) => w.ledger.takeEvent(eventOf(told)),
    evidenceOf,
    frozen: async () =>
      (await w.ledger.readForSend({ tenant: 'acme', intentId: STORED }, 'warehouse')).frozen,
    events: () => w.logged.map(({ event }) => event),
    store: async (intent: Intent) => void (await w.ledger.create(intent)),
  };
}

/** A ledger one of whose calls fails once armed. */
function failing(method: 'addEvidence' | 'read' | 'save' | 'saveEvent' | 'takeEvent') {
  const armed = { fails: false, hits: 0 };
  const wrap = (ledger: Ledger): Ledger => ({
    ...ledger,
    [method]: async (...given: never[]) => {
      if (!armed.fails) return (ledger[method] as (...all: never[]) => unknown)(...given);
      armed.hits += 1;
      throw new Error('The ledger is away.');
    },
  });
  return { armed, wrap };
}

describe('C48: events that come early, late, twice or for somebody else', () => {
  test('(a) one that comes before the answer is lost blocks a resend and leads to the one effect', async () => {
    const w: ReturnType<typeof eventWorld> = eventWorld({
      script: ['lost'],
      wrapTransport: (transport) => async (request) => {
        const report = await transport(request);
        await w.take({ reference: SUBMITTED });
        return report;
      },
    });
    const intent = await w.settle();
    const end = await w.untilQuiet(intent.id);
    expect([end.state, end.externalId]).toEqual(['confirmed', 'R-1']);
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([1, 1]);
  });

  test('(b) one that comes before our own record waits for it, and then withholds the write', async () => {
    const w = eventWorld();
    w.outside.add(ORDER, LINES);
    await w.take({ reference: SUBMITTED });
    expect((await w.standing()).matchedTo).toBeNull();
    // The record is there, its run has not begun.
    await w.submit({ plannedAt: NOW + HOUR });
    w.clock.advance(MINUTE);
    await w.pass();
    expect((await w.standing()).matchedTo).toEqual({ tenant: 'acme', intentId: SUBMITTED });
    const end = await w.untilQuiet(SUBMITTED);
    expect([end.state, end.handover?.reason]).toEqual(['handover', 'contrary_evidence']);
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([0, 1]);
  });

  test('(c) five deliveries are one event, one fact and one wake', async () => {
    const w = eventWorld();
    await w.store({ ...IN_STATE.unknown, dueAt: NOW + HOUR });
    for (let time = 0; time < 5; time += 1) {
      await w.take();
      w.clock.advance(1000);
    }
    expect(await w.evidenceOf()).toHaveLength(1);
    expect((await w.standing()).changes).toBe(1);
    expect((await w.read(STORED)).version).toBe(IN_STATE.unknown.version + 1);
  });

  test.each([
    ['created, then rejected', ['order.created', 'order.rejected']],
    ['rejected, then created', ['order.rejected', 'order.created']],
  ])('(d) %s in the same second end where the book says', async (_, types) => {
    const w = eventWorld({ script: ['lost'], route: { policy: { ...POLICY, resend: 'after_search' } } });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    const receivedAt = w.clock.now();
    for (const type of types) await w.take({ id: type, type, receivedAt, reference: id });
    const end = await w.untilQuiet(id);
    expect(end.state).toBe('confirmed');
    expect(await w.evidenceOf(id)).toHaveLength(2);
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([1, 1]);
  });

  test('(e) one for an unknown reference is kept and matched again, ever more rarely, for seven days', async () => {
    const w = eventWorld();
    await w.take({ receivedAt: NOW });
    const pauses: number[] = [];
    for (let event = await w.standing(); event.dueAt !== null; event = await w.standing()) {
      pauses.push(event.dueAt - w.clock.now());
      expect(pauses.length, 'it comes to an end').toBeLessThan(200);
      w.clock.advance(event.dueAt - w.clock.now());
      expect(event.dueAt).toBeLessThan(NOW + WEEK);
      await w.pass();
    }
    expect(pauses.slice(0, 7).map((ms) => ms / MINUTE)).toEqual([1, 2, 4, 8, 16, 32, 60]);
    expect(new Set(pauses.slice(7))).toEqual(new Set([HOUR]));
    expect(NOW + WEEK - w.clock.now()).toBeLessThanOrEqual(HOUR);
    expect(w.events().filter((event) => event === 'webhook_unmatched')).toHaveLength(1);
    expect((await w.standing()).matchedTo).toBeNull();
    await w.store(IN_STATE.unknown);
    w.clock.advance(WEEK);
    await w.pass();
    expect(await w.evidenceOf()).toEqual([]);
  });

  test.each<[number, number | null, string]>([
    [HOUR - WEEK, null, 'the limit itself is over'],
    [HOUR - WEEK + 1, NOW + HOUR, 'a moment before it is not'],
  ])('(e) received %d ms from now it is next tried at %j, because %s', async (ago, dueAt) => {
    const w = eventWorld();
    await w.ledger.takeEvent(w.eventOf({ receivedAt: NOW + ago, dueAt: NOW, changes: 20 }));
    await w.pass();
    expect((await w.standing()).dueAt).toBe(dueAt);
  });

  test('(e) a delivery after those seven days still finds an intent that is there by then', async () => {
    const w = eventWorld();
    await w.ledger.takeEvent(w.eventOf({ dueAt: null }));
    await w.store(IN_STATE.unknown);
    await w.take();
    expect(await w.evidenceOf()).toHaveLength(1);
  });

  test.each<[string, Told]>([
    ['another account', { account: 'osaka-1' }],
    ['another environment', { environment: 'production' }],
    ['another kind of effect', { kind: 'shipment' }],
    ['an endpoint that is not configured any more', { endpoint: 'gone' }],
    ['a reference that is no id of ours', { reference: 'PO-37' }],
    ['a reference with the separator of the ledger', { reference: `${STORED}#I#x` }],
  ])('(g) the right reference with %s is not matched', async (_, told) => {
    const w = eventWorld();
    await w.store(IN_STATE.unknown);
    await w.take(told);
    expect(await w.evidenceOf()).toEqual([]);
    expect(await w.read(STORED)).toEqual(IN_STATE.unknown);
    expect((await w.standing(told)).dueAt).toBe(NOW + MINUTE);
  });

  test.each<[string, Partial<Intent>]>([
    ['of another tenant', { tenant: 'umbra' }],
    ['that went another way', { route: 'elsewhere' }],
    ['of another account', { account: 'osaka-1' }],
  ])('(g) the right reference of an intent %s is not matched', async (_, change) => {
    const w = eventWorld();
    const other = { ...IN_STATE.unknown, ...change };
    await w.store(other);
    await w.take();
    expect(await w.ledger.read({ tenant: other.tenant, intentId: STORED })).toEqual(other);
  });
});

describe('without a reference', () => {
  const BINDING = {
    provider: 'warehouse',
    account: 'tokyo-1',
    environment: 'test',
    kind: 'reservation',
    externalId: 'R-1',
  } as const;

  test('an event is given to the intent that owns the id, once one does', async () => {
    const w = eventWorld();
    await w.store(IN_STATE.unknown);
    await w.take({ reference: null });
    expect(await w.evidenceOf()).toEqual([]);
    await w.ledger.bind(BINDING, { tenant: 'acme', intentId: STORED });
    w.clock.advance(MINUTE);
    await w.pass();
    expect(await w.evidenceOf()).toHaveLength(1);
  });

  test('an event that names no id either stays unmatched', async () => {
    const w = eventWorld();
    await w.store(IN_STATE.unknown);
    await w.ledger.bind(BINDING, { tenant: 'acme', intentId: STORED });
    await w.take({ reference: null, externalId: null });
    expect(await w.evidenceOf()).toEqual([]);
  });

  test('an id that belongs to another tenant leads nowhere', async () => {
    const w = eventWorld();
    await w.store({ ...IN_STATE.unknown, tenant: 'umbra' });
    await w.ledger.bind(BINDING, { tenant: 'umbra', intentId: STORED });
    await w.take({ reference: null });
    expect((await w.standing()).matchedTo).toBeNull();
  });
});

describe('an event is evidence, never a verdict', () => {
  const EMPTY: readonly IntentState[] = ['absent', 'rejected', 'closed'];

  test.each(EMPTY)(
    'late success after %s: handed over and frozen, once a look supports it',
    async (state) => {
      const w = eventWorld();
      await w.store(IN_STATE[state]);
      w.clock.advance(30_000);
      w.outside.add(ORDER, LINES);
      await w.take();
      const woken = await w.read(STORED);
      expect([woken.state, woken.contraryAt, woken.dueAt]).toEqual([state, w.clock.now(), w.clock.now()]);
      expect(await w.frozen()).toBe(false);
      expect(w.events()).not.toContain('duplicate_risk');
      await w.pass();
      const end = await w.untilQuiet(STORED);
      expect([end.state, end.handover?.reason, end.outcome]).toEqual(['handover', 'contrary_evidence', null]);
      expect(await w.frozen()).toBe(true);
      expect(w.events().filter((event) => event === 'duplicate_risk')).toHaveLength(1);
      expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([0, 1]);
    },
  );

  test('evidence that no look supports ends an absence before people, and freezes nothing', async () => {
    const w = eventWorld();
    await w.store(IN_STATE.absent);
    w.clock.advance(30_000);
    const cameAt = w.clock.now();
    await w.take();
    await w.pass();
    const end = await w.untilQuiet(STORED);
    expect([end.state, end.handover?.reason]).toEqual(['handover', 'contrary_evidence']);
    expect(end.handover?.at).toBeGreaterThan(cameAt + WINDOW_MS);
    expect(await w.frozen()).toBe(false);
    expect(w.events()).not.toContain('duplicate_risk');
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([0, 0]);
  });

  test.each(['rejected', 'closed'] as const)('evidence that no look supports leaves %s', async (state) => {
    const w = eventWorld();
    await w.store(IN_STATE[state]);
    await w.take();
    await w.pass();
    const end = await w.untilQuiet(STORED);
    expect([end.state, end.contraryAt, end.dueAt]).toEqual([state, null, null]);
    expect(w.outside.gets()).toBeGreaterThan(0);
    expect(await w.frozen()).toBe(false);
  });

  test('of a confirmed intent, the known id wakes nothing', async () => {
    const w = eventWorld();
    await w.store(IN_STATE.confirmed);
    await w.take();
    expect(await w.read(STORED)).toEqual(IN_STATE.confirmed);
    expect(await w.evidenceOf()).toHaveLength(1);
  });

  test.each([
    ['one that a look finds is an incident and freezes', true],
    ['one that no look finds changes nothing', false],
  ])('of a confirmed intent, another id is looked for: %s', async (_, isThere) => {
    const w = eventWorld();
    const confirmed = await w.settle();
    if (isThere) w.outside.add(ORDER, LINES);
    await w.take({ reference: confirmed.id, externalId: 'R-2' });
    expect((await w.read(confirmed.id)).incident).toBeNull();
    await w.pass();
    const end = await w.untilQuiet(confirmed.id);
    expect(end.state).toBe('confirmed');
    expect([end.incident?.reason, await w.frozen()]).toEqual([
      isThere ? 'second_effect' : undefined,
      isThere,
    ]);
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([1, isThere ? 2 : 1]);
  });

  test('an event while the claim is out blocks its first byte', async () => {
    const w: ReturnType<typeof eventWorld> = eventWorld({
      wrapTransport: (transport) => async (request) => {
        await w.take({ reference: SUBMITTED });
        return transport(request);
      },
    });
    const intent = await w.settle();
    expect(w.outside.posts()).toBe(0);
    const end = await w.untilQuiet(intent.id);
    expect(end.state).toBe('handover');
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([0, 0]);
  });

  test('a type that nobody knows is kept and wakes nothing', async () => {
    const w = eventWorld();
    await w.store(IN_STATE.handover);
    await w.take({ type: 'order.packed' });
    expect(await w.read(STORED)).toEqual(IN_STATE.handover);
    expect((await w.evidenceOf()).map(({ facts }) => [facts['type'], facts['seen']])).toEqual([
      ['order.packed', false],
    ]);
  });

  test('a refusal is a reason to look, and no sighting', async () => {
    const w = eventWorld();
    await w.store({ ...IN_STATE.unknown, dueAt: NOW + HOUR });
    await w.take({ type: 'order.rejected' });
    const { dueAt, seenAt } = await w.read(STORED);
    expect([dueAt, seenAt]).toEqual([NOW, null]);
  });
});

describe('whatever fails', () => {
  test('before the event is stored, the sender is not told that it was taken', async () => {
    const { armed, wrap } = failing('takeEvent');
    const w = eventWorld({ wrapLedger: wrap });
    armed.fails = true;
    await expect(w.take()).rejects.toThrow('away');
  });

  test.each(['read', 'addEvidence', 'save', 'saveEvent'] as const)(
    'in %s after that, the sweep does what was not done',
    async (method) => {
      const { armed, wrap } = failing(method);
      const w = eventWorld({ wrapLedger: wrap });
      await w.store({ ...IN_STATE.unknown, dueAt: NOW + HOUR });
      armed.fails = true;
      await w.take();
      expect(armed.hits).toBe(1);
      expect((await w.standing()).matchedTo).toBeNull();
      armed.fails = false;
      w.clock.advance(MINUTE);
      await w.pass();
      expect((await w.standing()).matchedTo).toEqual({ tenant: 'acme', intentId: STORED });
      expect(await w.evidenceOf()).toHaveLength(1);
      const { seenAt, dueAt } = await w.read(STORED);
      expect(seenAt).not.toBeNull();
      expect(dueAt).toBeLessThanOrEqual(w.clock.now());
    },
  );

  test('a repeat does what the first delivery did not come to', async () => {
    const { armed, wrap } = failing('save');
    const w = eventWorld({ wrapLedger: wrap });
    await w.store({ ...IN_STATE.unknown, dueAt: NOW + HOUR });
    armed.fails = true;
    await w.take();
    armed.fails = false;
    await w.take();
    expect((await w.read(STORED)).seenAt).toBe(NOW);
    expect(await w.evidenceOf()).toHaveLength(1);
  });

  test('a rival write in between is looked at, not overwritten', async () => {
    const rival = { writes: 1 };
    const w = eventWorld({
      wrapLedger: (ledger) => ({
        ...ledger,
        save: async (before, after, guard) => {
          if (rival.writes > 0) {
            rival.writes -= 1;
            await ledger.save(before, { ...before, noMoreWrites: true }, { kind: 'unchanged' });
          }
          return ledger.save(before, after, guard);
        },
      }),
    });
    await w.store(IN_STATE.unknown);
    await w.take();
    const { noMoreWrites, seenAt } = await w.read(STORED);
    expect([noMoreWrites, seenAt]).toEqual([true, NOW]);
  });

  test('one event that cannot be given starves no other, and is put off', async () => {
    const w = eventWorld({
      wrapLedger: (ledger) => ({
        ...ledger,
        addEvidence: async (ref, evidence) => {
          if (evidence.id === 'hook/evt-bad') throw new Error('It cannot be kept.');
          await ledger.addEvidence(ref, evidence);
        },
      }),
    });
    await w.take({ id: 'evt-bad' });
    for (let number = 0; number < 150; number += 1) await w.take({ id: `evt-${number}` });
    await w.store(IN_STATE.unknown);
    w.clock.advance(MINUTE);
    await w.pass();
    expect(await w.ledger.evidence({ tenant: 'acme', intentId: STORED }, 500, null)).toMatchObject({
      items: { length: 150 },
    });
    expect((await w.standing({ id: 'evt-bad' })).dueAt).toBe(w.clock.now() + 2 * MINUTE);
  });

  test('the same id with another body changes nothing, and is told', async () => {
    const w = eventWorld();
    await w.store(IN_STATE.unknown);
    await w.take();
    await w.take({ digest: 'd-2', externalId: 'R-9' });
    expect((await w.standing()).externalId).toBe('R-1');
    expect((await w.read(STORED)).acknowledgedId).toBe('R-1');
    expect(w.events().filter((event) => event === 'webhook_changed')).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../lib/domain/promise.ts';
import { errorKinds, reportOf } from '../../lib/domain/report.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { NOW, POLICY, routeTo, WINDOW_MS } from '../support/kit.ts';
import type { PLAYS } from '../support/scripted-warehouse.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const { key: _, ...keyless } = warehouse.promise;
const SEARCHABLE = { ...keyless, key: undefined } as never;
const searchFirst = { route: { policy: { ...POLICY, resend: 'after_search' as const } } };
const searchable: WorldOptions = { keyed: false, promise: SEARCHABLE };

type Play = keyof typeof PLAYS;
const failedView = () => ({ kind: 'failed', error: 'status_500' }) as const;
const emptyView = (honest: Record<string, unknown>) =>
  ({ kind: 'answered', status: 200, body: JSON.stringify({ ...honest, reservations: [] }) }) as const;

describe('what becomes of one order', () => {
  it.each<[string, Play[], WorldOptions, string, number, number, string[]]>([
    ['plain', [], {}, 'confirmed', 1, 1, []],
    [
      'W1 ORD-BEFORE: 503 before saving, resend first',
      ['unavailable'],
      {},
      'confirmed',
      2,
      1,
      ['status_503'],
    ],
    [
      'W1 ORD-AFTER: saved, answer lost, resend first',
      ['lost'],
      {},
      'confirmed',
      2,
      1,
      ['closed_without_answer'],
    ],
    ['W1 ORD-BEFORE, search first', ['unavailable'], searchFirst, 'confirmed', 2, 1, ['status_503']],
    [
      'W1 ORD-AFTER, search first: found, not sent again',
      ['lost'],
      searchFirst,
      'confirmed',
      1,
      1,
      ['closed_without_answer'],
    ],
    ['saved, then silence', ['stalled'], {}, 'confirmed', 2, 1, ['timeout']],
    ['saved, then 500: not repeated, found', ['saved500'], {}, 'confirmed', 1, 1, ['status_500']],
    [
      'C10: every POST saves and says 500',
      ['saved500', 'saved500', 'saved500'],
      {},
      'confirmed',
      1,
      1,
      ['status_500'],
    ],
    ['saved, 201 cut: not repeated, found', ['cut'], {}, 'confirmed', 1, 1, ['body_cut']],
    ['away twice, then there', ['away', 'away'], {}, 'confirmed', 3, 1, ['not_sent', 'not_sent']],
    [
      'away for good: rejected with proof',
      ['away', 'away', 'away', 'away'],
      {},
      'rejected',
      4,
      0,
      ['not_sent', 'not_sent', 'not_sent', 'not_sent'],
    ],
    ['applied late: the key makes it one', ['late'], {}, 'confirmed', 2, 1, ['timeout']],
    ['refused at once', ['refused'], {}, 'rejected', 1, 0, ['status_400']],
    [
      'refused after a lost answer: it exists, so it is found',
      ['lost', 'refused'],
      {},
      'confirmed',
      2,
      1,
      ['closed_without_answer', 'status_400'],
    ],
    [
      'refused after a lost attempt: unknown first, then people',
      ['swallowed', 'refused'],
      {},
      'handover',
      2,
      0,
      ['timeout', 'status_400'],
    ],
    ['500 that saved nothing is not repeated', ['empty500'], {}, 'handover', 1, 0, ['status_500']],
    [
      'four times 503: people',
      ['unavailable', 'unavailable', 'unavailable', 'unavailable'],
      {},
      'handover',
      4,
      0,
      ['status_503', 'status_503', 'status_503', 'status_503'],
    ],
    ['searchable: lost answer, found', ['lost'], searchable, 'confirmed', 1, 1, ['closed_without_answer']],
    ['searchable: applied late, found late', ['late'], searchable, 'confirmed', 1, 1, ['timeout']],
    [
      'searchable: swallowed, sent again only after the window',
      ['swallowed'],
      searchable,
      'confirmed',
      2,
      1,
      ['timeout'],
    ],
  ])('%s', async (_name, script, options, state, attempts, effects, kinds) => {
    const w = world({ ...options, script });
    const intent = await w.untilQuiet((await w.settle()).id);
    expect(intent.state).toBe(state);
    expect(intent.attempts).toHaveLength(attempts);
    expect(w.outside.effects(ORDER)).toBe(effects);
    expect(errorKinds(intent)).toEqual(kinds);
    expect(intent.externalId).toBe(state === 'confirmed' ? 'R-1' : null);
    expect(reportOf(intent)).toBe(state === 'handover' ? 'unconfirmed' : state);
    for (const play of new Set(script.slice(0, attempts)))
      expect(w.outside.hits.get(play), play).toBeGreaterThan(0);
  });

  it('the plain order takes five ledger writes and five states of the machine', async () => {
    const w = world();
    const intent = await w.settle();
    // create 1, claim 2, result 3, confirm 4; the binding is an item of its own
    expect(intent.version).toBe(4);
    expect(w.entered).toEqual(['Send', 'Decide', 'Verify', 'Decide', 'Done']);
  });

  it('blind: one attempt in doubt goes to people, never out again', async () => {
    const { search: __, ...blind } = keyless;
    const w = world({
      script: ['swallowed'],
      keyed: false,
      promise: { ...blind, key: undefined, search: undefined } as never,
    });
    const intent = await w.untilQuiet((await w.settle()).id);
    expect(intent).toMatchObject({ state: 'handover' });
    expect(w.outside.posts()).toBe(1);
  });

  it('searchable: no POST leaves inside the window', async () => {
    const w = world({ ...searchable, script: ['swallowed'] });
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    await w.drain();
    const intent = await w.read(accepted.intent.id);
    const [first, second] = intent.attempts;
    expect((second?.claimedAt ?? 0) - (first?.claimedAt ?? 0)).toBeGreaterThan(WINDOW_MS);
  });
});

describe('what is seen outside', () => {
  const ended = async (w: World) => w.untilQuiet((await w.settle()).id);

  it('W6: a GET that shows three is a handover, nothing is chosen', async () => {
    const w = world();
    const three = (honest: Record<string, unknown>) => {
      const [one] = honest['reservations'] as Record<string, unknown>[];
      const reservations = [one, { ...one, reservation_id: 'X-1' }, { ...one, reservation_id: 'X-2' }];
      return { kind: 'answered', status: 200, body: JSON.stringify({ ...honest, reservations }) } as const;
    };
    w.outside.views.push(three);
    const intent = await ended(w);
    expect(intent).toMatchObject({ state: 'handover', externalId: null, acknowledgedId: 'R-1' });
    expect(intent.handover).toMatchObject({ reason: 'many', candidates: ['R-1', 'X-1', 'X-2'] });
    expect(w.outside.posts()).toBe(1);
  });

  it('W6: while the GET fails it is unconfirmed, and the id of the POST stands apart', async () => {
    const w = world();
    w.outside.views.push(failedView, failedView, failedView);
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    await w.steps['Verify']?.(input);
    expect(await w.read(id)).toMatchObject({
      state: 'acknowledged',
      externalId: null,
      acknowledgedId: 'R-1',
    });
    expect(await w.untilQuiet(id)).toMatchObject({ state: 'confirmed', externalId: 'R-1' });
  });

  it('a readback that fails for good is handed over, not denied', async () => {
    const w = world();
    for (let n = 0; n < 30; n += 1) w.outside.views.push(failedView);
    const intent = await ended(w);
    expect(intent.handover?.reason).toBe('readback_unavailable');
    expect(reportOf(intent)).toBe('unconfirmed');
  });

  it('C36: created, then 0 at first: read again, never created again', async () => {
    const w = world();
    w.outside.views.push(emptyView, emptyView, emptyView);
    const intent = await ended(w);
    expect(intent.state).toBe('confirmed');
    expect(w.outside.posts()).toBe(1);
  });

  it('C36: created, then gone for good: people, never created again', async () => {
    const w = world();
    for (let n = 0; n < 30; n += 1) w.outside.views.push(emptyView);
    const intent = await ended(w);
    expect(intent.handover?.reason).toBe('found_but_gone');
    expect(w.outside.posts()).toBe(1);
  });

  it.each<[string, (honest: Record<string, unknown>) => unknown]>([
    ['another account', (honest) => ({ ...honest, warehouse: 'osaka-1' })],
    ['another order', (honest) => ({ ...honest, order_id: 'PO-371' })],
    ['no list', ({ order_id, warehouse: name }) => ({ order_id, warehouse: name })],
    ['null', () => null],
  ])('C32: an answer about %s is no zero', async (_, change) => {
    const w = world({ ...searchable, script: ['swallowed'] });
    const wrong = (honest: Record<string, unknown>) =>
      ({ kind: 'answered', status: 200, body: JSON.stringify(change(honest)) }) as const;
    for (let n = 0; n < 30; n += 1) w.outside.views.push(wrong);
    const intent = await ended(w);
    expect(intent.handover?.reason).toBe('exhausted');
    expect(intent.lastSearch?.verdict).toBe('inconclusive');
    expect(w.outside.posts()).toBe(1);
  });

  it.each([401, 403, 404, 429, 500])('C32: status %i on the search is no zero', async (code) => {
    const w = world({ ...searchable, script: ['swallowed'] });
    for (let n = 0; n < 30; n += 1)
      w.outside.views.push(() => ({ kind: 'answered', status: code, body: '[]' }));
    const intent = await ended(w);
    expect(intent.state).toBe('handover');
    expect(w.outside.posts()).toBe(1);
  });

  it('C18: the order exists with another quantity: mismatch, not confirmed, no second call', async () => {
    const w = world({ script: ['swallowed'], ...searchFirst });
    w.outside.add(ORDER, { sku: 'TEA-01', quantity: 3 });
    const intent = await ended(w);
    expect(intent.handover?.reason).toBe('mismatch');
    expect(w.outside.posts()).toBe(1);
  });

  it('rule 9: a record that is bound to another intent is not ours', async () => {
    const w = world();
    const binding = {
      provider: 'warehouse',
      account: 'tokyo-1',
      environment: 'test',
      kind: 'reservation',
      externalId: 'R-1',
    } as const;
    await w.ledger.bind(binding, { tenant: 'acme', intentId: 'int_other' });
    const intent = await ended(w);
    expect(intent.handover?.reason).toBe('bound_elsewhere');
    expect(intent.externalId).toBeNull();
  });

  it('rule 7: what was seen once is never absent', async () => {
    const w = world({ ...searchable, script: ['lost'] });
    const shownOnce = (honest: Record<string, unknown>) =>
      ({ kind: 'answered', status: 200, body: JSON.stringify(honest) }) as const;
    w.outside.views.push(shownOnce);
    for (let n = 0; n < 60; n += 1) w.outside.views.push(emptyView);
    const intent = await ended(w);
    expect(intent.handover?.reason).toBe('found_but_gone');
    expect(w.outside.posts()).toBe(1);
  });
});

describe('the same key again', () => {
  it('the same request is the same intent, whatever its spelling', async () => {
    const w = world();
    const first = await w.submit();
    const again = await w.submit({ payload: { quantity: 2, sku: 'TEA-01', order_id: ORDER } });
    expect([first.kind, again.kind]).toEqual(['accepted', 'same']);
    await w.drain();
    expect(w.outside.posts()).toBe(1);
  });

  it('O4: another quantity is a conflict: recorded, no call, the first stands', async () => {
    const w = world();
    const first = await w.settle();
    const changed = await w.submit({ payload: { order_id: ORDER, sku: 'TEA-01', quantity: 3 } });
    expect(changed).toEqual({ kind: 'conflict' });
    const ref = { tenant: 'acme', intentId: first.id };
    expect(await w.ledger.countConflicts(ref)).toBe(1);
    expect(await w.read(first.id)).toMatchObject({ state: 'confirmed', externalId: 'R-1', conflictAt: NOW });
    expect([w.outside.posts(), w.queue.length]).toEqual([1, 0]);
  });

  it.each([
    ['another tenant', { tenant: 'umbra' }, 'unknown_route'],
    ['another unit', { unit: 'rental' }, 'accepted'],
  ])('C20: %s does not meet it', async (_, change, expected) => {
    const w = world();
    await w.settle();
    expect((await w.submit(change)).kind).toBe(expected);
  });
});

describe('permission', () => {
  const ending = (until: number) => ({ ...POLICY, permission: { ...POLICY.permission, until } });

  it('a permission that ends before the first byte lets nothing out', async () => {
    const w = world({ route: { policy: ending(NOW + 1) } });
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    w.clock.advance(1);
    await w.drain();
    expect((await w.read(accepted.intent.id)).state).toBe('awaiting_approval');
    expect(w.outside.posts()).toBe(0);
  });

  it('without permission from the start it waits, and closes without effect at sendBy', async () => {
    const w = world({ route: { policy: ending(NOW) } });
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    expect(accepted.intent.state).toBe('awaiting_approval');
    expect(await w.untilQuiet(accepted.intent.id)).toMatchObject({ state: 'closed', outcome: 'no_effect' });
    expect(w.outside.posts()).toBe(0);
  });

  it('O8: a permission that lapses while unknown stops writes only; the search goes on', async () => {
    const w = world({
      script: ['lost'],
      route: { policy: { ...ending(NOW + 500), resend: 'after_search' } },
    });
    expect((await w.untilQuiet((await w.settle()).id)).state).toBe('confirmed');
    expect(w.outside.posts()).toBe(1);
  });

  it('a freeze stops the next send and no search', async () => {
    const w = world({ script: ['lost'], ...searchFirst });
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    await w.ledger.freeze('warehouse', { by: 'test', why: 'test', at: NOW });
    const input = w.queue[0];
    if (input === undefined) throw new Error('no run');
    expect(await w.steps['Send']?.(input)).toEqual({ next: 'end' });
    expect((await w.read(accepted.intent.id)).dueAt).toBe(NOW + 60_000);
    expect(w.outside.posts()).toBe(0);
  });

  it('a freeze between claim and first byte withholds the byte, with proof', async () => {
    const w = world({
      wrapTransport: (transport) => async (request) => {
        await w.ledger.freeze('*', { by: 'test', why: 'test', at: NOW });
        return transport(request);
      },
    });
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    const input = w.queue[0];
    if (input === undefined) throw new Error('no run');
    await w.steps['Send']?.(input);
    const intent = await w.read(accepted.intent.id);
    expect(intent.attempts[0]?.result).toMatchObject({ proof: 'not_sent', detail: 'withheld:frozen' });
    expect([intent.state, w.outside.posts()]).toEqual(['ready', 0]);
  });

  it('a planned order waits for its time', async () => {
    const w = world();
    const accepted = await w.submit({ plannedAt: NOW + DAY_MS });
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    expect(w.queue).toHaveLength(0);
    await sweep(w.deps).runOnce();
    expect(w.queue).toHaveLength(0);
    const intent = await w.untilQuiet(accepted.intent.id);
    expect(intent.state).toBe('confirmed');
    expect(intent.attempts[0]?.claimedAt).toBeGreaterThanOrEqual(NOW + DAY_MS);
  });
});

describe('leases and late answers', () => {
  it('O11: a live lease is left alone, a dead one is looked into, never sent', async () => {
    const w = world({ wrapTransport: () => () => new Promise(() => undefined) });
    const { id, input } = await w.begin();
    void w.steps['Send']?.(input);
    await new Promise((done) => setImmediate(done));
    expect(await w.steps['Send']?.(input)).toEqual({ next: 'end' });
    w.clock.advance(14_999);
    expect(await w.steps['Search']?.(input)).toEqual({ next: 'end' });
    w.clock.advance(1);
    await w.steps['Search']?.(input);
    const intent = await w.read(id);
    expect(intent.attempts[0]?.lostAt).toBe(w.clock.now());
    expect(intent.lastSearch?.candidates).toEqual([]);
    expect(errorKinds(intent)).toEqual(['lost']);
  });

  it('a sender that wakes up after the take-over finds its attempt lost and lets no byte out', async () => {
    let wake = (): void => undefined;
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const w = world({
      wrapTransport: (transport) => async (request) => {
        await asleep;
        return transport(request);
      },
    });
    const { id, input } = await w.begin();
    const sending = w.steps['Send']?.(input);
    await new Promise((done) => setImmediate(done));
    w.clock.advance(15_000);
    await w.steps['Search']?.(input);
    wake();
    await sending;
    expect(w.outside.posts()).toBe(0);
    expect((await w.read(id)).attempts[0]).toMatchObject({
      lostAt: NOW + 15_000,
      result: { proof: 'not_sent', detail: 'withheld:not_mine' },
    });
  });

  it('an answer that comes after the take-over is kept and leads to the receipt', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const w = world({
      ...searchable,
      wrapTransport: (transport) => async (request) => {
        const report = await transport(request);
        await held;
        return report;
      },
    });
    w.outside.views.push(emptyView);
    const { id, input } = await w.begin();
    const sending = w.steps['Send']?.(input);
    await new Promise((done) => setImmediate(done));
    w.clock.advance(15_000);
    await w.steps['Search']?.(input);
    expect((await w.read(id)).state).toBe('unknown');
    release();
    await sending;
    expect(await w.read(id)).toMatchObject({ state: 'unknown', acknowledgedId: 'R-1' });
    expect(await w.untilQuiet(id)).toMatchObject({ state: 'confirmed', externalId: 'R-1' });
    expect(w.outside.posts()).toBe(1);
  });

  it('a second effect of a confirmed order is an incident: queued, the route frozen, the receipt stands', async () => {
    const w = world({ script: ['lost'] });
    const first = await w.settle();
    expect(first).toMatchObject({ state: 'confirmed' });
    expect(first.dueAt).toBe((first.attempts[1]?.claimedAt ?? 0) + WINDOW_MS + 1);
    w.outside.add(ORDER, { sku: 'TEA-01', quantity: 2 });
    const intent = await w.untilQuiet(first.id);
    expect(intent).toMatchObject({ state: 'confirmed', externalId: 'R-1', dueAt: null });
    expect(intent.incident).toMatchObject({ reason: 'second_effect', candidates: ['R-1', 'R-2'] });
    expect((await w.ledger.readForSend({ tenant: 'acme', intentId: first.id }, 'warehouse')).frozen).toBe(
      true,
    );
  });

  it('a confirmed order with two attempts is looked at once more and then left alone', async () => {
    const w = world({ script: ['lost'] });
    const intent = await w.untilQuiet((await w.settle()).id);
    expect(intent).toMatchObject({ state: 'confirmed', dueAt: null, incident: null });
    expect(w.logged.filter((each) => each.event === 'searched')).toHaveLength(1);
  });
});

describe('the sweep', () => {
  it('starts what nobody started', async () => {
    const w = world();
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    w.queue.length = 0;
    expect((await w.untilQuiet(accepted.intent.id)).state).toBe('confirmed');
  });

  it('takes up all that is due in one pass, however much, and nothing that is not', async () => {
    const w = world();
    const order = (n: number) => ({
      key: `PO-${n}`,
      payload: { order_id: `PO-${n}`, sku: 'TEA-01', quantity: 1 },
    });
    for (let n = 0; n < 1000; n += 1) await w.submit(order(n));
    await w.submit({ ...order(1000), plannedAt: NOW + DAY_MS });
    w.queue.length = 0;
    w.clock.advance(60_000);
    expect(await sweep(w.deps).runOnce()).toEqual({ due: 1000, started: 1000, handedOver: 0 });
    expect(w.queue).toHaveLength(1000);
    expect(await sweep(w.deps).runOnce()).toEqual({ due: 0, started: 0, handedOver: 0 });
  });

  it('hands over what its runs cannot move', async () => {
    const w = world();
    const accepted = await w.submit();
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    w.queue.length = 0;
    w.deps.start = async () => undefined;
    for (let n = 0; n < 40; n += 1) {
      const intent = await w.read(accepted.intent.id);
      if (intent.state === 'handover') break;
      w.clock.advance(Math.max(0, (intent.dueAt ?? 0) - w.clock.now()));
      await sweep(w.deps).runOnce();
    }
    expect((await w.read(accepted.intent.id)).handover?.reason).toBe('cannot_run');
    expect(w.outside.posts()).toBe(0);
  });

  it('is not starved by what cannot be taken up, and asks people about that once a day', async () => {
    const w = world();
    const order = (n: number) => ({
      key: `ST-${n}`,
      payload: { order_id: `ST-${n}`, sku: 'TEA-01', quantity: 1 },
    });
    for (let n = 0; n < 900; n += 1) await w.submit(order(n));
    const last = await w.submit();
    if (last.kind !== 'accepted') throw new Error(last.kind);
    const { id } = last.intent;
    const stuck = w.queue.splice(0);
    for (const input of stuck) {
      const intent = await w.ledger.read(input);
      if (intent === undefined || intent.id === id) continue;
      const handover = { reason: 'cannot_run', candidates: [], at: NOW } as const;
      await w.ledger.save(
        intent,
        { ...intent, state: 'handover', handover, idleRuns: 12, dueAt: 1 },
        { kind: 'unchanged' },
      );
    }
    w.clock.advance(60_000);
    expect(await sweep(w.deps).runOnce()).toEqual({ due: 901, started: 1, handedOver: 0 });
    await w.drain();
    expect((await w.read(id)).state).toBe('confirmed');
    expect((await sweep(w.deps).runOnce()).due).toBe(0);
    w.clock.advance(DAY_MS);
    expect((await sweep(w.deps).runOnce()).due).toBe(900);
  });
});

describe('a route that leads elsewhere than it did', () => {
  it.each(['account', 'environment', 'action'] as const)(
    'with another %s sends and searches nothing for what was accepted before',
    async (name) => {
      const w = world({ script: ['swallowed'], ...searchFirst });
      const { id, input } = await w.begin();
      await w.steps['Send']?.(input);
      const changed = {
        ...routeTo('http://127.0.0.1:1'),
        [name]: name === 'environment' ? 'production' : 'other',
      };
      w.deps.routes = registryOf([changed]);
      const gets = w.outside.gets();
      const intent = await w.untilQuiet(id);
      expect(intent).toMatchObject({ state: 'handover', handover: { reason: 'cannot_run' } });
      expect([w.outside.posts(), w.outside.gets()]).toEqual([1, gets]);
    },
  );
});

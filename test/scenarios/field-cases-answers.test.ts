/** Faults met in the field, on the way to the supplier and back: was it sent, was it done? */
import { describe, expect, it } from 'vitest';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import {
  ALL,
  answerOf,
  ending,
  fieldWorld,
  isSearch,
  SEARCHED,
  sent,
  shown,
} from '../support/field-world.ts';
import { NOW, TIMING } from '../support/kit.ts';
import type { PlayName } from '../support/supplier-plays.ts';

const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, effects: 1 };
const BLIND = { state: 'handover', reason: 'blind', writes: 1, effects: 1 };
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
/** As routes are configured: a 409 is never repeated. */
const REPEAT_ON = ['not_sent', 'closed_without_answer', 'timeout', 'lost', 'status_503'];

describe('C01: the order is saved, and its answer comes too late or never', () => {
  const LAG_MS = 3 * SECOND_MS;

  it.each<{ kind: SupplierKind; lagMs: number; writes: number; because: string }>([
    ...SEARCHED.map((kind) => ({ kind, lagMs: 0, writes: 1, because: 'the first look shows it' })),
    { kind: 'searchable', lagMs: LAG_MS, writes: 1, because: 'no empty look proves anything in the window' },
    { kind: 'keyed', lagMs: LAG_MS, writes: 2, because: 'the same key may go again after one empty look' },
    { kind: 'unique', lagMs: LAG_MS, writes: 2, because: 'the same reference may go again likewise' },
  ])('$kind, $lagMs ms until it shows: $writes writes, one order, because $because', async (row) => {
    const { kind, lagMs, writes } = row;
    for (const play of ['cut_after_save', 'stall_after_save'] as const) {
      const s = fieldWorld(kind, {
        script: [play],
        visibilityLagMs: lagMs,
        route: { visibilityLagMs: Math.max(lagMs, 300) },
        policy: { repeatOn: REPEAT_ON },
      });
      const intent = await sent(s);
      const { state, report } = await s.view(intent.id);
      expect([state, report], 'after the write').toEqual(['unknown', 'unconfirmed']);
      expect(await ending(s, intent), play).toEqual({ ...CONFIRMED, writes });
    }
  });

  it('an answer that comes after the order was found and confirmed is kept, and changes nothing', async () => {
    const { promise: arrival, resolve: answerArrives } = Promise.withResolvers<void>();
    const { promise: gone, resolve: left } = Promise.withResolvers<void>();
    const s = fieldWorld('searchable', {
      world: {
        wrapTransport: (transport) => async (request) => {
          const report = await transport(request);
          left();
          await arrival;
          return report;
        },
      },
    });
    const intent = await s.entered();
    await s.sign(intent);
    const first = s.w.steps['Send']?.(await s.swept());
    await gone;
    s.w.clock.advance(TIMING.senderLifeMs);
    expect(await ending(s, intent)).toEqual(CONFIRMED);
    const before = await s.view(intent.id);
    answerArrives();
    await first;
    const after = await s.w.read(intent.id);
    expect(after.attempts[0]).toMatchObject({ lostAt: expect.any(Number), result: { kind: 'acknowledged' } });
    const { state, externalId, receipt } = await s.view(intent.id);
    expect({ state, externalId, receipt }).toEqual({
      state: 'confirmed',
      externalId: before.externalId,
      receipt: before.receipt,
    });
    expect(await ending(s, intent)).toEqual(CONFIRMED);
  });
});

describe('C05: a success whose body says nothing', () => {
  const place = { account: 'tokyo-1', environment: 'test' };

  it.each<{ told: ReturnType<typeof answerOf>; code: string; because: string }>([
    {
      told: { kind: 'answered', status: 201, headers: {}, body: '', complete: false },
      code: 'body_cut',
      because: 'it was cut after nine of a hundred bytes',
    },
    { told: answerOf(201, '{"account"'), code: 'body_cut', because: 'it was cut where no length was given' },
    { told: answerOf(201, ''), code: 'body_cut', because: 'it is empty' },
    { told: answerOf(201, '<html>OK</html>'), code: 'body_cut', because: 'it is a page' },
    { told: answerOf(201, { ...place, status: 'created' }), code: 'bad_answer', because: 'it has no id' },
    {
      told: answerOf(201, { ...place, status: 'created', order_id: null }),
      code: 'bad_answer',
      because: 'its id is null',
    },
  ])('is neither a success nor a failure, because $because', async ({ told, code }) => {
    for (const kind of ALL) {
      const s = fieldWorld(kind, { told: [told] });
      const intent = await sent(s);
      expect(intent, kind).toMatchObject({
        state: 'unknown',
        acknowledgedId: null,
        attempts: [{ result: { kind: 'unknown', code } }],
      });
      expect(await ending(s, intent), kind).toEqual(kind === 'blind' ? BLIND : CONFIRMED);
    }
  });

  it('an address in the head of such an answer is not followed: only the search finds the order', async () => {
    const location = 'http://127.0.0.1:3/orders/1';
    const s = fieldWorld('searchable', { told: [answerOf(201, '', { location })] });
    expect(await ending(s, await sent(s))).toEqual(CONFIRMED);
    expect(s.looks.map(({ path }) => path)).not.toContain('/orders/1');
  });
});

describe('C06: a layer on the way delivers one write twice', () => {
  it.each(['keyed', 'unique'] as const)('%s: the supplier makes one of it', async (kind) => {
    const s = fieldWorld(kind, { script: ['delivered_twice_unanswered'] });
    expect(await ending(s, await sent(s))).toEqual(CONFIRMED);
  });

  it('searchable, and answered: the second one is found by the audit, told, and the route is frozen', async () => {
    const s = fieldWorld('searchable', { script: ['delivered_twice'] });
    const intent = await sent(s);
    expect(await ending(s, intent)).toMatchObject({ state: 'confirmed', writes: 1, effects: 2 });
    const { incident, route } = await s.w.read(intent.id);
    expect(incident?.reason).toBe('second_effect');
    expect((await s.w.ledger.readForSend({ tenant: 'acme', intentId: intent.id }, route)).frozen).toBe(true);
    expect(s.w.logged.map(({ event }) => event)).toContain('duplicate_risk');
  });
});

describe('C08: asked too often', () => {
  const tooMany = (retryAfter: string | undefined) =>
    answerOf(429, { error: 'slow_down' }, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  const repeating = { policy: { repeatOn: ['status_429'] } } as const;

  it('a 429 after the work was done is found, not sent again', async () => {
    for (const kind of SEARCHED) {
      const s = fieldWorld(kind, { ...repeating, told: [tooMany('120')] });
      const intent = await sent(s);
      expect(intent.attempts[0]?.result).toMatchObject({ kind: 'unknown', code: 'status_429' });
      expect(await ending(s, intent), kind).toEqual(CONFIRMED);
    }
  });

  it('a route that does not name 429 asks people instead of sending again', async () => {
    const s = fieldWorld('searchable', { script: ['cut_before_save'], told: [tooMany('1')] });
    const end = { state: 'handover', reason: 'not_repeatable', writes: 1, effects: 0 };
    expect(await ending(s, await sent(s))).toEqual(end);
  });

  it('each 429 is one attempt of the budget, and the wait is no sleep of the sender', async () => {
    const told = [tooMany('0'), tooMany('0'), tooMany('0'), tooMany('0')];
    const script = told.map((): PlayName => 'cut_before_save');
    const s = fieldWorld('keyed', { ...repeating, script, told });
    const intent = await s.entered();
    await s.sign(intent);
    const startedAt = s.w.clock.now();
    await s.w.steps['Send']?.(await s.swept());
    expect(s.w.clock.now()).toBe(startedAt);
    const end = { state: 'handover', reason: 'budget_spent', writes: 4, effects: 0 };
    expect(await ending(s, intent)).toEqual(end);
  });

  it('an approval that ends in the wait lets no second write out', async () => {
    const s = fieldWorld('searchable', {
      ...repeating,
      script: ['cut_before_save'],
      told: [tooMany('120')],
    });
    const intent = await sent(s, NOW + 10 * SECOND_MS);
    expect(await ending(s, intent)).toMatchObject({ writes: 1, effects: 0 });
  });

  it('a 429 on the search is never zero: looks grow rarer, end, and people are asked', async () => {
    const s = fieldWorld('searchable', {
      script: ['cut_before_save'],
      view: ({ path }) => (isSearch(path) ? shown(429, { error: 'slow_down' }) : undefined),
    });
    const intent = await sent(s);
    const end = { state: 'handover', reason: 'exhausted', writes: 1, effects: 0 };
    expect(await ending(s, intent)).toEqual(end);
    expect((await s.w.read(intent.id)).lastSearch).toMatchObject({
      error: 'status_429',
      verdict: 'inconclusive',
    });
    const pauses = s.looks.slice(1).map(({ at }, index) => at - (s.looks[index]?.at ?? 0));
    expect(pauses.length).toBeGreaterThan(5);
    expect(s.looks.length).toBeLessThanOrEqual(20);
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(SECOND_MS);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(12 * HOUR_MS + TIMING.graceMs);
  });
});

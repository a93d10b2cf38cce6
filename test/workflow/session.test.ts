/** Sessions before the claim: one for many writes, none in any record, and without one nothing is claimed. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import type { Route } from '../../lib/domain/route.ts';
import type { Opening, Sessions } from '../../lib/providers/provider.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { keepSessions } from '../../lib/workflow/sessions.ts';
import { MAX_IDLE_RUNS } from '../../lib/workflow/sweep.ts';
import { POLICY, routeTo } from '../support/kit.ts';
import type { PLAYS } from '../support/scripted-warehouse.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const MINUTE = 60_000;
const DAY_MINUTES = 1440;
/** The shortest time between two openings where a token was refused. */
const BETWEEN_MS = 5 * MINUTE;
const PASSWORD = 'abcd-efgh-ijkl-mnop';

interface Scene extends World {
  /** What the next openings do, first come first served; then they succeed for an hour. */
  readonly plan: ((() => Opening) | (() => Promise<Opening>))[];
  /** Limits of the openings that were asked for. */
  readonly limits: number[];
  /** Credentials of each POST. */
  readonly sent: (string | undefined)[];
  readonly secret: { value: string };
}

/** A warehouse that wants sessions; `script` as in `world`. */
function scene(
  script: readonly (keyof typeof PLAYS)[] = [],
  route: Partial<Route> = {},
  options: WorldOptions = {},
): Scene {
  const plan: Scene['plan'] = [];
  const limits: number[] = [];
  const sent: (string | undefined)[] = [];
  const secret = { value: PASSWORD };
  const w = world({
    script,
    ...options,
    wrapTransport: (transport) => async (request) => {
      sent.push(request.headers['authorization']);
      return transport(request);
    },
  });
  let opened = 0;
  const session: Sessions = {
    open: async (given, { now, ask }) => {
      await ask('/session', given);
      const next = plan.shift();
      if (next !== undefined) return next();
      opened += 1;
      return { kind: 'open', headers: { authorization: `Bearer token-${opened}` }, until: now + 60 * MINUTE };
    },
    isOver: (status, body) => status === 400 && JSON.stringify(body) === '{"error":"invalid_request"}',
  };
  const routes = [
    routeTo('http://127.0.0.1:1', { writeSecretRef: 'local:w', ...route }),
    routeTo('http://127.0.0.1:1', { name: 'other', writeSecretRef: 'local:w', action: 'other', ...route }),
    routeTo('http://127.0.0.1:1', { name: 'open', writeSecretRef: null, action: 'open' }),
  ];
  Object.assign(w.deps, {
    routes: registryOf(routes, [{ ...warehouse, session }]),
    secret: async () => secret.value,
    sessions: keepSessions(({ timeoutMs }) => {
      limits.push(timeoutMs);
      return async () => ({ kind: 'answered', status: 200, body: '', retryAfterMs: null });
    }, w.clock),
  });
  return Object.assign(w, { plan, limits, sent, secret });
}

const orderOf = (order: string) => ({ key: order, payload: { order_id: order, sku: 'TEA-01', quantity: 2 } });
const failing =
  (error: string, minutes = 1) =>
  (): Opening => ({
    ...{ kind: 'failed', error, retryAfterMs: minutes * MINUTE },
  });
const REF = (intent: Intent) => ({ tenant: intent.tenant, intentId: intent.id });

async function told(w: World, intent: Intent): Promise<unknown[]> {
  const { items } = await w.ledger.evidence(REF(intent), 100, null);
  return items.filter((each) => each.kind === 'session').map((each) => each.facts);
}

function keeperOf(w: World) {
  const way = w.deps.routes.find('acme', 'warehouse');
  if (way === undefined) throw new Error('The world has no route.');
  return { way, sessions: w.deps.sessions };
}

describe('a session that opens', () => {
  it('carries ten writes, and a new one is opened after its end', async () => {
    const w = scene();
    for (let number = 1; number <= 10; number += 1) {
      expect((await w.settle(orderOf(`PO-${number}`))).state).toBe('confirmed');
    }
    expect(w.limits).toHaveLength(1);
    w.clock.advance(60 * MINUTE);
    await w.settle(orderOf('PO-11'));
    expect(w.limits).toHaveLength(2);
    expect(w.sent).toEqual([...Array.from({ length: 10 }, () => 'Bearer token-1'), 'Bearer token-2']);
  });

  it('is shared by runs that want it at the same time', async () => {
    const w = scene();
    let release = (): void => undefined;
    const gate = new Promise<void>((open) => {
      release = open;
    });
    w.plan.push(async () => {
      await gate;
      return { kind: 'open', headers: { authorization: 'Bearer shared' }, until: w.clock.now() + MINUTE };
    });
    const begun = [await w.begin(orderOf('PO-1')), await w.begin(orderOf('PO-2'))];
    const runs = begun.map(({ input }) => w.run(input));
    release();
    await Promise.all(runs);
    expect(w.limits).toHaveLength(1);
    expect(w.sent).toEqual(['Bearer shared', 'Bearer shared']);
  });

  it('carries every attempt of a run that resends first', async () => {
    const w = scene(['unavailable', 'lost']);
    expect((await w.settle()).state).toBe('confirmed');
    expect(w.sent).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1']);
  });

  it('is of one route, and of one secret', async () => {
    const w = scene();
    await w.settle(orderOf('PO-1'));
    await w.settle({ ...orderOf('PO-2'), route: 'other' });
    w.secret.value = 'a new password';
    await w.settle(orderOf('PO-3'));
    expect(w.sent).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-3']);
  });

  it('is not asked for where the route names no secret', async () => {
    const w = scene();
    expect((await w.settle({ ...orderOf('PO-1'), route: 'open' })).state).toBe('confirmed');
    expect({ asked: w.limits, sent: w.sent }).toEqual({ asked: [], sent: [undefined] });
  });

  it('is forgotten when the server says that it is over', async () => {
    const w = scene(['plain', 'refused']);
    expect(await w.settle(orderOf('PO-1'))).toMatchObject({ state: 'confirmed' });
    w.clock.advance(BETWEEN_MS);
    expect(await w.settle(orderOf('PO-2'))).toMatchObject({ state: 'rejected' });
    expect(await w.settle(orderOf('PO-3'))).toMatchObject({ state: 'confirmed' });
    expect(w.sent).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it('is followed by another only after five minutes when it is refused at once, and what waits is sent then', async () => {
    const w = scene(['refused']);
    expect(await w.settle(orderOf('PO-1'))).toMatchObject({ state: 'rejected' });
    const waiting = await w.settle(orderOf('PO-2'));
    expect(waiting).toMatchObject({ state: 'ready', attempts: [] });
    expect(await told(w, waiting)).toEqual([{ said: 'failed', reason: 'session_over_early' }]);
    w.clock.advance(BETWEEN_MS - 1);
    expect(await w.settle(orderOf('PO-3'))).toMatchObject({ state: 'ready', attempts: [] });
    expect(w.limits).toHaveLength(1);
    w.clock.advance(1);
    expect(await w.settle(orderOf('PO-4'))).toMatchObject({ state: 'confirmed' });
    expect(await w.untilQuiet(waiting.id)).toMatchObject({ state: 'confirmed', attempts: [{ number: 1 }] });
  });

  it('of a server that refuses every token is asked for less often than its 300 a day', async () => {
    const w = scene();
    const { way, sessions } = keeperOf(w);
    for (let minute = 0; minute < DAY_MINUTES; minute += 1) {
      const opening = await sessions.open(way, PASSWORD, 1000);
      if (opening.kind === 'open') sessions.drop(way, opening.headers);
      w.clock.advance(MINUTE);
    }
    expect(w.limits).toHaveLength(DAY_MINUTES / 5);
    expect(w.limits.length).toBeLessThan(300);
  });

  it('that was opened meanwhile is kept when a late answer refuses the one before', async () => {
    const w = scene();
    const { way, sessions } = keeperOf(w);
    const headers = async () => {
      const opening = await sessions.open(way, PASSWORD, 1000);
      return opening.kind === 'open' ? opening.headers : {};
    };
    const first = await headers();
    w.clock.advance(BETWEEN_MS);
    sessions.drop(way, first);
    const second = await headers();
    sessions.drop(way, first);
    expect(await headers()).toBe(second);
    sessions.drop(way, second);
    expect(await sessions.open(way, PASSWORD, 1000)).toMatchObject({ error: 'session_over_early' });
  });

  it.each(['unavailable', 'lost', 'cut', 'saved500', 'away'] as const)(
    'is kept when a write ends otherwise: %s',
    async (play) => {
      const w = scene([play]);
      await w.untilQuiet((await w.settle()).id);
      expect(new Set(w.sent)).toEqual(new Set(['Bearer token-1']));
    },
  );
});

describe('a session that does not open', () => {
  it.each([
    { what: 'a failure', play: failing('session_refused'), word: 'session_refused' },
    {
      what: 'an adapter that throws',
      play: () => {
        throw new Error(PASSWORD);
      },
      word: 'session_adapter_failed',
    },
  ])('after $what nothing is claimed or written, until one opens', async ({ play, word }) => {
    const w = scene();
    w.plan.push(play);
    const first = await w.settle();
    expect(first).toMatchObject({ state: 'ready', attempts: [] });
    expect(w.outside.posts()).toBe(0);
    expect(await told(w, first)).toEqual([{ said: 'failed', reason: word }]);
    expect(w.logged).toContainEqual({
      event: 'session_not_open',
      fields: { intentId: first.id, route: 'warehouse', code: word },
    });
    const last = await w.untilQuiet(first.id);
    expect(last).toMatchObject({ state: 'confirmed', attempts: [{ number: 1 }] });
    expect(w.outside.effects(ORDER)).toBe(1);
  });

  it('a secret that cannot be read is no attempt either', async () => {
    const w = scene();
    const read = w.deps.secret;
    Object.assign(w.deps, { secret: () => Promise.reject(new Error('away')) });
    const first = await w.settle();
    expect(first).toMatchObject({ state: 'ready', attempts: [] });
    expect(await told(w, first)).toEqual([{ said: 'failed', reason: 'session_secret_unreadable' }]);
    Object.assign(w.deps, { secret: read });
    expect(await w.untilQuiet(first.id)).toMatchObject({ state: 'confirmed' });
  });

  it('for good: people are told after the bound of runs, and nothing was written', async () => {
    const w = scene();
    w.plan.push(...Array.from({ length: 50 }, () => failing('session_refused', 5)));
    const intent = await w.untilQuiet((await w.settle()).id);
    expect(intent).toMatchObject({
      state: 'handover',
      handover: { reason: 'cannot_run' },
      attempts: [],
    });
    expect(w.outside.posts()).toBe(0);
    expect(await told(w, intent)).toHaveLength(MAX_IDLE_RUNS + 1);
    expect(w.limits.length).toBeLessThanOrEqual(MAX_IDLE_RUNS + 1);
  });

  it('past `sendBy` it ends without effect', async () => {
    const w = scene([], { policy: { ...POLICY, sendWithinMs: 10 * MINUTE } });
    w.plan.push(...Array.from({ length: 50 }, () => failing('session_timeout')));
    const intent = await w.untilQuiet((await w.settle()).id);
    expect(intent).toMatchObject({ state: 'closed', outcome: 'no_effect', attempts: [] });
    expect(w.outside.posts()).toBe(0);
  });

  it('is not asked for by every intent: a refusal is kept for its time', async () => {
    const w = scene();
    w.plan.push(failing('session_limited', 5));
    const waiting: Intent[] = [];
    for (let number = 1; number <= 20; number += 1) waiting.push(await w.settle(orderOf(`PO-${number}`)));
    expect(w.limits).toHaveLength(1);
    w.clock.advance(5 * MINUTE - 1);
    await w.settle(orderOf('PO-21'));
    expect(w.limits).toHaveLength(1);
    w.clock.advance(1);
    await w.settle(orderOf('PO-22'));
    expect(w.limits).toHaveLength(2);
    for (const { id } of waiting) expect((await w.untilQuiet(id)).state).toBe('confirmed');
    expect(w.limits).toHaveLength(2);
  });

  it('before a second attempt leaves the first in doubt, and the effect is one', async () => {
    const w = scene(['swallowed'], { policy: { ...POLICY, resend: 'after_search' } });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    w.secret.value = 'a new password';
    w.plan.push(failing('session_timeout'));
    expect(await w.run(input)).toBe('succeeded');
    expect(await w.read(id)).toMatchObject({ state: 'unknown', attempts: [{ number: 1 }] });
    expect(await w.untilQuiet(id)).toMatchObject({ state: 'confirmed' });
    expect({ posts: w.outside.posts(), effects: w.outside.effects(ORDER) }).toEqual({ posts: 2, effects: 1 });
  });
});

describe('time', () => {
  it.each([
    { requestMs: 1000, limit: 3000, because: 'more is never taken' },
    { requestMs: 2800, limit: 2600, because: 'the write keeps its own three limits' },
    { requestMs: 3000, limit: 2000, because: 'the write keeps its own three limits' },
  ])('a route of $requestMs ms gives a session $limit ms, because $because', async ({ requestMs, limit }) => {
    const w = scene([], { policy: { ...POLICY, requestMs } });
    await w.settle();
    expect(w.limits).toEqual([limit]);
  });

  it('a session that took what the write needs is used by the next run, and nothing was claimed', async () => {
    const w = scene([], { policy: { ...POLICY, requestMs: 3000 } });
    w.plan.push(() => {
      w.clock.advance(2000);
      return { kind: 'open', headers: { authorization: 'Bearer slow' }, until: w.clock.now() + MINUTE };
    });
    const { id, input } = await w.begin();
    expect(await w.steps['Send']?.(input)).toEqual({ next: 'wait', waitSeconds: 1 });
    expect(await w.read(id)).toMatchObject({ state: 'ready', attempts: [] });
    await w.run(input);
    expect(await w.read(id)).toMatchObject({ state: 'confirmed' });
    expect({ asked: w.limits.length, sent: w.sent }).toEqual({ asked: 1, sent: ['Bearer slow'] });
  });
});

it('no password and no token is in a record, a log line or a receipt', async () => {
  const w = scene(['unavailable', 'lost']);
  w.plan.push(failing('session_refused'));
  const intent = await w.untilQuiet((await w.settle()).id);
  const { items } = await w.ledger.evidence(REF(intent), 1000, null);
  const all = JSON.stringify([await w.read(intent.id), items, w.logged]);
  expect(intent.state).toBe('confirmed');
  expect(w.sent).toContain('Bearer token-1');
  expect(all).toContain('session_refused');
  expect(all).not.toContain(PASSWORD);
  expect(all).not.toContain('token-1');
  expect(all).not.toContain('Bearer');
});

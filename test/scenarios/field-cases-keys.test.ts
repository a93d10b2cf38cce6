/** Faults met in the field with keys, identity and conflicts. */
import { describe, expect, it } from 'vitest';
import { registryOf } from '../../lib/providers/registry.ts';
import { send } from '../../lib/workflow/send.ts';
import { ALL, answerOf, ending, type FieldWorld, fieldWorld, sent } from '../support/field-world.ts';
import { NOW, WINDOW_MS } from '../support/kit.ts';
import type { PlayName } from '../support/supplier-plays.ts';

const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, effects: 1 };
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const KEY = {
  header: 'idempotency-key',
  lifetimeMs: 24 * HOUR_MS,
  scope: 'account',
  whileRunning: 'conflict',
  bodyCompared: true,
  storesErrors: true,
} as const;

/** Keys of the POSTs, each once. */
const keysOf = (s: FieldWorld) => new Set(s.requests.map(({ headers }) => headers['idempotency-key']));
const times = (s: FieldWorld) => s.supplier.posts.map(({ at }) => at);

describe('C14: a key that is not in force yet, still in use, or answered by an old error', () => {
  it.each<{ inForce: 'with' | 'after'; leastMs: number; because: string }>([
    { inForce: 'with', leastMs: 500, because: 'the key holds, after a time of quiet and one empty look' },
    { inForce: 'after', leastMs: WINDOW_MS, because: 'a key that is kept after the work protects nothing' },
  ])('a key in force $inForce the work: a resend after $leastMs ms, because $because', async (row) => {
    const s = fieldWorld('keyed', {
      script: ['cut_before_save'],
      promise: { key: { ...KEY, inForce: row.inForce } },
    });
    expect(await ending(s, await sent(s))).toEqual({ ...CONFIRMED, writes: 2 });
    const [first = 0, second = 0] = times(s);
    expect(second - first).toBeGreaterThanOrEqual(row.leastMs);
    expect(s.supplier.posts[1]?.looksBefore).toBeGreaterThan(0);
    expect(keysOf(s).size).toBe(1);
  });

  it('409 while the first still runs: undetermined, no new key, and looked for until it shows', async () => {
    const s = fieldWorld('keyed', {
      script: [{ play: 'late_save', delayMs: 400 }, 'key_in_use'],
      policy: { repeatOn: ['closed_without_answer'] },
      route: { applyDelayMs: 500, visibilityLagMs: 5 * SECOND_MS },
      visibilityLagMs: 5 * SECOND_MS,
    });
    const intent = await sent(s);
    expect(await ending(s, intent)).toEqual({ ...CONFIRMED, writes: 2 });
    expect((await s.w.read(intent.id)).attempts[1]?.result).toMatchObject({
      kind: 'unknown',
      code: 'status_409',
    });
    expect(keysOf(s)).toEqual(new Set([intent.id]));
  });

  it('the answer 500 to a repeat of what is done is no failure: the order is found', async () => {
    const script: PlayName[] = ['status_after_save_stored'];
    const s = fieldWorld('keyed', {
      script,
      visibilityLagMs: 5 * SECOND_MS,
      route: { visibilityLagMs: 6000 },
    });
    const intent = await sent(s);
    const end = await ending(s, intent);
    expect(end).toMatchObject({ state: 'confirmed', effects: 1 });
    expect(end.writes, 'the stored error was met').toBeGreaterThan(1);
    const codes = (await s.w.read(intent.id)).attempts.map(({ result }) => result?.kind);
    expect(new Set(codes)).toEqual(new Set(['unknown']));
    expect(keysOf(s).size).toBe(1);
  });
});

describe('C16: what is sent again is what was approved, byte for byte', () => {
  const PAUSE_MS = 5 * MINUTE_MS;

  it('five minutes later, by a process and a release that would render it otherwise', async () => {
    const s = fieldWorld('keyed', { script: ['cut_before_save'] });
    s.supplier.faults.push({ kind: 'search_status', until: NOW + PAUSE_MS });
    const intent = await sent(s);
    const routes = registryOf(
      s.w.deps.routes.all.map(({ route }) => route),
      s.w.deps.routes.all.map(({ provider }) => ({
        ...provider,
        write: () => ({ method: 'POST', path: '/orders', headers: {}, body: `{"at":${s.w.clock.now()}}` }),
      })),
    );
    s.w.steps['Send'] = send({ ...s.w.deps, routes });
    s.w.clock.advance(PAUSE_MS);
    expect(await ending(s, intent)).toEqual({ ...CONFIRMED, writes: 2 });
    const [first, second] = s.requests;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers).toEqual(first?.headers);
    expect(first?.body).toBe(intent.frozen.body);
  });

  it('nothing in it tells the attempt: no time, no number, no token', async () => {
    const s = fieldWorld('keyed', { script: ['cut_before_save'] });
    const intent = await sent(s);
    const { token } = intent.attempts[0] ?? { token: '' };
    const [request] = s.requests;
    const bytes = JSON.stringify([request?.url, request?.headers, request?.body]);
    for (const word of [token, String(NOW), '2026-11-30']) expect(bytes).not.toContain(word);
  });
});

describe('C18: a success that is about another order', () => {
  it.each(ALL)('%s: a success that tells of other content than was sent is not confirmed', async (kind) => {
    const s = fieldWorld(kind, { script: ['altered_quantity'] });
    const end = { state: 'handover', reason: 'mismatch', writes: 1, effects: 1 };
    expect(await ending(s, await sent(s))).toEqual(end);
  });

  it('keyed: a success that gives the id of an older, other order is not confirmed', async () => {
    const s: FieldWorld = fieldWorld('keyed', {
      script: ['cut_before_save'],
      told: [
        answerOf(200, {
          account: 'tokyo-1',
          environment: 'test',
          order_id: '4611686018427387904',
          status: 'created',
        }),
      ],
    });
    const intent = await s.entered();
    s.supplier.add({
      ...JSON.parse(intent.frozen.body),
      reference: `int_${'0'.repeat(40)}`,
      purchase_order: 'PO-1',
    });
    await s.sign(intent);
    await s.w.steps['Send']?.(await s.swept());
    const end = await ending(s, intent);
    expect(end).toMatchObject({ state: 'handover', writes: 1, effects: 1 });
    expect((await s.view(intent.id)).acknowledgedId).toBe('4611686018427387904');
  });
});

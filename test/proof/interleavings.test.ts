/**
 * Callers, runs and sweeps of one order, interleaved at every boundary call under seeded schedules in which time
 * jumps, senders sleep past their lease and die at their time limit. Counted in the warehouse's book.
 */
import { describe, expect, it } from 'vitest';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { intentIdOf } from '../../lib/workflow/accept.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { POLICY, TIMING } from '../support/kit.ts';
import { type Schedule, schedule } from '../support/schedule.ts';
import type { PLAYS } from '../support/scripted-warehouse.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const SCHEDULES = 600;
const FIRST_SEED = 20_261_130;
const MOST_TURNS = 1500;
const JUMPS_MS = [40, 900, 5000, 16_000, 61_000];

const { key: _, ...keyless } = warehouse.promise;
const CLASSES: Readonly<Record<string, WorldOptions>> = {
  'keyed, resend first': {},
  'keyed, search first': { route: { policy: { ...POLICY, resend: 'after_search' } } },
  searchable: { keyed: false, promise: { ...keyless, key: undefined } as never },
};
const PLAY_NAMES: readonly (keyof typeof PLAYS)[] = [
  'plain',
  'lost',
  'stalled',
  'unavailable',
  'saved500',
  'cut',
  'away',
  'swallowed',
  'late',
  'refused',
];

interface Tally {
  schedules: number;
  turns: number;
  killed: number;
  takeOvers: number;
  resends: number;
  ends: Record<string, number>;
}

async function play(name: string, seed: number, tally: Tally): Promise<void> {
  const late: { w?: World } = {};
  const clock = () => {
    if (late.w === undefined) throw new Error('The world is not made yet.');
    return late.w.clock;
  };
  const order = schedule(seed, clock);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(order.random() * list.length)] as T;
  const script = [pick(PLAY_NAMES), pick(PLAY_NAMES), pick(PLAY_NAMES)];
  const w = world({ ...CLASSES[name], script, wrapLedger: order.ledger, wrapTransport: order.transport });
  late.w = w;
  const [send, get] = [w.steps['Send'], w.outside.reader()];
  if (send !== undefined) w.steps['Send'] = order.sender(send, TIMING.senderLifeMs);
  w.deps.reader = () => order.get(get);

  await interleave(w, order);
  const intent = await w.ledger.read({ tenant: 'acme', intentId: ID });
  if (intent === undefined) throw new Error('The accepted order is gone.');
  const effects = w.outside.effects(ORDER);
  expect(effects, 'duplicates').toBeLessThanOrEqual(1);
  if (intent.state === 'confirmed') expect([effects, intent.externalId]).toEqual([1, 'R-1']);
  if (intent.state === 'rejected' || intent.outcome === 'no_effect') expect(effects).toBe(0);
  if (!['confirmed', 'rejected', 'closed'].includes(intent.state)) expect(intent.dueAt).not.toBeNull();
  expect(w.outside.posts(), 'POSTs on the wire').toBeLessThanOrEqual(intent.attempts.length);

  tally.schedules += 1;
  tally.turns += order.granted();
  tally.killed += order.killed();
  tally.takeOvers += intent.attempts.filter((attempt) => attempt.lostAt !== undefined).length;
  tally.resends += Math.max(0, w.outside.posts() - 1);
  tally.ends[intent.state] = (tally.ends[intent.state] ?? 0) + 1;
}

/** Three callers at once, every started run at once, sweeps in between; then sweeps until nothing waits. */
async function interleave(w: World, order: Schedule): Promise<void> {
  const quietly = (work: Promise<unknown>): void => void work.catch(() => undefined);
  for (let caller = 0; caller < 3; caller += 1) quietly(w.submit());
  quietly(w.submit({ payload: { order_id: ORDER, sku: 'TEA-01', quantity: 3 } }));
  for (let turns = 0; turns < MOST_TURNS; turns += 1) {
    for (let input = w.queue.shift(); input !== undefined; input = w.queue.shift()) quietly(w.run(input));
    const chance = order.random();
    if (chance < 0.03) w.clock.advance(JUMPS_MS[Math.floor(order.random() * JUMPS_MS.length)] ?? 0);
    if (chance > 0.985) quietly(sweep(w.deps).runOnce());
    if (await order.step()) continue;
    const intent = await w.ledger.read({ tenant: 'acme', intentId: ID });
    if (intent === undefined || intent.dueAt === null || intent.state === 'handover') return;
    w.clock.advance(Math.max(0, intent.dueAt - w.clock.now()));
    quietly(sweep(w.deps).runOnce());
  }
}

const ID = intentIdOf('acme', 'sales', { environment: 'test', action: 'reserve' }, ORDER);

describe(`${SCHEDULES} schedules a class`, () => {
  it.each(Object.keys(CLASSES))(
    '%s: one effect at most, and no end that says more than is true',
    async (name) => {
      const tally: Tally = { schedules: 0, turns: 0, killed: 0, takeOvers: 0, resends: 0, ends: {} };
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed += 1) {
        try {
          await play(name, seed, tally);
        } catch (error) {
          throw new Error(`seed ${seed} of "${name}" (set FIRST_SEED to replay)`, { cause: error });
        }
      }
      console.info(name, JSON.stringify(tally));
      expect(tally.schedules).toBe(SCHEDULES);
      for (const hit of ['killed', 'takeOvers', 'resends'] as const)
        expect(tally[hit], hit).toBeGreaterThan(0);
    },
  );
});

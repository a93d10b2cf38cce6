/**
 * The process dies, or a boundary fails, at every call that it makes to the ledger, the provider and the
 * machine; then the sweep alone goes on. The points are taken from a dry run, so that a new call cannot escape.
 */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { CRASH_MODES, type CrashPoint, crashes } from '../support/crash.ts';
import { POLICY } from '../support/kit.ts';
import type { PLAYS } from '../support/scripted-warehouse.ts';
import { ORDER, type WorldOptions, world } from '../support/world.ts';

const { key: _, ...keyless } = warehouse.promise;
const SEARCHABLE: WorldOptions = { keyed: false, promise: { ...keyless, key: undefined } as never };
const SEARCH_FIRST: WorldOptions = { route: { policy: { ...POLICY, resend: 'after_search' } } };

interface Scene {
  readonly script: readonly (keyof typeof PLAYS)[];
  readonly options: WorldOptions;
}
const SCENES: Readonly<Record<string, Scene>> = {
  plain: { script: [], options: {} },
  'answer lost, resend first': { script: ['lost'], options: {} },
  'answer lost, search first': { script: ['lost'], options: SEARCH_FIRST },
  '503 before saving': { script: ['unavailable'], options: {} },
  'saved, then 500': { script: ['saved500'], options: {} },
  'away once': { script: ['away'], options: {} },
  'applied late': { script: ['late'], options: {} },
  'searchable, answer lost': { script: ['lost'], options: SEARCHABLE },
  'searchable, swallowed': { script: ['swallowed'], options: SEARCHABLE },
  'searchable, applied late': { script: ['late'], options: SEARCHABLE },
};

interface Outcome {
  readonly intent: Intent;
  readonly effects: number;
  readonly hits: number;
  readonly calls: readonly string[];
}

async function play({ script, options }: Scene, points: readonly CrashPoint[]): Promise<Outcome> {
  const plan = crashes(points);
  const w = world({
    ...options,
    script,
    live: plan.live,
    wrapLedger: plan.ledger,
    wrapTransport: plan.transport,
    wrapStart: plan.start,
  });
  // A caller that gets no answer sends the same again, with the same key.
  let id: string | undefined;
  while (id === undefined) {
    const accepted = await plan.live(w.submit().catch(() => 'failed' as const));
    if (accepted !== 'dead' && accepted !== 'failed' && 'intent' in accepted) id = accepted.intent.id;
  }
  const intent = await w.untilQuiet(id);
  return { intent, effects: w.outside.effects(ORDER), hits: plan.hits(), calls: plan.names };
}

/** What must hold after any faults: at most one effect, and an end that says no more than is true. */
function check({ intent, effects }: Outcome): void {
  expect(effects, 'duplicates').toBeLessThanOrEqual(1);
  expect(['confirmed', 'rejected', 'handover', 'closed']).toContain(intent.state);
  if (intent.state === 'confirmed') expect([effects, intent.externalId]).toEqual([1, 'R-1']);
  if (intent.state === 'rejected' || intent.outcome === 'no_effect') expect(effects).toBe(0);
}

describe('one crash, at every call', () => {
  it.each(Object.entries(SCENES))('%s', async (_name, scene) => {
    const dry = await play(scene, []);
    const seen = new Set<string>();
    for (let at = 0; at < dry.calls.length; at += 1) {
      for (const mode of CRASH_MODES) {
        const outcome = await play(scene, [{ at, mode }]);
        const where = `${mode} at call ${at} (${dry.calls[at]})`;
        expect(outcome.hits, where).toBe(1);
        check(outcome);
        expect(outcome.intent.state, where).toBe('confirmed');
        seen.add(`${dry.calls[at]} ${mode}`);
      }
    }
    expect(seen.size).toBeGreaterThanOrEqual(4 * new Set(dry.calls).size);
  });
});

/** Every first call in every mode; of the second calls every fifth, shifted, which keeps the suite short. */
const STRIDE = 5;
const FLOOR = 300;

describe('two crashes', () => {
  it.each(['answer lost, resend first', 'searchable, swallowed'])('%s', async (name) => {
    const scene = SCENES[name];
    if (scene === undefined) throw new Error(`There is no scene ${name}.`);
    const dry = await play(scene, []);
    let both = 0;
    for (let first = 0; first < dry.calls.length; first += 1) {
      for (const mode of CRASH_MODES) {
        const one = await play(scene, [{ at: first, mode }]);
        for (let second = first + 1 + (first % STRIDE); second < one.calls.length; second += STRIDE) {
          const outcome = await play(scene, [
            { at: first, mode },
            { at: second, mode: second % 2 === 0 ? 'kill_after' : 'fail_after' },
          ]);
          check(outcome);
          both += outcome.hits === 2 ? 1 : 0;
        }
      }
    }
    console.info(`${name}: ${both} pairs, both hit`);
    expect(both).toBeGreaterThanOrEqual(FLOOR);
  });
});

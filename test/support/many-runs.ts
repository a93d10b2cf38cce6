/** Runs of many posts side by side on one clock, as the machine does them, with a sweep every minute. */
import type { RunInput } from '../../lib/workflow/deps.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import type { MediumPlay } from './medium-plays.ts';
import { type MediumWorld, mediumWorld } from './medium-world.ts';
import type { WorldOptions } from './world.ts';

export const MINUTE_MS = 60_000;

const STEP: Readonly<Record<string, string>> = {
  ...{ search: 'Search', send: 'Send', verify: 'Verify', hand_over: 'HandOver' },
  // After every wait comes search.
  wait: 'Search',
};

/** What becomes of a number of posts at one medium. */
export function manyRuns(s: MediumWorld) {
  const { w } = s;
  const agenda: { readonly at: number; readonly input: RunInput; readonly step: string }[] = [];
  const enlist = (): void => {
    for (const input of w.queue.splice(0)) agenda.push({ at: w.clock.now(), input, step: 'Send' });
  };
  const takeStep = async (input: RunInput, step: string): Promise<void> => {
    const answer = await w.steps[step]?.(input);
    if (answer === undefined || answer.next === 'end') return;
    const waitMs = answer.next === 'wait' ? answer.waitSeconds * 1000 : 0;
    agenda.push({ at: w.clock.now() + waitMs, input, step: STEP[answer.next] ?? 'Search' });
  };
  const untilNext = async (moment: number): Promise<void> => {
    for (;;) {
      agenda.sort((a, b) => b.at - a.at);
      const first = agenda.at(-1);
      if (first === undefined || first.at > moment) break;
      agenda.pop();
      w.clock.advance(Math.max(0, first.at - w.clock.now()));
      await takeStep(first.input, first.step);
    }
    w.clock.advance(moment - w.clock.now());
  };
  return {
    /** All that happens in so many minutes. */
    goOn: async (minutes: number): Promise<void> => {
      const end = w.clock.now() + minutes * MINUTE_MS;
      for (;;) {
        const sweepAt = (Math.floor(w.clock.now() / MINUTE_MS) + 1) * MINUTE_MS;
        await untilNext(Math.min(sweepAt, end));
        if (sweepAt > end) return;
        await sweep(w.deps).runOnce();
        enlist();
      }
    },
    /** Posts with texts of their own. */
    submit: async (count: number, name: string, route: string): Promise<string[]> => {
      const ids: string[] = [];
      for (let number = 0; number < count; number += 1) {
        const payload = { text: `${name} ${number}`, visibility: 'public' } as const;
        ids.push((await s.submitted({ route, key: `${name}-${number}`, payload })).id);
      }
      enlist();
      return ids;
    },
    count: async (ids: readonly string[], state: string): Promise<number> => {
      const states = await Promise.all(ids.map(async (id) => (await w.read(id)).state));
      return states.filter((each) => each === state).length;
    },
  };
}

/** Calls of searches, in the account of a crowd. */
export const ALLOWED_PER_MINUTE = 300;

export interface Crowd {
  readonly lost: number;
  /** After which the fresh ones are sent. */
  readonly minutes: number;
  readonly fresh: number;
  /** What becomes of the first write of a fresh one; a second one is answered. */
  readonly play?: MediumPlay;
  /** How long the medium takes to list a post, and its route says so. */
  readonly visibilityLagMs?: number;
  readonly world?: WorldOptions;
}

export interface CrowdCost {
  /** Calls at the medium in the busiest minute before the fresh ones came; only searches make any then. */
  readonly mostCallsPerMinute: number;
  /** Until all the fresh ones were confirmed; null when they were not in twenty. */
  readonly minutesOfTheFresh: number | null;
  readonly writes: number;
}

/** Posts that were never saved, on a route where nothing proves that; then some on a route where they can be sent again. */
export async function crowd(wish: Crowd): Promise<CrowdCost> {
  const { lost, minutes, fresh, play = 'cut_after_save', visibilityLagMs = 0, world = {} } = wish;
  const script = [
    ...Array.from({ length: lost }, (): MediumPlay => 'cut_before_save'),
    ...Array.from({ length: fresh }, () => play),
  ];
  const lags = { visibilityLagMs, route: { visibilityLagMs: null }, route2: { visibilityLagMs } };
  const s = mediumWorld({ script, ...lags, callsPerMinute: ALLOWED_PER_MINUTE, world });
  const runs = manyRuns(s);
  await runs.submit(lost, 'lost', 'posts');
  await runs.goOn(minutes);
  const mostCallsPerMinute = Math.max(...callsByMinute(s));
  const ids = await runs.submit(fresh, 'fresh', 'posts-2');
  let minutesOfTheFresh: number | null = null;
  for (let minute = 1; minute <= 20 && minutesOfTheFresh === null; minute += 1) {
    await runs.goOn(1);
    if ((await runs.count(ids, 'confirmed')) === fresh) minutesOfTheFresh = minute;
  }
  return { mostCallsPerMinute, minutesOfTheFresh, writes: s.outside.posts.length };
}

function callsByMinute({ outside }: MediumWorld): number[] {
  const minutes = new Map<number, number>();
  for (const { at } of outside.looks) {
    const minute = Math.floor(at / MINUTE_MS);
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
  }
  return [...minutes.values()];
}

export interface LoneCost {
  readonly searches: number;
  readonly calls: number;
  readonly mostCallsOfASearch: number;
  /** Until people were asked. */
  readonly hours: number;
}

/** One post that is not to be found, in an account that posts all the time: `others` within its hour. */
export async function loneCost(others: number): Promise<LoneCost> {
  const s = mediumWorld({ script: ['cut_before_save'], route: { visibilityLagMs: null } });
  for (let number = 0; number < others; number += 1) s.outside.add({ text: `another ${number}` });
  const begun = s.w.clock.now();
  const intent = await s.sent();
  const end = await s.ending(intent);
  if (end.reason !== 'exhausted') throw new Error(`It ended otherwise: ${end.state} ${end.reason}`);
  const searches = await s.searches(intent);
  const at = searches.map((each) => Number(each['startedAt']));
  const of = at.map((start) => s.outside.looks.filter((look) => look.at === start).length);
  return {
    searches: searches.length,
    calls: s.outside.looks.length,
    mostCallsOfASearch: Math.max(...of),
    hours: (s.w.clock.now() - begun) / 3_600_000,
  };
}

/** What cannot go on comes to people: absence that nothing follows, and looks that outlive their step. */
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { DRY_RUN, STEPS } from '../../lib/platform/names.ts';
import { medium } from '../../lib/providers/medium.ts';
import type { Opening, Sessions } from '../../lib/providers/provider.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { dryRun } from '../../lib/workflow/dry-run.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { keepSessions } from '../../lib/workflow/sessions.ts';
import { MAX_IDLE_RUNS } from '../../lib/workflow/sweep.ts';
import { verify } from '../../lib/workflow/verify.ts';
import { type MediumWorld, mediumWorld, postsRoute } from '../support/medium-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('an absence that nothing can follow, because no session opens', () => {
  const policy = { sendWithinMs: 30 * DAY };

  /** The first session opens, and its write is lost; none opens while `away`. */
  function locked(): MediumWorld & { readonly away: { is: boolean } } {
    const s = mediumWorld({ script: ['cut_before_save'], policy });
    const away = { is: false };
    const open = async (_: string, { now }: { readonly now: number }): Promise<Opening> =>
      away.is
        ? { kind: 'failed', error: 'session_refused', retryAfterMs: 300_000 }
        : { kind: 'open', headers: { authorization: 'Bearer t' }, until: now + 1000 };
    const session: Sessions = { open, isOver: () => false };
    const route = postsRoute('http://127.0.0.1:4', { route: { writeSecretRef: 'local:w' }, policy });
    Object.assign(s.w.deps, {
      routes: registryOf([route], [{ ...medium, session }]),
      sessions: keepSessions(() => async () => ({ kind: 'failed', error: 'unused' }), s.w.clock),
    });
    return { ...s, away };
  }

  it('is handed over after twelve runs, in about seven hours and few searches', async () => {
    const s = locked();
    const intent = await s.sent();
    s.away.is = true;
    const began = s.w.clock.now();
    await s.w.run(runInput(intent));
    const end = await s.w.untilQuiet(intent.id, DAY, 500);
    expect([end.state, end.handover?.reason, s.outside.posts.length]).toEqual(['handover', 'cannot_run', 1]);
    expect(end.idleRuns).toBeLessThanOrEqual(MAX_IDLE_RUNS);
    expect((await s.searches(intent)).length).toBeLessThan(25);
    expect(s.w.clock.now() - began).toBeGreaterThan(5 * HOUR);
    expect(s.w.clock.now() - began).toBeLessThan(9 * HOUR);
  });

  it('is sent by itself where one opens in time', async () => {
    const s = locked();
    const intent = await s.sent();
    s.away.is = true;
    await s.w.run(runInput(intent));
    await s.w.untilQuiet(intent.id, 2 * HOUR, 500);
    expect((await s.w.read(intent.id)).state).toMatch(/absent|unknown/);
    s.away.is = false;
    const end = await s.w.untilQuiet(intent.id);
    expect([end.state, s.outside.posts.length, s.outside.book().length]).toEqual(['confirmed', 2, 1]);
  });
});

describe('looks that are slow', () => {
  /** Every call takes just less than one may. */
  function slow(posts: number, script: 'cut_after_save' | 'plain' = 'cut_after_save'): MediumWorld {
    const s = mediumWorld({ script: [script], pageSize: 1 });
    for (let n = 0; n < posts; n += 1) s.outside.add({ text: `Cake ${n}` });
    const { reader } = s.w.deps;
    s.w.deps.reader = (to) => {
      const get = reader(to);
      return async (path) => {
        s.w.clock.advance(1900);
        return get(path);
      };
    };
    return s;
  }

  it('of a search end with its step, and are recorded as one that failed', async () => {
    const s = slow(40);
    const intent = await s.sent();
    const began = s.w.clock.now();
    await s.w.steps['Search']?.(runInput(intent));
    expect(s.w.clock.now() - began).toBeLessThanOrEqual(STEPS.Search.timeoutSeconds * 1000 - 4000);
    expect(await s.searches(intent)).toMatchObject([{ error: 'out_of_time', verdict: 'inconclusive' }]);
    expect(await s.w.read(intent.id)).toMatchObject({ state: 'unknown', searches: 1 });
  });

  it('of one search after the other end with people, and never with a second post', async () => {
    const s = slow(40);
    const intent = await s.sent();
    expect(await s.ending(intent)).toEqual({ state: 'handover', reason: 'exhausted', writes: 1, posts: 1 });
  });

  it('leave what fits alone: the post is found', async () => {
    const s = slow(2);
    const intent = await s.sent();
    expect(await s.ending(intent)).toMatchObject({ state: 'confirmed', posts: 1 });
  });

  it('of a readback and a search end with the step of both', async () => {
    const s = slow(40, 'plain');
    const intent = await s.sent();
    expect(intent.state).toBe('acknowledged');
    // A first attempt that was lost makes the whole search needed.
    const [attempt] = intent.attempts;
    if (attempt === undefined) throw new Error('It was not sent.');
    const look = { ...intent, attempts: [{ ...attempt, lostAt: s.w.clock.now() }] };
    const read: Ledger['read'] = async () => look;
    const began = s.w.clock.now();
    await verify({ ...s.w.deps, ledger: { ...s.w.ledger, read } })(runInput(intent));
    expect(s.w.clock.now() - began).toBeLessThanOrEqual(STEPS.Verify.timeoutSeconds * 1000 - 4000);
    expect((await s.searches(intent)).at(-1)).toMatchObject({ error: 'out_of_time' });
    expect((await s.w.read(intent.id)).receipt).toBeNull();
  });

  it('of a dry run end before whoever asked for it is gone', async () => {
    const s = slow(40);
    const intent = await s.sent();
    const began = s.w.clock.now();
    const run = await dryRun(s.w.deps)(runInput(intent));
    expect(s.w.clock.now() - began).toBeLessThanOrEqual(DRY_RUN.timeoutSeconds * 1000 - 4000);
    expect(run?.looked?.facts.error).toBe('out_of_time');
  });
});

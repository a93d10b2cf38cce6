/** Approval of single intents, on the steps: what lets a byte out, what stops it, and what never stops looking. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { approve, revoke } from '../../lib/operations/approve.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { CRASH_MODES, crashes } from '../support/crash.ts';
import { BY_APPROVAL, NOW, POLICY, WINDOW_MS } from '../support/kit.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const { key: _, ...keyless } = warehouse.promise;
const SEARCHABLE: WorldOptions = { keyed: false, promise: { ...keyless, key: undefined } as never };
const by = (change: Partial<typeof BY_APPROVAL> = {}, policy: Partial<typeof POLICY> = {}): WorldOptions => ({
  route: { policy: { ...POLICY, ...policy, permission: { ...BY_APPROVAL, ...change } } },
});

async function submitted(w: World): Promise<Intent> {
  const accepted = await w.submit();
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  return accepted.intent;
}
const refOf = (intent: Intent) => ({ tenant: intent.tenant, intentId: intent.id });
const signAs = (w: World, intent: Intent, name = 'ann', until?: number) =>
  approve(w.deps)(refOf(intent), 'sales', { by: name, fingerprint: intent.fingerprint, until });
const sweepAndRun = async (w: World) => {
  await sweep(w.deps).runOnce();
  await w.drain();
};

describe('a route that asks for approval', () => {
  it('sends nothing before it, and everything after it', async () => {
    const w = world(by());
    const intent = await submitted(w);
    expect([intent.state, w.queue.length]).toEqual(['awaiting_approval', 0]);
    expect((await signAs(w, intent)).kind).toBe('done');
    expect(w.queue, 'who approves starts nothing').toHaveLength(0);
    await sweepAndRun(w);
    const after = await w.read(intent.id);
    expect([after.state, w.outside.effects(ORDER)]).toEqual(['confirmed', 1]);
    expect(after.attempts[0]?.permission).toBe('v2');
  });

  it('waits for the second person where the policy asks for two', async () => {
    const w = world(by({ twoFrom: { field: 'quantity', amount: 2 } }));
    const intent = await submitted(w);
    await signAs(w, intent, 'ann');
    await signAs(w, intent, 'ann');
    await sweepAndRun(w);
    expect([(await w.read(intent.id)).state, w.outside.posts()]).toEqual(['awaiting_approval', 0]);
    await signAs(w, intent, 'otto');
    await sweepAndRun(w);
    expect([(await w.read(intent.id)).state, w.outside.posts()]).toEqual(['confirmed', 1]);
  });

  it('keeps every signature and revocation', async () => {
    const w = world(by());
    const intent = await submitted(w);
    await signAs(w, intent);
    await revoke(w.deps)(refOf(intent), 'sales', 'otto');
    await signAs(w, intent, 'otto');
    const { items } = await w.ledger.evidence(refOf(intent), 10, null);
    expect(items.map((each) => [each.facts['did'], each.facts['by']])).toEqual([
      ['signed', 'ann'],
      ['revoked', 'otto'],
      ['signed', 'otto'],
    ]);
  });

  it('an approval that lapses before the first byte lets nothing out; a new one opens sending again', async () => {
    const w = world(by());
    const intent = await submitted(w);
    await signAs(w, intent, 'ann', NOW + 1000);
    w.clock.advance(1000);
    await sweepAndRun(w);
    expect([(await w.read(intent.id)).state, w.outside.posts()]).toEqual(['awaiting_approval', 0]);
    await signAs(w, intent);
    await sweepAndRun(w);
    expect([(await w.read(intent.id)).state, w.outside.posts()]).toEqual(['confirmed', 1]);
  });

  it.each([-1, 0, 1])('the first byte at %i ms around the expiry', async (distance) => {
    const w = world({
      ...by(),
      wrapTransport: (transport) => (request) =>
        transport({
          ...request,
          lastCheck: () => {
            w.clock.advance(1000 + distance);
            return request.lastCheck();
          },
        }),
    });
    const intent = await submitted(w);
    await signAs(w, intent, 'ann', NOW + 1000);
    await sweep(w.deps).runOnce();
    const input = w.queue.shift();
    if (input === undefined) throw new Error('no run');
    await w.steps['Send']?.(input);
    expect(w.outside.posts()).toBe(distance < 0 ? 1 : 0);
  });

  it('one that was given by the submitter, for another request or by another unit counts for nothing', async () => {
    const w = world(by());
    const intent = await submitted(w);
    expect(await signAs(w, intent, 'shop')).toMatchObject({ kind: 'refused', reason: 'submitter' });
    const other = { by: 'ann', fingerprint: 'fp1:x', until: undefined };
    expect(await approve(w.deps)(refOf(intent), 'sales', other)).toMatchObject({ reason: 'another_request' });
    const right = { ...other, fingerprint: intent.fingerprint };
    expect(await approve(w.deps)(refOf(intent), 'rental', right)).toEqual({ kind: 'absent' });
    await sweepAndRun(w);
    expect([(await w.read(intent.id)).approval, w.outside.posts()]).toEqual([null, 0]);
  });
});

describe('revocation', () => {
  it('while the result is unknown stops writes only: what is outside is found and confirmed', async () => {
    const w = world({ script: ['lost'], ...by({}, { resend: 'after_search' }) });
    const intent = await submitted(w);
    await signAs(w, intent);
    await sweep(w.deps).runOnce();
    const input = w.queue.shift();
    if (input === undefined) throw new Error('no run');
    await w.steps['Send']?.(input);
    await revoke(w.deps)(refOf(intent), 'sales', 'otto');
    expect((await w.untilQuiet(intent.id)).state).toBe('confirmed');
    expect(w.outside.posts()).toBe(1);
  });

  it('while the result is unknown and nothing is outside ends without a second POST', async () => {
    const w = world({ script: ['swallowed'], ...SEARCHABLE, ...by() });
    const intent = await submitted(w);
    await signAs(w, intent);
    await sweep(w.deps).runOnce();
    const input = w.queue.shift();
    if (input === undefined) throw new Error('no run');
    await w.steps['Send']?.(input);
    await revoke(w.deps)(refOf(intent), 'sales', 'otto');
    const after = await w.untilQuiet(intent.id);
    expect([after.state, after.outcome, w.outside.posts()]).toEqual(['closed', 'no_effect', 1]);
  });

  it('at every boundary of the run: no byte leaves after it', async () => {
    const play = async (at: number): Promise<{ calls: number; sentAfter: number }> => {
      const plan = crashes([]);
      let posts = 0;
      let revokedAtPosts: number | undefined;
      const w = world({
        ...by(),
        script: ['unavailable', 'unavailable'],
        wrapLedger: (ledger) => {
          const counted = plan.ledger(ledger);
          return Object.fromEntries(
            Object.entries(counted).map(([name, call]) => [
              name,
              async (...args: never[]) => {
                if (armed && plan.names.length === at && revokedAtPosts === undefined) {
                  revokedAtPosts = posts;
                  await revoke({ ...w.deps, ledger })(refOf(intent), 'sales', 'otto');
                }
                return (call as (...given: never[]) => Promise<unknown>)(...args);
              },
            ]),
          ) as never;
        },
        wrapTransport: (transport) => async (request) => {
          const report = await transport(request);
          posts = w.outside.posts();
          return report;
        },
      });
      let armed = false;
      const intent = await submitted(w);
      await signAs(w, intent);
      armed = true;
      await w.untilQuiet(intent.id, 10_000);
      expect(w.outside.effects(ORDER)).toBeLessThanOrEqual(1);
      return {
        calls: plan.names.length,
        sentAfter: revokedAtPosts === undefined ? 0 : w.outside.posts() - revokedAtPosts,
      };
    };
    const { calls } = await play(-1);
    expect(calls).toBeGreaterThan(10);
    for (let at = 0; at < calls; at += 1) {
      const { sentAfter } = await play(at);
      // A POST that is already past its last check is not called back.
      expect(sentAfter, `revoked before ledger call ${at}`).toBe(0);
    }
  });
});

describe('a fresh approval after absence', () => {
  const asks = (freshAfterAbsent: boolean) =>
    world({ script: ['swallowed'], ...SEARCHABLE, ...by({ freshAfterAbsent }) });

  it('is waited for where the route asks for it, then one more POST leaves', async () => {
    const w = asks(true);
    const intent = await submitted(w);
    await signAs(w, intent);
    await sweepAndRun(w);
    const waiting = await w.read(intent.id);
    expect([waiting.state, w.outside.posts()]).toEqual(['awaiting_approval', 1]);
    expect(w.clock.now() - NOW).toBeGreaterThan(WINDOW_MS);
    w.clock.advance(1);
    await signAs(w, waiting, 'otto');
    expect((await w.untilQuiet(intent.id)).state).toBe('confirmed');
    expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([2, 1]);
  });

  it('is not needed elsewhere', async () => {
    const w = asks(false);
    const intent = await submitted(w);
    await signAs(w, intent);
    await sweep(w.deps).runOnce();
    expect((await w.untilQuiet(intent.id)).state).toBe('confirmed');
    expect(w.outside.posts()).toBe(2);
  });
});

it('a crash at every call of approving and revoking leaves a state that goes on', async () => {
  for (const mode of CRASH_MODES) {
    for (let at = 0; at < 40; at += 1) {
      const plan = crashes([{ at, mode }]);
      const w = world({
        ...by(),
        live: plan.live,
        wrapLedger: plan.ledger,
        wrapTransport: plan.transport,
        wrapStart: plan.start,
      });
      let intent: Intent | undefined;
      while (intent === undefined) {
        const accepted = await plan.live(w.submit().catch(() => 'failed' as const));
        if (accepted !== 'dead' && accepted !== 'failed' && 'intent' in accepted) intent = accepted.intent;
      }
      await plan.live(signAs(w, intent).catch(() => 'failed'));
      // Whoever got no answer signs again.
      await plan.live(signAs(w, intent).catch(() => 'failed'));
      const after = await w.untilQuiet(intent.id);
      expect([after.state, w.outside.effects(ORDER)], `${mode} at ${at}`).toEqual(['confirmed', 1]);
    }
  }
});

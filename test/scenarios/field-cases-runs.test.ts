/** Faults met in the field around a write: who runs it, how often, and what dies in between. */
import { describe, expect, it } from 'vitest';
import { lookAgain } from '../../lib/operations/look-again.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import { runInput, runName } from '../../lib/workflow/runs.ts';
import { type CrashMode, type CrashPoint, crashes } from '../support/crash.ts';
import { ALL, ending, type FieldWorld, fieldWorld, SEARCHED, sent } from '../support/field-world.ts';
import { NOW, TIMING, WINDOW_MS } from '../support/kit.ts';

const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, effects: 1 };
const BLIND = { state: 'handover', reason: 'blind', writes: 1, effects: 1 };
const endOf = (kind: string) => (kind === 'blind' ? BLIND : CONFIRMED);

describe('C44: the write is invoked again by whatever stands around it', () => {
  const INVOCATIONS = 8;

  it.each(ALL)('%s: eight runs of one send, the answer lost: one write', async (kind) => {
    const s = fieldWorld(kind, { script: ['cut_after_save'] });
    const intent = await s.entered();
    await s.sign(intent);
    const input = await s.swept();
    for (let run = 0; run < INVOCATIONS; run += 1) await s.w.steps['Send']?.(input);
    expect([s.supplier.posts.length, s.supplier.orders().length]).toEqual([1, 1]);
    expect(await ending(s, intent)).toEqual(endOf(kind));
  });

  it.each(ALL)('%s: eight runs at once: one write', async (kind) => {
    const s = fieldWorld(kind, { script: ['cut_after_save'] });
    const intent = await s.entered();
    await s.sign(intent);
    const input = await s.swept();
    await Promise.all(Array.from({ length: INVOCATIONS }, () => s.w.steps['Send']?.(input)));
    expect(await ending(s, intent)).toEqual(endOf(kind));
  });

  it.each(ALL)(
    '%s: the service says that the call failed after its write: a search, no write',
    async (kind) => {
      const s = fieldWorld(kind, { script: ['cut_after_save'] });
      const intent = await s.entered();
      await s.sign(intent);
      const honest = s.w.steps['Send'];
      let calls = 0;
      s.w.steps['Send'] = async (input) => {
        calls += 1;
        await honest?.(input);
        throw new Error('Lambda.SdkClientException');
      };
      const input = await s.swept();
      const from = s.w.entered.length;
      await s.w.run(input);
      expect(s.w.entered.slice(from, from + 3)).toEqual(['Send', 'AfterTrouble', 'Search']);
      expect(calls).toBe(1);
      expect(await ending(s, intent)).toEqual(endOf(kind));
    },
  );

  it('a run that ended is started once more by hand: nothing is written', async () => {
    const s = fieldWorld('searchable', { script: ['cut_after_save'] });
    const intent = await sent(s);
    expect(await ending(s, intent)).toEqual(CONFIRMED);
    const before = await s.w.read(intent.id);
    for (let run = 0; run < INVOCATIONS; run += 1) await s.runOf(intent.id);
    expect(await s.w.read(intent.id)).toEqual(before);
    expect(s.supplier.posts).toHaveLength(1);
  });
});

describe('C46: the caller or the trigger comes twice', () => {
  it('three callers who repeat at once, and again when it is over, have one intent and one order', async () => {
    const s = fieldWorld('keyed');
    const answers = await Promise.all([s.submit(), s.submit(), s.submit()]);
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['accepted', 'same', 'same']);
    const [first] = answers;
    if (first === undefined || !('intent' in first)) throw new Error('Not accepted.');
    await s.sign(first.intent);
    expect(await ending(s, first.intent)).toEqual(CONFIRMED);
    s.w.clock.advance(91 * 86_400_000);
    const { lines, ...rest } = (await s.w.read(first.intent.id)).payload;
    const late = await s.submit({ payload: { lines: lines ?? null, ...rest } });
    expect(late).toMatchObject({ kind: 'same', intent: { id: first.intent.id, state: 'confirmed' } });
    expect([s.supplier.posts.length, s.w.queue.length]).toEqual([1, 0]);
  });

  it.each(ALL)('%s: a trigger that is delivered twice is one write', async (kind) => {
    const s = fieldWorld(kind);
    const intent = await s.entered();
    await s.sign(intent);
    const input = await s.swept();
    await Promise.all([s.w.run(input), s.w.run(input)]);
    await s.w.run(input);
    expect(await ending(s, intent)).toEqual(CONFIRMED);
  });

  it('a start whose answer is lost is met by the sweep; a second start under any name writes nothing', async () => {
    const names: string[] = [];
    const s = fieldWorld('searchable', {
      world: {
        wrapStart: (start) => async (name, input) => {
          names.push(name);
          await start(name, input);
          if (names.length === 1) throw new Error('The answer was lost.');
        },
      },
    });
    const intent = await s.entered();
    await s.sign(intent);
    await s.runOf((await s.swept()).intentId);
    s.w.clock.advance(TIMING.graceMs);
    expect(await ending(s, intent)).toEqual(CONFIRMED);
    expect(names).toHaveLength(new Set(names).size);
  });

  it('the name of a run is the intent with a number, of characters and a length that are allowed', async () => {
    const s = fieldWorld('keyed');
    const intent = await s.entered({ subject: 'caller:with:colons' });
    for (const runs of [1, 9_999_999]) {
      expect(runName({ ...intent, runs })).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
    }
  });
});

describe('C49: the worker dies around its mark', () => {
  interface Death {
    readonly call: 'POST' | 'save';
    /** Of the calls of this name that the run of send makes. */
    readonly last: boolean;
    readonly mode: CrashMode;
    readonly because: string;
  }

  async function ready(kind: SupplierKind, points: readonly CrashPoint[] = []) {
    const plan = crashes(points);
    const s = fieldWorld(kind, {
      world: { live: plan.live, wrapLedger: plan.ledger, wrapTransport: plan.transport },
    });
    const intent = await s.entered();
    await s.sign(intent);
    const input = await s.swept();
    return { ...s, intent, input, plan };
  }

  /** Dead at that call of its run of send; the place is taken from one that goes well. */
  async function dead(kind: SupplierKind, { call, last, mode }: Omit<Death, 'because'>) {
    const dry = await ready(kind);
    const from = dry.plan.names.length;
    await dry.w.steps['Send']?.(dry.input);
    const at = last ? dry.plan.names.lastIndexOf(call) : dry.plan.names.indexOf(call, from);
    expect(at).toBeGreaterThanOrEqual(from);
    const s = await ready(kind, [{ at, mode }]);
    const run = async () => s.w.steps['Send']?.(s.input);
    expect(await s.plan.live(run()), kind).toBe('dead');
    expect(s.plan.hits()).toBe(1);
    return s;
  }

  it.each<Death>([
    { call: 'POST', last: true, mode: 'kill_before', because: 'nothing had left' },
    { call: 'POST', last: true, mode: 'kill_after', because: 'the order is found' },
    { call: 'save', last: true, mode: 'kill_before', because: 'the answer died, the order is found' },
    { call: 'save', last: true, mode: 'kill_after', because: 'the answer is on record' },
    { call: 'save', last: false, mode: 'kill_before', because: 'the mark was not stored' },
    { call: 'save', last: false, mode: 'kill_after', because: 'the mark stood, and nothing had left' },
  ])('$mode the $call (last: $last): one write, one order, because $because', async (death) => {
    for (const kind of SEARCHED) {
      const s = await dead(kind, death);
      expect(await ending(s, s.intent), kind).toEqual(CONFIRMED);
    }
  });

  it('what died before its byte is sent again only after a look that proves it absent', async () => {
    const s = await dead('searchable', { call: 'POST', last: true, mode: 'kill_before' });
    expect((await s.w.read(s.intent.id)).state, 'the mark').toBe('sending');
    expect(await ending(s, s.intent)).toEqual(CONFIRMED);
    const [post] = s.supplier.posts;
    expect((post?.at ?? 0) - NOW).toBeGreaterThan(WINDOW_MS);
    expect(post?.looksBefore).toBeGreaterThan(0);
  });

  it('blind: people see when the mark was made, the account and the environment; nothing may go', async () => {
    const s = await dead('blind', { call: 'POST', last: true, mode: 'kill_after' });
    expect(await ending(s, s.intent)).toEqual(BLIND);
    const { facts, resend } = await s.item(s.intent.id);
    expect(facts).toMatchObject({ account: 'tokyo-1', environment: 'test', reference: null });
    expect(facts.attempts).toMatchObject([{ claimedAt: new Date(NOW).toISOString() }]);
    expect(resend.allowed).toBe(false);
  });

  it.each(ALL)('%s: "look again" on what is undetermined looks, and writes nothing', async (kind) => {
    const s: FieldWorld = fieldWorld(kind, { script: ['cut_after_save'] });
    s.supplier.faults.push({ kind: 'search_status', until: NOW + 60_000 });
    const intent = await sent(s);
    for (let press = 0; press < 5; press += 1) {
      await lookAgain(s.w.deps)({ tenant: 'acme', intentId: intent.id }, 'sales');
      await s.w.steps['Search']?.(runInput(intent));
    }
    expect([s.supplier.posts.length, (await s.view(intent.id)).report]).toEqual([1, 'unconfirmed']);
    if (kind !== 'blind') expect(s.looks.length).toBeGreaterThanOrEqual(5);
    expect(await ending(s, intent)).toEqual(endOf(kind));
  });
});

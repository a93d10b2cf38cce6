/** C08: a provider that asks for time gets it: never less than our own pause, never more than a quarter of an hour. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { LONGEST_RETRY_AFTER_MS } from '../../lib/domain/retry-after.ts';
import type { ReadOnce } from '../../lib/providers/provider.ts';
import type { Transport } from '../../lib/providers/transport.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import {
  answerOf,
  ending,
  type FieldOptions,
  fieldWorld,
  isSearch,
  SEARCHED,
  sent,
  shown,
} from '../support/field-world.ts';
import { NOW, POLICY } from '../support/kit.ts';
import { mediumWorld } from '../support/medium-world.ts';
import { type DeskOrder, scriptedDesk } from '../support/scripted-desk.ts';
import type { SupplierWorld } from '../support/supplier-world.ts';
import { ORDER, type World, type WorldOptions, world } from '../support/world.ts';

const SECOND_MS = 1000;
const CONFIRMED = { state: 'confirmed', reason: null, effects: 1 };

interface Form {
  readonly header: string | undefined;
  /** What it asks for, ms; null: nothing that can be read, or nothing ahead. */
  readonly asksMs: number | null;
  readonly because: string;
}

/** Every form of the field. Dates are told at `NOW`, when the first call is answered. */
const FORMS: readonly Form[] = [
  { header: '120', asksMs: 120_000, because: 'seconds' },
  { header: '40', asksMs: 40_000, because: 'so short that the run itself waits' },
  { header: new Date(NOW + 90_000).toUTCString(), asksMs: 90_000, because: 'a date' },
  { header: '999999999', asksMs: LONGEST_RETRY_AFTER_MS, because: 'years are cut to the cap' },
  { header: '1, 120', asksMs: 120_000, because: 'sent twice, the later one counts' },
  { header: '120, abc', asksMs: 120_000, because: 'sent twice, the one that can be read counts' },
  { header: new Date(NOW - 90_000).toUTCString(), asksMs: null, because: 'a date that is past' },
  { header: 'abc', asksMs: null, because: 'nonsense' },
  { header: '-1', asksMs: null, because: 'less than nothing' },
  { header: '', asksMs: null, because: 'an empty field' },
  { header: undefined, asksMs: null, because: 'no field' },
];

const fieldsOf = (header: string | undefined) => (header === undefined ? {} : { 'retry-after': header });
const tooMany = (header: string | undefined) => answerOf(429, { error: 'slow_down' }, fieldsOf(header));
const gapsOf = (times: readonly number[]) => times.slice(1).map((at, index) => at - (times[index] ?? 0));
const postGaps = (s: SupplierWorld) => gapsOf(s.supplier.posts.map(({ at }) => at));

/** The first write does nothing and is answered 429. */
function refusedOnce(kind: (typeof SEARCHED)[number], header: string | undefined, more: FieldOptions = {}) {
  return fieldWorld(kind, {
    script: ['cut_before_save'],
    told: [tooMany(header)],
    ...more,
    policy: { repeatOn: ['status_429'], ...more.policy },
  });
}

/** How long the second write comes after the first where nothing is asked for, ms. */
async function ownPauseOf(kind: (typeof SEARCHED)[number]): Promise<number> {
  const s = refusedOnce(kind, undefined);
  await ending(s, await sent(s));
  return postGaps(s)[0] ?? Number.NaN;
}

/** The intent's run goes on at `at`, and nothing else does. */
async function runAt(s: { readonly w: World }, { id }: Pick<Intent, 'id'>, at: number): Promise<void> {
  s.w.clock.advance(at - s.w.clock.now());
  const input = runInput(await s.w.read(id));
  for (const step of ['Search', 'Send']) await s.w.steps[step]?.(input);
}

describe('429 to a write that is looked for first', () => {
  describe.each(SEARCHED)('%s', (kind) => {
    it.each(FORMS)('"$header": $because', async ({ header, asksMs }) => {
      const own = await ownPauseOf(kind);
      const s = refusedOnce(kind, header);
      expect(await ending(s, await sent(s))).toEqual({ ...CONFIRMED, writes: 2 });
      expect(postGaps(s)).toEqual([Math.max(own, asksMs ?? 0)]);
    });

    it('makes no look either before the time is over', async () => {
      const s = refusedOnce(kind, '120');
      const { id } = await sent(s);
      expect((await s.w.untilQuiet(id)).state).toBe('confirmed');
      expect((s.looks[0]?.at ?? 0) - NOW).toBe(120_000);
    });

    it('lets no write out 1 ms before, whatever woke the run', async () => {
      const s = refusedOnce(kind, '120');
      const intent = await sent(s);
      await s.look(intent.id);
      await runAt(s, intent, NOW + 119_999);
      expect([s.looks.length > 0, s.supplier.posts.length]).toEqual([true, 1]);
      await runAt(s, intent, NOW + 120_000);
      expect(s.supplier.posts.map(({ at }) => at)).toEqual([NOW, NOW + 120_000]);
    });
  });

  it('the wait outlives its run: the sweep starts another, not before', async () => {
    for (const [header, asksMs] of [
      ['40', 40_000],
      ['120', 120_000],
    ] as const) {
      const s = refusedOnce('keyed', header);
      const intent = await sent(s);
      // Its run is never heard of again.
      s.w.queue.splice(0);
      const dueAt = (await s.w.read(intent.id)).dueAt ?? 0;
      expect(dueAt).toBeGreaterThanOrEqual(NOW + asksMs);
      s.w.clock.advance(dueAt - 1 - NOW);
      await sweep(s.w.deps).runOnce();
      expect(s.w.queue).toEqual([]);
      s.w.clock.advance(1);
      await sweep(s.w.deps).runOnce();
      await s.w.drain();
      expect(s.supplier.posts.map(({ at }) => at)).toEqual([NOW, dueAt]);
      expect((await s.w.read(intent.id)).state).toBe('confirmed');
    }
  });

  it.each([
    { until: 119_999, writes: 1, because: 'it ends in the wait' },
    { until: 120_000, writes: 1, because: 'its end is exclusive' },
    { until: 121_000, writes: 2, because: 'it outlives the wait' },
  ])('an approval of $until ms lets $writes out: $because', async ({ until, writes }) => {
    for (const kind of SEARCHED) {
      const s = refusedOnce(kind, '120');
      const end = await ending(s, await sent(s, NOW + until));
      expect(end, kind).toMatchObject({ writes, effects: writes - 1 });
    }
  });

  it('a wait past sendBy ends with it, and nothing more is sent', async () => {
    for (const kind of SEARCHED) {
      const s = refusedOnce(kind, '120', { policy: { sendWithinMs: 60_000 } });
      const end = await ending(s, await sent(s, NOW + 60_000));
      expect(end, kind).toMatchObject({ writes: 1, effects: 0 });
    }
  });

  it('every answer asks anew, each costs an attempt, and the budget ends it', async () => {
    const told = ['10', '60', '30', '120'].map(tooMany);
    const s = refusedOnce('keyed', undefined, { told, script: told.map(() => 'cut_before_save' as const) });
    const end = { state: 'handover', reason: 'budget_spent', writes: 4, effects: 0 };
    expect(await ending(s, await sent(s))).toEqual(end);
    expect(postGaps(s)).toEqual([10_000, 60_000, 30_000]);
  });

  it('what was done all the same is found after the wait, and not sent again', async () => {
    for (const kind of SEARCHED) {
      const s = refusedOnce(kind, '120', { script: [] });
      const intent = await sent(s);
      expect(await s.view(intent.id)).toMatchObject({
        state: 'unknown',
        report: 'unconfirmed',
        nextAt: '2026-11-30T09:02:00.000Z',
      });
      expect(await ending(s, intent), kind).toEqual({ ...CONFIRMED, writes: 1 });
    }
  });

  it('people see until when it waits, and that a resend is not allowed before', async () => {
    const s = refusedOnce('keyed', '120');
    const item = await s.item((await sent(s)).id);
    expect(item.facts.attempts).toMatchObject([{ result: { notBefore: '2026-11-30T09:02:00.000Z' } }]);
    expect(item.resend.reasons).toContain('quiet_time');
  });
});

it.each(FORMS)(
  '429 to a write at a blind supplier, "$header": people are asked at once',
  async ({ header }) => {
    const s = fieldWorld('blind', { told: [tooMany(header)], policy: { repeatOn: ['status_429'] } });
    const intent = await sent(s);
    await s.runOf(intent.id);
    expect((await s.w.read(intent.id)).state).toBe('handover');
    expect([s.w.clock.now(), s.supplier.posts.length]).toEqual([NOW, 1]);
  },
);

describe('503 to a write that is sent again first', () => {
  /** A warehouse that is out of service `times` times, and says for how long. */
  function outOfService(header: string | undefined, times = 1, route: WorldOptions['route'] = {}) {
    let calls = 0;
    const wrapTransport =
      (transport: Transport): Transport =>
      async (request) => {
        const report = await transport(request);
        calls += 1;
        return report.kind === 'answered' && calls <= times
          ? { ...report, headers: fieldsOf(header) }
          : report;
      };
    const script = Array.from({ length: times }, () => 'unavailable' as const);
    return world({ script, wrapTransport, route });
  }

  it.each(FORMS)('"$header": $because', async ({ header, asksMs }) => {
    const w = outOfService(header);
    const intent = await w.untilQuiet((await w.settle()).id);
    expect([intent.state, w.outside.effects(ORDER)]).toEqual(['confirmed', 1]);
    // Our own pause is the route's, inside the sender.
    expect(gapsOf(w.outside.postedAt)).toEqual([asksMs ?? POLICY.pauseMs]);
  });

  it('the sender does not sleep over it: it records, and the machine waits', async () => {
    const w = outOfService('2');
    const { id, input } = await w.begin();
    expect(await w.steps['Send']?.(input)).toEqual({ next: 'wait', waitSeconds: 2 });
    expect([w.clock.now(), (await w.read(id)).state, w.outside.posts()]).toEqual([NOW, 'unknown', 1]);
  });

  it('shorter than our own pause it changes nothing', async () => {
    const route = { policy: { ...POLICY, pauseMs: 5000 } };
    const gaps = [];
    for (const header of [undefined, '1', '4']) {
      const w = outOfService(header, 1, route);
      await w.untilQuiet((await w.settle()).id);
      gaps.push(gapsOf(w.outside.postedAt)[0] ?? 0);
    }
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(5000);
  });
});

describe('429 to a look', () => {
  const lost = (header: string | undefined, isLimited: (number: number, path: string) => boolean) =>
    fieldWorld('searchable', {
      script: ['cut_after_save'],
      view: ({ path, number }) =>
        isLimited(number, path) ? shown(429, { error: 'slow_down' }, header) : undefined,
    });

  it.each(FORMS)('a search, "$header": no evidence, and another in its time: $because', async (form) => {
    const { header, asksMs } = form;
    const s = lost(header, (number) => number === 0);
    const intent = await sent(s);
    expect(await ending(s, intent)).toEqual({ ...CONFIRMED, writes: 1 });
    const { items } = await s.w.ledger.evidence({ tenant: 'acme', intentId: intent.id }, 20, null);
    const [first] = items.filter((each) => each.kind === 'search');
    expect(first?.facts).toMatchObject({ verdict: 'inconclusive', error: 'status_429', candidates: [] });
    expect(gapsOf(s.looks.map(({ at }) => at))[0]).toBe(Math.max(asksMs ?? 0, SECOND_MS));
  });

  it('does not bring the looks of a growing pause nearer', async () => {
    // 1, 2, 4, 8 and 16 s; the fourth is cut at the end of the window.
    const s = lost('3', (number) => number < 5);
    await ending(s, await sent(s));
    expect(gapsOf(s.looks.map(({ at }) => at)).slice(0, 5)).toEqual([3000, 3000, 4000, 6000, 16_000]);
  });

  it('a wait that its run did not outlive is kept for the sweep', async () => {
    const s = lost('120', (number) => number === 0);
    const intent = await sent(s);
    expect(await s.w.steps['Search']?.(runInput(intent))).toEqual({ next: 'end' });
    expect((await s.w.read(intent.id)).dueAt).toBe(NOW + 120_000);
  });

  it('a readback that is limited comes again in its time, and confirms', async () => {
    const s = fieldWorld('keyed', {
      view: ({ number }) => (number === 0 ? shown(429, { error: 'slow_down' }, '120') : undefined),
    });
    expect(await ending(s, await sent(s))).toEqual({ ...CONFIRMED, writes: 1 });
    expect(gapsOf(s.looks.map(({ at }) => at))).toEqual([120_000]);
  });

  it.each([
    { of: 'readback', searches: false, because: 'it is not searched in the same breath' },
    { of: 'search beside it', searches: true, because: 'both must show it' },
  ])('the $of of a second attempt, limited: nothing more before, as $because', async ({ searches }) => {
    const limited: number[] = [];
    const s = fieldWorld('keyed', {
      script: ['cut_before_save'],
      view: ({ path, at }) => {
        const isFirst = limited.length === 0 && s.supplier.posts.length === 2 && isSearch(path) === searches;
        if (!isFirst) return undefined;
        limited.push(at);
        return shown(429, { error: 'slow_down' }, '120');
      },
    });
    expect(await ending(s, await sent(s))).toEqual({ ...CONFIRMED, writes: 2 });
    const [at = 0] = limited;
    const next = s.looks.map((each) => each.at).filter((each) => each > at);
    expect([limited.length, (next[0] ?? 0) - at]).toEqual([1, 120_000]);
    const inThatStep = s.looks.filter((each) => each.at === at && isSearch(each.path) === !searches);
    // The search that opened the second write, or the readback: nothing of the other kind came after it.
    expect(inThatStep).toHaveLength(1);
  });

  it('an audit that is limited comes again in its time', async () => {
    const s = fieldWorld('searchable', {
      view: ({ path, number }) =>
        isSearch(path) && number === 1 ? shown(503, { error: 'busy' }, '120') : undefined,
    });
    expect(await ending(s, await sent(s))).toEqual({ ...CONFIRMED, writes: 1 });
    const audits = s.looks.filter(({ path }) => isSearch(path)).map(({ at }) => at);
    expect(gapsOf(audits)).toEqual([120_000]);
  });

  it('asks for nothing with another status', async () => {
    const s = fieldWorld('searchable', {
      script: ['cut_after_save'],
      view: ({ number }) => (number === 0 ? shown(500, { error: 'internal' }, '120') : undefined),
    });
    await ending(s, await sent(s));
    expect(gapsOf(s.looks.map(({ at }) => at))[0]).toBe(SECOND_MS);
  });

  it.each([
    { of: 'list', limits: (path: string) => path.includes('/posts?') },
    { of: 'public page', limits: (path: string) => !path.startsWith('/api/') },
  ])('of the $of of a medium: nothing more is asked for before', async ({ limits }) => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const honest = s.w.deps.reader;
    const limited: number[] = [];
    const after: number[] = [];
    s.w.deps.reader = (to) => async (path) => {
      if (limited.length === 0 && limits(path)) {
        limited.push(s.w.clock.now());
        return shown(429, { error: 'too_many_requests' }, '120');
      }
      if (limited.length > 0) after.push(s.w.clock.now());
      return honest(to)(path);
    };
    expect(await s.ending(await s.sent())).toMatchObject({ state: 'confirmed', writes: 1, posts: 1 });
    expect([limited.length, (after[0] ?? 0) - (limited[0] ?? 0)]).toEqual([1, 120_000]);
  });
});

it('a question before a first write that is limited is asked again in its time', async () => {
  const desk = scriptedDesk();
  const order: DeskOrder = { status: 'open', shipped: false, cancelUntil: NOW + 3_600_000 };
  desk.orders.set('R-1', order);
  const asked: number[] = [];
  const w = world({
    beside: (clock) => {
      const { providers, ...rest } = desk.beside(clock);
      const get: ReadOnce = async (path) => {
        if (path !== '/limits') return rest.get(path);
        asked.push(clock.now());
        return asked.length === 1 ? shown(429, {}, '120') : shown(200, {});
      };
      const limited = providers.map((each) => {
        const { check } = each;
        if (check === undefined) return each;
        return {
          ...each,
          check: async (...[look, intent]: Parameters<typeof check>) => {
            const answer = await look.get('/limits');
            const told = answer.kind === 'answered' && answer.status === 200;
            return told ? check(look, intent) : ({ kind: 'failed', error: 'status_429' } as const);
          },
        };
      });
      return { ...rest, get, providers: limited };
    },
  });
  const made = await w.submit({ key: 'C-1', route: 'cancellations', payload: { order: 'R-1' } });
  await w.drain();
  expect(desk.posts()).toBe(0);
  const intent = await w.untilQuiet('intent' in made ? made.intent.id : '');
  expect([intent.state, desk.posts()]).toEqual(['confirmed', 1]);
  expect(gapsOf(asked)[0]).toBe(120_000);
});

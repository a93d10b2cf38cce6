/**
 * What each class of promise allows after doubt, proved by playing every fault of a supplier of that class. The policy
 * would repeat anything: what holds a resend back is the class. Counted in the supplier's book, from POST times, against
 * bounds that are worked out here.
 */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import { fakeClock, NOW, TIMING } from '../support/kit.ts';
import { type LookFault, type PlayName, SUPPLIER_PLAYS } from '../support/supplier-plays.ts';
import { type ArrivedPost, type ScriptLine, scriptedSupplier } from '../support/supplier-scripted.ts';
import {
  contentOf,
  DRAFT,
  MONTH_MS,
  SUPPLIER_ACCOUNT,
  type SupplierWorld,
  type SupplierWorldOptions,
  supplierWorld,
} from '../support/supplier-world.ts';
import type { WorldOptions } from '../support/world.ts';

const KINDS: readonly SupplierKind[] = ['keyed', 'unique', 'searchable', 'blind'];
const CLASS: Readonly<Record<SupplierKind, string>> = {
  keyed: 'A keyed',
  unique: 'B unique',
  searchable: 'C searchable',
  blind: 'D blind',
};
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const { senderLifeMs } = TIMING;

interface Bounds {
  readonly applyDelayMs: number;
  readonly visibilityLagMs: number;
}
/** The product's W, from its parts. */
const windowOf = ({ applyDelayMs, visibilityLagMs }: Bounds) => senderLifeMs + applyDelayMs + visibilityLagMs;

interface Ended {
  readonly s: SupplierWorld;
  readonly intent: Intent;
}

async function play(
  kind: SupplierKind,
  options: SupplierWorldOptions,
  faults: readonly LookFault[] = [],
): Promise<Ended> {
  const s = supplierWorld(kind, options);
  s.supplier.faults.push(...faults);
  return settled(s);
}

async function settled(s: SupplierWorld): Promise<Ended> {
  const intent = await s.entered();
  await s.sign(intent);
  const end = await s.w.untilQuiet(intent.id, MONTH_MS);
  // Whatever the supplier has not saved yet, it saves now.
  s.w.clock.advance(MONTH_MS);
  return { s, intent: end };
}

/** Something that happens between a claim and the last check before its first byte. */
function dawdling() {
  let dawdle = (): void => undefined;
  const wrapTransport: WorldOptions['wrapTransport'] = (transport) => (request) => {
    const lastCheck = async () => {
      dawdle();
      return request.lastCheck();
    };
    return transport({ ...request, lastCheck });
  };
  return {
    wrapTransport,
    dawdleOn: (act: () => void): void => {
      dawdle = act;
    },
  };
}

/** When the attempt of each POST was claimed. */
function claimsOf(posts: readonly ArrivedPost[], { attempts }: Intent): number[] {
  return posts.map(
    ({ at }) => attempts.filter((each) => each.claimedAt <= at).at(-1)?.claimedAt ?? Number.NaN,
  );
}

/** POSTs inside the window of the POST before. */
function earlyResends({ s, intent }: Ended, bounds: Bounds): number {
  const { posts } = s.supplier;
  const claims = claimsOf(posts, intent);
  return posts.filter((post, n) => n > 0 && !(post.at > (claims[n - 1] ?? Number.NaN) + windowOf(bounds)))
    .length;
}

/** Orders with an effect, without the second copies that the supplier's own network made of one POST. */
function ordersFromUs(s: SupplierWorld): number {
  const collapses = s.supplier.kind === 'keyed' || s.supplier.kind === 'unique';
  const twice = s.supplier.posts.filter((each) => SUPPLIER_PLAYS[each.play].saves === 'twice').length;
  const created = s.supplier.orders().filter((each) => each.status === 'created').length;
  return created - (collapses ? 0 : twice);
}

/** What holds after any fault, of any class. */
function check({ s, intent }: Ended, where: string): void {
  const orders = s.supplier.orders();
  const { posts } = s.supplier;
  expect(ordersFromUs(s), `${where}: duplicates`).toBeLessThanOrEqual(1);
  expect(s.violations(), `${where}: POSTs without an approval`).toBe(0);
  expect(new Set(posts.map((each) => JSON.stringify([each.body, each.key]))).size, where).toBeLessThanOrEqual(
    1,
  );
  expect(['confirmed', 'rejected', 'closed', 'handover'], where).toContain(intent.state);
  if (intent.state === 'confirmed') {
    const mine = orders.find((each) => each.order_id === intent.externalId);
    expect([mine?.status, mine?.account, contentOf(mine)], where).toEqual([
      'created',
      SUPPLIER_ACCOUNT,
      DRAFT,
    ]);
  }
  if (intent.state === 'rejected' || intent.outcome === 'no_effect') expect(ordersFromUs(s), where).toBe(0);
}

interface Tally {
  plays: number;
  posts: number;
  resends: number;
  orders: number;
  insideWindow: number;
  readonly ends: Record<string, number>;
}
const tallied = (): Tally => ({ plays: 0, posts: 0, resends: 0, orders: 0, insideWindow: 0, ends: {} });

function count(tally: Tally, ended: Ended, bounds: Bounds): void {
  const { posts } = ended.s.supplier;
  tally.plays += 1;
  tally.posts += posts.length;
  tally.resends += Math.max(0, posts.length - 1);
  tally.orders += ordersFromUs(ended.s);
  tally.insideWindow += earlyResends(ended, bounds);
  tally.ends[ended.intent.state] = (tally.ends[ended.intent.state] ?? 0) + 1;
}

function print(what: string, kind: SupplierKind, tally: Tally): void {
  console.info(`${what}, class ${CLASS[kind]}: ${JSON.stringify(tally)}`);
}

const LOCAL: Bounds = { applyDelayMs: 500, visibilityLagMs: 300 };

/** Every fault that the contract knows; what comes late comes at the last moment that D allows. */
const FIRST: readonly ScriptLine[] = (Object.keys(SUPPLIER_PLAYS) as PlayName[]).map((name) =>
  ['later', 'refused_later'].includes(SUPPLIER_PLAYS[name].saves)
    ? { play: name, delayMs: LOCAL.applyDelayMs }
    : name,
);
const SECOND: readonly PlayName[] = ['cut_after_save', 'stall', 'status_after_save_stored'];

/** For how long a look may fail while attempts are made. */
const DOWN = { until: NOW + 40 * SECOND_MS };
interface Weather {
  readonly name: string;
  readonly faults: readonly LookFault[];
  readonly visibilityLagMs?: number;
}
const CLEAR: Weather = { name: 'clear', faults: [] };
const WEATHER: readonly Weather[] = [
  CLEAR,
  { name: 'shown after L', faults: [], visibilityLagMs: LOCAL.visibilityLagMs },
  { name: 'search answers 503', faults: [{ kind: 'search_status', ...DOWN }] },
  { name: 'search answers no JSON', faults: [{ kind: 'search_garbage', ...DOWN }] },
  { name: 'search stalls', faults: [{ kind: 'search_stall', ...DOWN }] },
  { name: 'search is cut off', faults: [{ kind: 'search_close', ...DOWN }] },
  { name: 'search down for ever', faults: [{ kind: 'search_status' }] },
  { name: 'another account is shown', faults: [{ kind: 'wrong_account_view', ...DOWN }] },
  { name: 'the second page is refused', faults: [{ kind: 'bad_cursor', ...DOWN }] },
  { name: 'first page only', faults: [{ kind: 'partial_page' }] },
  { name: 'one record a page', faults: [{ kind: 'paged' }] },
];
/** Longer than L: a supplier that promises to collapse may hide what it has, and nothing doubles. */
const HIDDEN: readonly Weather[] = [
  { name: 'hidden from the search for a day', faults: [{ kind: 'hidden', until: NOW + 24 * HOUR_MS }] },
  { name: 'gone for a day', faults: [{ kind: 'gone', until: NOW + 24 * HOUR_MS }] },
];

interface Played {
  readonly script: readonly ScriptLine[];
  readonly weather: Weather;
}
/** The blind supplier has no search that could fail. */
const WEATHER_OF: Readonly<Record<SupplierKind, readonly Weather[]>> = {
  keyed: [...WEATHER, ...HIDDEN],
  unique: [...WEATHER, ...HIDDEN],
  searchable: WEATHER,
  blind: [CLEAR, ...WEATHER.filter(({ faults: [fault] }) => fault?.kind === 'wrong_account_view'), ...HIDDEN],
};

function playsFor(kind: SupplierKind): Played[] {
  return [
    ...FIRST.flatMap((first) => SECOND.map((second) => ({ script: [first, second], weather: CLEAR }))),
    ...FIRST.flatMap((first) => WEATHER_OF[kind].map((weather) => ({ script: [first], weather }))),
  ];
}

describe('O14, O15: every fault of a supplier', () => {
  it.each(KINDS)('%s: what its class forbids never happens', async (kind) => {
    const tally = tallied();
    const hit = new Set<string>();
    for (const { script, weather } of playsFor(kind)) {
      const { faults, visibilityLagMs = 0 } = weather;
      const ended = await play(kind, { script, visibilityLagMs }, faults);
      const where = `${kind}, ${JSON.stringify(script)}, ${weather.name}`;
      check(ended, where);
      if (kind === 'blind') expect(ended.s.supplier.posts.length, where).toBeLessThanOrEqual(1);
      if (kind === 'searchable') expect(earlyResends(ended, LOCAL), where).toBe(0);
      for (const post of ended.s.supplier.posts) hit.add(post.play);
      count(tally, ended, LOCAL);
    }
    print('every fault', kind, tally);
    // No byte ever arrives of the one that was away.
    expect([...hit, 'away'].sort()).toEqual(Object.keys(SUPPLIER_PLAYS).sort());
    expect(tally.ends['confirmed'], 'plays that came right').toBeGreaterThan(0);
    if (kind === 'blind') expect(tally.resends).toBe(0);
    else expect(tally.resends, 'the class allows some').toBeGreaterThan(0);
    if (kind === 'searchable') expect(tally.insideWindow).toBe(0);
  });

  it('a route that declares less than the supplier needs resends inside the window, so that this count can fail', async () => {
    const ended = await play('searchable', { script: ['stall'] });
    const real = { applyDelayMs: 60_000, visibilityLagMs: 5000 };
    expect([ended.s.supplier.posts.length, earlyResends(ended, real)]).toEqual([2, 1]);
  });

  it.each([-1, 0, 1])('class C: an empty search that starts %i ms after the window', async (ms) => {
    const s = supplierWorld('searchable', { script: ['cut_before_save'] });
    const intent = await s.entered();
    await s.sign(intent);
    const input = await s.swept();
    await s.w.steps['Send']?.(input);
    s.w.clock.advance(windowOf(LOCAL) + ms - (s.w.clock.now() - NOW));
    await s.w.steps['Search']?.(input);
    await s.w.steps['Send']?.(input);
    const { lastSearch } = await s.w.read(intent.id);
    expect([lastSearch?.verdict, s.supplier.posts.length]).toEqual(ms > 0 ? ['absent', 2] : ['wait', 1]);
  });
});

describe('O12: a save that comes late, at any time up to D', () => {
  const PROMISED: Bounds = { applyDelayMs: 60_000, visibilityLagMs: 5000 };
  /** The bounds of the promise itself. */
  const route = { applyDelayMs: null, visibilityLagMs: null };
  const DELAYS = [
    ...new Set([
      ...Array.from({ length: 31 }, (_, pair) => 2 * pair * SECOND_MS),
      ...[1, 499, 500, 501, 1001, 14_999, 15_001, 59_999],
    ]),
  ];
  /** The first byte leaves as late as the sender's own deadline allows. */
  const SLOWNESS_MS = [0, 9900];

  async function playLate(
    kind: SupplierKind,
    delayMs: number,
    slowMs = 0,
    visibilityLagMs = 0,
  ): Promise<Ended> {
    const { wrapTransport, dawdleOn } = dawdling();
    const script = [{ play: 'late_save', delayMs }] as const;
    const s = supplierWorld(kind, { script, visibilityLagMs, route, world: { wrapTransport } });
    dawdleOn(() => {
      s.w.clock.advance(slowMs);
      dawdleOn(() => undefined);
    });
    return settled(s);
  }

  it.each(KINDS)('%s: no second order', async (kind) => {
    const tally = tallied();
    for (const delayMs of DELAYS) {
      for (const slowMs of SLOWNESS_MS) {
        for (const lagMs of [0, PROMISED.visibilityLagMs]) {
          const ended = await playLate(kind, delayMs, slowMs, lagMs);
          const where = `${kind}, saved ${delayMs} ms late, sent ${slowMs} ms late, listed after ${lagMs} ms`;
          check(ended, where);
          expect(ended.s.supplier.orders(), where).toHaveLength(1);
          expect((ended.s.supplier.posts[0]?.at ?? 0) - (ended.intent.attempts[0]?.claimedAt ?? 0)).toBe(
            slowMs,
          );
          if (kind === 'blind') expect(ended.intent.handover?.reason, where).toBe('blind');
          else expect(ended.intent.state, where).toBe('confirmed');
          if (kind === 'searchable' || kind === 'blind') {
            expect(ended.s.supplier.posts, where).toHaveLength(1);
          }
          count(tally, ended, PROMISED);
        }
      }
    }
    print('late saves', kind, tally);
    expect(tally.plays).toBe(DELAYS.length * 4);
    expect(tally.orders).toBe(tally.plays);
  });

  it('a supplier that breaks its bound makes two, so that this count can fail', async () => {
    const delayMs = windowOf(PROMISED) + 30 * SECOND_MS;
    const { s } = await playLate('searchable', delayMs);
    expect([s.supplier.posts.length, s.supplier.orders().length]).toEqual([2, 2]);
  });
});

describe('O14, O16.6: a key with a lifetime, which is class A', () => {
  const LIFETIME_MS = 24 * HOUR_MS;
  const MARGIN_MS = senderLifeMs + LOCAL.applyDelayMs;
  const LAG_MS = 26 * HOUR_MS;
  const bounds: Bounds = { ...LOCAL, visibilityLagMs: LAG_MS };

  interface Row {
    readonly atMs: number;
    readonly resends: 0 | 1;
    readonly because: string;
  }
  const ROWS: readonly Row[] = [
    { atMs: HOUR_MS, resends: 1, because: 'the key is remembered' },
    { atMs: LIFETIME_MS - 60 * SECOND_MS, resends: 1, because: '23 h 59 m lie before the margin' },
    { atMs: LIFETIME_MS - MARGIN_MS - 1, resends: 1, because: 'the margin begins a millisecond later' },
    { atMs: LIFETIME_MS - MARGIN_MS, resends: 0, because: 'the limit is exclusive' },
    { atMs: LIFETIME_MS - MARGIN_MS + 1, resends: 0, because: 'it lies in the margin' },
    { atMs: LIFETIME_MS - 1, resends: 0, because: 'it could arrive when the key is forgotten' },
    { atMs: LIFETIME_MS + 60 * SECOND_MS, resends: 0, because: 'at 24 h 01 m the key is forgotten' },
  ];

  /** In doubt until somebody looks, and finds nothing, `atMs` after the claim. */
  async function lookedAt(
    first: PlayName,
    atMs: number,
    options: SupplierWorldOptions,
    prepare: (s: SupplierWorld) => void = () => undefined,
  ): Promise<Ended> {
    const s = supplierWorld('keyed', { script: [first], visibilityLagMs: LAG_MS, ...options });
    prepare(s);
    s.supplier.faults.push({ kind: 'search_status', until: NOW + atMs });
    const intent = await s.entered();
    await s.sign(intent);
    await s.w.steps['Send']?.(await s.swept());
    s.w.clock.advance(atMs - (s.w.clock.now() - NOW));
    return { s, intent: await s.look(intent.id) };
  }

  for (const first of ['cut_after_save', 'cut_before_save'] as const) {
    it.each(ROWS)(
      `${first}, an empty search $atMs ms after the claim: $resends resends, because $because`,
      async ({ atMs, resends }) => {
        const { s, intent } = await lookedAt(first, atMs, { route: { visibilityLagMs: LAG_MS } });
        expect(intent.lastSearch?.complete ?? true).toBe(true);
        expect(s.supplier.posts).toHaveLength(1 + resends);
        const ended = { s, intent: await s.w.untilQuiet(intent.id, MONTH_MS) };
        check(ended, `${first} at ${atMs}`);
        expect([ended.intent.state, s.supplier.orders().length]).toEqual(['confirmed', 1]);
        for (const { at } of s.supplier.posts.slice(1)) {
          const byKey = at < NOW + LIFETIME_MS - MARGIN_MS;
          expect(byKey || at > NOW + windowOf(bounds), 'under the key, or after the window').toBe(true);
        }
      },
    );
  }

  it.each([
    { slowMs: 0, resends: 1, because: 'the margin begins a millisecond later' },
    { slowMs: 1, resends: 0, because: 'the limit is exclusive' },
    { slowMs: 2, resends: 0, because: 'it would leave inside the margin' },
  ])(
    'a resend that was claimed in time, its first byte $slowMs ms later: $resends, because $because',
    async ({ slowMs, resends }) => {
      const atMs = LIFETIME_MS - MARGIN_MS - 1;
      const { wrapTransport, dawdleOn } = dawdling();
      const options = { route: { visibilityLagMs: LAG_MS }, world: { wrapTransport } };
      const { s } = await lookedAt('cut_before_save', atMs, options, (world) => {
        dawdleOn(() => (world.w.clock.now() === NOW + atMs ? world.w.clock.advance(slowMs) : undefined));
      });
      expect(s.supplier.posts).toHaveLength(1 + resends);
    },
  );

  it('past its lifetime it is class C where D and L are declared: one resend, after the window', async () => {
    const { s, intent } = await lookedAt('cut_before_save', LIFETIME_MS + 60 * SECOND_MS, {
      route: { visibilityLagMs: LAG_MS },
    });
    expect((await s.item(intent.id)).resend.reasons).toEqual(['window_open']);
    await s.w.untilQuiet(intent.id, MONTH_MS);
    expect(s.supplier.posts).toHaveLength(2);
    expect((s.supplier.posts[1]?.at ?? 0) - NOW).toBeGreaterThan(windowOf(bounds));
  });

  it('past its lifetime it is class D where L is not declared: no resend, and a person is asked', async () => {
    const undeclared = {
      promise: { visibilityLagMs: undefined } as never,
      route: { visibilityLagMs: null },
    };
    const early = await lookedAt('cut_before_save', LIFETIME_MS - 60 * SECOND_MS, undeclared);
    expect(early.s.supplier.posts, 'within its lifetime the key needs no L').toHaveLength(2);
    const { s, intent } = await lookedAt('cut_before_save', LIFETIME_MS + 60 * SECOND_MS, undeclared);
    expect((await s.item(intent.id)).resend.reasons).toEqual(['blind']);
    const end = await s.w.untilQuiet(intent.id, MONTH_MS);
    expect([end.state, end.handover?.reason, s.supplier.posts.length]).toEqual(['handover', 'exhausted', 1]);
  });

  it('an order of more lines than the key covers is not accepted', async () => {
    const line = { sku: 'CUP', quantity: '1', unit: 'piece', unit_price: '1.00' };
    const lines = Array.from({ length: 21 }, () => line);
    const s = supplierWorld('keyed');
    expect(await s.submit({ payload: { ...DRAFT, lines, total: '21.00' } })).toMatchObject({
      kind: 'invalid',
    });
    const shorter = { ...DRAFT, lines: lines.slice(1), total: '20.00' };
    expect(await s.submit({ payload: shorter })).toMatchObject({ kind: 'accepted' });
  });
});

describe('the scripted supplier makes of the same request, sent by hand', () => {
  const LIFETIME_MS = 1000;

  /** Past the product, `gapMs` apart. */
  async function twice(kind: SupplierKind, gapMs: number): Promise<number> {
    const clock = fakeClock();
    const supplier = scriptedSupplier(clock, { kind, account: SUPPLIER_ACCOUNT, keyLifetimeMs: LIFETIME_MS });
    const place = { account: SUPPLIER_ACCOUNT, environment: 'test' };
    const named = kind === 'blind' ? {} : { reference: 'int_1' };
    const request = {
      url: new URL('http://127.0.0.1:3/orders'),
      method: 'POST' as const,
      headers: { 'idempotency-key': 'int_1' },
      body: JSON.stringify({ ...place, ...named, ...DRAFT }),
      timeoutMs: 1000,
      lastCheck: async () => null,
    };
    expect(await supplier.transport(request)).toMatchObject({ kind: 'answered', status: 201 });
    clock.advance(gapMs);
    await supplier.transport(request);
    return supplier.orders().length;
  }

  it.each<[SupplierKind, number, number, string]>([
    ['keyed', 0, 1, 'the key is the same'],
    ['keyed', LIFETIME_MS - 1, 1, 'the key is remembered until then'],
    ['keyed', LIFETIME_MS, 2, 'the key is forgotten'],
    ['unique', MONTH_MS, 1, 'a reference is unique for ever'],
    ['searchable', 0, 2, 'it collapses nothing'],
    ['blind', 0, 2, 'it collapses nothing'],
  ])('%s, %i ms apart: %i orders, because %s', async (kind, gapMs, orders) => {
    expect(await twice(kind, gapMs)).toBe(orders);
  });
});

/**
 * An approval permits exactly the order that was signed, as long as it lasts. One field changed is another order; another
 * spelling is the same one. Counted in the supplier's book, against a record of signatures that the product does not keep.
 */
import { describe, expect, it } from 'vitest';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import type { Acceptance, Submission } from '../../lib/workflow/accept.ts';
import { crashes } from '../support/crash.ts';
import { NOW } from '../support/kit.ts';
import type { ScriptLine } from '../support/supplier-scripted.ts';
import { contentOf, DRAFT, MONTH_MS, type SupplierWorld, supplierWorld } from '../support/supplier-world.ts';
import type { WorldOptions } from '../support/world.ts';

const KINDS: readonly SupplierKind[] = ['keyed', 'unique', 'searchable', 'blind'];
type Line = (typeof DRAFT.lines)[number];
const [SENCHA, CUP, SAMPLE] = DRAFT.lines;

const shipTo = (change: Partial<Record<keyof typeof DRAFT.ship_to, string>>) => ({
  payload: { ...DRAFT, ship_to: { ...DRAFT.ship_to, ...change } },
});
const ordering = (lines: readonly Partial<Record<keyof Line, string>>[], total: string = DRAFT.total) => ({
  payload: { ...DRAFT, lines, total } as JsonObject,
});
/** Its line costs nothing, so that the total stays what it is. */
const sample = (change: Partial<Record<keyof Line, string>>) =>
  ordering([SENCHA, CUP, { ...SAMPLE, ...change }]);

interface Change {
  readonly field: string;
  readonly asked: Partial<Submission>;
  /** Refused before anything stored is looked at: `invalid`. */
  readonly answer: 'conflict' | 'invalid' | 'key_mismatch';
}

const CHANGES: readonly Change[] = [
  { field: 'account (by its route)', asked: { route: 'orders-osaka-1' }, answer: 'conflict' },
  { field: 'ship_to.name', asked: shipTo({ name: 'Cafe Ueno' }), answer: 'conflict' },
  { field: 'ship_to.street', asked: shipTo({ street: '1-2 Ueno\nBlock C' }), answer: 'conflict' },
  { field: 'ship_to.city', asked: shipTo({ city: 'Osaka' }), answer: 'conflict' },
  { field: 'ship_to.postal_code', asked: shipTo({ postal_code: '110-0006' }), answer: 'conflict' },
  { field: 'ship_to.country', asked: shipTo({ country: 'KR' }), answer: 'conflict' },
  {
    field: 'ship_to.city, its letters in another case',
    asked: shipTo({ city: 'TOKYO' }),
    answer: 'conflict',
  },
  { field: 'ship_to.city, with a blank after it', asked: shipTo({ city: 'Tokyo ' }), answer: 'conflict' },
  { field: 'lines.sku', asked: sample({ sku: 'SAMPLE-2' }), answer: 'conflict' },
  { field: 'lines.quantity', asked: sample({ quantity: '2' }), answer: 'conflict' },
  { field: 'lines.unit', asked: sample({ unit: 'kg' }), answer: 'conflict' },
  {
    field: 'lines.unit_price, of two lines, the total kept',
    asked: ordering([{ ...SENCHA, unit_price: '6.50' }, { ...CUP, unit_price: '7.50' }, SAMPLE]),
    answer: 'conflict',
  },
  {
    field: 'lines.unit_price and the total',
    asked: ordering([{ ...SENCHA, unit_price: '11.01' }, CUP, SAMPLE], '35.52'),
    answer: 'conflict',
  },
  {
    field: 'lines.quantity and the total',
    asked: ordering([{ ...SENCHA, quantity: '3' }, CUP, SAMPLE], '46.50'),
    answer: 'conflict',
  },
  {
    field: 'lines.unit_price alone',
    asked: ordering([{ ...SENCHA, unit_price: '11.01' }, CUP, SAMPLE]),
    answer: 'invalid',
  },
  { field: 'total alone', asked: ordering(DRAFT.lines, '35.51'), answer: 'invalid' },
  { field: 'currency', asked: { payload: { ...DRAFT, currency: 'USD' } }, answer: 'conflict' },
  { field: 'a line more', asked: ordering([...DRAFT.lines, SAMPLE]), answer: 'conflict' },
  { field: 'a line less', asked: ordering([SENCHA, CUP]), answer: 'conflict' },
  { field: 'two lines swapped', asked: ordering([CUP, SENCHA, SAMPLE]), answer: 'conflict' },
  {
    field: 'purchase_order, under the same key',
    asked: { payload: { ...DRAFT, purchase_order: 'PO-38' } },
    answer: 'key_mismatch',
  },
  { field: 'the key, of the same purchase_order', asked: { key: 'PO-38' }, answer: 'key_mismatch' },
  {
    field: 'what is to follow',
    asked: {
      followWith: { route: 'orders', payload: DRAFT },
    },
    answer: 'conflict',
  },
];

const STAGES = ['awaiting_approval', 'sending', 'unknown', 'confirmed'] as const;
type Stage = (typeof STAGES)[number];

interface Asked {
  readonly s: SupplierWorld;
  readonly intent: Intent;
  readonly answers: readonly Acceptance[];
  /** POSTs before and after, without what the first approval lets out by itself. */
  readonly sentMeanwhile: number;
}

/** Brings the first order to the stage, asks there, and plays on to the end. */
async function askedWhile(
  stage: Stage,
  kind: SupplierKind,
  asks: readonly Partial<Submission>[],
): Promise<Asked> {
  const answers: Acceptance[] = [];
  let sentMeanwhile = 0;
  let s: SupplierWorld | undefined;
  const ask = async (intent: Intent): Promise<void> => {
    if (s === undefined) throw new Error('There is no world yet.');
    expect((await s.w.read(intent.id)).state).toBe(stage);
    const before = s.supplier.posts.length;
    for (const each of asks) answers.push(await s.submit(each));
    if (stage !== 'sending') await s.w.drain();
    sentMeanwhile += s.supplier.posts.length - before;
  };
  let during: (() => Promise<void>) | undefined;
  const wrapTransport: WorldOptions['wrapTransport'] = (transport) => async (request) => {
    const report = await transport(request);
    await during?.();
    during = undefined;
    return report;
  };
  const script: readonly ScriptLine[] = stage === 'unknown' ? ['cut_after_save'] : [];
  s = supplierWorld(kind, { script, world: { wrapTransport } });
  const intent = await s.entered();
  if (stage === 'awaiting_approval') await ask(intent);
  if (stage === 'sending') during = () => ask(intent);
  await s.sign(intent);
  await s.w.steps['Send']?.(await s.swept());
  if (stage === 'unknown') await ask(intent);
  await s.w.untilQuiet(intent.id);
  if (stage === 'confirmed') await ask(intent);
  await s.w.untilQuiet(intent.id);
  return { s, intent, answers, sentMeanwhile };
}

/** The one order that was signed, once, whatever else was asked for. */
function expectOneOrder({ s }: Asked): void {
  expect(s.supplier.orders().map(contentOf)).toEqual([DRAFT]);
  expect([s.supplier.posts.length, s.violations()]).toEqual([1, 0]);
}

describe('O4, O7: one field changed', () => {
  it.each(CHANGES)('$field: $answer, and nothing more is sent at any stage', async ({ asked, answer }) => {
    for (const kind of KINDS) {
      for (const stage of STAGES) {
        const played = await askedWhile(stage, kind, [asked]);
        expect(
          played.answers.map((each) => each.kind),
          `${kind}, ${stage}`,
        ).toEqual([answer]);
        expect(played.sentMeanwhile, `${kind}, ${stage}`).toBe(0);
        expectOneOrder(played);
        const { conflicts } = await played.s.view(played.intent.id);
        expect(conflicts, `${kind}, ${stage}: conflicts on record`).toBe(answer === 'conflict' ? 1 : 0);
        const approval = (await played.s.w.read(played.intent.id)).approval;
        expect(approval?.fingerprint, 'what was signed').toBe(played.intent.fingerprint);
      }
    }
  });

  it('all of them, one after the other, are as many conflicts, and still one order', async () => {
    const conflicting = CHANGES.filter((each) => each.answer === 'conflict');
    expect(conflicting.length).toBeGreaterThanOrEqual(12);
    for (const stage of STAGES) {
      const played = await askedWhile(
        stage,
        'keyed',
        conflicting.map((each) => each.asked),
      );
      expectOneOrder(played);
      expect((await played.s.view(played.intent.id)).conflicts).toBe(conflicting.length);
    }
  });

  it.each(KINDS)(
    '%s: another purchase order under its own key waits for an approval of its own',
    async (kind) => {
      for (const stage of STAGES) {
        const asked = { key: 'PO-38', payload: { ...DRAFT, purchase_order: 'PO-38' } };
        const played = await askedWhile(stage, kind, [asked]);
        expect(played.answers).toMatchObject([{ kind: 'accepted', intent: { state: 'awaiting_approval' } }]);
        expectOneOrder(played);
      }
    },
  );
});

/** The same values; every member of every object in another order. */
function turnedAround(value: JsonObject): JsonObject {
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(
    entries.map(([name, each]) => [
      name,
      Array.isArray(each)
        ? each.map((line) => turnedAround(line as JsonObject))
        : typeof each === 'object' && each !== null
          ? turnedAround(each as JsonObject)
          : each,
    ]),
  );
}

interface Spelling {
  readonly spelling: string;
  readonly asked: Partial<Submission>;
}
const SPELLINGS: readonly Spelling[] = [
  { spelling: 'members in another order', asked: { payload: turnedAround(DRAFT) } },
  { spelling: '"2.0" kg for "2" kg', asked: ordering([{ ...SENCHA, quantity: '2.0' }, CUP, SAMPLE]) },
  { spelling: '"2.000" kg for "2" kg', asked: ordering([{ ...SENCHA, quantity: '2.000' }, CUP, SAMPLE]) },
  { spelling: '"3.0" pieces for "3" pieces', asked: ordering([SENCHA, { ...CUP, quantity: '3.0' }, SAMPLE]) },
  { spelling: '"11" EUR for "11.00" EUR', asked: ordering([{ ...SENCHA, unit_price: '11' }, CUP, SAMPLE]) },
  { spelling: '"4.5" EUR for "4.50" EUR', asked: ordering([SENCHA, { ...CUP, unit_price: '4.5' }, SAMPLE]) },
  { spelling: '"35.5" EUR for "35.50" EUR', asked: ordering(DRAFT.lines, '35.5') },
  { spelling: '"35.500" EUR for "35.50" EUR', asked: ordering(DRAFT.lines, '35.500') },
  { spelling: 'CRLF for LF', asked: shipTo({ street: '1-2 Ueno\r\nBlock B' }) },
  { spelling: 'CR for LF', asked: shipTo({ street: '1-2 Ueno\rBlock B' }) },
  { spelling: 'NFD for NFC', asked: shipTo({ name: 'Cafe\u0301 Ueno' }) },
  { spelling: 'another conversation', asked: { traceIds: { conversation: 'c-2' }, subject: 'shop-2' } },
];

describe('O7: another spelling of the same order', () => {
  it.each(SPELLINGS)('$spelling is the same intent, and nothing more is sent', async ({ asked }) => {
    for (const kind of KINDS) {
      for (const stage of STAGES) {
        const played = await askedWhile(stage, kind, [asked]);
        expect(played.answers, `${kind}, ${stage}`).toMatchObject([
          { kind: 'same', intent: { id: played.intent.id, fingerprint: played.intent.fingerprint } },
        ]);
        expect(played.sentMeanwhile).toBe(0);
        expectOneOrder(played);
        expect((await played.s.view(played.intent.id)).conflicts).toBe(0);
      }
    }
  });

  it('where a currency has no smaller parts, "2200.00" is "2200", and that is what is sent', async () => {
    const lines = [{ sku: 'CUP', quantity: '2', unit: 'piece', unit_price: '1100' }];
    const payload = { ...DRAFT, currency: 'JPY', lines, total: '2200' };
    const s = supplierWorld('keyed');
    const intent = await s.entered({ payload: { ...payload, total: '2200.00' } });
    expect(await s.submit({ payload })).toMatchObject({ kind: 'same', intent: { id: intent.id } });
    expect(await s.submit({ payload: { ...payload, total: '2200.50' } })).toMatchObject({ kind: 'invalid' });
    await s.sign(intent);
    await s.w.untilQuiet(intent.id);
    expect(s.supplier.orders().map(contentOf)).toEqual([payload]);
  });

  it('a spelling that came first is what is sent, and it is confirmed', async () => {
    const payload = shipTo({ name: 'Cafe\u0301 Ueno', street: '1-2 Ueno\r\nBlock B' }).payload;
    const s = supplierWorld('searchable', { script: ['cut_after_save'] });
    const intent = await s.entered({ payload });
    await s.sign(intent);
    expect((await s.w.untilQuiet(intent.id)).state).toBe('confirmed');
    expect(contentOf(s.supplier.orders()[0])).toEqual(payload);
    expect(await s.submit()).toMatchObject({ kind: 'same', intent: { id: intent.id } });
  });
});

const EXPIRY_MS = 5000;

describe('O8: an approval that expires', () => {
  const EDGES = [-1, 0, 1];

  it.each(KINDS.flatMap((kind) => EDGES.map((ms) => [kind, ms] as const)))(
    '%s: a claim %i ms from its end',
    async (kind, ms) => {
      const s = supplierWorld(kind);
      const intent = await s.entered();
      await s.sign(intent, NOW + EXPIRY_MS);
      const input = await s.swept();
      s.w.clock.advance(EXPIRY_MS + ms);
      await s.w.steps['Send']?.(input);
      const { attempts, state } = await s.w.read(intent.id);
      expect([attempts.length, s.supplier.posts.length, s.violations()]).toEqual(
        ms < 0 ? [1, 1, 0] : [0, 0, 0],
      );
      expect(state).toBe(ms < 0 ? 'acknowledged' : 'awaiting_approval');
    },
  );

  it.each(KINDS.flatMap((kind) => EDGES.map((ms) => [kind, ms] as const)))(
    '%s: the last check before the first byte %i ms from its end',
    async (kind, ms) => {
      let reached = (): void => undefined;
      const wrapTransport: WorldOptions['wrapTransport'] = (transport) => (request) => {
        const lastCheck = async () => {
          reached();
          return request.lastCheck();
        };
        return transport({ ...request, lastCheck });
      };
      const s = supplierWorld(kind, { world: { wrapTransport } });
      const intent = await s.entered();
      await s.sign(intent, NOW + EXPIRY_MS);
      const input = await s.swept();
      reached = () => s.w.clock.advance(EXPIRY_MS + ms - (s.w.clock.now() - NOW));
      await s.w.steps['Send']?.(input);
      const { attempts } = await s.w.read(intent.id);
      expect([attempts.length, s.supplier.posts.length, s.violations()]).toEqual([1, ms < 0 ? 1 : 0, 0]);
      if (ms >= 0) expect(attempts[0]?.result).toMatchObject({ kind: 'rejected', proof: 'not_sent' });
    },
  );

  it.each(['keyed', 'unique', 'searchable'] as const)(
    '%s: a resend at its end is none, and one millisecond before it there is one',
    async (kind) => {
      for (const ms of EDGES) {
        const s = supplierWorld(kind, { script: ['cut_before_save'] });
        s.supplier.faults.push({ kind: 'search_status', until: NOW + MONTH_MS });
        const intent = await s.entered();
        await s.sign(intent, NOW + 86_000_000);
        await s.w.steps['Send']?.(await s.swept());
        s.supplier.faults.length = 0;
        s.w.clock.advance(86_000_000 + ms - (s.w.clock.now() - NOW));
        await s.look(intent.id);
        expect([s.supplier.posts.length, s.violations()], `${ms} ms`).toEqual([ms < 0 ? 2 : 1, 0]);
      }
    },
  );
});

interface Run {
  readonly name: string;
  readonly script: readonly ScriptLine[];
  readonly kinds: readonly SupplierKind[];
}
const RUNS: readonly Run[] = [
  { name: 'an honest run', script: [], kinds: KINDS },
  { name: 'a lost answer, saved', script: ['cut_after_save'], kinds: KINDS },
  { name: 'a lost answer, not saved', script: ['cut_before_save', 'cut_before_save'], kinds: KINDS },
  { name: 'one that was away', script: ['away', 'away'], kinds: ['keyed'] },
];

describe('O8: an approval that is revoked', () => {
  it('a POST that nobody signed for is seen by the record of signatures', async () => {
    const permission = { kind: 'standing', version: 'v1', until: NOW + MONTH_MS } as const;
    const s = supplierWorld('keyed', { policy: { permission } });
    const intent = await s.entered();
    await s.w.untilQuiet(intent.id);
    expect([s.supplier.posts.length, s.violations()]).toEqual([1, 1]);
  });

  it.each(RUNS)('before every boundary of $name: no POST afterwards', async ({ script, kinds }) => {
    for (const kind of kinds) {
      const { boundaries } = await revokedBefore(-1, kind, script);
      expect(boundaries).toContain('POST');
      let revoked = 0;
      for (let at = 0; at < boundaries.length; at += 1) {
        const end = await revokedBefore(at, kind, script);
        const where = `${kind}, revoked before boundary ${at} (${boundaries[at]})`;
        expect(end.postsAfter, where).toBe(0);
        expect(end.violations, where).toBe(0);
        revoked += end.revoked ? 1 : 0;
      }
      expect(revoked, `${kind}: boundaries before it was settled`).toBeGreaterThan(5);
    }
  });
});

/** Somebody revokes right before the product's call number `at`, until it is settled. */
async function revokedBefore(at: number, kind: SupplierKind, script: readonly ScriptLine[]) {
  const plan = crashes([]);
  let target = Number.NaN;
  let postsThen: number | undefined;
  let revokeNow = async (): Promise<void> => undefined;
  const before = async (): Promise<void> => {
    if (plan.names.length === target && postsThen === undefined) await revokeNow();
  };
  const wrapLedger = (plain: Ledger): Ledger => {
    const calls = Object.entries(plan.ledger(plain)).map(([name, call]) => [
      name,
      async (...args: never[]) => {
        await before();
        return (call as (...given: never[]) => Promise<unknown>)(...args);
      },
    ]);
    return Object.fromEntries(calls) as Ledger;
  };
  const s = supplierWorld(kind, {
    script,
    world: {
      wrapLedger,
      wrapTransport: (transport) => async (request) => {
        await before();
        return plan.transport(transport)(request);
      },
      wrapStart: (start) => async (name, input) => {
        await before();
        return plan.start(start)(name, input);
      },
    },
  });
  const intent = await s.entered();
  await s.sign(intent);
  revokeNow = async () => {
    const { state } = await s.w.read(intent.id);
    if (['confirmed', 'rejected', 'closed'].includes(state)) return;
    await s.takeBack(intent, { ...s.w.deps, ledger: s.w.ledger });
    postsThen = s.supplier.posts.length;
  };
  const from = plan.names.length;
  if (at >= 0) target = from + at;
  await s.w.untilQuiet(intent.id, 120_000);
  return {
    boundaries: plan.names.slice(from),
    revoked: postsThen !== undefined,
    postsAfter: postsThen === undefined ? 0 : s.supplier.posts.length - postsThen,
    violations: s.violations(),
  };
}

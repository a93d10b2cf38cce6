/**
 * Six ways in which the answer to a purchase order is lost, and what follows. Each is judged by the supplier's own book,
 * by what callers and operators are shown, by hand-overs, and by POSTs that left without a valid approval.
 */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { again } from '../../lib/operations/again.ts';
import { decide } from '../../lib/operations/decide.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { crashes } from '../support/crash.ts';
import { NOW, TIMING, WINDOW_MS } from '../support/kit.ts';
import {
  contentOf,
  DRAFT,
  type SupplierWorld,
  type SupplierWorldOptions,
  supplierWorld,
} from '../support/supplier-world.ts';

const SEARCHED: readonly SupplierKind[] = ['keyed', 'unique', 'searchable'];
const ALL: readonly SupplierKind[] = [...SEARCHED, 'blind'];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const { senderLifeMs } = TIMING;

/** Another conversation of the same shop: it plans anew, and knows nothing of the first. */
const NEW_CONVERSATION = { subject: 'shop-2', traceIds: { conversation: 'c-2', call: 'call-9' } };

/** Submitted and signed; its first run has sent, and recorded what came of it. */
async function sent(s: SupplierWorld, until?: number): Promise<Intent> {
  const intent = await s.entered({ traceIds: { conversation: 'c-1' } });
  await s.sign(intent, until);
  await s.w.steps['Send']?.(await s.swept());
  return s.w.read(intent.id);
}

/** A person names the order that stands in the supplier's book. */
async function attach(s: SupplierWorld, id: string, externalId: string): Promise<Intent> {
  const { version } = await s.w.read(id);
  const decision = { kind: 'attach_external_id', externalId } as const;
  const wish = { by: 'otto', version, decision, reason: 'seen at the supplier' };
  const decided = await decide(s.w.deps)({ tenant: 'acme', intentId: id }, 'sales', wish);
  if (decided.kind !== 'done') throw new Error(`Not decided: ${decided.kind}`);
  return s.w.untilQuiet(id);
}

/** What every ending is judged by. */
async function figures(s: SupplierWorld, id: string) {
  const { state, report, externalId } = await s.view(id);
  return {
    orders: s.supplier.orders().length,
    posts: s.supplier.posts.length,
    equal: s.supplier.orders().every((order) => equalToApproved(contentOf(order))),
    shown: [state, report],
    ofTheOrder: externalId !== null && externalId === s.supplier.orders()[0]?.order_id,
    handovers: s.handovers(),
    violations: s.violations(),
  };
}

function equalToApproved(content: object): boolean {
  expect(content).toEqual(DRAFT);
  return true;
}

const CONFIRMED = {
  orders: 1,
  posts: 1,
  equal: true,
  shown: ['confirmed', 'confirmed'],
  ofTheOrder: true,
  handovers: [],
  violations: 0,
};

/** Opened again in every way that there is: nothing more leaves, and the same result is shown. */
async function reopened(s: SupplierWorld, id: string): Promise<void> {
  const before = await s.view(id);
  const posts = s.supplier.posts.length;
  for (const caller of [{}, NEW_CONVERSATION]) {
    expect(await s.submit(caller)).toMatchObject({ kind: 'same', intent: { id, state: 'confirmed' } });
  }
  await s.look(id);
  await s.runOf(id);
  s.w.clock.advance(2 * HOUR_MS);
  await s.look(id);
  await s.runOf(id);
  await s.w.untilQuiet(id);
  const { externalId, receipt, state, report } = await s.view(id);
  expect({ externalId, receipt, state, report }).toEqual({
    externalId: before.externalId,
    receipt: before.receipt,
    state: 'confirmed',
    report: 'confirmed',
  });
  expect(s.supplier.posts.length - posts, 'POSTs after confirmed').toBe(0);
}

describe('O16.1: the answer is lost after the supplier saved', () => {
  it.each(SEARCHED)('%s: one order, and unknown becomes confirmed', async (kind) => {
    const s = supplierWorld(kind, { script: ['cut_after_save'] });
    const intent = await sent(s);
    const shown = await s.view(intent.id);
    expect([shown.state, shown.report, shown.externalId]).toEqual(['unknown', 'unconfirmed', null]);
    expect(shown.explanation).toMatch(/undetermined and is being reconciled/);
    expect(shown.explanation).not.toMatch(/fail/i);
    await s.runOf(intent.id);
    await s.w.untilQuiet(intent.id);
    expect(await figures(s, intent.id)).toEqual(CONFIRMED);
    await reopened(s, intent.id);
  });

  it('blind: one order; a person is asked, names it, and it is read back before it is confirmed', async () => {
    const s = supplierWorld('blind', { script: ['cut_after_save'] });
    const intent = await sent(s);
    await s.w.untilQuiet(intent.id);
    const waiting = { ...CONFIRMED, shown: ['handover', 'unconfirmed'], ofTheOrder: false };
    expect(await figures(s, intent.id)).toEqual({ ...waiting, handovers: ['blind'] });
    await attach(s, intent.id, s.supplier.orders()[0]?.order_id ?? '');
    expect(await figures(s, intent.id)).toEqual({ ...CONFIRMED, handovers: ['blind'] });
    await reopened(s, intent.id);
  });
});

describe('O16.2: a new conversation asks for the same purchase order while the first is under way', () => {
  it.each(SEARCHED)('%s: the attempts are tied to one intent, and there is one order', async (kind) => {
    const asked: unknown[] = [];
    const s = supplierWorld(kind, {
      script: ['cut_before_save', 'cut_after_save'],
      world: {
        wrapTransport: (transport) => async (request) => {
          const report = await transport(request);
          // Bytes are out, and no answer was recorded.
          asked.push(await s.submit(NEW_CONVERSATION));
          return report;
        },
      },
    });
    const intent = await sent(s);
    expect(await s.submit(NEW_CONVERSATION)).toMatchObject({ kind: 'same', intent: { id: intent.id } });
    const after = await s.w.untilQuiet(intent.id);
    expect(asked).toHaveLength(2);
    for (const answer of asked) {
      expect(answer).toMatchObject({ kind: 'same', intent: { id: intent.id, state: 'sending' } });
    }
    expect(after.attempts.map((each) => each.number)).toEqual([1, 2]);
    expect(after.traceIds, 'of the first call').toEqual({ conversation: 'c-1' });
    expect(await figures(s, intent.id)).toEqual({ ...CONFIRMED, posts: 2 });
    await reopened(s, intent.id);
  });

  it('blind: there is one POST, whoever asks', async () => {
    const s = supplierWorld('blind', { script: ['cut_before_save'] });
    const intent = await sent(s);
    expect(await s.submit(NEW_CONVERSATION)).toMatchObject({ kind: 'same', intent: { id: intent.id } });
    await s.w.untilQuiet(intent.id);
    await s.submit(NEW_CONVERSATION);
    await s.look(intent.id);
    await s.w.untilQuiet(intent.id);
    const { orders, posts, shown, violations } = await figures(s, intent.id);
    expect({ orders, posts, shown, violations }).toEqual({
      orders: 0,
      posts: 1,
      shown: ['handover', 'unconfirmed'],
      violations: 0,
    });
  });
});

describe('O16.3: the first worker stops after sending, and another takes over when its lease is over', () => {
  /** The worker dies with its answer, at the POST. */
  async function stopped(kind: SupplierKind, script: SupplierWorldOptions['script']) {
    const plan = crashes([{ at: 0, mode: 'kill_after' }]);
    const s = supplierWorld(kind, {
      ...(script === undefined ? {} : { script }),
      world: { live: plan.live, wrapTransport: plan.transport },
    });
    const intent = await s.entered();
    await s.sign(intent);
    const input = await s.swept();
    expect(await plan.live(s.w.run(input))).toBe('dead');
    const claimed = await s.w.read(intent.id);
    expect([claimed.state, plan.hits()]).toEqual(['sending', 1]);
    // While the lease lasts nobody takes over, whoever runs.
    await s.w.run(input);
    expect(await s.w.read(intent.id)).toMatchObject({ state: 'sending', version: claimed.version });
    return { s, intent, plan };
  }

  it.each(SEARCHED)('%s: it reconciles, and there is no further order', async (kind) => {
    const { s, intent } = await stopped(kind, ['cut_after_save']);
    const after = await s.w.untilQuiet(intent.id);
    expect(after.attempts.map((each) => each.lostAt !== undefined)).toEqual([true]);
    expect(await figures(s, intent.id)).toEqual(CONFIRMED);
    await reopened(s, intent.id);
  });

  it.each(SEARCHED)('%s: where nothing was saved, it looks first and sends once more', async (kind) => {
    const { s, intent } = await stopped(kind, ['cut_before_save']);
    await s.w.untilQuiet(intent.id);
    expect(await figures(s, intent.id)).toEqual({ ...CONFIRMED, posts: 2 });
    const [first, second] = s.supplier.posts;
    const least = kind === 'searchable' ? WINDOW_MS : senderLifeMs;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(least);
    expect(second?.looksBefore, 'looks before the second POST').toBeGreaterThan(0);
    await reopened(s, intent.id);
  });

  it('blind: it hands over, and sends nothing', async () => {
    const { s, intent } = await stopped('blind', ['cut_after_save']);
    await s.w.untilQuiet(intent.id);
    const { orders, posts, shown, handovers, violations } = await figures(s, intent.id);
    expect({ orders, posts, shown, handovers, violations }).toEqual({
      orders: 1,
      posts: 1,
      shown: ['handover', 'unconfirmed'],
      handovers: ['blind'],
      violations: 0,
    });
  });
});

describe('O16.4: the same purchase order comes with another quantity or another address', () => {
  const [sencha, ...others] = DRAFT.lines;
  const more = { ...DRAFT, lines: [{ ...sencha, quantity: '3' }, ...others], total: '46.50' };
  const elsewhere = { ...DRAFT, ship_to: { ...DRAFT.ship_to, street: '9-9 Ginza' } };

  it.each(ALL)('%s: a conflict is recorded, and nothing is called outside', async (kind) => {
    const s = supplierWorld(kind);
    const intent = await sent(s);
    await s.w.run(runInput(intent));
    for (const payload of [more, elsewhere, more]) {
      expect(await s.submit({ ...NEW_CONVERSATION, payload })).toEqual({ kind: 'conflict' });
    }
    expect(s.w.queue, 'runs started').toEqual([]);
    expect((await s.view(intent.id)).conflicts, 'different requests').toBe(2);
    expect(await figures(s, intent.id)).toEqual(CONFIRMED);
    await reopened(s, intent.id);
  });

  it.each(ALL)('%s: it does so too while the first is unknown, and wakes a search', async (kind) => {
    const s = supplierWorld(kind, { script: ['cut_after_save'] });
    const intent = await sent(s);
    expect(await s.submit({ payload: more })).toEqual({ kind: 'conflict' });
    expect((await s.w.read(intent.id)).dueAt).toBe(s.w.clock.now());
    expect(s.supplier.posts).toHaveLength(1);
    await s.w.untilQuiet(intent.id);
    const { orders, posts, equal, violations } = await figures(s, intent.id);
    expect({ orders, posts, equal, violations }).toEqual({ orders: 1, posts: 1, equal: true, violations: 0 });
  });
});

describe('O16.5: the approval expires while the result is unknown, and the first success arrives late', () => {
  const APPROVED_MS = 10_000;
  const SAVED_AFTER_MS = MINUTE_MS;
  const late = { play: 'late_save', delayMs: SAVED_AFTER_MS } as const;
  const bounded = { route: { applyDelayMs: SAVED_AFTER_MS, visibilityLagMs: 300 } };

  it.each(SEARCHED)('%s: a late record is found; nothing is written further', async (kind) => {
    const s = supplierWorld(kind, { script: [late], ...bounded });
    s.supplier.faults.push({ kind: 'search_status', until: NOW + APPROVED_MS });
    const intent = await sent(s, NOW + APPROVED_MS);
    s.w.clock.advance(APPROVED_MS);
    await s.w.steps['Search']?.(runInput(intent));
    const empty = await s.w.read(intent.id);
    expect([empty.state, empty.lastSearch?.candidates, empty.lastSearch?.complete]).toEqual([
      'unknown',
      [],
      true,
    ]);
    expect((await s.item(intent.id)).resend.reasons).toContain('permission_missing');
    await s.w.untilQuiet(intent.id);
    expect(s.w.clock.now()).toBeGreaterThanOrEqual(NOW + SAVED_AFTER_MS);
    expect(await figures(s, intent.id)).toEqual(CONFIRMED);
    await reopened(s, intent.id);
  });

  it.each(ALL)('%s: a late answer is kept, and what it says is read back', async (kind) => {
    let answerArrives = (): void => undefined;
    const arrival = new Promise<void>((resolve) => {
      answerArrives = resolve;
    });
    let left = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    const s = supplierWorld(kind, {
      world: {
        wrapTransport: (transport) => async (request) => {
          const report = await transport(request);
          left();
          await arrival;
          return report;
        },
      },
    });
    const intent = await s.entered();
    await s.sign(intent, NOW + APPROVED_MS);
    const first = s.w.steps['Send']?.(await s.swept());
    await gone;
    s.supplier.faults.push({ kind: 'hidden', until: NOW + senderLifeMs + 1 });
    s.w.clock.advance(senderLifeMs);
    await s.w.steps['Search']?.(runInput(intent));
    expect(await s.w.read(intent.id)).toMatchObject({ state: 'unknown', seenAt: null });
    answerArrives();
    await first;
    const known = await s.w.read(intent.id);
    expect(known.attempts[0]).toMatchObject({ lostAt: NOW + senderLifeMs, result: { kind: 'acknowledged' } });
    await s.w.untilQuiet(intent.id);
    const end = await figures(s, intent.id);
    expect([end.orders, end.posts, end.violations]).toEqual([1, 1, 0]);
    if (kind === 'blind') expect(end.handovers).toEqual(['exhausted']);
    else expect(end).toEqual(CONFIRMED);
  });

  it.each(SEARCHED)('%s: nothing was saved: nothing is written further either', async (kind) => {
    const s = supplierWorld(kind, { script: ['cut_before_save'] });
    s.supplier.faults.push({ kind: 'search_status', until: NOW + APPROVED_MS });
    const intent = await sent(s, NOW + APPROVED_MS);
    const after = await s.w.untilQuiet(intent.id, 40 * 24 * HOUR_MS);
    expect([s.supplier.orders().length, s.supplier.posts.length, s.violations()]).toEqual([0, 1, 0]);
    expect([after.state, after.outcome], 'absence was proved, and nobody permitted more').toEqual([
      'closed',
      'no_effect',
    ]);
  });
});

describe('O16.6: the key is over or there is none, and the search lags', () => {
  const LAG_MS = 26 * HOUR_MS;
  const AFTER_MS = 24 * HOUR_MS + MINUTE_MS;
  const lagging = {
    script: ['cut_after_save'],
    visibilityLagMs: LAG_MS,
    route: { visibilityLagMs: LAG_MS },
  } as const;

  it('key over: an empty search opens no resend; people see reference, place and deadline', async () => {
    const s = supplierWorld('keyed', lagging);
    s.supplier.faults.push({ kind: 'search_status', until: NOW + AFTER_MS });
    const intent = await sent(s);
    s.w.clock.advance(AFTER_MS);
    const empty = await s.look(intent.id);
    expect([empty.state, empty.lastSearch?.verdict]).toEqual(['unknown', 'wait']);
    expect(s.supplier.posts).toHaveLength(1);
    const item = await s.item(intent.id);
    expect(item.resend).toEqual({ allowed: false, reasons: ['window_open'] });
    expect(item.facts).toMatchObject({ reference: intent.id, account: 'tokyo-1', environment: 'test' });
    expect(item.deadline).toMatchObject({ of: 'key', passed: true });
    await s.w.untilQuiet(intent.id);
    expect(await figures(s, intent.id)).toEqual(CONFIRMED);
    await reopened(s, intent.id);
  });

  it('no key: an empty search opens no resend before the window is over', async () => {
    const s = supplierWorld('searchable', lagging);
    const intent = await sent(s);
    await s.runOf(intent.id);
    const empty = await s.w.read(intent.id);
    expect([empty.state, empty.lastSearch?.verdict, s.supplier.posts.length]).toEqual(['unknown', 'wait', 1]);
    const item = await s.item(intent.id);
    expect(item.resend).toEqual({ allowed: false, reasons: ['window_open'] });
    expect(item.facts.reference).toBe(intent.id);
    await s.w.untilQuiet(intent.id);
    expect(s.w.clock.now()).toBeGreaterThanOrEqual(NOW + LAG_MS);
    expect(await figures(s, intent.id)).toEqual(CONFIRMED);
    await reopened(s, intent.id);
  });

  it('no key and no bound: it is handed over with its reference, and no resend follows', async () => {
    const s = supplierWorld('searchable', {
      script: ['cut_after_save'],
      promise: { visibilityLagMs: undefined } as never,
      route: { visibilityLagMs: null },
    });
    s.supplier.faults.push({ kind: 'hidden' });
    const intent = await sent(s);
    await s.w.untilQuiet(intent.id);
    const { orders, posts, shown, violations, handovers } = await figures(s, intent.id);
    expect({ orders, posts, shown, violations, handovers }).toEqual({
      orders: 1,
      posts: 1,
      shown: ['handover', 'unconfirmed'],
      violations: 0,
      handovers: ['exhausted'],
    });
    const item = await s.item(intent.id);
    expect(item.facts.reference).toBe(intent.id);
    expect(item.resend.reasons).toEqual(expect.arrayContaining(['handed_over', 'blind']));
  });
});

describe('O17: a caller that is started again', () => {
  it.each(ALL)('%s: keeps the intent and the scope of its approval, at every stage', async (kind) => {
    const s = supplierWorld(kind, { script: ['cut_after_save'] });
    const first = await s.entered({ traceIds: { conversation: 'c-1' } });
    const askedAgain = async (): Promise<void> => {
      const before = await s.w.read(first.id);
      expect(await s.submit(NEW_CONVERSATION)).toMatchObject({ kind: 'same', intent: { id: first.id } });
      expect(await s.w.read(first.id), 'nothing of it moved').toEqual(before);
    };
    await askedAgain();
    await s.sign(first);
    await askedAgain();
    await s.w.steps['Send']?.(await s.swept());
    await askedAgain();
    const quiet = await s.w.untilQuiet(first.id);
    await askedAgain();
    expect(quiet.approval?.signatures.map((each) => each.by)).toEqual(['ann']);
    expect(quiet.submittedBy).toBe('shop');
    expect([s.supplier.orders().length, s.supplier.posts.length, s.violations()]).toEqual([1, 1, 0]);
  });

  it('another unit that happens to use the same number has an intent of its own, without an approval', async () => {
    const s = supplierWorld('keyed');
    const first = await s.entered();
    await s.sign(first);
    await s.w.untilQuiet(first.id);
    const other = await s.entered({ unit: 'rental' });
    expect([other.id === first.id, other.state, other.approval]).toEqual([false, 'awaiting_approval', null]);
    await s.runOf(other.id);
    expect([s.supplier.posts.length, s.violations()]).toEqual([1, 0]);
  });
});

describe('O17: two separate approvals of identical input are two orders', () => {
  const SECOND = { key: 'PO-38', payload: { ...DRAFT, purchase_order: 'PO-38' } };

  it.each(SEARCHED)('%s: told apart by reference, though both answers are lost', async (kind) => {
    const s = supplierWorld(kind, { script: ['cut_after_save', 'cut_after_save'] });
    const intents = [await s.entered(), await s.entered(SECOND)];
    for (const intent of intents) await s.sign(intent);
    const ends: Intent[] = [];
    for (const intent of intents) await s.runOf(intent.id);
    for (const intent of intents) ends.push(await s.w.untilQuiet(intent.id));
    const byReference = new Map(s.supplier.orders().map((each) => [each.reference, each.order_id]));
    expect(ends.map((each) => [each.state, each.externalId])).toEqual(
      intents.map((each) => ['confirmed', byReference.get(each.id)]),
    );
    expect([byReference.size, s.supplier.posts.length, s.violations()]).toEqual([2, 2, 0]);
    expect(s.handovers()).toEqual([]);
  });

  it.each(SEARCHED)(
    '%s: also the second order under the same number, once it is approved anew',
    async (kind) => {
      const s = supplierWorld(kind, { script: ['cut_after_save', 'cut_after_save'] });
      const first = await s.entered();
      await s.sign(first);
      await s.w.untilQuiet(first.id);
      const wish = { by: 'otto', reason: 'a second delivery' };
      const made = await again(s.w.deps)({ tenant: 'acme', intentId: first.id }, 'sales', wish);
      if (made.kind !== 'accepted') throw new Error(made.kind);
      await s.runOf(made.intent.id);
      expect(s.supplier.posts, 'before anybody approved it').toHaveLength(1);
      await s.sign(made.intent);
      const second = await s.w.untilQuiet(made.intent.id);
      const orders = s.supplier.orders();
      expect(orders.map(contentOf)).toEqual([DRAFT, DRAFT]);
      expect(orders.map((each) => each.reference)).toEqual([first.id, second.id]);
      expect([second.state, second.externalId]).toEqual(['confirmed', orders[1]?.order_id]);
      expect([s.supplier.posts.length, s.violations()]).toEqual([2, 0]);
    },
  );

  it('blind: in turn; the second waits by name until the first is known', async () => {
    const s = supplierWorld('blind', { script: ['cut_after_save'] });
    const first = await sent(s);
    const second = await s.entered(SECOND);
    await s.sign(second);
    await s.w.untilQuiet(first.id);
    await s.runOf(second.id);
    expect([(await s.view(second.id)).waitsFor, s.supplier.posts.length]).toEqual([first.id, 1]);
    await attach(s, first.id, s.supplier.orders()[0]?.order_id ?? '');
    await s.w.untilQuiet(second.id);
    const views = [await s.view(first.id), await s.view(second.id)];
    const orders = s.supplier.orders();
    expect(views.map((each) => each.state)).toEqual(['confirmed', 'confirmed']);
    expect(views.map((each) => each.externalId)).toEqual(orders.map((each) => each.order_id));
    expect([orders.length, s.supplier.posts.length, s.violations()]).toEqual([2, 2, 0]);
  });
});

describe('O18: what does not belong to this purchase order alone is for a person', () => {
  const bodyFor = (intent: Intent, change: object = {}) => ({
    ...JSON.parse(intent.frozen.body),
    ...change,
  });

  it('two matches are handed over, and neither is chosen', async () => {
    const s = supplierWorld('searchable', { script: ['delivered_twice_unanswered'] });
    const intent = await sent(s);
    const after = await s.w.untilQuiet(intent.id);
    expect(after.handover?.reason).toBe('many');
    expect(after.handover?.candidates).toEqual(s.supplier.orders().map((each) => each.order_id));
    expect([s.supplier.posts.length, (await s.view(intent.id)).externalId]).toEqual([1, null]);
  });

  it('two matches on two pages are two', async () => {
    const s = supplierWorld('searchable', { script: ['delivered_twice_unanswered'] });
    s.supplier.faults.push({ kind: 'paged' });
    const intent = await sent(s);
    expect((await s.w.untilQuiet(intent.id)).handover?.reason).toBe('many');
  });

  it.each<[SupplierKind, string, object]>([
    ['keyed', 'another purchase order', { purchase_order: 'PO-99' }],
    ['unique', 'another purchase order', { purchase_order: 'PO-99' }],
    ['searchable', 'another purchase order', { purchase_order: 'PO-99' }],
    ['searchable', 'another address', { ship_to: { ...DRAFT.ship_to, city: 'Osaka' } }],
    ['searchable', 'another total', { total: '35.51' }],
    ['searchable', 'fewer lines', { lines: DRAFT.lines.slice(0, 2) }],
  ])('%s: our reference on a record of %s is handed over', async (kind, _, change) => {
    const s = supplierWorld(kind, { script: ['cut_before_save'] });
    const intent = await sent(s);
    const foreign = s.supplier.add(bodyFor(intent, change));
    const after = await s.w.untilQuiet(intent.id);
    expect([after.state, after.handover?.reason, after.handover?.candidates]).toEqual([
      'handover',
      'mismatch',
      [foreign.order_id],
    ]);
    expect([s.supplier.posts.length, (await s.view(intent.id)).externalId]).toEqual([1, null]);
  });

  it.each(['keyed', 'searchable'] as const)(
    '%s: a record whose reference only begins like ours is nobody of ours',
    async (kind) => {
      const s = supplierWorld(kind, { script: ['cut_before_save'] });
      const intent = await sent(s);
      for (const reference of [`${intent.id}0`, intent.id.toUpperCase()]) {
        s.supplier.add(bodyFor(intent, { reference }));
      }
      const after = await s.w.untilQuiet(intent.id);
      const ours = s.supplier.orders().filter((each) => each.reference === intent.id);
      expect([after.state, after.externalId, ours.length]).toEqual(['confirmed', ours[0]?.order_id, 1]);
    },
  );

  it('blind: an order that is bound to another purchase order is refused, whoever names it', async () => {
    const s = supplierWorld('blind', { script: ['plain', 'cut_before_save'] });
    const first = await s.entered();
    await s.sign(first);
    const bound = (await s.w.untilQuiet(first.id)).externalId ?? '';
    const second = await s.entered({ key: 'PO-38', payload: { ...DRAFT, purchase_order: 'PO-38' } });
    await s.sign(second);
    const waiting = await s.w.untilQuiet(second.id);
    expect(waiting.handover?.reason).toBe('blind');
    await expect(attach(s, second.id, bound)).rejects.toThrow('Not decided');
    expect((await s.w.read(second.id)).state).toBe('handover');
    expect(s.supplier.posts).toHaveLength(2);
  });

  it('blind: an order of other content that a person names is handed over again', async () => {
    const s = supplierWorld('blind', { script: ['cut_before_save'] });
    const intent = await sent(s);
    await s.w.untilQuiet(intent.id);
    const foreign = s.supplier.add(bodyFor(intent, { ship_to: { ...DRAFT.ship_to, city: 'Osaka' } }));
    const after = await attach(s, intent.id, foreign.order_id);
    expect([after.state, after.handover?.reason]).toEqual(['handover', 'mismatch']);
  });
});

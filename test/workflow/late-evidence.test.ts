/** Evidence that comes while a claim is out, and two effects that are both told of. */
import { describe, expect, test } from 'vitest';
import { viewOf } from '../../lib/operations/trail.ts';
import { withdraw } from '../../lib/operations/withdraw.ts';
import { intentIdOf } from '../../lib/workflow/accept.ts';
import { NOW, POLICY } from '../support/kit.ts';
import { type Listening, listenFor, listening, type Tell } from '../support/outside-events.ts';
import { type SupplierWorld, type SupplierWorldOptions, supplierWorld } from '../support/supplier-world.ts';
import { ORDER, type World, type WorldOptions } from '../support/world.ts';

const LINES = { sku: 'TEA-01', quantity: 2 };
/** The id that a submission of `ORDER` gets. */
const SUBMITTED = intentIdOf('acme', 'sales', { environment: 'test', action: 'reserve' }, ORDER);
const refOf = (intentId: string) => ({ tenant: 'acme', intentId });
const told = (id: string, reference: string, externalId: string) => ({ id, reference, externalId });

const isFrozen = async (w: World): Promise<boolean> =>
  (await w.ledger.readForSend(refOf(SUBMITTED), 'orders')).frozen;

describe('an effect that is told of while the claim is out', () => {
  /** The reservation is there and told of, `when` seen from the POST of ours. */
  function toldIn(
    when: 'before' | 'after',
    options: WorldOptions,
    meanwhile?: (w: World) => Promise<unknown>,
  ) {
    const l: Listening = listening({
      ...options,
      wrapTransport: (transport) => async (request) => {
        const early = when === 'before' ? undefined : await transport(request);
        l.w.outside.add(ORDER, LINES);
        await l.tell(told('e1', SUBMITTED, 'R-1'));
        await meanwhile?.(l.w);
        return early ?? transport(request);
      },
    });
    return l.w;
  }
  const takenBack = (w: World) => withdraw(w.deps)(refOf(SUBMITTED), 'sales', 'shop');

  test.each<['before' | 'after', 0 | 1, string]>([
    ['before', 0, 'the last check withholds the first byte'],
    ['after', 1, 'a refusal of ours proves nothing about what was seen'],
  ] as const)(
    '%s our POST is looked for, whatever the POST gave: %d POSTs, because %s',
    async (when, posts) => {
      const w = toldIn(when, { script: ['refused'] });
      const { id, input } = await w.begin();
      await w.steps['Send']?.(input);
      expect(await w.read(id)).toMatchObject({ state: 'unknown', seenAt: NOW, acknowledgedId: 'R-1' });
      const end = await w.untilQuiet(id);
      expect([end.state, end.externalId]).toEqual(['confirmed', 'R-1']);
      expect([w.outside.posts(), w.outside.effects(ORDER)]).toEqual([posts, 1]);
    },
  );

  test('and does not show is handed over after a look, never called refused', async () => {
    const l: Listening = listening({
      script: ['refused'],
      wrapTransport: (transport) => async (request) => {
        const report = await transport(request);
        await l.tell(told('e1', SUBMITTED, 'R-1'));
        return report;
      },
    });
    const { id } = await l.w.settle();
    const end = await l.w.untilQuiet(id);
    expect([end.state, l.w.outside.gets() > 0, l.w.outside.posts()]).toEqual(['handover', true, 1]);
  });

  test.each(['before', 'after'] as const)('%s our POST survives a withdrawal meanwhile', async (when) => {
    const w = toldIn(when, { script: ['refused'] }, takenBack);
    const { id } = await w.settle();
    const end = await w.untilQuiet(id);
    expect([end.state, end.outcome, viewOf(end, 0).report]).toEqual(['confirmed', null, 'confirmed']);
    expect(w.outside.effects(ORDER)).toBe(1);
  });

  test('survives a withdrawal after a POST that was withheld', async () => {
    const w = toldIn('before', { route: { policy: { ...POLICY, resend: 'after_search', pauseMs: 5000 } } });
    const { id, input } = await w.begin();
    await w.steps['Send']?.(input);
    await takenBack(w);
    expect(await w.read(id)).toMatchObject({ state: 'unknown', noMoreWrites: true });
    const end = await w.untilQuiet(id);
    expect([end.state, end.externalId, w.outside.posts()]).toEqual(['confirmed', 'R-1', 0]);
  });
});

describe('two effects that are both told of', () => {
  async function twice(
    when: 'flight' | 'acknowledged' | 'confirmed',
    ids: 'both' | 'second',
    more: SupplierWorldOptions = {},
  ) {
    const late: { tell?: Tell; id?: string } = {};
    const s: SupplierWorld = supplierWorld('keyed', {
      ...more,
      world: {
        wrapTransport: (transport) => async (request) => {
          const report = await transport(request);
          if (when === 'flight') await happens();
          return report;
        },
      },
    });
    late.tell = listenFor(s.w, ['orders'], 'order');
    const happens = async (): Promise<void> => {
      const [first] = s.supplier.orders();
      if (first === undefined || late.id === undefined) throw new Error('There is no first order.');
      const { order_id: firstId, status: _, created_at: __, ...content } = first;
      if (more.visibilityLagMs !== undefined) s.w.clock.advance(more.visibilityLagMs);
      const { order_id: secondId } = s.supplier.add(content);
      if (ids === 'both') await late.tell?.(told('e1', late.id, firstId));
      await late.tell?.(told('e2', late.id, secondId));
    };
    const intent = await s.entered();
    late.id = intent.id;
    await s.sign(intent);
    const input = await s.swept();
    if (when === 'acknowledged') {
      await s.w.steps['Send']?.(input);
      expect((await s.w.read(intent.id)).state).toBe('acknowledged');
      await happens();
    }
    await s.w.run(input);
    if (when === 'confirmed') await happens();
    const end = await s.w.untilQuiet(intent.id);
    return { s, end, found: s.supplier.orders().map((each) => each.order_id) };
  }

  test.each(['flight', 'acknowledged', 'confirmed'] as const)(
    'while ours is %s are one confirmed effect and an incident, and the route freezes',
    async (when) => {
      const { s, end, found } = await twice(when, 'both');
      expect([end.state, end.externalId, end.incident?.reason]).toEqual([
        'confirmed',
        found[0],
        'second_effect',
      ]);
      expect([found.length, end.incident?.candidates]).toEqual([2, found]);
      expect([await isFrozen(s.w), end.dueAt, end.contraryAt]).toEqual([true, null, null]);
      const { items } = await s.w.ledger.evidence(refOf(end.id), 100, null);
      expect(items.filter(({ kind }) => kind === 'webhook')).toHaveLength(2);
    },
  );

  test.each(['cut_after_save', 'stall_after_save'] as const)(
    'while ours is in flight, its answer lost (%s) and the second listed later, are both found',
    async (play) => {
      const { s, end } = await twice('flight', 'both', { script: [play], visibilityLagMs: 200 });
      expect([end.state, (end.incident ?? end.handover)?.reason]).toSatisfy(
        ([state, reason]) =>
          `${state} ${reason}` === 'confirmed second_effect' || `${state} ${reason}` === 'handover many',
      );
      expect(s.supplier.orders()).toHaveLength(2);
    },
  );

  test('of which only the other id is told in flight are handed over, never confirmed', async () => {
    const { s, end, found } = await twice('flight', 'second');
    expect([end.state, end.handover?.reason]).toEqual(['handover', 'mismatch']);
    expect(found).toHaveLength(2);
    expect(s.supplier.posts).toHaveLength(1);
  });
});

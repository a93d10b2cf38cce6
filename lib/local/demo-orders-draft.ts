/** One purchase order on its way through the demo: handed in, signed, seen to its end, and asked for once more. */
import { systemClock } from '../platform/clock.ts';
import type { Plan } from '../simulators/supplier-faults.ts';
import type { Scene as ChapterScene } from './demo-chapter.ts';
import type { Permit } from './demo-ending.ts';
import { approve, good, type Order, type Request, settled, submit } from './demo-orders-desk.ts';
import type { Work } from './demo-orders-judge.ts';
import { bookOf, planFaults, postsOf } from './demo-orders-supplier.ts';
import type { SupplierKind } from './simulators.ts';

export interface Place {
  /** Of the suppliers' books. */
  readonly folder: string;
}
export type Scene = ChapterScene & Place;

export interface Draft {
  readonly order: Order;
  readonly id: string;
  /** What its supplier does to its first POST; null where that is honest. */
  readonly fault: string | null;
  readonly startedAt: number;
}

export interface Signed extends Draft {
  readonly request: Request;
  readonly permits: readonly Permit[];
}

const SHIP_TO = {
  name: 'Tea Room',
  street: '1-2-3 Ginza',
  city: 'Tokyo',
  postal_code: '104-0061',
  country: 'JP',
};
const UNIT_PRICE = 1100;

/** Tea, at 1100 yen a piece. */
export function purchase(
  supplier: SupplierKind,
  purchaseOrder: string,
  pieces = 2,
  street = SHIP_TO.street,
): Order {
  const line = { sku: 'TEA-01', quantity: String(pieces), unit: 'piece', unit_price: String(UNIT_PRICE) };
  return {
    supplier,
    payload: {
      purchase_order: purchaseOrder,
      ship_to: { ...SHIP_TO, street },
      lines: [line],
      currency: 'JPY',
      total: String(pieces * UNIT_PRICE),
    },
  };
}

/** Handed in by the submitter, in a first conversation; nobody has signed it. */
export async function handIn({ service }: Scene, order: Order, faults: Plan = []): Promise<Draft> {
  const startedAt = systemClock.now();
  const name = order.payload.purchase_order;
  await planFaults(service, order.supplier, 'order', name, faults);
  const { id } = good(await submit(service, order, service.tokens.submitter, 'first'), `submitting ${name}`);
  return { order, id, fault: faults[0]?.kind ?? null, startedAt };
}

export async function signed(scene: Scene, draft: Draft): Promise<Signed> {
  const { request, permit } = await approve(scene.service, draft.id);
  return { ...draft, request, permits: [permit] };
}

/** POSTs of the order that reached its supplier. */
export function postsFor({ folder }: Scene, { supplier, payload }: Order) {
  return postsOf([bookOf(folder, supplier)], 'order', payload.purchase_order);
}

/** Seen to its end. Once it is confirmed, a caller that starts anew asks again, and must meet the same intent. */
export async function seenToItsEnd(
  scene: Scene,
  { order, id, fault, request, permits }: Signed,
): Promise<Work> {
  const { service, check } = scene;
  const view = await settled(service, id);
  if (fault !== null) {
    const played = postsFor(scene, order).some((post) => post.fault === fault);
    check(played, `the supplier never played ${fault}`);
    check(view.errorKinds.length > 0, 'no answer was lost');
  }
  if (view.state === 'confirmed') await askAgain(scene, order, id);
  return { call: 'order', purchaseOrder: order.payload.purchase_order, request, permits, view };
}

async function askAgain({ service, check }: Scene, order: Order, id: string): Promise<void> {
  const { desk = '' } = service.tokens.callers;
  const { status, body } = await submit(service, order, desk, 'after the end');
  const same = status === 200 && body.id === id && body.state === 'confirmed';
  check(same, `asked for again it was answered ${status} with ${body.id} in state ${body.state}`);
}

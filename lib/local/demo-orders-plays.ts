/** The scenarios that end by themselves: what callers, people and suppliers do in each. */
import { systemClock } from '../platform/clock.ts';
import type { Permit } from './demo-ending.ts';
import {
  approvalOf,
  approve,
  evidenceOf,
  listed,
  settled,
  show,
  submit,
  Unexpected,
  until,
} from './demo-orders-desk.ts';
import {
  type Draft,
  handIn,
  postsFor,
  purchase,
  type Scene,
  type Signed,
  seenToItsEnd,
  signed,
} from './demo-orders-draft.ts';
import type { Work } from './demo-orders-judge.ts';
import { bookOf, effectsOf, planFaults } from './demo-orders-supplier.ts';

export async function answerLost(scene: Scene): Promise<Work[]> {
  const draft = await handIn(scene, purchase('unique', 'PO-101'), [{ kind: 'cut_after_save' }]);
  return [await seenToItsEnd(scene, await signed(scene, draft))];
}

/** A new conversation, by another program of the unit, while the first order is between two attempts. */
export async function askedAgain(scene: Scene): Promise<Work[]> {
  const { service, check } = scene;
  const order = purchase('keyed', 'PO-102');
  const draft = await signed(scene, await handIn(scene, order, [{ kind: 'cut_before_save' }]));
  await until('the first attempt', () => postsFor(scene, order).length > 0);
  const { status, body } = await submit(service, order, service.tokens.callers['phone'] ?? '', 'second');
  const same = status === 200 && body.id === draft.id;
  check(same, `a new conversation was answered ${status} with ${body.id}, not ${draft.id}`);
  return [await seenToItsEnd(scene, draft)];
}

/** The first half: saved by the supplier, whose answer hangs when the caller of this kills the stack. */
export async function hangs(scene: Scene): Promise<Signed> {
  const order = purchase('searchable', 'PO-103');
  const draft = await signed(scene, await handIn(scene, order, [{ kind: 'stall_after_save' }]));
  const { purchase_order: name } = order.payload;
  await until('the supplier to save', () => {
    return effectsOf([bookOf(scene.folder, order.supplier)], 'order', name).length > 0;
  });
  return draft;
}

/** The second half: another worker looks once the lease has run out. */
export function workerKilled(draft: Signed | Unexpected) {
  return async (scene: Scene): Promise<Work[]> => {
    if (draft instanceof Unexpected) throw draft;
    const work = await seenToItsEnd(scene, draft);
    scene.check(work.view.errorKinds.includes('lost'), 'the worker was not killed while it sent');
    return [work];
  };
}

export async function otherQuantity(scene: Scene): Promise<Work[]> {
  const draft = await handIn(scene, purchase('keyed', 'PO-104A'));
  await refusedAsConflict(scene, draft, 3);
  return [await seenToItsEnd(scene, await signed(scene, draft))];
}

/** The change comes when the first order is there already. */
export async function otherAddress(scene: Scene): Promise<Work[]> {
  const draft = await signed(scene, await handIn(scene, purchase('keyed', 'PO-104B')));
  await settled(scene.service, draft.id);
  await refusedAsConflict(scene, draft, 2, '9-9-9 Ginza');
  return [await seenToItsEnd(scene, draft)];
}

async function refusedAsConflict(
  { service, check }: Scene,
  { order }: Draft,
  ...other: [number, string?]
): Promise<void> {
  const changed = purchase(order.supplier, order.payload.purchase_order, ...other);
  const { status } = await submit(service, changed, service.tokens.submitter, 'a change');
  check(status === 409, `the change was answered ${status}, not 409`);
}

/** Long enough to send under, and over long before a search could prove absence. */
const APPROVED_MS = 5000;

/** Saved late and shown later still: when it shows, nobody permits a write any more. */
export async function approvalOver(scene: Scene): Promise<Work[]> {
  const { service, check } = scene;
  const order = purchase('searchable', 'PO-105');
  const draft = await handIn(scene, order, [{ kind: 'late_save' }, { kind: 'hidden' }]);
  const isOut = () => postsFor(scene, order).length > 0;
  const permits: Permit[] = [];
  let request: Signed['request'];
  do {
    const signing = await approve(service, draft.id, APPROVED_MS);
    const over = signing.permit.until;
    request = signing.request;
    permits.push(signing.permit);
    await until('the order or the end of its approval', () => isOut() || systemClock.now() >= over);
    // Too busy to send in time: nothing left, and nothing may until it is signed again.
  } while (!isOut());
  await emptySearch(scene, draft);
  await until('the end of the approval', async () => !(await approvalOf(service, draft.id)).permitted);
  const { state } = await show(service, draft.id);
  check(state === 'unknown', `when its approval was over it was ${state}, not unknown`);
  await planFaults(service, order.supplier, 'order', order.payload.purchase_order, []);
  return [await seenToItsEnd(scene, { ...draft, request, permits })];
}

/** The search does not show yet what is saved. An empty one is recorded, opens no resend, and people see why. */
export async function searchLags(scene: Scene): Promise<Work[]> {
  const { service, check } = scene;
  const order = purchase('searchable', 'PO-106B');
  const faults = [{ kind: 'cut_after_save' }, { kind: 'hidden' }] as const;
  const draft = await signed(scene, await handIn(scene, order, [...faults]));
  await emptySearch(scene, draft);
  const item = await listed(service, draft.id);
  const held = item?.resend.allowed === false && item.resend.reasons.includes('window_open');
  check(held, 'after an empty search people are not told that a resend is refused, and why');
  await planFaults(service, order.supplier, 'order', order.payload.purchase_order, []);
  return [await seenToItsEnd(scene, draft)];
}

async function emptySearch({ service }: Scene, { id }: Draft): Promise<void> {
  await until('an empty search', async () => {
    const { items } = await evidenceOf(service, id);
    return items.some(({ kind, facts }) => {
      return kind === 'search' && facts['complete'] === true && facts['verdict'] === 'wait';
    });
  });
}

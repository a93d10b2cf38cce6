/** The scenarios beside the machine: what is left to a person, what is approved twice, what follows an order. */
import { approvalOf, listed, settled, show, until } from './demo-orders-desk.ts';
import { handIn, purchase, type Scene, seenToItsEnd, signed } from './demo-orders-draft.ts';
import type { Work } from './demo-orders-judge.ts';
import { bookOf, planFaults, postsOf } from './demo-orders-supplier.ts';

/** No key and nothing to search: a person gets what is needed to look. */
export async function blind(scene: Scene): Promise<Work[]> {
  const { service, check, say } = scene;
  const draft = await handIn(scene, purchase('blind', 'PO-106A'), [{ kind: 'cut_after_save' }]);
  const work = await seenToItsEnd(scene, await signed(scene, draft));
  const item = await listed(service, draft.id);
  if (item === undefined) {
    check(false, 'it is on no list for people');
    return [work];
  }
  const { key, facts, resend, deadline, allowedDecisions } = item;
  const { account, environment } = work.request;
  // The supplier shows no reference of ours: the number of the order and what was ordered are all there is.
  check(key === work.purchaseOrder && facts.reference === null, 'people are shown nothing to look for');
  const placed = facts.account === account && facts.environment === environment;
  check(placed, 'people are shown another account or environment');
  check(!resend.allowed, 'people are told that it may be sent again');
  check(allowedDecisions.length > 0, 'there is nothing that people could decide');
  const limit = `${deadline.of} until ${deadline.at}`;
  say(`a person is asked about ${key}: by number and content, ${account}, ${environment}, ${limit}`);
  return [work];
}

/** Other goods than the one that a person is asked about: equal ones would have to wait for it. */
const PIECES = 5;

/** The same goods twice, each approved for itself, where the supplier shows nothing to tell them apart. */
export async function twins(scene: Scene): Promise<Work[]> {
  const drafts = [
    await handIn(scene, purchase('blind', 'PO-107A', PIECES)),
    await handIn(scene, purchase('blind', 'PO-107B', PIECES)),
  ];
  const works: Work[] = [];
  for (const draft of drafts) works.push(await seenToItsEnd(scene, await signed(scene, draft)));
  const ids = new Set(works.map((work) => work.view.externalId));
  scene.check(ids.size === drafts.length, 'both ended with the same order');
  return works;
}

/** The answer to the e-mail is lost; the order that it confirms stays what it was. */
export async function orderAndMail(scene: Scene): Promise<Work[]> {
  const { service, check, folder } = scene;
  const name = 'PO-108';
  const fault = 'cut_after_save';
  await planFaults(service, 'searchable', 'confirmation', name, [{ kind: fault }]);
  const payload = { purchase_order: name, to: 'buyer@example.com', language: 'ja' };
  const order = {
    ...purchase('searchable', name),
    next: { route: 'confirmations-searchable', payload },
  };
  const work = await seenToItsEnd(scene, await signed(scene, await handIn(scene, order)));
  const mailId = await followUpOf(scene, work.view.id);
  const posts = () => postsOf([bookOf(folder, 'searchable')], 'confirmation', name);
  await until('the e-mail', () => posts().length > 0);
  check((await show(service, work.view.id)).state === 'confirmed', 'the e-mail moved its order');
  const view = await settled(service, mailId);
  check(posts()[0]?.fault === fault && view.errorKinds.length > 0, 'no answer to the e-mail was lost');
  check((await show(service, work.view.id)).state === 'confirmed', 'the e-mail moved its order');
  const { request } = await approvalOf(service, mailId);
  return [work, { call: 'confirmation', purchaseOrder: name, request, permits: null, view }];
}

async function followUpOf({ service }: Scene, id: string): Promise<string> {
  let found: string | null = null;
  await until('the intent of the e-mail', async () => {
    const view = await show(service, id);
    found = view.then?.id ?? null;
    return found !== null;
  });
  return found ?? '';
}

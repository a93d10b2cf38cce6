/** What callers, people and the medium do in each scenario of the publishing chapter. */
import { MEDIUM_ACCOUNTS } from './configuration.ts';
import { listed, until } from './demo-orders-desk.ts';
import { madeOf, type Scene, type Signed, seenToItsEnd, signed } from './demo-publishing-draft.ts';
import type { Work } from './demo-publishing-judge.ts';
import { deleted, type Post, planFaults, writtenByHand } from './demo-publishing-medium.ts';

const [OURS, OTHERS] = MEDIUM_ACCOUNTS;

function post(key: string, text: string, more: Partial<Post> = {}): Post {
  return { route: 'posts-searchable', key, text, parent: null, ...more };
}

/** Even where nothing says how long a post may stay unseen, one that is seen is found. */
export async function answerLost(scene: Scene): Promise<Work[]> {
  const open = post('POST-201', 'The tea room opens at ten.', { route: 'posts-blind' });
  return [await seenToItsEnd(scene, await signed(scene, open, [{ kind: 'cut_after_save' }]))];
}

export async function failedThere(scene: Scene): Promise<Work[]> {
  const harvest = post('POST-202', 'The first harvest is here.');
  return [await seenToItsEnd(scene, await signed(scene, harvest, [{ kind: 'cut_before_save' }]))];
}

/** Somebody writes the same words by hand before the search shows ours. */
export async function twoAlike(scene: Scene): Promise<Work[]> {
  const { service, check, say } = scene;
  const closed = post('POST-203', 'We are closed on Monday.');
  const { draft, id, at } = await savedUnseen(scene, closed);
  const other = await writtenByHand(service, { account: OURS.id, text: closed.text, created_at: at });
  await planFaults(service, closed.text, []);
  const work = await seenToItsEnd(scene, draft);
  const item = await listed(service, draft.id);
  const { candidates = [] } = (item?.facts ?? {}) as { readonly candidates?: readonly string[] };
  const named = [id, other].every((each) => candidates.includes(each));
  check(named && candidates.length === 2, `people are shown ${candidates.join(' ') || 'nothing'}`);
  check(item?.resend.allowed === false, 'people are told that it may be sent again');
  say(`a person is asked about ${closed.key}: ${candidates.join(' or ')}, reason ${work.view.reason}`);
  return [work];
}

/** The same words twice, each approved for itself; the second loses its answer and must not take the first. */
export async function lookAlikes(scene: Scene): Promise<Work[]> {
  const text = 'A cup of sencha, as every day.';
  const first = await seenToItsEnd(scene, await signed(scene, post('POST-204A', text)));
  const draft = await signed(scene, post('POST-204B', text), [{ kind: 'cut_after_save' }]);
  return [first, await seenToItsEnd(scene, draft)];
}

/** Line ends and entities come back otherwise; nothing is lost by it. */
export async function rewritten(scene: Scene): Promise<Work[]> {
  const menu = post('POST-205', 'Tea & cake < 900 yen\r\n"Matcha" > 1100 yen');
  const work = await seenToItsEnd(scene, await signed(scene, menu, [{ kind: 'cut_after_save' }]));
  const differs = madeOf(scene, menu).every((made) => made.text !== menu.text);
  scene.check(differs, 'the medium rewrote nothing');
  return [work];
}

/** More than the medium keeps. */
export async function cutOff(scene: Scene): Promise<Work[]> {
  const long = post('POST-206', `How we steep gyokuro. ${'Warm water, and time. '.repeat(14)}Enjoy.`);
  const work = await seenToItsEnd(scene, await signed(scene, long, [{ kind: 'cut_after_save' }]));
  scene.check(madeOf(scene, long)[0]?.text.endsWith('…') === true, 'the medium cut nothing off');
  return [work];
}

/** It is gone before anybody knows that it was there; gone is not the same as never written. */
export async function deletedByHand(scene: Scene): Promise<Work[]> {
  const { service, check } = scene;
  // What a deleted post said is not shown. As the only answer there it cannot be taken for another one's.
  const question = { account: OTHERS.id, text: 'Is there hojicha today?' };
  const parent = await writtenByHand(service, question);
  const reply = post('POST-207', 'Yes, until five.', { parent });
  const { draft, id } = await savedUnseen(scene, reply);
  await deleted(service, id);
  await planFaults(service, reply.text, []);
  const work = await seenToItsEnd(scene, draft);
  check(
    madeOf(scene, reply).every((made) => made.deleted),
    'what a person deleted is there again',
  );
  return [work];
}

/** Saved, its answer lost, and left out of the list until its faults are planned anew. */
async function savedUnseen(scene: Scene, it: Post): Promise<{ draft: Signed; id: string; at: string }> {
  const draft = await signed(scene, it, [{ kind: 'cut_after_save' }, { kind: 'hidden' }]);
  await until(`the medium to save ${it.key}`, () => madeOf(scene, it).length > 0);
  const [made] = madeOf(scene, it);
  return { draft, id: made?.id ?? '', at: made?.created_at ?? '' };
}

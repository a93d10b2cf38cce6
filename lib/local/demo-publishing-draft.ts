/** One post on its way through the demo: handed in, signed, seen to its end, and asked for once more. */
import type { IntentView } from '../operations/trail.ts';
import type { Plan } from '../simulators/medium-faults.ts';
import { readMediumBook } from '../simulators/medium-truth.ts';
import type { Scene as ChapterScene } from './demo-chapter.ts';
import { approve, ask, good, settled } from './demo-orders-desk.ts';
import type { Work } from './demo-publishing-judge.ts';
import { effectsOf, type Post, planFaults, requestsOf } from './demo-publishing-medium.ts';
import type { Service } from './service.ts';

export interface Place {
  /** File of the medium's book. */
  readonly book: string;
}
export type Scene = ChapterScene & Place;

/** Handed in by the submitter and signed by somebody else. */
export interface Signed extends Pick<Work, 'post' | 'request' | 'permit'> {
  readonly id: string;
  /** What the medium does to one of its POSTs; null where it is honest. */
  readonly fault: string | null;
}

/** `faults` are played on posts with its text from now on; left out, they stay as they are. */
export async function signed(scene: Scene, post: Post, faults?: Plan): Promise<Signed> {
  const { service } = scene;
  if (faults !== undefined) await planFaults(service, post.text, faults);
  const { status, body } = await submit(service, post, service.tokens.submitter, 'first');
  const { id } = good({ status, body }, `submitting ${post.key}`);
  const { request, permit } = await approve(service, id);
  return { post, id, request, permit, fault: faults?.find(({ kind }) => kind !== 'honest')?.kind ?? null };
}

/** What the medium made of it so far, as its own book has it. */
export function madeOf({ book }: Scene, { text }: Post) {
  return effectsOf(readMediumBook(book), text);
}

/** Seen to its end. Once it is confirmed, a caller that starts anew asks again, and must meet the same intent. */
export async function seenToItsEnd(scene: Scene, draft: Signed): Promise<Work> {
  const { post, id, request, permit, fault } = draft;
  const { service, book, check } = scene;
  const view = await settled(service, id);
  if (fault !== null) {
    const played = requestsOf(readMediumBook(book), post.text).some((each) => each.fault === fault);
    check(played, `the medium never played ${fault}`);
    check(view.errorKinds.length > 0, 'no answer was lost');
  }
  if (view.state === 'confirmed') await askAgain(scene, draft);
  return { post, request, permit, view };
}

async function askAgain({ service, check }: Scene, { post, id }: Signed): Promise<void> {
  const { status, body } = await submit(service, post, service.tokens.submitter, 'after the end');
  const same = status === 200 && body.id === id && body.state === 'confirmed';
  check(same, `asked for again it was answered ${status} with ${body.id} in state ${body.state}`);
}

async function submit(service: Service, { route, key, text, parent }: Post, token: string, talk: string) {
  const payload = { text, visibility: 'public' };
  const body = { route, payload, parent, traceIds: { conversation: talk } };
  return ask<IntentView>(service, token, 'POST', '/intents', body, { 'idempotency-key': key });
}

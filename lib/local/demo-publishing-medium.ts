/** The medium behind our back: what it plays, what others do there, and what its own book holds. */
import type { Plan } from '../simulators/medium-faults.ts';
import type { Rewrite } from '../simulators/medium-rewrites.ts';
import type { MediumTruth, TruePost, TrueRequest } from '../simulators/medium-truth.ts';
import { Unexpected } from './demo-orders-desk.ts';
import type { Service } from './service.ts';

/** What is asked for. The text is its name here: no two scenarios share one. */
export interface Post {
  readonly route: 'posts-searchable' | 'posts-blind';
  readonly key: string;
  readonly text: string;
  /** Id of the post that it answers; null for a post of its own. */
  readonly parent: string | null;
}

/** For every post, as long as the chapter plays. The last one touches long texts only. */
const REWRITES: readonly Rewrite[] = ['crlf_to_lf', 'html_entities', 'cut_280'];

export async function setRewrites(service: Service): Promise<void> {
  await control(service, 'PUT', 'rewrites', REWRITES);
}

/** Replaces what is played on posts with this text; none ends it. */
export async function planFaults(service: Service, text: string, faults: Plan): Promise<void> {
  await control(service, 'PUT', 'posts/faults', { match: { text }, plan: faults });
}

interface ByHand {
  readonly account: string;
  readonly text: string;
  /** Now when left out. The medium takes its time to show it from then on. */
  readonly created_at?: string;
}

/** A post that somebody wrote without us; its id. */
export async function writtenByHand(service: Service, post: ByHand): Promise<string> {
  const { id } = (await control(service, 'POST', 'posts', post)) as { id: string };
  return id;
}

export async function deleted(service: Service, id: string): Promise<void> {
  await control(service, 'PATCH', `posts/${id}`, { deleted: true });
}

async function control(service: Service, method: string, path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const url = `${service.mediumUrl}/control/${path}`;
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Unexpected(`the medium takes no such ${method} ${path}: ${response.status}`);
  return answer;
}

/** What was made of a POST with this text, deleted or not; never what came by hand. */
export function effectsOf(book: MediumTruth, text: string): readonly TruePost[] {
  return book.posts.filter((post) => post.sent && post.sent_text === text);
}

export function requestsOf(book: MediumTruth, text: string): readonly TrueRequest[] {
  return book.requests.filter((request) => request.text === text);
}

/**
 * Posts and replies at a medium that knows no key and no reference of ours: `POST /api/posts`, read back by id and
 * on the public page, found by author, parent, content and time. Ids of accounts count, never their names.
 */
import * as z from 'zod';
import { plainText } from '../domain/canonical-text.ts';
import { compareBlurred } from '../domain/compare-blurred.ts';
import { compareImages } from '../domain/compare-images.ts';
import { compareText, type TextComparison, type TextRewrite } from '../domain/compare-text.ts';
import { NotCanonical } from '../domain/fingerprint.ts';
import type { FrozenRequest, Intent, JsonObject } from '../domain/intent.ts';
import { textSkeleton } from '../domain/text-skeleton.ts';
import type { Reading } from '../domain/write-result.ts';
import { mediumId, type ShownPost, shownPost } from './medium-api.ts';
import { findPosts, readPost } from './medium-look.ts';
import { pageHosts } from './medium-page.ts';
import { type MediumPayload, mediumPayload } from './medium-payload.ts';
import {
  MEDIUM_IMAGES,
  MEDIUM_PROMISE,
  MEDIUM_REFUSALS,
  MEDIUM_REWRITES,
  SHORT_LINK,
  SHORTEST_CUT,
} from './medium-promise.ts';
import { defineProvider, type ProviderRecord, type Target } from './provider.ts';

export const medium = defineProvider({
  name: 'medium',
  kind: 'post',
  payload: mediumPayload,
  takesParent: true,
  publicPages: pageHosts,
  promise: MEDIUM_PROMISE,
  // Shown nowhere: no id of ours goes into text that readers see.
  reference: ({ id }) => id,
  write: render,
  readAnswer,
  find: findPosts,
  read: (look, _, externalId) => readPost(look, externalId),
  shownContent,
  match: matches,
  reasons,
  verify,
});

/** Refuses, at acceptance, a parent that can be no post: the medium would refuse it after it was signed. */
function render(payload: JsonObject, _: string, { account, parent }: Target): FrozenRequest {
  if (parent !== null && !mediumId.safeParse(parent).success) {
    throw new NotCanonical(
      'Cannot post: parent must be the id of a post at the medium, which is digits.',
      '/parent',
    );
  }
  const { text, media, visibility } = mediumPayload.parse(payload);
  return {
    method: 'POST',
    path: '/api/posts',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ account, text, parent, media: media.map((each) => each.media_id), visibility }),
  };
}

const made = z.object({ post: z.object({ id: mediumId }) });
const refusal = z.strictObject({ error: z.string(), field: z.string().optional() });

function readAnswer(status: number, body: unknown): Reading {
  const post = status === 201 ? made.safeParse(body).data?.post : undefined;
  if (post !== undefined) return { kind: 'acknowledged', externalId: post.id };
  const { data } = refusal.safeParse(body);
  const listed = MEDIUM_REFUSALS.some((each) => each.status === status && each.error === data?.error);
  const named = data?.field === undefined || data.error === 'invalid_request';
  return { kind: listed && named ? 'not_executed' : 'unrecognised' };
}

/** Whatever could be shown alike, in the eyes of `match`, goes in turn. Who sees a post tells no twins apart, nor do images. */
function shownContent(payload: JsonObject): JsonObject {
  return { text: textSkeleton(mediumPayload.parse(payload).text) };
}

/** A word stands for a comparison that cannot be made: it may be the post, and nobody but a person can say. */
type Agreement = boolean | `not_comparable:${string}`;

/** Ours by the id that was given for it; else by author, parent and content. */
function matches(intent: Intent, record: ProviderRecord): boolean {
  if (record.externalId === intent.acknowledgedId) return true;
  const shown = shownPost.parse(record.content);
  // What a deleted post said is not known: it may be ours as long as nothing else is.
  if (shown.text === null && intent.acknowledgedId !== null) return false;
  const { author, parent, payload } = agreements(intent, record, shown);
  return author && parent && payload !== false;
}

function reasons(intent: Intent, record: ProviderRecord): Record<string, boolean | string> {
  return agreements(intent, record, shownPost.parse(record.content));
}

function agreements(intent: Intent, record: ProviderRecord, shown: ShownPost) {
  const payload = contentAgrees(mediumPayload.parse(intent.payload), shown);
  return { author: record.account === intent.account, payload, parent: shown.parent === intent.parent };
}

function contentAgrees(asked: MediumPayload, shown: ShownPost): Agreement {
  if (shown.text === null) {
    return shown.hasMedia === true && asked.media.length === 0 ? false : 'not_comparable:deleted';
  }
  const text = textAgrees(asked.text, shown.text, shown);
  const media = imagesAgree(asked, shown);
  if (text === false || media === false) return false;
  return text === true ? media : text;
}

/** Entities are encoded or not, nobody knows: both readings are tried, and the better one counts. */
function textAgrees(asked: string, text: string, { links }: ShownPost): Agreement {
  const readings = text.includes('&') ? [MEDIUM_REWRITES, WITHOUT_ENTITIES] : [MEDIUM_REWRITES];
  const found = readings.map((rewrites) => agreementOf(compareText(asked, text, { rewrites, links }), text));
  const best = found.find((each) => each === true) ?? found.find((each) => each !== false);
  if (best !== undefined) return best;
  if (leadsNearly(asked, text, readings, links)) return 'not_comparable:link_changed';
  return hasLinkAdded(asked, text, readings, links) ? 'not_comparable:link_added' : false;
}

/** A short link of the medium's own behind the text, as some add for what is attached to a post. */
const LINK_BEHIND = new RegExp(`\\s+${SHORT_LINK.source}\\S*$`, 'u');

function hasLinkAdded(
  asked: string,
  text: string,
  readings: readonly (readonly TextRewrite[])[],
  links: ShownPost['links'],
): boolean {
  const without = plainText(text).replace(LINK_BEHIND, '');
  if (without === plainText(text)) return false;
  const known = links.filter(({ shown }) => without.includes(shown));
  return readings.some(
    (rewrites) => compareText(asked, without, { rewrites, links: known }).kind === 'equal',
  );
}

const WITHOUT_ENTITIES = MEDIUM_REWRITES.filter((each) => each !== 'html_entities');

/** The post but for what a medium may have done to its links: in the text, or in the map. */
function leadsNearly(
  asked: string,
  text: string,
  readings: readonly (readonly TextRewrite[])[],
  links: ShownPost['links'],
): boolean {
  return readings.some((rewrites) => {
    const found = compareBlurred(asked, text, { rewrites, links });
    return found.some((each) => agreementOf(each, text) !== false);
  });
}

/** A loss counts only where it shows: a short text was not cut, and a plain link hides nothing. */
function agreementOf(comparison: TextComparison, shown: string): Agreement {
  if (comparison.kind !== 'not_comparable') return comparison.kind === 'equal';
  const { reason } = comparison;
  if (reason === 'cut' && [...shown].length < SHORTEST_CUT) return false;
  if (reason === 'links_hidden' && !SHORT_LINK.test(shown)) return false;
  return `not_comparable:${reason}`;
}

/** Images may be lost on the way: a post with fewer may be ours. */
function imagesAgree({ media }: MediumPayload, shown: ShownPost): Agreement {
  const approved = media.map(({ sha256 }) => sha256);
  const comparison = compareImages(approved, shown.media ?? [], MEDIUM_IMAGES);
  if (comparison.kind === 'equal') return true;
  const lost = comparison.kind === 'not_comparable' || comparison.reason === 'image_missing';
  return lost ? `not_comparable:${comparison.reason}` : false;
}

function verify(intent: Intent, record: ProviderRecord): Record<string, boolean> {
  const asked = mediumPayload.parse(intent.payload);
  const shown = shownPost.parse(record.content);
  return {
    // Only a readback goes to the page.
    ...(shown.page === undefined ? {} : { publicUrl: isPublic(record, shown) }),
    author: record.account === intent.account,
    payload: !shown.deleted && shown.text !== null && textAgrees(asked.text, shown.text, shown) === true,
    media: !shown.deleted && shown.media !== null && imagesAgree(asked, shown) === true,
    parent: shown.parent === intent.parent,
    visibility: !shown.deleted && shown.visibility === asked.visibility,
  };
}

/** A stranger sees the same post, of the same author, with the same text. */
function isPublic(record: ProviderRecord, { page, text }: ShownPost): boolean {
  if (!page || text === null || record.url === undefined) return false;
  const same = plainText(page.text) === plainText(text);
  return same && page.id === record.externalId && page.author === record.account;
}

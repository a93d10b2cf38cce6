/**
 * The same posts where the server makes the record key: `createRecord` without one. No key and no reference of ours is
 * then in the record, so a post is known by its author, text, images, parent and the time in its key. Asked for twice, it is two.
 */
import { isDeepStrictEqual } from 'node:util';
import { textHash } from '../domain/canonical-text.ts';
import type { Intent, Json, JsonObject } from '../domain/intent.ts';
import { checksOf, parentIn } from './bluesky-checks.ts';
import { findInList, readAddress } from './bluesky-list.ts';
import { pageHosts } from './bluesky-page.ts';
import { blueskyPayload, imagesEmbed, recordOf } from './bluesky-payload.ts';
import { BLUESKY_ACCOUNTS, BLUESKY_BY_CONTENT_PROMISE } from './bluesky-promise.ts';
import { blueskySession } from './bluesky-session.ts';
import { readWritten, writeOf } from './bluesky-write.ts';
import { defineProvider, type ProviderRecord } from './provider.ts';

export const blueskyByContent = defineProvider({
  name: 'bluesky-by-content',
  kind: 'post',
  ...BLUESKY_ACCOUNTS,
  payload: blueskyPayload,
  takesParent: true,
  publicPages: pageHosts,
  promise: BLUESKY_BY_CONTENT_PROMISE,
  // Shown nowhere: no id of ours goes into a post.
  reference: ({ id }) => id,
  write: (payload, _, target) => writeOf('createRecord', payload, target),
  readAnswer: readWritten,
  session: blueskySession,
  find: findInList,
  read: (look, _, externalId) => readAddress(look, externalId),
  shownContent: (payload) => contentOf(recordOf(payload)) ?? payload,
  match: matches,
  reasons,
  verify: checksOf,
});

/** A key that is no time was chosen by a client, so that its post is not what the server made for us. */
function matches(intent: Intent, record: ProviderRecord): boolean {
  if (record.createdAt === undefined) return false;
  if (record.externalId === intent.acknowledgedId) return true;
  return Object.values(reasons(intent, record)).every(Boolean);
}

function reasons(intent: Intent, record: ProviderRecord): Record<string, boolean> {
  const shown = contentOf(record.content);
  return {
    author: record.account === intent.account,
    payload: shown !== null && isDeepStrictEqual(shown, contentOf(recordOf(intent.payload))),
    parent: parentIn(record.content) === intent.parent,
    key: record.createdAt !== undefined,
  };
}

/** Text and images, which is all that equal posts must have in common; null where something else is embedded. */
function contentOf(record: { readonly [name: string]: Json }): JsonObject | null {
  const { text, embed, more } = record;
  if (typeof text !== 'string' || (Array.isArray(more) && more.includes('embed'))) return null;
  const { data } = imagesEmbed.safeParse(embed);
  return { text: textHash(text), images: data?.images.map(({ image }) => image.ref.$link) ?? [] };
}

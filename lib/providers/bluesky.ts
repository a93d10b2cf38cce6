/**
 * Posts and replies, with images, on a Bluesky server (AT Protocol), each under a record key made from the intent's id:
 * `putRecord` that must be new, read back by that key. The account is a DID; handles move.
 */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { NotCanonical } from '../domain/fingerprint.ts';
import type { FrozenRequest, Intent, JsonObject } from '../domain/intent.ts';
import type { Reading } from '../domain/write-result.ts';
import { DID, partsOf, postKey } from './bluesky-key.ts';
import { findPost, readPost } from './bluesky-look.ts';
import { blueskyPayload, recordOf } from './bluesky-payload.ts';
import { BLUESKY_PROMISE, BLUESKY_REFUSALS, POST_COLLECTION } from './bluesky-promise.ts';
import { defineProvider, type ProviderRecord, type Target } from './provider.ts';

export const bluesky = defineProvider({
  name: 'bluesky',
  kind: 'post',
  payload: blueskyPayload,
  takesParent: true,
  promise: BLUESKY_PROMISE,
  reference: ({ id }) => postKey(id),
  write: render,
  readAnswer,
  find: findPost,
  read: readPost,
  match: (intent, record) => record.account === intent.account && record.reference === postKey(intent.id),
  verify,
});

/** Refuses, at acceptance, a parent that the reply does not name, and an account that is no DID. */
function render(payload: JsonObject, rkey: string, { account, parent }: Target): FrozenRequest {
  const { reply } = blueskyPayload.parse(payload);
  if (parent !== (reply?.parent.uri ?? null)) {
    throw new NotCanonical(
      'Cannot post: parent must equal reply.parent.uri, and both are left out of a post.',
    );
  }
  if (!DID.test(account)) throw new NotCanonical('Cannot post: the account of the route is no DID.');
  const record = recordOf(payload);
  return {
    method: 'POST',
    path: '/xrpc/com.atproto.repo.putRecord',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ repo: account, collection: POST_COLLECTION, rkey, record, swapRecord: null }),
  };
}

const put = z.object({ uri: z.string().refine((uri) => partsOf(uri) !== null), cid: z.string().min(1) });
const refusal = z.strictObject({ error: z.string(), message: z.string() });

/** 200 is said of a new record and of the same one that was there already. */
function readAnswer(status: number, body: unknown): Reading {
  if (status === 200) {
    const { data } = put.safeParse(body);
    return data === undefined ? { kind: 'unrecognised' } : { kind: 'acknowledged', externalId: data.uri };
  }
  const { data } = refusal.safeParse(body);
  if (data === undefined) return { kind: 'unrecognised' };
  const { error, message } = data;
  if (status === 400 && error === 'InvalidSwap' && message.startsWith('Record was at ')) {
    return { kind: 'exists' };
  }
  const listed = BLUESKY_REFUSALS.some(
    (each) => each.status === status && each.error === error && message.startsWith(each.begins ?? ''),
  );
  return { kind: listed ? 'not_executed' : 'unrecognised' };
}

/** Nothing is rewritten there, so equal is equal to the last character. `publicUrl` only where the page was visited. */
function verify(intent: Intent, record: ProviderRecord): Record<string, boolean> {
  const { reply: askedReply = null, embed: askedEmbed = null, ...asked } = recordOf(intent.payload);
  const { reply = null, embed = null, more = [], ...shown } = record.content;
  const parts = partsOf(record.externalId);
  return {
    author: parts?.did === intent.account && record.account === intent.account,
    reference: parts?.key === postKey(intent.id) && record.reference === parts.key,
    payload: isDeepStrictEqual(shown, asked) && isDeepStrictEqual(more, []),
    media: isDeepStrictEqual(embed, askedEmbed),
    parent: isDeepStrictEqual(reply, askedReply) && parentIn(reply) === intent.parent,
    // There are no drafts; a label of the author's own can hide a post from strangers.
    visibility: !(Array.isArray(more) && more.includes('labels')),
    ...(record.url === undefined ? {} : { publicUrl: true }),
  };
}

function parentIn(reply: unknown): string | null {
  return z.object({ parent: z.object({ uri: z.string() }) }).safeParse(reply).data?.parent.uri ?? null;
}

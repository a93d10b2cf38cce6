/** What both ways of writing a post have in common: what is approved, and which answers mean what. */
import * as z from 'zod';
import { NotCanonical } from '../domain/fingerprint.ts';
import type { FrozenRequest, Json, JsonObject } from '../domain/intent.ts';
import type { Reading } from '../domain/write-result.ts';
import { DID, partsOf } from './bluesky-key.ts';
import { blueskyPayload, recordOf } from './bluesky-payload.ts';
import { BLUESKY_REFUSALS, POST_COLLECTION } from './bluesky-promise.ts';
import type { Target } from './provider.ts';

/**
 * A write of the record that was approved. Refuses, at acceptance, a parent that the reply does not name, and an
 * account that is no DID.
 */
export function writeOf(
  method: 'createRecord' | 'putRecord',
  payload: JsonObject,
  { account, parent }: Target,
  more: { readonly [name: string]: Json } = {},
): FrozenRequest {
  const { reply } = blueskyPayload.parse(payload);
  if (parent !== (reply?.parent.uri ?? null)) {
    throw new NotCanonical(
      'Cannot post: parent must equal reply.parent.uri, and both are left out of a post.',
      '/parent',
    );
  }
  if (!DID.test(account)) throw new NotCanonical('Cannot post: the account of the route is no DID.');
  const record = recordOf(payload);
  return {
    method: 'POST',
    path: `/xrpc/com.atproto.repo.${method}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ repo: account, collection: POST_COLLECTION, ...more, record }),
  };
}

const written = z.object({ uri: z.string().refine((uri) => partsOf(uri) !== null), cid: z.string().min(1) });
const refusal = z.strictObject({ error: z.string(), message: z.string() });
type Refusal = z.output<typeof refusal>;

/** 200 with the address of a post, or one of the listed refusals, exactly; everything else is not recognised. */
export function readWritten(status: number, body: unknown): Reading {
  if (status === 200) {
    const { data } = written.safeParse(body);
    return data === undefined ? { kind: 'unrecognised' } : { kind: 'acknowledged', externalId: data.uri };
  }
  const told = refusalIn(body);
  const listed = BLUESKY_REFUSALS.some(
    ({ begins = '', ...each }) =>
      each.status === status && each.error === told?.error && told.message.startsWith(begins),
  );
  return { kind: listed ? 'not_executed' : 'unrecognised' };
}

export function refusalIn(body: unknown): Refusal | undefined {
  return refusal.safeParse(body).data;
}

/**
 * Posts and replies, with images, on a Bluesky server (AT Protocol), each under a record key made from the intent's id:
 * `putRecord` that must be new, read back by that key. The account is a DID; handles move.
 */
import type { Intent } from '../domain/intent.ts';
import type { Reading } from '../domain/write-result.ts';
import { checksOf } from './bluesky-checks.ts';
import { partsOf, postKey } from './bluesky-key.ts';
import { findPost, readPost } from './bluesky-look.ts';
import { pageHosts } from './bluesky-page.ts';
import { blueskyPayload } from './bluesky-payload.ts';
import { BLUESKY_ACCOUNTS, BLUESKY_PROMISE } from './bluesky-promise.ts';
import { blueskySession } from './bluesky-session.ts';
import { readWritten, refusalIn, writeOf } from './bluesky-write.ts';
import { defineProvider, type ProviderRecord } from './provider.ts';

export const bluesky = defineProvider({
  name: 'bluesky',
  kind: 'post',
  ...BLUESKY_ACCOUNTS,
  payload: blueskyPayload,
  takesParent: true,
  publicPages: pageHosts,
  promise: BLUESKY_PROMISE,
  reference: ({ id }) => postKey(id),
  write: (payload, rkey, target) => writeOf('putRecord', payload, target, { rkey, swapRecord: null }),
  readAnswer,
  session: blueskySession,
  find: findPost,
  read: readPost,
  match: (intent, record) => record.account === intent.account && record.reference === postKey(intent.id),
  verify,
});

/** 200 is said of a new record and of the same one that was there already. */
function readAnswer(status: number, body: unknown): Reading {
  const told = refusalIn(body);
  const taken = told?.error === 'InvalidSwap' && told.message.startsWith('Record was at ');
  return status === 400 && taken ? { kind: 'exists' } : readWritten(status, body);
}

function verify(intent: Intent, record: ProviderRecord): Record<string, boolean> {
  const key = partsOf(record.externalId)?.key;
  return {
    reference: key === postKey(intent.id) && record.reference === key,
    ...checksOf(intent, record),
  };
}

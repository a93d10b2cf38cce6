/** What a Bluesky server (PDS) guarantees of `putRecord` with `swapRecord: null`, as data. */
import type { ProviderPromise } from '../domain/promise.ts';

export const POST_COLLECTION = 'app.bsky.feed.post';

/** One answer that means "not executed": this status with exactly `{"error": <word>, "message": <text>}`. */
export interface BlueskyRefusal {
  readonly status: number;
  readonly error: string;
  /** How the message begins, where the word alone says too little. */
  readonly begins?: string;
}

/** None of these leaves anything in the repository. 429 is not here: such a post is to be sent later. */
export const BLUESKY_REFUSALS: readonly BlueskyRefusal[] = [
  { status: 401, error: 'AuthMissing' },
  { status: 401, error: 'AuthenticationRequired' },
  { status: 400, error: 'InvalidToken' },
  { status: 400, error: 'ExpiredToken' },
  { status: 403, error: 'AccountNotFound' },
  { status: 400, error: 'BlobNotFound' },
  { status: 400, error: 'InvalidRequest', begins: `Invalid ${POST_COLLECTION} record` },
];

/**
 * A key holds one record: a second put of the same content changes nothing, one of another content is refused. A key
 * whose record was deleted is free again; nothing tells that from one never used.
 */
export const BLUESKY_PROMISE: ProviderPromise = {
  referenceShown: true,
  uniqueReference: true,
  search: {
    by: 'reference',
    complete: 'getRecord under the one key that our post can have',
    maxAgeMs: 'for_ever',
    readProbe: 'getRepoStatus names the DID of the account and says that its repository is active here',
  },
  minQuietMs: 500,
  applyDelayMs: 60_000,
  visibilityLagMs: 0,
  clockSkewMs: 0,
  notExecuted: BLUESKY_REFUSALS.map(({ status, error, begins }) => ({
    status,
    shape: `{"error":"${error}","message":"${begins ?? ''}…"}`,
  })),
  accepted: 'never_answered',
  readback: ['uri', 'value'],
  redirects: 'failure',
  expectContinue: false,
  cancelUntil: null,
};

/** What a Bluesky server (PDS) guarantees of its two ways to write a post, as data. */
import type { ProviderPromise } from '../domain/promise.ts';

export const POST_COLLECTION = 'app.bsky.feed.post';

/** A DID is one account at whatever address a route reaches it; nothing there is called a test. */
export const BLUESKY_ACCOUNTS = { family: 'bluesky', oneAccount: 'by_name' } as const;

/** One answer that means "not executed": this status with exactly `{"error": <word>, "message": <text>}`. */
export interface BlueskyRefusal {
  readonly status: number;
  readonly error: string;
  /** How the message begins, where the word alone says too little. */
  readonly begins?: string;
  /** It speaks of the token, and will say the same of every other write with it. */
  readonly ofToken?: true;
}

/** None of these leaves anything in the repository. 429 is not here: such a post is to be sent later. */
export const BLUESKY_REFUSALS: readonly BlueskyRefusal[] = [
  { status: 401, error: 'AuthMissing', ofToken: true },
  { status: 401, error: 'AuthenticationRequired', ofToken: true },
  { status: 400, error: 'InvalidToken', ofToken: true },
  { status: 400, error: 'ExpiredToken', ofToken: true },
  { status: 403, error: 'AccountNotFound' },
  { status: 400, error: 'BlobNotFound' },
  { status: 400, error: 'InvalidRequest', begins: `Invalid ${POST_COLLECTION} record` },
];

/** Half of what the public servers take from one address: 3000 requests in five minutes. */
const SEARCH_CALLS_PER_MINUTE = 300;

const READ_PROBE = 'getRepoStatus names the DID of the account and says that its repository is active here';

/** Whichever way a post is written. */
const OF_BOTH = {
  minQuietMs: 500,
  applyDelayMs: 60_000,
  notExecuted: BLUESKY_REFUSALS.map(({ status, error, begins }) => ({
    status,
    shape: `{"error":"${error}","message":"${begins ?? ''}…"}`,
  })),
  accepted: 'never_answered',
  readback: ['uri', 'value', 'public page'],
  rateLimitPerMinute: SEARCH_CALLS_PER_MINUTE,
  redirects: 'failure',
  expectContinue: false,
  cancelUntil: null,
} as const;

/**
 * Of `putRecord` with `swapRecord: null`. A key holds one record: a second put of the same content changes nothing,
 * one of another content is refused. A key whose record was deleted is free again; nothing tells that from one never
 * used.
 */
export const BLUESKY_PROMISE: ProviderPromise = {
  ...OF_BOTH,
  referenceShown: true,
  uniqueReference: true,
  search: {
    by: 'reference',
    complete: 'getRecord under the one key that our post can have',
    maxAgeMs: 'for_ever',
    readProbe: READ_PROBE,
  },
  visibilityLagMs: 0,
  clockSkewMs: 0,
};

/**
 * Of `createRecord` without a key: every request that arrives is a post of its own. L is the route's to name: on a
 * route without it nothing is ever sent again. What was deleted before it was seen is shown by nothing.
 */
export const BLUESKY_BY_CONTENT_PROMISE: ProviderPromise = {
  ...OF_BOTH,
  referenceShown: false,
  uniqueReference: false,
  search: {
    by: 'content',
    complete:
      'listRecords from the newest key down, until no cursor or a key from before the range; deleted ones are not shown',
    maxAgeMs: 'for_ever',
    readProbe: READ_PROBE,
  },
  // Of the clock that makes the keys; it counts in microseconds.
  clockSkewMs: 2000,
};

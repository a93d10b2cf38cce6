/** What the medium guarantees, as data, and what it may do to a post on the way into its book. */
import type { TextRewrite } from '../domain/compare-text.ts';
import { DAY_MS, type ProviderPromise } from '../domain/promise.ts';

/** Answers that mean "not executed"; only an invalid request names a field. */
export const MEDIUM_REFUSALS = [
  { status: 400, error: 'invalid_request' },
  { status: 403, error: 'wrong_account' },
  { status: 404, error: 'no_such_parent' },
] as const;

/**
 * No key, no reference of ours: a post is known by its author, parent, content and time. L is the route's to name
 * (the medium says 30 s): on a route without it nothing is ever sent again.
 */
export const MEDIUM_PROMISE: ProviderPromise = {
  referenceShown: false,
  uniqueReference: false,
  search: {
    by: 'content',
    complete: 'include=all, every page until next is null, every candidate read by its id',
    maxAgeMs: 90 * DAY_MS,
    readProbe: 'the account and every page name the immutable id of the account',
  },
  applyDelayMs: 60_000,
  minQuietMs: 500,
  // Whole seconds, in the time of another zone.
  clockSkewMs: 2000,
  notExecuted: MEDIUM_REFUSALS.map(({ status, error }) => ({ status, shape: `{"error":"${error}"}` })),
  accepted: 'never_answered',
  readback: ['id', 'author.id', 'text', 'parent', 'media', 'visibility', 'created_at', 'public page'],
  redirects: 'failure',
  expectContinue: false,
  rateLimitPerMinute: 1200,
  cancelUntil: null,
};

/** Text comes back with any of these, or none. The last three cannot be undone. */
export const MEDIUM_REWRITES: readonly TextRewrite[] = [
  'crlf',
  'trim_end',
  'unicode_form',
  'html_entities',
  'links_with_map',
  'scheme_added',
  'links_without_map',
  'emoji_lost',
  'cut',
];

/** A text that is cut shows this many code points; whatever is shorter was not cut. */
export const SHORTEST_CUT = 280;
/** How a link looks whose target is hidden; no other link hides one. */
export const SHORT_LINK = /https:\/\/s\.test\/[A-Za-z0-9]/;

/** Images: other bytes are made of them, and the last ones may be missing. */
export const MEDIUM_IMAGES = { reencoded: true } as const;

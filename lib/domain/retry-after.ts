/** What `Retry-After` asks for: when to come again at the earliest, never sooner than we would ourselves. */
import type { Attempt } from './facts.ts';

/**
 * The longest wait that a provider can ask for, ms. Limits are counted by minutes, the longest common ones by a
 * quarter of an hour; a field that asks for years must not park an intent until its approval or its key has ended.
 */
export const LONGEST_RETRY_AFTER_MS = 900_000;

/** The statuses whose field is obeyed: too many calls, and out of service. Any other one says nothing of it. */
const ASKING = [429, 503];

const SECOND_MS = 1000;

/** The moment that an answer asks to wait for, ms; null where it asks for none. */
export function notBeforeOf(
  { status, retryAfter }: { readonly status: number; readonly retryAfter?: string | undefined },
  receivedAt: number,
): number | null {
  if (retryAfter === undefined || !ASKING.includes(status)) return null;
  return retryAfterOf(retryAfter, receivedAt);
}

/**
 * Reads the field's value: seconds (digits only) or a date in the one form that senders may use (IMF-fixdate; the
 * obsolete ones are refused). Sent twice, and so joined by a comma, the latest of what can be read counts. Null: nothing
 * can be read, or the moment is not ahead, and our own pause stands. A date is the provider's clock; how far that is
 * off does no harm between our own pause and the greatest wait.
 */
export function retryAfterOf(value: string, receivedAt: number): number | null {
  const moments = value.split(BETWEEN).map((part) => momentOf(part.trim(), receivedAt));
  const latest = Math.max(...moments.filter((moment) => moment !== null));
  return latest > receivedAt ? Math.min(latest, receivedAt + LONGEST_RETRY_AFTER_MS) : null;
}

/** Until when the answers to an intent's writes asked to be left alone, ms; `-Infinity` where none did. */
export function leftAloneUntil({ attempts }: { readonly attempts: readonly Attempt[] }): number {
  const asked = attempts.flatMap(({ result }) => (result?.kind === 'unknown' ? [result.notBefore] : []));
  return Math.max(...asked.filter((moment) => moment !== undefined));
}

/** The later of two moments, each of which may be none. */
export function laterOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/** A comma, but not that of a date. */
const BETWEEN = /(?<!\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)),/;
const SECONDS = /^\d+$/;
const FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function momentOf(text: string, receivedAt: number): number | null {
  if (SECONDS.test(text)) return receivedAt + Number(text) * SECOND_MS;
  if (!FIXDATE.test(text)) return null;
  const moment = Date.parse(text);
  // Spelled again it must be the same: no 31 February, no wrong day of the week.
  return !Number.isNaN(moment) && new Date(moment).toUTCString() === text ? moment : null;
}

/**
 * The POST that opens a session: bounded in time and size, never repeated, never redirected, never logged. It is no
 * write, and what only looks cannot hold it: its answer carries a credential that can write.
 */
import { boundedFetch } from './bounded-fetch.ts';
import type { AskForSession } from './provider.ts';
import { below } from './reader.ts';

const MAX_BYTES = 65_536;
const MS = 1000;

export interface SessionCallOptions {
  /** http or https; may carry a path prefix. */
  readonly baseUrl: string;
  /** Limit for the whole call, body included. */
  readonly timeoutMs: number;
}

export type SessionCall = (options: SessionCallOptions) => AskForSession;

/** Errors are those of `boundedFetch`; a path that could leave the base URL is `unreachable`. */
export const sessionCall: SessionCall =
  ({ baseUrl, timeoutMs }) =>
  async (path, body) => {
    const url = urlOf(baseUrl, path);
    if (url === null) return { kind: 'failed', error: 'unreachable' };
    const headers = { 'content-type': 'application/json' };
    const answer = await boundedFetch(
      url,
      { method: 'POST', headers, body },
      { timeoutMs, maxBytes: MAX_BYTES },
    );
    if (answer.kind === 'failed') return answer;
    const { retryAfter, ...shown } = answer;
    return { ...shown, retryAfterMs: waitOf(retryAfter) };
  };

function urlOf(baseUrl: string, path: string): URL | null {
  try {
    return below(baseUrl, path);
  } catch {
    return null;
  }
}

/** Seconds only: a date would need the server's clock. */
function waitOf(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * MS : null;
}

/**
 * Looking without writing: one GET below a route's base URL, bounded in time and size, never repeated.
 * A look that failed is `failed` with one word, never an empty answer. This file cannot write, and what
 * only looks imports nothing that can; `transport.ts` takes its limits from here.
 */
import { boundedFetch } from './bounded-fetch.ts';
import type { ReadOnce } from './provider.ts';

/** Greatest answer body in bytes, after decompression; an answer of exactly this size still counts. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** A longer field of an answer is left out, not shortened: a shortened one says something else. */
export const MAX_FIELD_CHARS = 256;

export interface ReaderOptions {
  /** http or https; may carry a path prefix. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Limit for the whole look, body included. */
  readonly timeoutMs: number;
}

type Look = Awaited<ReturnType<ReadOnce>>;

/**
 * Makes the one way in which adapters look outside. Errors: `bad_path`, `redirected` (any 3xx), `timeout`,
 * `too_large`, `not_text` (invalid UTF-8), `unreachable` (every other trouble, a cut body included).
 */
export function reader(options: ReaderOptions): ReadOnce {
  return async (path) => {
    let url: URL;
    try {
      url = below(options.baseUrl, path);
    } catch {
      return failed('bad_path');
    }
    const { headers, timeoutMs } = options;
    const answer = await boundedFetch(
      url,
      { method: 'GET', headers },
      { timeoutMs, maxBytes: MAX_ANSWER_BYTES },
    );
    if (answer.kind === 'failed') return answer;
    const { retryAfter, ...shown } = answer;
    const asks = retryAfter !== null && retryAfter.length <= MAX_FIELD_CHARS;
    return { ...shown, ...(asks ? { retryAfter } : {}) };
  };
}

function failed(error: string): Look {
  return { kind: 'failed', error };
}

/** Visible ASCII, one leading slash, no backslash (URLs read it as a slash) and no fragment. */
const PATH = /^\/(?!\/)[\x21\x22\x24-\x5b\x5d-\x7e]*$/;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Joins path and query below a base URL. Throws on a path that could leave it (no single leading slash, a dot
 * segment, also percent-encoded, a backslash, a fragment, anything but visible ASCII) and on a base URL that is
 * not plain http(s): with credentials, query or fragment.
 */
export function below(baseUrl: string, path: string): URL {
  const base = new URL(baseUrl);
  const plain = /^https?:$/.test(base.protocol) && `${base.username}${base.password}` === '';
  if (!plain || /[?#]/.test(baseUrl))
    throw new Error('Cannot join below the base URL: it is not plain http(s)');
  const [pathname = ''] = path.split('?', 1);
  if (!PATH.test(path) || pathname.split('/').some((segment) => DOT_SEGMENT.test(segment))) {
    throw new Error('Cannot join below the base URL: the path could leave it');
  }
  return new URL(`${base.origin}${base.pathname.replace(/\/+$/, '')}${path}`);
}

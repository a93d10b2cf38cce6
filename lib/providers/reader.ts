/**
 * Looking without writing: one GET below a route's base URL, bounded in time and size, never repeated.
 * A look that failed is `failed` with one word, never an empty answer. This file cannot write, and what
 * only looks imports nothing that can; `transport.ts` takes its limits from here.
 */
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
    try {
      return await look(url, options);
    } catch (error) {
      return failed(error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'unreachable');
    }
  };
}

async function look(url: URL, options: ReaderOptions): Promise<Look> {
  const response = await fetch(url, {
    redirect: 'manual',
    // A connection kept alive may be dead after a pause, and would then fail the next look.
    headers: { ...options.headers, connection: 'close' },
    signal: AbortSignal.timeout(options.timeoutMs),
  });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    return failed('redirected');
  }
  const bytes = await bounded(response);
  if (bytes === null) return failed('too_large');
  const body = utf8(bytes);
  if (body === null) return failed('not_text');
  const { status, headers } = response;
  const retryAfter = headers.get('retry-after');
  const asks = retryAfter !== null && retryAfter.length <= MAX_FIELD_CHARS;
  return { kind: 'answered', status, body, ...(asks ? { retryAfter } : {}) };
}

/** Null when the body is over the limit; leaving the loop also ends the transfer. */
async function bounded(response: Response): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function failed(error: string): Look {
  return { kind: 'failed', error };
}

/** Exactly the text that was sent, a byte order mark included; null when it is not valid UTF-8. */
export function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
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

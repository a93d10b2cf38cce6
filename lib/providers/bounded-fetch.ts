/**
 * One request outside that is no write, bounded in time and size, never repeated, never redirected. Only the reader and
 * the call that opens sessions import it: what it may ask for is theirs to say.
 */

/** `retryAfter` is the field as it came, or null. */
export type Fetched =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: string;
      readonly retryAfter: string | null;
    }
  | { readonly kind: 'failed'; readonly error: string };

export interface FetchLimits {
  /** For the whole exchange, body included. */
  readonly timeoutMs: number;
  /** Of the body after decompression; one of exactly this size still counts. */
  readonly maxBytes: number;
}

/**
 * Errors: `redirected` (any 3xx), `timeout`, `too_large`, `not_text` (invalid UTF-8), `unreachable` (every other trouble, a
 * cut body included). A connection kept alive may be dead after a pause, so each request has its own.
 */
export async function boundedFetch(
  url: URL,
  request: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  },
  limits: FetchLimits,
): Promise<Fetched> {
  try {
    return await exchange(url, request, limits);
  } catch (error) {
    return failed(error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'unreachable');
  }
}

async function exchange(
  url: URL,
  request: Parameters<typeof boundedFetch>[1],
  { timeoutMs, maxBytes }: FetchLimits,
): Promise<Fetched> {
  const response = await fetch(url, {
    ...request,
    redirect: 'manual',
    headers: { ...request.headers, connection: 'close' },
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    return failed('redirected');
  }
  const bytes = await bounded(response, maxBytes);
  if (bytes === null) return failed('too_large');
  const body = utf8(bytes);
  if (body === null) return failed('not_text');
  const { status, headers } = response;
  return { kind: 'answered', status, body, retryAfter: headers.get('retry-after') };
}

/** Null when the body is over the limit; leaving the loop also ends the transfer. */
async function bounded(response: Response, maxBytes: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Exactly the text that was sent, a byte order mark included; null when it is not valid UTF-8. */
export function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function failed(error: string): Fetched {
  return { kind: 'failed', error };
}

/**
 * The POST that opens a session: bounded in time and size, never repeated, never redirected, never logged. It is no
 * write, and what only looks cannot hold it: its answer carries a credential that can write.
 */
import type { AskForSession, SessionAnswer } from './provider.ts';
import { below, utf8 } from './reader.ts';

const MAX_BYTES = 65_536;
const MS = 1000;

export interface SessionCallOptions {
  /** http or https; may carry a path prefix. */
  readonly baseUrl: string;
  /** Limit for the whole call, body included. */
  readonly timeoutMs: number;
}

export type SessionCall = (options: SessionCallOptions) => AskForSession;

/** Errors: `redirected` (any 3xx), `timeout`, `too_large`, `not_text` (invalid UTF-8), `unreachable` (all other trouble). */
export const sessionCall: SessionCall = (options) => async (path, body) => {
  try {
    return await ask(below(options.baseUrl, path), body, options.timeoutMs);
  } catch (error) {
    return failed(error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'unreachable');
  }
};

async function ask(url: URL, body: string, timeoutMs: number): Promise<SessionAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body,
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    return failed('redirected');
  }
  const bytes = await bounded(response);
  if (bytes === null) return failed('too_large');
  const text = utf8(bytes);
  if (text === null) return failed('not_text');
  const { status, headers } = response;
  return { kind: 'answered', status, body: text, retryAfterMs: waitOf(headers.get('retry-after')) };
}

/** Null when the body is over the limit; leaving the loop also ends the transfer. */
async function bounded(response: Response): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Seconds only: a date would need the server's clock. */
function waitOf(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * MS : null;
}

function failed(error: string): SessionAnswer {
  return { kind: 'failed', error };
}

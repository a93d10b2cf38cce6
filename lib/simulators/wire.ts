/** What simulators do on the wire: honest answers, and the ways in which a connection fails. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type * as z from 'zod';

const MAX_BODY_BYTES = 65_536;
/** Past this the connection is closed on the sender. */
const MAX_READ_BYTES = 16_777_216;
const MAX_STALL_MS = 30_000;

export interface Answer {
  readonly status: number;
  /** A string is sent as HTML; a bigint in an object is written as a number with all its digits. */
  readonly body: Readonly<Record<string, unknown>> | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What happens on the wire. */
export type Wire =
  | { readonly kind: 'answer' | 'cut'; readonly answer: Answer }
  | { readonly kind: 'close' | 'reset' | 'stall' };

export function answer(status: number, body: Answer['body'], headers: Answer['headers'] = {}): Wire {
  return { kind: 'answer', answer: { status, body, headers } };
}

/** JSON with every bigint as a number of all its digits, which a reader who makes a double of it loses. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, it) => (typeof it === 'bigint' ? RAW.rawJSON(String(it)) : it));
}

// In the language, not yet in its types.
const RAW = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** What stands in place of an answer that is not even JSON. */
export const GARBAGE = '<!doctype html><title>Maintenance</title>';

export function failure(status: number): Wire {
  return answer(status, { error: status === 503 ? 'unavailable' : 'internal' });
}

export function invalid(field: string): Answer {
  return { status: 400, body: { error: 'invalid_request', field } };
}

/** The outermost field that is wrong; `body` for what is no object. */
export function firstField(error: z.ZodError): string {
  const issue = error.issues[0];
  const inner = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  return String(issue?.path[0] ?? inner ?? 'body');
}

export const UNAUTHORIZED: Answer = { status: 401, body: { error: 'unauthorized' } };
export const NOT_FOUND: Answer = { status: 404, body: { error: 'not_found' } };

export const TOO_LARGE: Answer = { status: 413, body: { error: 'too_large' } };

/** Why a POST is not even read: without its token, or of another type. */
export function refused(
  request: IncomingMessage,
  writeToken: string | undefined,
  type: RegExp,
): Answer | undefined {
  if (!authorised(request, writeToken, [writeToken])) return UNAUTHORIZED;
  if (type.test(request.headers['content-type'] ?? '')) return undefined;
  return { status: 415, body: { error: 'unsupported_media_type' } };
}

export function authorised(
  request: IncomingMessage,
  needed: string | undefined,
  good: (string | undefined)[],
) {
  if (needed === undefined) return true;
  return good.some((token) => token !== undefined && request.headers.authorization === `Bearer ${token}`);
}

/** undefined for what is not one JSON value in UTF-8. */
export function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** `gone`: the client went before the whole body was here. Too large a body is read to its end, not kept. */
export async function wholeBody(
  request: IncomingMessage,
  most = MAX_BODY_BYTES,
): Promise<Buffer | 'too_large' | 'gone'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > MAX_READ_BYTES) return 'gone';
      if (bytes <= most) chunks.push(chunk);
    }
  } catch {
    return 'gone';
  }
  return bytes > most ? 'too_large' : Buffer.concat(chunks);
}

export function put(response: ServerResponse, wire: Wire): void {
  switch (wire.kind) {
    case 'close':
      response.destroy();
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'stall': {
      const limit = setTimeout(() => response.destroy(), MAX_STALL_MS);
      response.once('close', () => clearTimeout(limit));
      return;
    }
    case 'cut':
    case 'answer':
      write(response, wire.answer, wire.kind === 'cut');
  }
}

function write(response: ServerResponse, { status, body, headers }: Answer, cut: boolean): void {
  const html = typeof body === 'string';
  const bytes = Buffer.from(html ? body : jsonOf(body));
  response.writeHead(status, {
    'content-type': html ? 'text/html' : 'application/json',
    'content-length': bytes.length,
    ...headers,
  });
  if (cut) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  else response.end(bytes);
}

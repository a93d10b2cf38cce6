/** Bodies and keys as they come in: strict JSON of well-formed text, bounded, unknown fields refused. */
import type * as z from 'zod';
import { BadJson, parseJson, REQUEST_LIMITS } from '../lib/platform/json.ts';
import type { ApiRequest } from './handler.ts';
import { ProblemError } from './problem.ts';

const MOST_BYTES = 65_536;

/** Throws the problem `too-large` or `invalid-request`. */
export function readBody<T>(request: ApiRequest, schema: z.ZodType<T>): T {
  if (Buffer.byteLength(request.body) > MOST_BYTES) {
    throw new ProblemError('too-large', { detail: `The body may have ${MOST_BYTES} bytes.` });
  }
  refuseReplaced(request.body);
  const parsed = schema.safeParse(parse(request.body));
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.slice(0, 20).map((issue) => ({
    pointer: ['', ...issue.path.map(String)].join('/'),
    detail:
      issue.code === 'unrecognized_keys' ? `Unknown: ${issue.keys.slice(0, 5).join(', ')}` : issue.message,
  }));
  throw new ProblemError('invalid-request', { errors });
}

function parse(text: string): unknown {
  try {
    return parseJson(text, REQUEST_LIMITS);
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    const { message: detail, pointer } = error;
    throw new ProblemError(
      'invalid-request',
      pointer === undefined ? { detail } : { errors: [{ pointer, detail }] },
    );
  }
}

/**
 * The gateway hands JSON on as text and puts U+FFFD where the bytes were not UTF-8: what was asked for is lost, and the
 * replacement must not be stored and sent in its place. Who means that character itself writes its escape.
 */
function refuseReplaced(text: string): void {
  const at = text.indexOf('\ufffd');
  if (at === -1) return;
  const detail = `The body is not UTF-8 at position ${at}; the character U+FFFD itself is written \\ufffd.`;
  throw new ProblemError('invalid-request', { detail });
}

/** Visible ASCII without comma, double quote, backslash, tilde and space; the tilde is ours. */
const KEY = /^[!#-+\--[\]-}]{1,255}$/;

/** The `Idempotency-Key` header; one pair of surrounding quotes is taken off, case matters. */
export function readKey(request: ApiRequest): string {
  const header = request.headers['idempotency-key']?.replace(/^[ \t]+|[ \t]+$/g, '');
  if (header === undefined || header === '' || header === '""') throw new ProblemError('key-missing');
  const quoted = /^"(.*)"$/.exec(header);
  const key = quoted?.[1] ?? header;
  if (!KEY.test(key)) {
    const detail =
      '1 to 255 visible ASCII characters without comma, double quote, backslash, tilde and space.';
    throw new ProblemError('key-malformed', { detail });
  }
  return key;
}

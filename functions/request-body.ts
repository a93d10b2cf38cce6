/** Bodies and keys as they come in: strict JSON, bounded, unknown fields refused. */
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
    throw new ProblemError('invalid-request', { detail: error.message });
  }
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

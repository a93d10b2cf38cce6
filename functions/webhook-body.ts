/** Bodies of signed events. Senders add fields as they please; what is read has its form, or nothing is stored. */
import * as z from 'zod';
import { parseAnswer } from '../lib/platform/json.ts';
import type { ApiRequest } from './handler.ts';
import { ProblemError } from './problem.ts';

const MOST_BYTES = 65_536;
const text = (most: number) => z.string().min(1).max(most);
/** Some senders write ids as numbers; one too long for JavaScript arrives here as its digits. */
const id = z.union([text(255), z.number().int().nonnegative().transform(String)]);

export const body = z.object({
  type: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'a word with dots, at most 64 characters'),
  timestamp: z.iso.datetime({ offset: true }),
  data: z.object({
    account: text(128),
    environment: z.enum(['test', 'production']),
    kind: text(64),
    reference: text(255).nullish(),
    external_id: id.nullish(),
  }),
});

/** Throws the problem `too-large`, before anything else is looked at. */
export function boundedBody(request: ApiRequest): string {
  if (Buffer.byteLength(request.body) <= MOST_BYTES) return request.body;
  throw new ProblemError('too-large', { detail: `The body may have ${MOST_BYTES} bytes.` });
}

/** Throws the problem `invalid-request`. */
export function readEvent(bytes: string) {
  const parsed = body.safeParse(parsedOf(bytes));
  if (!parsed.success) {
    const errors = parsed.error.issues.slice(0, 20).map((issue) => ({
      pointer: ['', ...issue.path.map(String)].join('/'),
      detail: issue.message,
    }));
    throw new ProblemError('invalid-request', { errors });
  }
  const { type, data } = parsed.data;
  const { account, environment, kind, reference, external_id } = data;
  return {
    type,
    account,
    environment,
    kind,
    reference: reference ?? null,
    externalId: external_id ?? null,
  };
}

function parsedOf(bytes: string): unknown {
  try {
    return parseAnswer(bytes);
  } catch {
    // The parser's words may quote the body.
    throw new ProblemError('invalid-request', { detail: 'The body is not one JSON value.' });
  }
}

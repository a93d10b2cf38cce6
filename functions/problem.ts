/** Problem details (RFC 9457). Each `type` is a page in docs/problems; a problem never tells what is stored. */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

export const PROBLEMS = {
  'invalid-request': { status: 400, title: 'The request is not valid.' },
  'key-missing': { status: 400, title: 'The Idempotency-Key header is missing.' },
  'key-malformed': { status: 400, title: 'The Idempotency-Key header is malformed.' },
  'key-mismatch': { status: 400, title: 'The key in the header and the key in the payload differ.' },
  'bad-signature': { status: 401, title: 'The signature does not hold.' },
  'not-approver': { status: 403, title: 'This person may not approve this intent.' },
  'second-person-needed': { status: 403, title: 'Another person must agree to this.' },
  'not-found': { status: 404, title: 'There is no such intent.' },
  'key-conflict': { status: 409, title: 'This key was used with another request.' },
  'decision-refused': { status: 409, title: 'The decision was refused.' },
  'not-settled': { status: 409, title: 'This intent is not settled.' },
  owned: { status: 409, title: 'Somebody else works on this intent.' },
  stale: { status: 412, title: 'What was read does not stand any more.' },
  'too-large': { status: 413, title: 'The request is too large.' },
  'unknown-route': { status: 422, title: 'There is no such route.' },
  'if-match-missing': { status: 428, title: 'The If-Match header is missing.' },
  'acceptance-undetermined': { status: 503, title: 'It is not known whether this was stored.' },
} as const;

export type ProblemName = keyof typeof PROBLEMS;

export interface ProblemExtras {
  readonly detail?: string;
  /** Extension member: one word for programs, why a decision was refused. */
  readonly reason?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retryAfterSeconds?: number;
}

export function problem(name: ProblemName, extras: ProblemExtras = {}): APIGatewayProxyStructuredResultV2 {
  const { status, title } = PROBLEMS[name];
  const { retryAfterSeconds, ...rest } = extras;
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: JSON.stringify({ type: `/problems/${name}`, title, status, ...rest }),
  };
}

/** Thrown inside a handler where returning would bury the answer. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly answer: APIGatewayProxyStructuredResultV2;
  constructor(name: ProblemName, extras: ProblemExtras = {}) {
    super(name);
    this.answer = problem(name, extras);
  }
}

/**
 * The edge, once: Middy around every function. API functions get a checked caller and answer problem
 * details; step functions get checked ids. Nothing is retried here and nothing of a body is logged.
 */
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as z from 'zod';
import { BadCursor, LedgerUnavailable } from '../lib/ledger/ledger.ts';
import { errorName, type Log } from '../lib/platform/log.ts';
import type { RunInput, Step, StepAnswer } from '../lib/workflow/deps.ts';
import { endpoints, type Scope } from './endpoints.ts';
import { ProblemError, problem } from './problem.ts';

export interface Caller {
  readonly tenant: string;
  readonly unit: string;
  readonly subject: string;
}

export interface ApiRequest {
  /** Null only at endpoints without a scope. */
  readonly caller: Caller;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export type ApiAnswer = APIGatewayProxyStructuredResultV2;
export type ApiHandler = (event: APIGatewayProxyEventV2) => Promise<ApiAnswer>;

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
const claims = z.object({
  sub: z.string().min(1).max(255),
  tenant: name,
  unit: name,
  kind: z.enum(['person', 'service', 'agent']),
});
const NO_CALLER: Caller = { tenant: '', unit: '', subject: '' };
/** What people hold; an agent never does, whatever its token says. */
const PEOPLE_ONLY: readonly Scope[] = ['approve', 'operate', 'admin'];

/** One API function. `fn` is its name in the endpoint table, which says whom it lets in, also where it is asked only. */
export function api(
  fn: string,
  log: () => Log,
  /** `event` is the request as it came, to be passed on. */
  answer: (request: ApiRequest, event: APIGatewayProxyEventV2) => Promise<ApiAnswer>,
): ApiHandler {
  const endpoint = endpoints.find((each) => each.function === fn || each.asks === fn);
  if (endpoint === undefined) throw new Error(`Cannot serve function "${fn}": no endpoint names it.`);
  const handler = middy(async (event: APIGatewayProxyEventV2): Promise<ApiAnswer> => {
    const caller = endpoint.scope === null ? NO_CALLER : callerOf(event, endpoint.scope, endpoint.personOnly);
    return caller === null ? forbidden() : answer({ ...requestOf(event), caller }, event);
  }).onError(async (request) => {
    if (request.error !== undefined && request.error !== null) {
      request.response = failure(fn, request.error, log);
    }
  });
  return (event) => handler(event, {} as never) as Promise<ApiAnswer>;
}

/** One step function: ids in, one word out. */
export function step(fn: string, log: () => Log, build: () => Step): (input: unknown) => Promise<StepAnswer> {
  return job(fn, log, (event) => build()(runInput.parse(event) satisfies RunInput));
}

/** A function that nobody waits for but the cloud: a failure is logged and thrown, so that its caller sees it. */
export function job<T>(
  fn: string,
  log: () => Log,
  work: (event: unknown) => Promise<T>,
): (event: unknown) => Promise<T> {
  const handler = middy(work).onError(async (request) => {
    // Nothing may be returned here: Middy would take it for the answer, and nobody would see the failure.
    log()('error', 'function_failed', { function: fn, error: errorName(request.error) });
  });
  return (event) => handler(event, {} as never) as Promise<T>;
}

const runInput = z.strictObject({
  tenant: name,
  intentId: z.string().regex(/^int_[0-9a-f]{40}$/),
  route: name,
});

export function json(statusCode: number, body: unknown, headers: Record<string, string> = {}): ApiAnswer {
  const fixed = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { statusCode, headers: { ...fixed, ...headers }, body: JSON.stringify(body) };
}

function callerOf(event: APIGatewayProxyEventV2, scope: Scope, personOnly = false): Caller | null {
  const context = event.requestContext as { authorizer?: { jwt?: { claims?: unknown } } };
  const parsed = claims.safeParse(context.authorizer?.jwt?.claims);
  if (!parsed.success) return null;
  const { sub, tenant, unit, kind } = parsed.data;
  if (kind === 'agent' && PEOPLE_ONLY.includes(scope)) return null;
  if (personOnly && kind !== 'person') return null;
  return { tenant, unit, subject: sub };
}

function requestOf(event: APIGatewayProxyEventV2): Omit<ApiRequest, 'caller'> {
  const text = event.body ?? '';
  return {
    headers: event.headers,
    query: event.queryStringParameters ?? {},
    path: event.pathParameters ?? {},
    body: event.isBase64Encoded ? decoded(text) : text,
  };
}

/** As the gateway says it. */
function forbidden(): ApiAnswer {
  return {
    statusCode: 403,
    headers: { 'content-type': 'application/json' },
    body: '{"message":"Forbidden"}',
  };
}

const RETRY_AFTER_SECONDS = 5;

function failure(fn: string, error: Error, log: () => Log): ApiAnswer {
  if (error instanceof ProblemError) return error.answer;
  if (error instanceof BadCursor) return problem('invalid-request', { detail: error.message });
  log()('error', 'request_failed', { function: fn, error: errorName(error) });
  if (error instanceof LedgerUnavailable) {
    const detail =
      fn === 'accept' || fn === 'correct'
        ? 'The ledger did not answer. It may be stored; send it again with the same key.'
        : 'The ledger did not answer. Ask again.';
    return problem('acceptance-undetermined', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  return {
    statusCode: 500,
    headers: { 'content-type': 'application/json' },
    body: '{"message":"Internal Server Error"}',
  };
}

/** What is not UTF-8 is refused: replaced characters would be sent on as if they had been asked for. */
function decoded(base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    throw new ProblemError('invalid-request', { detail: 'The body is not UTF-8.' });
  }
}

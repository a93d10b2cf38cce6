/**
 * One request to the service: one connection, no second try, no redirect (the token goes to no other place), an end to
 * its time and to its answer's length. JSON in, JSON out.
 */
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { upTo } from './read-json-file.ts';

export interface Question {
  readonly url: URL;
  readonly token: string;
  readonly body: object;
}

export type Reply =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  /** `why` ends a sentence; nothing in it comes from the service. */
  | { readonly kind: 'failed'; readonly why: string };

export interface Limits {
  /** For all of it, ms: longer than the service takes to answer that it cannot. */
  readonly timeoutMs: number;
  /** Of the answer. */
  readonly mostBytes: number;
}

const LIMITS: Limits = { timeoutMs: 60_000, mostBytes: 1_048_576 };

/** Posts once; it never throws for what the service or the network did. What it answers with can be printed. */
export async function askService(question: Question, limits: Limits = LIMITS): Promise<Reply> {
  const signal = AbortSignal.timeout(limits.timeoutMs);
  try {
    const response = await posted(question, signal);
    const status = response.statusCode ?? 0;
    if (status >= 300 && status < 400) {
      response.destroy();
      return failed('it redirects, and the token goes to no other place');
    }
    const bytes = await upTo(limits.mostBytes, response);
    response.destroy();
    if (bytes.length > limits.mostBytes) return failed(`its answer is longer than ${limits.mostBytes} bytes`);
    return parsed(status, bytes);
  } catch (error) {
    if (signal.aborted) return failed(`it did not answer within ${limits.timeoutMs / 1000} s`);
    const code = (error as { code?: unknown }).code;
    if (typeof code !== 'string') throw error;
    return failed(`the connection failed: ${code}`);
  }
}

function posted({ url, token, body }: Question, signal: AbortSignal): Promise<IncomingMessage> {
  const text = JSON.stringify(body);
  const options: RequestOptions = {
    method: 'POST',
    agent: false,
    signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
  };
  const sent = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, options);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  sent.once('response', resolve).on('error', reject).end(text);
  return promise;
}

function parsed(status: number, bytes: Uint8Array): Reply {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return failed(`its answer (status ${status}) is not JSON`);
  }
  return isDeeperThan(MOST_DEPTH, body)
    ? failed(`its answer (status ${status}) is nested deeper than ${MOST_DEPTH}`)
    : { kind: 'answered', status, body };
}

/** Of an answer of the service; far more of it can be read than printed. */
const MOST_DEPTH = 64;

/** Level by level: what is nested too deep for a stack must not be walked on one. */
function isDeeperThan(most: number, root: unknown): boolean {
  let level = containersIn([root]);
  for (let depth = 0; depth < most; depth += 1) {
    level = level.flatMap((each) => containersIn(Object.values(each)));
  }
  return level.length > 0;
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((each): each is object => typeof each === 'object' && each !== null);
}

function failed(why: string): Reply {
  return { kind: 'failed', why };
}

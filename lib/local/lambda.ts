/**
 * A local endpoint of Lambda for the real SDK client: Invoke, answered in the request, for the functions that others
 * may ask. Any other function does not exist here, as a role would not let it be invoked there.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { listenOnLoopback, readBody } from './loopback.ts';

const INVOKE = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;
const MAX_PAYLOAD_BYTES = 6_291_456;

export interface LambdaOptions {
  readonly functions: readonly Invocable[];
  /** Calls a function; what it throws is the function's error. */
  readonly invoke: (functionName: string, payload: unknown) => Promise<unknown>;
}

export interface Invocable {
  readonly function: string;
  /** Its caller waits no longer; what it does then goes on without a listener. */
  readonly timeoutSeconds: number;
}

export interface Lambda {
  readonly endpoint: string;
  readonly close: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function localArn(functionName: string): string {
  return `arn:aws:lambda:us-east-1:000000000000:function:${functionName}`;
}

export async function startLambda(options: LambdaOptions): Promise<Lambda> {
  const server = createServer((request, response) => {
    answer(options, request).then(
      ({ status, headers, body }) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(body ?? null));
      },
      () => response.destroy(),
    );
  });
  const { url, close } = await listenOnLoopback(server, 0);
  return { endpoint: url, close };
}

async function answer({ functions, invoke }: LambdaOptions, request: IncomingMessage): Promise<Answer> {
  const body = await readBody(request, MAX_PAYLOAD_BYTES);
  const name = decodeURIComponent(INVOKE.exec(request.url ?? '')?.[1] ?? '');
  const asked = functions.find((each) => localArn(each.function) === name);
  if (request.method !== 'POST' || asked === undefined) {
    return refuse(404, 'ResourceNotFoundException', `Function not found: ${name}`);
  }
  if ((request.headers['x-amz-invocation-type'] ?? 'RequestResponse') !== 'RequestResponse') {
    return refuse(400, 'InvalidParameterValueException', 'Only RequestResponse is served here');
  }
  if (body === null) return refuse(413, 'RequestTooLargeException', `At most ${MAX_PAYLOAD_BYTES} bytes`);
  const payload = parsed(body.toString('utf8'));
  if (payload === undefined) return refuse(400, 'InvalidRequestContentException', 'Not a JSON payload');
  return outcomeOf(asked, invoke(asked.function, payload));
}

async function outcomeOf({ timeoutSeconds }: Invocable, work: Promise<unknown>): Promise<Answer> {
  const late = Promise.withResolvers<Answer>();
  const errorMessage = `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
  const timer = setTimeout(
    () => late.resolve(failed({ errorType: 'Sandbox.Timedout', errorMessage })),
    timeoutSeconds * 1000,
  );
  const done = work.then((body): Answer => ({ status: 200, body }), thrown);
  try {
    return await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function thrown(error: unknown): Answer {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return failed({ errorType: name, errorMessage: message });
}

function failed(body: object): Answer {
  return { status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body };
}

function refuse(status: number, type: string, message: string): Answer {
  return { status, headers: { 'x-amzn-errortype': type }, body: { Type: 'User', Message: message } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

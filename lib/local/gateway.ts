/**
 * The local stand-in for API Gateway: real HTTP in, the deployed handlers behind it, built from the same
 * endpoint table. It finds the endpoint, checks token and scope, and translates; it knows no business rule.
 * It logs nothing: headers hold tokens and bodies hold payloads.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Endpoint } from '../../functions/endpoints.ts';
import { systemClock } from '../platform/clock.ts';
import { type Authorised, eventOf, type GatewayEvent, joinedHeaders } from './gateway-event.ts';
import { compileEndpoints, type FindEndpoint, type Found } from './gateway-routes.ts';
import { listenOnLoopback, readBody } from './loopback.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const HANDLER_TIMEOUT_MS = 30_000;
const JWKS_PATH = '/.well-known/jwks.json';
/** The server frames the body itself. */
const FRAMING = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding']);

export interface GatewayOptions {
  readonly endpoints: readonly Endpoint[];
  /** 0 for any free port. */
  readonly port: number;
  /** The claims of a token, or null for one that is refused. */
  readonly verify: (token: string) => Promise<Readonly<Record<string, unknown>> | null>;
  /** Served at `/.well-known/jwks.json`. */
  readonly jwks: object;
  /** Calls a function; one that throws is a 500 to the caller. */
  readonly invoke: (
    functionName: string,
    event: GatewayEvent,
  ) => Promise<APIGatewayProxyStructuredResultV2 | string>;
  readonly newId: () => string;
  /** How long a handler may take before the caller gets 503, ms; 30 000 when left out. The handler runs on. */
  readonly timeoutMs?: number;
}

export interface Gateway {
  readonly url: string;
  /** Ends open connections too; what a handler does at that moment goes on without a listener. */
  readonly close: () => Promise<void>;
}

type Answer = APIGatewayProxyStructuredResultV2 & { readonly statusCode: number };

const NOT_FOUND = message(404, 'Not Found');
const BAD_REQUEST = message(400, 'Bad Request');
const UNAUTHORISED = message(401, 'Unauthorized', { 'www-authenticate': 'Bearer' });
const FORBIDDEN = message(403, 'Forbidden');
const TOO_LARGE = message(413, 'Request Entity Too Large');
const FAILED = message(500, 'Internal Server Error');
const TOO_LATE = message(503, 'Service Unavailable');

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const find = compileEndpoints(options.endpoints);
  const server = createServer((request, response) => {
    const requestId = options.newId();
    answer(options, find, request, requestId).then(
      (result) => send(response, result, requestId),
      // The caller went away while it was sending.
      () => response.destroy(),
    );
  });
  const { url, close } = await listenOnLoopback(server, options.port);
  return { url, close };
}

async function answer(
  options: GatewayOptions,
  find: FindEndpoint,
  request: IncomingMessage,
  requestId: string,
): Promise<Answer> {
  const receivedAt = systemClock.now();
  const [path = '', query = ''] = splitOnce(request.url ?? '', '?');
  if (request.method === 'GET' && path === JWKS_PATH) return json(200, options.jwks);
  const found = find(request.method ?? '', path);
  if (found === null) return NOT_FOUND;
  if (found === 'malformed') return BAD_REQUEST;
  const authorised = await authorise(options, found, request);
  if (authorised !== null && 'statusCode' in authorised) return authorised;
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === null) return TOO_LARGE;
  const arrival = { request, requestId, receivedAt, path, query, body, ...found };
  return callHandler(options, found.endpoint.function, eventOf(arrival, authorised));
}

async function authorise(
  options: GatewayOptions,
  { endpoint }: Found,
  request: IncomingMessage,
): Promise<Authorised | Answer | null> {
  if (endpoint.scope === null) return null;
  const { authorization = '' } = joinedHeaders(request);
  const token = /^Bearer +([^\s,]+)$/i.exec(authorization)?.[1];
  const claims = token === undefined ? null : await options.verify(token);
  if (claims === null) return UNAUTHORISED;
  const { scope } = claims;
  const scopes = typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : [];
  return scopes.includes(endpoint.scope) ? { claims, scopes } : FORBIDDEN;
}

async function callHandler(options: GatewayOptions, name: string, event: GatewayEvent): Promise<Answer> {
  const late = Promise.withResolvers<Answer>();
  const timer = setTimeout(() => late.resolve(TOO_LATE), options.timeoutMs ?? HANDLER_TIMEOUT_MS);
  try {
    return await Promise.race([options.invoke(name, event).then(answerOf), late.promise]);
  } catch {
    return FAILED;
  } finally {
    clearTimeout(timer);
  }
}

/** A text alone is a JSON body; a structured result without a status is 200. */
function answerOf(result: APIGatewayProxyStructuredResultV2 | string): Answer {
  if (typeof result === 'string') {
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: result };
  }
  return { ...result, statusCode: result.statusCode ?? 200 };
}

function send(response: ServerResponse, answer: Answer, requestId: string): void {
  try {
    write(response, answer, requestId);
  } catch {
    // A handler gave a status or a header that HTTP does not allow.
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    write(response, FAILED, requestId);
  }
}

function write(response: ServerResponse, answer: Answer, requestId: string): void {
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    if (!FRAMING.has(name.toLowerCase())) response.setHeader(name, String(value));
  }
  if (answer.cookies !== undefined) response.setHeader('set-cookie', answer.cookies);
  response.setHeader('apigw-requestid', requestId);
  response.writeHead(answer.statusCode);
  response.end(Buffer.from(answer.body ?? '', answer.isBase64Encoded === true ? 'base64' : 'utf8'));
}

function message(statusCode: number, text: string, headers: Record<string, string> = {}): Answer {
  return json(statusCode, { message: text }, headers);
}

function json(statusCode: number, body: object, headers: Record<string, string> = {}): Answer {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

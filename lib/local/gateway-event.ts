/**
 * Real HTTP to API Gateway's payload format 2.0, as an HTTP API with the stage `$default` builds it.
 */
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

/** With `requestContext.authorizer` where the endpoint needs a token. */
export type GatewayEvent = APIGatewayProxyEventV2 | APIGatewayProxyEventV2WithJWTAuthorizer;

export interface Arrival {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly receivedAt: number;
  /** As sent, without the query. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  /** `<method> <path template>` */
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What the token said; null for an endpoint that needs none. */
export interface Authorised {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly scopes: readonly string[];
}

const TEXT_TYPES = /^(?:text\/.+|application\/(?:json|xml|javascript|.+\+json|.+\+xml))$/;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

export function eventOf(arrival: Arrival, authorised: Authorised | null): GatewayEvent {
  const { cookie, ...headers } = joinedHeaders(arrival.request);
  const isText = TEXT_TYPES.test((headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase());
  const hasBody = arrival.body.length > 0;
  const event: APIGatewayProxyEventV2 = {
    version: '2.0',
    routeKey: arrival.routeKey,
    rawPath: arrival.path,
    rawQueryString: arrival.query,
    ...(cookie !== undefined && { cookies: cookie.split(/[;,] ?/) }),
    headers,
    ...(arrival.query !== '' && { queryStringParameters: queryOf(arrival.query) }),
    ...(Object.keys(arrival.pathParameters).length > 0 && { pathParameters: arrival.pathParameters }),
    requestContext: contextOf(arrival, headers['user-agent'] ?? ''),
    ...(hasBody && { body: arrival.body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: hasBody && !isText,
  };
  if (authorised === null) return event;
  const jwt = { claims: textClaims(authorised.claims), scopes: [...authorised.scopes] };
  return { ...event, requestContext: { ...event.requestContext, authorizer: { jwt } } };
}

/** Names in lower case; a header that came twice is one value, joined with a comma. */
export function joinedHeaders(request: IncomingMessage): Record<string, string> {
  const joined = new Map<string, string>();
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = (request.rawHeaders[i] ?? '').toLowerCase();
    const value = request.rawHeaders[i + 1] ?? '';
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(joined);
}

function contextOf(arrival: Arrival, userAgent: string): APIGatewayProxyEventV2['requestContext'] {
  return {
    accountId: '000000000000',
    apiId: 'local',
    domainName: 'localhost',
    domainPrefix: 'localhost',
    http: {
      method: arrival.request.method ?? '',
      path: arrival.path,
      protocol: `HTTP/${arrival.request.httpVersion}`,
      sourceIp: arrival.request.socket.remoteAddress ?? '',
      userAgent,
    },
    requestId: arrival.requestId,
    routeKey: arrival.routeKey,
    stage: '$default',
    time: clfTime(arrival.receivedAt),
    timeEpoch: arrival.receivedAt,
  };
}

function queryOf(query: string): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(joined);
}

/** The authoriser hands every claim on as text, lists as `[a b]`. */
function textClaims(claims: Readonly<Record<string, unknown>>): Record<string, string> {
  const text = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(text).join(' ')}]`;
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  return Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, text(value)]));
}

/** `12/Mar/2020:19:03:58 +0000` */
function clfTime(ms: number): string {
  const at = new Date(ms);
  const day = String(at.getUTCDate()).padStart(2, '0');
  return `${day}/${MONTHS[at.getUTCMonth()]}/${at.getUTCFullYear()}:${at.toISOString().slice(11, 19)} +0000`;
}

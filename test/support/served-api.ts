/**
 * The local gateway in front of the deployed functions of an API rig, and a caller that sends requests as they
 * are: header names keep their case, and a token may claim what no issuer would sign.
 */
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { endpoints } from '../../functions/endpoints.ts';
import { startGateway } from '../../lib/local/gateway.ts';
import { createIssuer } from '../../lib/local/tokens.ts';
import { AUDIENCE, forger, ISSUER, rsaKeys } from '../local/hostile-tokens.ts';

export interface Asked {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly token: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** All that a caller sees, but the time of day and how the connection is kept. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface ServedApi {
  readonly url: string;
  readonly ask: (asked: Asked) => Promise<Seen>;
  /** A token with these claims, whether or not the issuer would give one. */
  readonly token: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Names of the functions that were reached, in order. */
  readonly reached: string[];
  readonly stop: () => Promise<void>;
}

/** Eight at once: what the ledger on two cores answers without a queue. */
const CONNECTIONS = 8;
/** Well before the server ends an idle connection, ms: a request that crosses its end would be lost. */
const IDLE_MS = 1000;

/** Needs the environment of a started rig. */
export async function serveApi(): Promise<ServedApi> {
  const keys = rsaKeys();
  const issuer = await createIssuer({ issuer: ISSUER, audience: AUDIENCE, keys });
  const reached: string[] = [];
  const gateway = await startGateway({
    endpoints,
    port: 0,
    verify: issuer.verify,
    jwks: issuer.jwks,
    // The same for all, so that two answers may be compared whole.
    newId: () => 'request',
    invoke: async (name, event) => {
      reached.push(name);
      const { handler } = (await import(`../../functions/${name}.ts`)) as { handler: Handler };
      return handler(event);
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, timeout: IDLE_MS });
  return {
    url: gateway.url,
    ask: (asked) => ask(agent, gateway.url, asked),
    token: (claims) => forger(issuer, keys)({ claims }),
    reached,
    stop: async () => {
      agent.destroy();
      await gateway.close();
    },
  };
}

type Handler = (event: unknown) => Promise<APIGatewayProxyStructuredResultV2>;

async function ask(agent: Agent, url: string, { method, path, token, headers = {}, body }: Asked) {
  const sent = request(`${url}${path}`, {
    agent,
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': sizeOf(body) }),
      ...headers,
    },
  });
  const answered = Promise.withResolvers<IncomingMessage>();
  sent.once('response', answered.resolve).once('error', answered.reject).end(body);
  return seenOf(await answered.promise);
}

async function seenOf(answer: IncomingMessage): Promise<Seen> {
  const { date: _date, connection: _connection, 'keep-alive': _kept, ...headers } = answer.headers;
  return { status: answer.statusCode ?? 0, headers, text: await text(answer) };
}

function sizeOf(body: string): number {
  return Buffer.byteLength(body);
}

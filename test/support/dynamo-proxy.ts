/**
 * A proxy in front of DynamoDB Local that misbehaves on named calls of the ledger. Every fault is counted when
 * it bites, so that a test can tell a fault that was survived from one that was never met. Calls are named by
 * what they write, as the product means them.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { listenOnLoopback, readBody } from '../../lib/local/loopback.ts';

export const LEDGER_FAULTS = {
  /** The connection is reset, nothing is applied. */
  refused: 'a reset before it is applied',
  /** Applied, then the connection is reset. */
  answer_lost: 'applied and the answer lost',
  /** Applied, then 500. */
  status_500: 'applied and answered 500',
  /** Applied, then silence until the client gives up. */
  stalled: 'applied and no answer within the limit',
  /** Not applied; answered as on-demand tables do under load. */
  throttled: 'throttled',
} as const;

export type LedgerFault = keyof typeof LEDGER_FAULTS;

export type LedgerCall =
  | 'create'
  | 'claim'
  | 'result'
  | 'binding'
  | 'confirm'
  | 'evidence'
  | 'searched'
  | 'other_update'
  | 'other_put'
  | 'read';

export interface PlannedFault {
  /** `any` is every call, reads included. */
  readonly call: LedgerCall | 'any';
  readonly fault: LedgerFault;
  /** How many of these calls it hits, from the first on; 1 when left out. */
  readonly times?: number;
}

export interface DynamoProxy {
  readonly endpoint: string;
  /** Replaces what is planned; null ends all faults. */
  readonly plan: (fault: PlannedFault | null) => void;
  /** How often faults were played, ever. */
  readonly bites: () => number;
  readonly close: () => Promise<void>;
}

const MAX_BYTES = 16_777_216;
const TARGET = 'DynamoDB_20120810.';

/** @param upstream address of the real endpoint, `http://127.0.0.1:<port>`. */
export async function startDynamoProxy(upstream: string): Promise<DynamoProxy> {
  let planned: { readonly fault: PlannedFault; left: number } | null = null;
  let bites = 0;
  const agent = new Agent({ keepAlive: true });
  const faultOn = (call: LedgerCall): LedgerFault | null => {
    if (planned === null || planned.left === 0) return null;
    if (planned.fault.call !== 'any' && planned.fault.call !== call) return null;
    planned.left -= 1;
    bites += 1;
    return planned.fault.fault;
  };
  const server = createServer((incoming, response) => {
    serve(upstream, agent, faultOn, incoming, response).catch(() => response.destroy());
  });
  const { url, close } = await listenOnLoopback(server, 0);
  return {
    endpoint: url,
    plan: (fault) => {
      planned = fault === null ? null : { fault, left: fault.times ?? 1 };
    },
    bites: () => bites,
    close: async () => {
      await close();
      agent.destroy();
    },
  };
}

async function serve(
  upstream: string,
  agent: Agent,
  faultOn: (call: LedgerCall) => LedgerFault | null,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = (await readBody(incoming, MAX_BYTES)) ?? Buffer.alloc(0);
  const operation = String(incoming.headers['x-amz-target']).replace(TARGET, '');
  const fault = faultOn(callOf(operation, body.toString('utf8')));
  if (fault === 'refused') return void response.socket?.resetAndDestroy();
  if (fault === 'throttled') return answer(response, 400, THROTTLED);
  const real = await forward(upstream, agent, incoming, body);
  switch (fault) {
    case null:
      response.writeHead(real.status, real.headers).end(real.body);
      return;
    case 'answer_lost':
      response.socket?.resetAndDestroy();
      return;
    case 'status_500':
      return answer(response, 500, { __type: `${MODEL}#InternalServerError`, message: 'Internal' });
    case 'stalled':
      // The client ends it.
      return;
  }
}

const MODEL = 'com.amazonaws.dynamodb.v20120810';
const THROTTLED = { __type: `${MODEL}#ProvisionedThroughputExceededException`, message: 'Too much' };

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
}

interface Real {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function forward(
  upstream: string,
  agent: Agent,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<Real> {
  const { host: _, ...headers } = incoming.headers;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(upstream, { method: 'POST', path: incoming.url ?? '/', headers, agent }, resolve)
    .once('error', reject)
    .end(body);
  const real = await promise;
  const bytes = (await readBody(real, MAX_BYTES)) ?? Buffer.alloc(0);
  return { status: real.statusCode ?? 502, headers: real.headers, body: bytes };
}

const text = z.object({ S: z.string() });
const put = z.object({ Item: z.object({ sk: text }) });
const update = z.object({
  ConditionExpression: z.string().default(''),
  ExpressionAttributeNames: z.record(z.string(), z.string()),
  ExpressionAttributeValues: z.record(z.string(), z.unknown()),
});

/** What a call writes, by its sort key or by the state that it sets. */
export function callOf(operation: string, body: string): LedgerCall {
  if (operation === 'PutItem') return putOf(put.parse(JSON.parse(body)).Item.sk.S);
  if (operation !== 'UpdateItem') return 'read';
  const { ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues } = update.parse(
    JSON.parse(body),
  );
  if (ConditionExpression.startsWith('#attempts[')) return 'result';
  const set = Object.entries(ExpressionAttributeNames);
  const at = set.find(([alias, name]) => name === 'state' && alias.startsWith('#n'))?.[0];
  const state = text.safeParse(ExpressionAttributeValues[(at ?? '').replace('#n', ':v')]).data?.S;
  if (state === 'sending') return 'claim';
  if (state === 'confirmed') return 'confirm';
  return set.some(([, name]) => name === 'lastSearch') ? 'searched' : 'other_update';
}

function putOf(sortKey: string): LedgerCall {
  if (sortKey === 'INTENT') return 'create';
  if (sortKey === 'BINDING') return 'binding';
  return sortKey.startsWith('E#') ? 'evidence' : 'other_put';
}

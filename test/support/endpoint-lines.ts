/**
 * What the rights matrix must know of an endpoint beyond its line in the endpoint table: a minimal request that is
 * served, and the state in which the caller's own intent must be for that. Reading endpoints need no line, except
 * where the intent must be in some state. No line is ever an expectation.
 */
import type { Endpoint } from '../../functions/endpoints.ts';
import type { Intent } from '../../lib/domain/intent.ts';
import { IN_STATE } from './kit.ts';

export interface Aim {
  /** The intent aimed at, or one that is not stored. */
  readonly intent: Intent;
  /** The route aimed at. */
  readonly route: string;
  /** A text that no other call has. */
  readonly fresh: string;
  /** Who calls. */
  readonly subject: string;
  readonly now: number;
}

export interface Line {
  /** Merged into the intents aimed at; awaiting approval when left out. */
  readonly state?: (now: number) => Partial<Intent>;
  readonly query?: (aim: Aim) => Readonly<Record<string, string>>;
  readonly headers?: (aim: Aim) => Readonly<Record<string, string>>;
  /** Null: the endpoint reads none. */
  readonly body: ((aim: Aim) => object) | null;
  /** The body names the route that is aimed at. */
  readonly bodyNamesRoute?: true;
}

const WHY = () => ({ why: 'rights matrix' });
const REASON = { reason: 'rights matrix' };
const inState = (state: keyof typeof IN_STATE) => (): Partial<Intent> => partOf(IN_STATE[state]);

export const LINES: Readonly<Record<string, Line>> = {
  'POST /intents': {
    headers: ({ fresh }) => ({ 'idempotency-key': fresh }),
    body: ({ route, fresh }) => ({ route, payload: { order_id: fresh, sku: 'TEA-01', quantity: 2 } }),
    bodyNamesRoute: true,
  },
  'GET /intents': {
    query: ({ now }) => ({ day: new Date(now).toISOString().slice(0, 10), limit: '10' }),
    body: null,
  },
  'GET /intents/{id}/receipt': { state: inState('confirmed'), body: null },
  'PUT /intents/{id}/approval': { body: ({ intent }) => ({ fingerprint: intent.fingerprint }) },
  'DELETE /intents/{id}/approval': { state: (now) => ({ approval: approvalAt(now) }), body: null },
  'POST /intents/{id}/reconciliation': { state: inState('unknown'), body: () => ({}) },
  'POST /intents/{id}/reconciliation (dry-run)': {
    state: inState('unknown'),
    body: () => ({ dryRun: true }),
  },
  'POST /intents/{id}/withdrawal': { body: null },
  'POST /intents/{id}/decision': {
    state: inState('handover'),
    headers: ({ intent }) => ({ 'if-match': `"${intent.version}"` }),
    body: ({ now }) => ({ kind: 'wait_until', until: new Date(now + 3_600_000).toISOString(), ...REASON }),
  },
  'POST /intents/{id}/again': { state: inState('rejected'), body: ({ fresh }) => ({ reason: fresh }) },
  'POST /intents/{id}/corrections': {
    headers: ({ fresh }) => ({ 'idempotency-key': fresh }),
    body: ({ fresh }) => ({ route: 'free', payload: { order_id: fresh, sku: 'TEA-01', quantity: 2 } }),
  },
  'PUT /intents/{id}/owner': { body: () => ({}) },
  'DELETE /intents/{id}/owner': {
    state: (now) => ({ owner: { by: 'otto', at: now } }),
    body: () => ({ takeOver: true }),
  },
  'GET /queue': { state: inState('unknown'), query: () => ({ limit: '100' }), body: null },
  'PUT /routes/{route}/freeze': { body: WHY },
  'DELETE /routes/{route}/freeze': { body: WHY },
  'PUT /freeze': { body: WHY },
  'DELETE /freeze': { body: WHY },
};

/** Endpoints that let in everybody, each with its reason. */
export const OPEN: Readonly<Record<string, string>> = {
  'GET /health': 'load balancers and monitors hold no token; it says one word',
  'GET /openapi.json': 'it tells of the API, and nothing of anybody',
  'POST /webhooks/{endpoint}':
    'providers hold no token; a signature under a shared secret stands in its place',
};

/** An endpoint as it is tried. */
export interface Tried extends Endpoint {
  /** The function that the request is passed on to; a request of its own, with a line of its own. */
  readonly by?: string;
}

/** Every endpoint, and once more each that passes some of its requests on. */
export function triedOf(endpoints: readonly Endpoint[]): readonly Tried[] {
  return endpoints.flatMap((each) => (each.asks === undefined ? [each] : [each, { ...each, by: each.asks }]));
}

export function nameOf({ method, path, by }: Tried): string {
  return `${method} ${path}${by === undefined ? '' : ` (${by})`}`;
}

/** Throws where a writing endpoint has no line: nobody could say then that a refusal was for want of rights. */
export function lineOf(endpoint: Tried): Line {
  const line = LINES[nameOf(endpoint)];
  if (line !== undefined) return line;
  if (endpoint.method === 'GET') return { body: null };
  throw new Error(
    `Cannot try the rights of ${nameOf(endpoint)}: it has no line in test/support/endpoint-lines.ts. ` +
      'Write one with the smallest body that is served, or null for none.',
  );
}

/** What an endpoint is aimed at: an intent by id, a route by name, or nothing of anybody's. */
export function aimedAt(endpoint: Tried): 'intent' | 'route' | 'nothing' {
  const variables = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const [only] = variables;
  if (only === undefined) return lineOf(endpoint).bodyNamesRoute === true ? 'route' : 'nothing';
  if (variables.length === 1 && only === 'id') return 'intent';
  if (variables.length === 1 && only === 'route') return 'route';
  throw new Error(
    `Cannot aim at ${nameOf(endpoint)}: test/support/endpoint-lines.ts knows {id} and {route} only. ` +
      'Teach it whose the other segment can be.',
  );
}

/** Names of lines that no endpoint needs any more. */
export function needlessLines(endpoints: readonly Tried[]): string[] {
  const open = endpoints.filter(({ scope }) => scope === null).map(nameOf);
  const guarded = endpoints.filter(({ scope }) => scope !== null).map(nameOf);
  return [
    ...Object.keys(LINES).filter((name) => !guarded.includes(name)),
    ...Object.keys(OPEN).filter((name) => !open.includes(name)),
  ];
}

function approvalAt(now: number): NonNullable<Intent['approval']> {
  return {
    fingerprint: IN_STATE.ready.fingerprint,
    policyVersion: 'p1',
    until: now + 3_600_000,
    signatures: [{ by: 'otto', at: now }],
    revoked: null,
  };
}

/** What makes a state of an intent, without whose it is. */
function partOf(intent: Intent): Partial<Intent> {
  const {
    id: _id,
    tenant: _tenant,
    unit: _unit,
    key: _key,
    route: _route,
    action: _action,
    ...rest
  } = intent;
  return rest;
}

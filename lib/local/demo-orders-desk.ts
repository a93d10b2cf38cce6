/**
 * What programs and people do over HTTP in the purchase-order chapter of the demo: submit, read and sign, look.
 * An answer that no scenario expects is an `Unexpected`; it breaks that scenario and no other.
 */
import type { Decision } from '../domain/decision.ts';
import type { JsonObject } from '../domain/intent.ts';
import type { IntentView } from '../operations/trail.ts';
import { systemClock, utc } from '../platform/clock.ts';
import { type Permit, SETTLED } from './demo-ending.ts';
import type { Service } from './service.ts';
import type { SupplierKind } from './simulators.ts';

export class Unexpected extends Error {
  override readonly name = 'Unexpected';
}

export interface Order {
  readonly supplier: SupplierKind;
  readonly payload: JsonObject & { readonly purchase_order: string };
  /** What is to follow once it is confirmed. */
  readonly next?: { readonly route: string; readonly payload: JsonObject };
}

/** What is asked for, exactly as people who sign it are shown it. */
export interface Request {
  readonly account: string;
  readonly environment: string;
  readonly route: string;
  readonly payload: JsonObject;
}

interface ApprovalShown {
  readonly fingerprint: string;
  readonly request: Request;
  readonly permitted: boolean;
  readonly approval: { readonly until: string; readonly signatures: readonly { at: string }[] } | null;
}

/** What people are shown of one that is in doubt. */
export interface Listed {
  readonly id: string;
  readonly key: string;
  readonly facts: { readonly reference: string; readonly account: string; readonly environment: string };
  readonly resend: { readonly allowed: boolean; readonly reasons: readonly string[] };
  readonly deadline: { readonly at: string; readonly of: string };
  readonly allowedDecisions: readonly Decision['kind'][];
}

export interface Evidence {
  readonly items: readonly { readonly kind: string; readonly facts: JsonObject }[];
}

/** The longest that anything may take here: a lease, a window and a busy machine. */
export const LONGEST_MS = 90_000;
const POLL_MS = 50;
const MOST_TRIES = 5;
/** One answer is held back as long as this, s, while nothing has settled. */
const HELD_SECONDS = 10;

/** A submission; whoever asks again in another conversation sends other trace ids. */
export async function submit(service: Service, order: Order, token: string, conversation: string) {
  const { supplier, payload, next } = order;
  const request = { route: `orders-${supplier}`, payload, traceIds: { conversation } };
  // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data, never awaited.
  const body = next === undefined ? request : { ...request, then: next };
  return ask<IntentView>(service, token, 'POST', '/intents', body, {
    'idempotency-key': payload.purchase_order,
  });
}

/** Read and signed by somebody else than its submitter; for as long as the policy allows when left out. */
export async function approve(
  service: Service,
  id: string,
  forMs?: number,
): Promise<{ request: Request; permit: Permit }> {
  const path = `/intents/${id}/approval`;
  const { fingerprint, request } = await approvalOf(service, id);
  const sign = () => {
    const body =
      forMs === undefined ? { fingerprint } : { fingerprint, until: utc(systemClock.now() + forMs) };
    return ask<ApprovalShown>(service, service.tokens.approver, 'PUT', path, body);
  };
  let answer = await sign();
  // On a busy machine a short time is over before it is asked for.
  for (let tries = 1; answer.status === 400 && tries < MOST_TRIES; tries += 1) answer = await sign();
  const { approval } = good(answer, path);
  const from = Date.parse(approval?.signatures.at(-1)?.at ?? '');
  return { request, permit: { from, until: Date.parse(approval?.until ?? '') } };
}

export async function approvalOf(service: Service, id: string): Promise<ApprovalShown> {
  const path = `/intents/${id}/approval`;
  return good(await ask<ApprovalShown>(service, service.tokens.approver, 'GET', path), path);
}

export async function show(service: Service, id: string, waitSeconds = 0): Promise<IntentView> {
  const path = `/intents/${id}`;
  const prefer = { prefer: `wait=${waitSeconds}` };
  return good(await ask<IntentView>(service, service.tokens.submitter, 'GET', path, undefined, prefer), path);
}

/** As it stands once it has settled or the time is over. */
export async function settled(service: Service, id: string): Promise<IntentView> {
  const deadline = systemClock.now() + LONGEST_MS;
  for (;;) {
    const view = await show(service, id, HELD_SECONDS);
    if (SETTLED.includes(view.state) || systemClock.now() >= deadline) return view;
  }
}

export async function evidenceOf(service: Service, id: string): Promise<Evidence> {
  const path = `/intents/${id}/evidence`;
  return good(await ask<Evidence>(service, service.tokens.submitter, 'GET', path), path);
}

/** The entry of people's queue; undefined where it is not on the list. */
export async function listed(service: Service, id: string): Promise<Listed | undefined> {
  const path = '/queue?limit=100';
  const list = good(await ask<{ items: Listed[] }>(service, service.tokens.operator, 'GET', path), path);
  return list.items.find((each) => each.id === id);
}

/** Asks until it holds; what never holds breaks the scenario. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = systemClock.now() + LONGEST_MS;
  while (!(await holds())) {
    if (systemClock.now() >= deadline) throw new Unexpected(`never came: ${what}`);
    await systemClock.sleep(POLL_MS);
  }
}

export function good<Body>({ status, body }: { status: number; body: Body }, what: string): Body {
  if (status !== 200 && status !== 202) throw new Unexpected(`${what} was answered ${status}`);
  return body;
}

export async function ask<Body>(
  service: Service,
  token: string,
  method: string,
  path: string,
  body?: object,
  more: Record<string, string> = {},
): Promise<{ status: number; body: Body }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${service.url}${path}`, { method, headers, ...content });
  return { status: response.status, body: (await response.json()) as Body };
}

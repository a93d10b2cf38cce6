/** Accepts one approved action: checks it, freezes its bytes, stores it with one conditional write, starts a run. */
import { fingerprint, NotCanonical, payloadDigest, sha256 } from '../domain/fingerprint.ts';
import type { Intent, JsonObject } from '../domain/intent.ts';
import { newlyAccepted } from '../domain/new-intent.ts';
import { classOf } from '../domain/promise.ts';
import type { Way } from '../providers/registry.ts';
import { recordConflict } from './conflict.ts';
import { apply, type Deps, type StartRun } from './deps.ts';
import { startRun } from './runs.ts';

export interface Submission {
  readonly tenant: string;
  readonly unit: string;
  readonly subject: string;
  readonly key: string;
  readonly route: string;
  readonly payload: JsonObject;
  readonly parent: string | null;
  /** ms; undefined: now. */
  readonly plannedAt?: number | undefined;
  readonly sendBy?: number | undefined;
  readonly traceIds: Readonly<Record<string, string>>;
}

export interface Fault {
  /** JSON pointer into the body of the request. */
  readonly pointer: string;
  readonly detail: string;
}

export type Acceptance =
  | { readonly kind: 'accepted'; readonly intent: Intent }
  | { readonly kind: 'same'; readonly intent: Intent }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown_route' }
  | { readonly kind: 'key_mismatch'; readonly field: string }
  | { readonly kind: 'invalid'; readonly faults: readonly Fault[] };

export interface AcceptDeps extends Deps {
  readonly start: StartRun;
}

export function accept(deps: AcceptDeps) {
  return async (submission: Submission): Promise<Acceptance> => {
    const way = deps.routes.find(submission.tenant, submission.route);
    if (way === undefined) return { kind: 'unknown_route' };
    const now = deps.clock.now();
    const checked = check(submission, way, now);
    if (checked.kind !== 'fine') return checked;
    const intent = build(deps, submission, way, checked.payload, now);
    if (intent.kind !== 'built') return intent;
    const stored = await deps.ledger.create(intent.intent);
    if (stored.kind === 'exists') return meet(deps, stored.intent, intent.intent);
    await begin(deps, stored.intent, now);
    return { kind: 'accepted', intent: stored.intent };
  };
}

/** Depends on the identity alone: equal keys of two tenants, units, environments or actions never meet. */
export function intentIdOf(
  tenant: string,
  unit: string,
  way: Pick<Way['route'], 'environment' | 'action'>,
  key: string,
): string {
  return `int_${sha256(JSON.stringify([tenant, unit, way.environment, way.action, key])).slice(0, 40)}`;
}

type Checked =
  | { readonly kind: 'fine'; readonly payload: JsonObject }
  | Exclude<Acceptance, { intent: Intent }>;

function check(submission: Submission, way: Way, now: number): Checked {
  const parsed = way.provider.payload.safeParse(submission.payload);
  if (!parsed.success) {
    const faults = parsed.error.issues.slice(0, 20).map((issue) => ({
      pointer: ['/payload', ...issue.path.map(String)].join('/'),
      detail: issue.message,
    }));
    return { kind: 'invalid', faults };
  }
  const { keyField } = way.route;
  if (keyField !== null && parsed.data[keyField] !== submission.key) {
    return { kind: 'key_mismatch', field: keyField };
  }
  const fault = parentFault(submission, way) ?? timeFault(submission, now);
  return fault === undefined ? { kind: 'fine', payload: parsed.data } : { kind: 'invalid', faults: [fault] };
}

function parentFault(submission: Submission, way: Way): Fault | undefined {
  if (submission.parent === null || way.provider.takesParent) return undefined;
  return { pointer: '/parent', detail: 'This route takes no parent.' };
}

function timeFault(submission: Submission, now: number): Fault | undefined {
  if (submission.sendBy === undefined) return undefined;
  if (submission.sendBy <= Math.max(now, submission.plannedAt ?? now)) {
    return { pointer: '/sendBy', detail: 'sendBy must lie after now and after plannedAt.' };
  }
  return undefined;
}

type Built = { readonly kind: 'built'; readonly intent: Intent } | Extract<Acceptance, { kind: 'invalid' }>;

function build(deps: Deps, submission: Submission, way: Way, payload: JsonObject, now: number): Built {
  const { route, provider } = way;
  const { tenant, unit, key, parent } = submission;
  const id = intentIdOf(tenant, unit, route, key);
  const plannedAt = submission.plannedAt ?? now;
  const sendBy = submission.sendBy ?? Math.max(now, plannedAt) + route.policy.sendWithinMs;
  const { account, environment } = route;
  let print: string;
  try {
    print = fingerprint({ route: route.name, account, environment, parent, payload });
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return { kind: 'invalid', faults: [{ pointer: '/payload', detail: error.message }] };
  }
  const identity = { id, tenant, unit, environment, action: route.action, key };
  const request = {
    route: route.name,
    provider: provider.name,
    account,
    parent,
    payload,
    frozen: provider.write(payload, provider.reference({ id, key, payload })),
    fingerprint: print,
    payloadDigest: payloadDigest(payload),
    promiseClass: classOf(provider.promise, deps.timing, way.lag, now, now),
  };
  const submitted = {
    submitToken: deps.newId(),
    submittedBy: submission.subject,
    traceIds: submission.traceIds,
    createdAt: now,
    plannedAt,
    sendBy,
  };
  const facts = { ...identity, ...request, ...submitted };
  return { kind: 'built', intent: newlyAccepted(facts, route.policy.permission, deps.timing, now) };
}

/** The key is taken: the stored intent if it is the same request, else a conflict. */
async function meet(deps: Deps, stored: Intent, offered: Intent): Promise<Acceptance> {
  if (stored.fingerprint === offered.fingerprint) return { kind: 'same', intent: stored };
  await recordConflict(deps, stored, offered);
  return { kind: 'conflict' };
}

/** The intent is stored and due; a run that cannot be started now is started by the sweep. */
async function begin(deps: AcceptDeps, intent: Intent, now: number): Promise<void> {
  if (intent.state !== 'ready' || intent.plannedAt > now) return;
  if (await startRun(deps, deps.start, intent)) return;
  await apply(deps, intent, { kind: 'look_again', dueAt: deps.clock.now() }).catch(() => undefined);
}

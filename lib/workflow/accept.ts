/** Accepts one approved action: checks it, freezes its bytes, stores it with one conditional write, starts a run. */
import { NotCanonical } from '../domain/fingerprint.ts';
import { effectsOf, type FollowUp, type Intent, type JsonObject } from '../domain/intent.ts';
import type { Way } from '../providers/registry.ts';
import { recordConflict } from './conflict.ts';
import { apply, type Deps, type StartRun } from './deps.ts';
import { callersKey, newRequest, type Submission } from './new-request.ts';
import { startRun } from './runs.ts';
import { sameRequest } from './same-request.ts';

export { intentIdOf, type Submission } from './new-request.ts';

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
    const entered = await store(deps, submission, (intent) => intent);
    if (entered.kind === 'accepted') await begin(deps, entered.intent, entered.intent.createdAt);
    return entered;
  };
}

/** Stores it, due at once, and leaves its first run to the sweep: for those who may not start runs. */
export function enter(deps: Deps): (submission: Submission) => Promise<Acceptance> {
  return (submission) => store(deps, submission, dueAtOnce);
}

function dueAtOnce(intent: Intent): Intent {
  const dueAt = Math.max(intent.createdAt, intent.plannedAt);
  return intent.state === 'ready' ? { ...intent, dueAt } : intent;
}

async function store(
  deps: Deps,
  submission: Submission,
  due: (intent: Intent) => Intent,
): Promise<Acceptance> {
  const way = deps.routes.find(submission.tenant, submission.route);
  if (way === undefined) return { kind: 'unknown_route' };
  const now = deps.clock.now();
  const checked = await check(deps, submission, way, now);
  if (checked.kind !== 'fine') return checked;
  const offered = build(deps, checked.submission, way, now);
  if ('kind' in offered) return offered;
  const stored = await deps.ledger.create(due(offered));
  if (stored.kind === 'created') return { kind: 'accepted', intent: stored.intent };
  if (sameRequest(deps, stored.intent, offered)) return { kind: 'same', intent: stored.intent };
  await recordConflict(deps, stored.intent, offered);
  return { kind: 'conflict' };
}

type Invalid = Extract<Acceptance, { kind: 'invalid' }>;
type Checked =
  | { readonly kind: 'fine'; readonly submission: Submission }
  | Exclude<Acceptance, { intent: Intent }>;

async function check(deps: Deps, submission: Submission, way: Way, now: number): Promise<Checked> {
  const payload = read(way, submission.payload, '/payload');
  if ('kind' in payload) return payload;
  const { keyField } = way.route;
  if (keyField !== null && payload.value[keyField] !== callersKey(submission.key)) {
    return { kind: 'key_mismatch', field: keyField };
  }
  const followWith = readFollowUp(deps, submission);
  if (followWith !== null && 'kind' in followWith) return followWith;
  const fault =
    parentFault(submission, way) ??
    timeFault(submission, now) ??
    (await correctsFault(deps, submission, way.provider.concerns?.(payload.value)));
  if (fault !== undefined) return { kind: 'invalid', faults: [fault] };
  return { kind: 'fine', submission: { ...submission, payload: payload.value, followWith } };
}

/** A payload as the adapter's schema gives it back: the request that is approved, stored and sent. */
function read(way: Way, payload: JsonObject, at: string): { readonly value: JsonObject } | Invalid {
  const parsed = way.provider.payload.safeParse(payload);
  if (parsed.success) return { value: parsed.data };
  const faults = parsed.error.issues.slice(0, 20).map((issue) => ({
    pointer: [at, ...issue.path.map(String)].join('/'),
    detail: issue.message,
  }));
  return { kind: 'invalid', faults };
}

/** Checked now, so that it cannot turn out later that nothing can follow. */
function readFollowUp(deps: Deps, { tenant, key, followWith }: Submission): FollowUp | null | Invalid {
  if (followWith === undefined || followWith === null) return null;
  const way = deps.routes.find(tenant, followWith.route);
  if (way === undefined) {
    return { kind: 'invalid', faults: [{ pointer: '/then/route', detail: 'There is no such route.' }] };
  }
  const payload = read(way, followWith.payload, '/then/payload');
  if ('kind' in payload) return payload;
  const { keyField } = way.route;
  if (keyField !== null && payload.value[keyField] !== callersKey(key)) {
    const detail = 'It must equal the key that this follows.';
    return { kind: 'invalid', faults: [{ pointer: `/then/payload/${keyField}`, detail }] };
  }
  return { route: followWith.route, payload: payload.value };
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

/** Only one's own intent can be corrected; another's is as absent. */
async function correctsFault(
  deps: Deps,
  { tenant, unit, corrects }: Submission,
  concerned: string | undefined,
): Promise<Fault | undefined> {
  if (corrects === undefined || corrects === null) {
    const detail = 'It must name the intent whose effect is changed.';
    return concerned === undefined ? undefined : { pointer: '/corrects', detail };
  }
  const original = await deps.ledger.read({ tenant, intentId: corrects });
  if (original?.unit !== unit) return { pointer: '/corrects', detail: 'There is no such intent.' };
  const ofOriginal = concerned === undefined || effectsOf(original).includes(concerned);
  return ofOriginal
    ? undefined
    : { pointer: '/payload', detail: 'The intent to be corrected has no such effect.' };
}

function build(deps: Deps, submission: Submission, way: Way, now: number): Intent | Invalid {
  try {
    return newRequest(deps, submission, way, now);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return { kind: 'invalid', faults: [{ pointer: error.pointer, detail: error.message }] };
  }
}

/** The intent is stored and due; a run that cannot be started now is started by the sweep. */
async function begin(deps: AcceptDeps, intent: Intent, now: number): Promise<void> {
  if (intent.state !== 'ready' || intent.plannedAt > now) return;
  if (await startRun(deps, deps.start, intent)) return;
  await apply(deps, intent, { kind: 'look_again', dueAt: deps.clock.now() }).catch(() => undefined);
}

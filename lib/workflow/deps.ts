/**
 * What the steps stand on. A step is `(deps) => (input) => answer`: load, decide, one conditional write,
 * at most one outside call. Every step may run twice, late, or never.
 */
import type { Normalisation } from '../domain/fingerprint.ts';
import type { Intent, IntentRef } from '../domain/intent.ts';
import type { LifeEvent } from '../domain/life-event.ts';
import { transition } from '../domain/lifecycle.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import type { SendContext } from '../domain/may-send.ts';
import type { Timing } from '../domain/promise.ts';
import type { Guard, Ledger, Saved } from '../ledger/ledger.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { ReadOnce } from '../providers/provider.ts';
import type { Registry, Way } from '../providers/registry.ts';
import type { Transport } from '../providers/transport.ts';
import type { SessionKeeper } from './sessions.ts';

/** Input of every step and of the machine: ids only. */
export interface RunInput extends IntentRef {
  readonly route: string;
}

export type StepAnswer =
  | { readonly next: 'send' | 'verify' | 'search' | 'hand_over' | 'end' }
  | { readonly next: 'wait'; readonly waitSeconds: number };

export type Step = (input: RunInput) => Promise<StepAnswer>;

/** Starts one run of the machine; a name that is already taken is no error. */
export type StartRun = (name: string, input: RunInput) => Promise<void>;

export interface Deps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly timing: Timing;
  readonly routes: Registry;
  readonly log: Log;
  /** How requests are made comparable; the built-in rules unless told. */
  readonly normalisation?: Normalisation;
}

/** Resolves a secret reference; only send is given write references, only search and verify read ones. */
export type ReadSecret = (ref: string) => Promise<string>;

export interface SendDeps extends Deps {
  readonly transport: Transport;
  readonly secret: ReadSecret;
  /** Outlives the run, so that one session carries many writes. */
  readonly sessions: SessionKeeper;
}

export interface LookDeps extends Deps {
  readonly reader: (options: {
    baseUrl: string;
    headers: Record<string, string>;
    timeoutMs: number;
  }) => ReadOnce;
  readonly secret: ReadSecret;
  /** No call of a look may last beyond this moment, ms: its step must still record what was seen. */
  readonly looksEndAt?: number;
}

/**
 * The intent's way out. Throws when its route is no longer configured, or leads elsewhere than it did when the intent
 * was accepted: a search there would prove nothing and a write would go astray. The run fails, and people are told.
 */
export function wayOf(deps: Deps, intent: Intent): Way {
  const way = deps.routes.find(intent.tenant, intent.route);
  if (way === undefined) throw new RangeError(`Cannot run intent ${intent.id}: its route is not configured.`);
  const moved = BOUND.find((name) => way.route[name] !== intent[name]);
  if (moved !== undefined)
    throw new RangeError(`Cannot run intent ${intent.id}: the ${moved} of its route changed.`);
  return way;
}

/** As `wayOf`, undefined where that throws: people must see the intent all the same. */
export function wayIfAny(deps: Pick<Deps, 'routes'>, intent: Intent): Way | undefined {
  const way = deps.routes.find(intent.tenant, intent.route);
  return way === undefined || BOUND.some((name) => way.route[name] !== intent[name]) ? undefined : way;
}

/** What a route may not change under an accepted intent. */
const BOUND = ['provider', 'account', 'environment', 'action'] as const;

export function contextOf(
  deps: Pick<Deps, 'timing'>,
  way: Way,
  frozen: boolean,
  sawItFail = false,
): SendContext {
  return {
    policy: way.route.policy,
    promise: way.provider.promise,
    lag: way.lag,
    timing: deps.timing,
    frozen,
    sawItFail,
    originalUnsettled: false,
    needsCheck: way.provider.check !== undefined,
  };
}

/** As `contextOf`, with the state of the intent that this one corrects: a correction waits for its original. */
export async function contextFor(
  deps: Pick<Deps, 'timing' | 'ledger'>,
  way: Way,
  intent: Intent,
  frozen: boolean,
): Promise<SendContext> {
  const context = contextOf(deps, way, frozen);
  if (intent.corrects === null || intent.attempts.length > 0) return context;
  const original = await deps.ledger.read({ tenant: intent.tenant, intentId: intent.corrects });
  // An end that evidence disputes is none.
  const open = original !== undefined && (!SETTLED.includes(original.state) || original.contraryAt !== null);
  return { ...context, originalUnsettled: open };
}

/** Sorts by time, and is unique where two facts share a moment. */
export function evidenceId(deps: Pick<Deps, 'newId'>, at: number): string {
  return `${String(at).padStart(15, '0')}-${deps.newId()}`;
}

/** Applies one event and writes it. `undefined`: it did not apply, or somebody else was first. */
export async function apply(
  deps: Deps,
  before: Intent,
  event: LifeEvent,
  guard: Guard = { kind: 'unchanged' },
): Promise<Intent | undefined> {
  const saved = await attempt(deps, before, event, guard);
  return saved.kind === 'saved' ? saved.intent : undefined;
}

/** As `apply`, telling what was met instead. */
export async function attempt(deps: Deps, before: Intent, event: LifeEvent, guard: Guard): Promise<Saved> {
  const moved = transition(before, event, deps.clock.now());
  if (moved.kind === 'refused') return { kind: 'lost', current: before };
  return deps.ledger.save(before, moved.intent, guard);
}

/** Waits longer than this are left to the sweep, so that no run grows long. */
export const LONGEST_WAIT_MS = 50_000;

/** When to come back, and the due time to store with it: later than a live run, so that the sweep never races it. */
export function comeBack(deps: Deps, until: number): { readonly answer: StepAnswer; readonly dueAt: number } {
  const waitMs = until - deps.clock.now();
  if (waitMs > LONGEST_WAIT_MS) return { answer: { next: 'end' }, dueAt: until };
  const waitSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  return { answer: { next: 'wait', waitSeconds }, dueAt: until + deps.timing.graceMs };
}

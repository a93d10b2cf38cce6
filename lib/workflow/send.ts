/**
 * Send: the only step that writes outside. It opens a session where the provider wants one, claims attempt n in the
 * ledger before any byte leaves, checks again right before the first byte, makes one POST, and never drops what came
 * back. Until the result is recorded the intent says `sending`; whoever finds it so later may look, never send.
 */
import { type Attempt, type Intent, lastAttempt } from '../domain/intent.ts';
import { transition } from '../domain/lifecycle.ts';
import { maySend, sendBeforeOf } from '../domain/may-send.ts';
import { leaseEndsAt, planOf } from '../domain/plan.ts';
import type { WriteResult } from '../domain/write-result.ts';
import type { Way } from '../providers/registry.ts';
import {
  apply,
  contextFor,
  contextOf,
  type RunInput,
  type SendDeps,
  type Step,
  type StepAnswer,
  wayOf,
} from './deps.ts';
import { follow } from './follow.ts';
import { post } from './post.ts';
import { recordResult } from './record-result.ts';
import { credentialsFor, withoutSession } from './sessions.ts';
import { holdTwins } from './twins.ts';

/** Kept free at the end of the sender's life to record an answer in. */
const RESERVE_MS = 4000;
/** Connecting, the last check and the answer each take at most the route's limit. */
const LIMITS_OF_ONE_WRITE = 3;
/** Claims lost to somebody else before this run gives way. */
const MOST_RACES = 3;

const SOON: StepAnswer = { next: 'wait', waitSeconds: 1 };

interface Life {
  readonly input: RunInput;
  /** After this moment the run only records, ms. */
  readonly stopAt: number;
}

/** A run that may write, with the session's headers; null: the secret is the credential. */
interface Writing extends Life {
  readonly headers: Readonly<Record<string, string>> | null;
}

export function send(deps: SendDeps): Step {
  return async (input) => {
    const life = { input, stopAt: deps.clock.now() + deps.timing.senderLifeMs - RESERVE_MS };
    for (let race = 0; race < MOST_RACES; race += 1) {
      const answer = await takeStep(deps, life);
      if (answer !== 'again') return answer;
    }
    return SOON;
  };
}

async function takeStep(deps: SendDeps, life: Life): Promise<StepAnswer | 'again'> {
  const { intent, frozen } = await deps.ledger.readForSend(life.input, life.input.route);
  if (intent === undefined) return { next: 'end' };
  const way = wayOf(deps, intent);
  const plan = planOf(intent, await contextFor(deps, way, intent, frozen), deps.clock.now());
  if (plan.do !== 'claim') return follow(deps, intent, plan);
  if (!hasTime(deps, way, life)) return SOON;
  const credentials = await credentialsFor(deps, way, spareMs(deps, way, life));
  if (credentials.kind === 'missing') return withoutSession(deps, intent, credentials.error);
  // What was opened is kept: the next run has it at once.
  if (!hasTime(deps, way, life)) return SOON;
  const held = await holdTwins(deps, way, intent);
  if (held !== 'mine') return held;
  const attempt = newAttempt(deps, intent, way, life);
  const dueAt = leaseEndsAt({ attempts: [attempt] }, deps.timing);
  const claimed = await apply(deps, intent, { kind: 'claimed', attempt, dueAt });
  return claimed === undefined
    ? 'again'
    : write(deps, { ...life, headers: credentials.headers }, way, claimed, attempt);
}

/** Attempt after attempt while the route resends first; each has its own claim. */
async function write(
  deps: SendDeps,
  life: Writing,
  way: Way,
  claimed: Intent,
  first: Attempt,
): Promise<StepAnswer> {
  let intent = claimed;
  for (let attempt = first; ; ) {
    const result = await post(deps, way, intent, attempt, life.headers);
    const next = await resendFirst(deps, life, way, intent, attempt, result);
    if (next === undefined) return recordResult(deps, intent, attempt, result, life.stopAt);
    intent = next.intent;
    attempt = next.attempt;
  }
}

function hasTime(deps: SendDeps, way: Way, life: Life): boolean {
  return spareMs(deps, way, life) > 0;
}

/** What is left of the sender's life beside one whole write, ms. */
function spareMs(deps: SendDeps, way: Way, life: Life): number {
  return life.stopAt - deps.clock.now() - LIMITS_OF_ONE_WRITE * way.route.policy.requestMs;
}

function newAttempt(deps: SendDeps, intent: Intent, way: Way, life: Life): Attempt {
  const now = deps.clock.now();
  const ownDeadline = life.stopAt - way.route.policy.requestMs;
  return {
    number: intent.attempts.length + 1,
    token: deps.newId(),
    claimedAt: now,
    sendBefore: sendBeforeOf(intent, contextOf(deps, way, false), ownDeadline, now),
    permission: versionOf(intent, way),
  };
}

function versionOf(intent: Intent, way: Way): string {
  return intent.approval?.policyVersion ?? way.route.policy.permission.version;
}

/** Longer pauses are the machine's. */
const LONGEST_PAUSE_MS = 1000;

/**
 * The next attempt of a route that resends first: pause, then result n and claim n + 1 in one update, so
 * that no other run can come between. Undefined when the result is to be recorded alone.
 */
async function resendFirst(
  deps: SendDeps,
  life: Life,
  way: Way,
  intent: Intent,
  attempt: Attempt,
  result: WriteResult,
): Promise<{ intent: Intent; attempt: Attempt } | undefined> {
  if (result.kind === 'acknowledged') return undefined;
  const pauseMs = Math.max(way.route.policy.pauseMs, way.provider.promise.minQuietMs);
  if (pauseMs >= LONGEST_PAUSE_MS || !opensAnother(deps, way, intent, attempt, result, false, pauseMs))
    return undefined;
  await deps.clock.sleep(pauseMs);
  if (!hasTime(deps, way, life)) return undefined;
  const fresh = await deps.ledger.readForSend(life.input, life.input.route).catch(() => undefined);
  if (fresh?.intent === undefined || lastAttempt(fresh.intent)?.token !== attempt.token) return undefined;
  if (!opensAnother(deps, way, fresh.intent, attempt, result, fresh.frozen, 0)) return undefined;
  const next = newAttempt(deps, { ...fresh.intent, attempts: settled(fresh.intent, result) }, way, life);
  const dueAt = leaseEndsAt({ attempts: [next] }, deps.timing);
  const saved = await apply(deps, fresh.intent, { kind: 'resent_first', result, attempt: next, dueAt }).catch(
    () => undefined,
  );
  return saved === undefined ? undefined : { intent: saved, attempt: next };
}

function settled(intent: Intent, result: WriteResult): readonly Attempt[] {
  return intent.attempts.map((each, index) =>
    index === intent.attempts.length - 1 ? { ...each, result } : each,
  );
}

/** Whether the intent as it would be with this result lets one more attempt out, `inMs` from now. */
function opensAnother(
  deps: SendDeps,
  way: Way,
  intent: Intent,
  attempt: Attempt,
  result: WriteResult,
  frozen: boolean,
  inMs: number,
): boolean {
  const at = deps.clock.now() + inMs;
  const event = { kind: 'result', number: attempt.number, result, dueAt: at, retryAt: at } as const;
  const after = transition(intent, event, at);
  if (after.kind === 'refused' || !['ready', 'unknown'].includes(after.intent.state)) return false;
  return maySend(after.intent, contextOf(deps, way, frozen, true), at) === null;
}

/**
 * The dry run: looks outside as search and verify do, and says what they would conclude and do next. It writes
 * nothing, neither outside nor in the ledger: no evidence, no count, no lease. The next real look starts from
 * what is on record, as if there had been none. Whose turn it is among twins is taken from the record.
 */
import type { Intent, SearchFacts } from '../domain/intent.ts';
import { contradicting } from '../domain/judge-audit.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import type { SendContext } from '../domain/may-send.ts';
import { DRY_RUN } from '../platform/names.ts';
import type { Way } from '../providers/registry.ts';
import { UNCOUNTED } from './counted-calls.ts';
import { contextFor, type LookDeps, type RunInput, wayIfAny } from './deps.ts';
import { readOutside, type Seen, searchOutside } from './look.ts';
import { looksWithin } from './look-context.ts';
import { type ResendRefusal, resendRefusals } from './resend-refusals.ts';
import { bindingOf } from './twin-hold.ts';
import { type Forecast, type Next, whatNext } from './what-next.ts';

export interface DryRun {
  /** As it is on record. */
  readonly intent: Intent;
  /** Null where its route is gone, or leads elsewhere than it did: nobody looked. */
  readonly looked: {
    readonly facts: SearchFacts;
    readonly seen: Seen;
    /** Of the id that is known, or of the only one that was found; null where there is none. */
    readonly readback: Seen | null;
  } | null;
  /** Settled intents: ids for which an audit would freeze the route. */
  readonly contradicting: readonly string[];
  /** Every reason against a write after this look; empty only where one may leave, null where none is to come. */
  readonly sendRefusals: readonly ResendRefusal[] | null;
  readonly next: Next;
}

/** Works in every state; undefined where there is no such intent. */
export function dryRun(deps: LookDeps): (input: RunInput) => Promise<DryRun | undefined> {
  return async (input) => {
    const { intent, frozen } = await deps.ledger.readForSend(input, input.route);
    if (intent === undefined) return undefined;
    const way = wayIfAny(deps, intent);
    return way === undefined ? unlooked(intent) : lookedAt(looksWithin(deps, DRY_RUN), way, intent, frozen);
  };
}

/** Every run of it fails, until it is handed over. */
function unlooked(intent: Intent): DryRun {
  const settled = SETTLED.includes(intent.state);
  return {
    intent,
    looked: null,
    contradicting: [],
    sendRefusals: null,
    next: settled ? { do: 'end', reason: null } : { do: 'hand_over', reason: 'cannot_run' },
  };
}

async function lookedAt(deps: LookDeps, way: Way, intent: Intent, frozen: boolean): Promise<DryRun> {
  const { seen, facts } = await searchOutside(deps, way, intent, UNCOUNTED);
  const { readback, boundElsewhere } = await readBack(deps, way, intent, seen);
  const context = await contextFor(deps, way, intent, frozen);
  const now = deps.clock.now();
  const forecast = whatNext({ way, context, now, seen, facts, readback, boundElsewhere }, intent);
  const settled = SETTLED.includes(intent.state);
  return {
    intent,
    looked: { facts, seen, readback },
    contradicting: settled ? contradicting(intent, seen) : [],
    sendRefusals: settled ? null : refusalsAfter(forecast, context, now),
    next: forecast.next,
  };
}

/** By what the intent would then be. One that ends as refused, with its effect, is sent no more. */
function refusalsAfter(
  { next, intent }: Forecast,
  context: SendContext,
  now: number,
): DryRun['sendRefusals'] {
  if (next.do === 'reject') return null;
  const reasons = resendRefusals(intent, context, now);
  return next.do === 'hand_over' && !reasons.includes('handed_over') ? ['handed_over', ...reasons] : reasons;
}

async function readBack(
  deps: LookDeps,
  way: Way,
  intent: Intent,
  { matched }: Seen,
): Promise<{ readback: Seen | null; boundElsewhere: boolean }> {
  const only = matched.length === 1 ? (matched[0]?.externalId ?? null) : null;
  const id = intent.externalId ?? intent.acknowledgedId ?? only;
  // A provider that gave no id is asked all the same, as verify asks it.
  if (id === null && intent.state !== 'acknowledged') return { readback: null, boundElsewhere: false };
  const known = { ...intent, acknowledgedId: id };
  const readback = await readOutside(deps, way, known, id);
  const read = readback.matched[0]?.externalId;
  const owner = read === undefined ? undefined : await deps.ledger.boundTo(bindingOf(way, read));
  return { readback, boundElsewhere: owner !== undefined && owner.intentId !== intent.id };
}

/**
 * Sweep: what is due gets a new run. It never writes outside. The index only proposes; every decision
 * reads the item again. If all executions died, the sweep alone would bring every intent to its end.
 */
import type { Intent, IntentRef } from '../domain/intent.ts';
import type { LifeEvent } from '../domain/life-event.ts';
import { leaseIsOver } from '../domain/plan.ts';
import { DAY_MS } from '../domain/promise.ts';
import { DUE_SHARDS, type Page } from '../ledger/ledger.ts';
import { errorName } from '../platform/log.ts';
import { apply, type Deps, type StartRun } from './deps.ts';
import { rematch } from './rematch.ts';
import { startNextRun } from './runs.ts';

export interface SweepDeps extends Deps {
  readonly start: StartRun;
}

export interface Swept {
  /** Proposed by the index. */
  readonly due: number;
  readonly started: number;
  readonly handedOver: number;
}

/** Intents taken up in one query of a shard, oldest first. */
const PAGE = 100;
/** A pass takes page after page until this is over, ms; what is left comes in the next pass. */
const PASS_MS = 40_000;
/** Runs without any progress before a person is asked; with doubling pauses, about six hours. */
export const MAX_IDLE_RUNS = 12;

/** One pass over all shards, then over the events that wait for their intent. */
export function sweep(deps: SweepDeps): { runOnce: () => Promise<Swept> } {
  return {
    runOnce: async () => {
      const until = deps.clock.now() + PASS_MS;
      const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => sweepShard(deps, shard, until));
      const swept = (await Promise.all(shards)).reduce(sum);
      await rematch(deps, until);
      return swept;
    },
  };
}

function sum(one: Swept, other: Swept): Swept {
  return {
    due: one.due + other.due,
    started: one.started + other.started,
    handedOver: one.handedOver + other.handedOver,
  };
}

async function sweepShard(deps: SweepDeps, shard: number, until: number): Promise<Swept> {
  let swept: Swept = { due: 0, started: 0, handedOver: 0 };
  let cursor: string | null = null;
  do {
    const page: Page<IntentRef> = await deps.ledger.due(shard, deps.clock.now(), PAGE, cursor);
    swept = sum(swept, await sweepPage(deps, page.items));
    // On to the next page whatever came of this one: items that cannot be taken up must not starve the rest.
    cursor = page.cursor;
  } while (cursor !== null && deps.clock.now() < until);
  return swept;
}

async function sweepPage(deps: SweepDeps, refs: readonly IntentRef[]): Promise<Swept> {
  const swept = { due: refs.length, started: 0, handedOver: 0 };
  for (const ref of refs) {
    const done = await takeUp(deps, ref).catch((error: unknown) => {
      // One item that cannot be read must not starve the rest.
      deps.log('error', 'sweep_item_failed', { intentId: ref.intentId, error: errorName(error) });
      return 'skipped' as const;
    });
    if (done !== 'skipped') swept[done] += 1;
  }
  return swept;
}

async function takeUp(deps: SweepDeps, ref: IntentRef): Promise<'started' | 'handedOver' | 'skipped'> {
  const intent = await deps.ledger.read(ref);
  const now = deps.clock.now();
  if (intent === undefined || intent.dueAt === null || intent.dueAt > now) return 'skipped';
  if (intent.state === 'sending' && !leaseIsOver(intent, deps.timing, now)) return 'skipped';
  if (intent.idleRuns >= MAX_IDLE_RUNS) return giveUp(deps, intent);
  return (await startNextRun(deps, deps.start, intent)) ? 'started' : 'skipped';
}

/** Nothing moves it: people are told, and again every day. What may have bytes out becomes unknown first. */
async function giveUp(deps: SweepDeps, intent: Intent): Promise<'handedOver' | 'skipped'> {
  const after = await apply(deps, intent, lastResort(intent, deps.clock.now()));
  deps.log('error', 'cannot_run', { tenant: intent.tenant, intentId: intent.id, route: intent.route });
  return after?.state === 'handover' && intent.state !== 'handover' ? 'handedOver' : 'skipped';
}

function lastResort(intent: Intent, now: number): LifeEvent {
  const dueAt = now + DAY_MS;
  switch (intent.state) {
    case 'sending':
      return { kind: 'lease_over', dueAt: now };
    case 'handover':
    case 'confirmed':
    case 'rejected':
    case 'closed':
      return { kind: 'deferred', dueAt };
    default:
      return { kind: 'cannot_run', dueAt };
  }
}

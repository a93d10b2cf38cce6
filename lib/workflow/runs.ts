/** Runs of the machine: the ledger counts them, Step Functions moves them. */
import { ExecutionAlreadyExists, type SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import type { Intent } from '../domain/intent.ts';
import { errorName } from '../platform/log.ts';
import { apply, type Deps, type RunInput, type StartRun } from './deps.ts';

/** Starts a run by name. Once-only never rests on the name: a taken name means that the run was started. */
export function stepFunctionsStarter(client: SFNClient, stateMachineArn: string): StartRun {
  return async (name, input) => {
    try {
      await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
    } catch (error) {
      if (!(error instanceof ExecutionAlreadyExists)) throw error;
    }
  };
}

export function runInput(intent: Intent): RunInput {
  return { tenant: intent.tenant, intentId: intent.id, route: intent.route };
}

export function runName(intent: Intent): string {
  return `${intent.id}-${intent.runs}`;
}

/** Idle runs double the distance to the next one, up to this many times. */
const MOST_DOUBLINGS = 6;

/**
 * Counts a run in the ledger, then starts it. A crash in between is met at the next due time. False when
 * somebody else was first or the machine could not be reached.
 */
export async function startNextRun(deps: Deps, start: StartRun, intent: Intent): Promise<boolean> {
  const pause = deps.timing.graceMs * 2 ** Math.min(intent.idleRuns, MOST_DOUBLINGS);
  const counted = await apply(deps, intent, { kind: 'run_started', dueAt: deps.clock.now() + pause });
  return counted !== undefined && startRun(deps, start, counted);
}

/** Starts the run that the ledger has counted; a failure is logged and left to the sweep. */
export async function startRun(deps: Deps, start: StartRun, intent: Intent): Promise<boolean> {
  try {
    await start(runName(intent), runInput(intent));
    return true;
  } catch (error) {
    deps.log('warn', 'run_not_started', { intentId: intent.id, error: errorName(error) });
    return false;
  }
}

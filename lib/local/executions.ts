/**
 * The executions of one state machine, by name: which run, which have run, how they ended. Runs the very
 * definition that is deployed. Memory is bounded: nothing of a run is kept but its end, of the newest
 * `KEPT_DETAILS` with input and output, of the newest `KEPT_NAMES` without. Older names become free again,
 * as they do after 90 days at AWS.
 */
import {
  ExecutionAbortedError,
  ExecutionError,
  ExecutionTimeoutError,
  StateMachine,
  type StateMachineDefinition,
} from 'aws-local-stepfunctions';
import { systemClock } from '../platform/clock.ts';

const KEPT_NAMES = 20_000;
const KEPT_DETAILS = 1_000;
const RUNNING_LIMIT = 20_000;

export type ClosedStatus = 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

export interface ClosedExecution {
  readonly name: string;
  readonly status: ClosedStatus;
  /** State transitions as AWS counts them: states entered. */
  readonly statesEntered: number;
}

/** As DescribeExecution shows it; times in ms since the epoch. */
export interface Execution {
  readonly name: string;
  readonly status: 'RUNNING' | ClosedStatus;
  readonly startedAt: number;
  readonly stoppedAt?: number;
  readonly input?: string;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
}

export type Started =
  | { readonly kind: 'started'; readonly startedAt: number }
  | { readonly kind: 'exists' }
  | { readonly kind: 'limit' };

export interface Executions {
  /** Same name and same input while running: the same execution. `input` is JSON text. */
  readonly start: (name: string, input: string) => Started;
  readonly find: (name: string) => Execution | null;
  readonly running: () => number;
  /** Ends every run. A task that was called is no longer waited for. */
  readonly abortAll: () => Promise<void>;
}

export interface ExecutionsOptions {
  readonly definition: StateMachineDefinition;
  readonly arnOf: (name: string) => string;
  readonly invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  readonly onClosed?: (closed: ClosedExecution) => void;
}

interface Running {
  readonly execution: Execution & { readonly input: string };
  readonly abort: () => void;
  readonly settled: Promise<void>;
}

type Json = Parameters<StateMachine['run']>[0];
type Run = ReturnType<StateMachine['run']>;
type Ending = Pick<Execution, 'status' | 'output' | 'error' | 'cause'> & { readonly status: ClosedStatus };

/** Refused with an error that names the faults when the definition is not valid. */
export function createExecutions(options: ExecutionsOptions): Executions {
  // The validator writes into what it checks.
  const definition = structuredClone(options.definition);
  const machine = new StateMachine(definition);
  const tasks = Object.keys(definition.States).filter((name) => definition.States[name]?.Type === 'Task');
  const running = new Map<string, Running>();
  const closed = createClosed();

  const settle = async (started: Running['execution'], run: Run): Promise<void> => {
    const entered = countEntered(run);
    const ending = await endingOf(run);
    running.delete(started.name);
    closed.add({ ...started, ...ending, stoppedAt: systemClock.now() });
    options.onClosed?.({ name: started.name, status: ending.status, statesEntered: await entered });
  };

  const begin = (name: string, input: string): number => {
    const execution = { name, input, status: 'RUNNING', startedAt: systemClock.now() } as const;
    const { run, abort } = runOnce(machine, tasks, options, execution);
    running.set(name, { execution, abort, settled: settle(execution, run) });
    return execution.startedAt;
  };

  return {
    start: (name, input) => {
      const same = running.get(name)?.execution;
      if (same?.input === input) return { kind: 'started', startedAt: same.startedAt };
      if (same !== undefined || closed.find(name) !== null) return { kind: 'exists' };
      if (running.size >= RUNNING_LIMIT) return { kind: 'limit' };
      return { kind: 'started', startedAt: begin(name, input) };
    },
    find: (name) => running.get(name)?.execution ?? closed.find(name),
    running: () => running.size,
    abortAll: async () => {
      const all = [...running.values()];
      for (const one of all) one.abort();
      await Promise.all(all.map((one) => one.settled));
    },
  };
}

function runOnce(
  machine: StateMachine,
  tasks: readonly string[],
  options: ExecutionsOptions,
  execution: Running['execution'],
): { run: Run; abort: () => void } {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  // An aborted task must settle, or its timeout would keep the process alive.
  const call = (input: Json) => Promise.race([callTask(options.invoke, input), aborted.promise]);
  const run = machine.run(JSON.parse(execution.input), {
    overrides: { taskResourceLocalHandlers: Object.fromEntries(tasks.map((name) => [name, call])) },
    context: { Execution: { Id: options.arnOf(execution.name), Name: execution.name } },
  });
  const abort = () => {
    run.abort();
    aborted.reject(new Error('Execution aborted'));
  };
  return { run, abort };
}

/** As the `lambda:invoke` integration does; what crosses it is JSON. */
async function callTask(invoke: ExecutionsOptions['invoke'], input: Json): Promise<Json> {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) throw new Error('No task input');
  const { FunctionName, Payload } = input;
  if (typeof FunctionName !== 'string') throw new Error('The task names no function');
  const answer = await invoke(FunctionName, Payload);
  return { Payload: JSON.parse(JSON.stringify(answer ?? null)) };
}

/** The events must be read while they come, or they pile up for the length of the run. */
async function countEntered(run: Run): Promise<number> {
  let entered = 0;
  for await (const event of run.eventLogs) if (event.type === 'StateEntered') entered += 1;
  return entered;
}

async function endingOf(run: Run): Promise<Ending> {
  try {
    return { status: 'SUCCEEDED', output: JSON.stringify(await run.result) };
  } catch (error) {
    if (error instanceof ExecutionAbortedError) return { status: 'ABORTED' };
    if (error instanceof ExecutionTimeoutError) return { status: 'TIMED_OUT', error: 'States.Timeout' };
    const reason = error instanceof ExecutionError ? error.cause : error;
    const named = reason instanceof Error ? reason : new Error(String(reason));
    return { status: 'FAILED', error: named.name, cause: named.message };
  }
}

function createClosed(): { add: (ended: Execution) => void; find: (name: string) => Execution | null } {
  const newest = new Map<string, Execution>();
  const names = new Map<string, Execution>();
  return {
    add: ({ input, output, cause, ...ended }) => {
      names.set(ended.name, ended);
      newest.set(ended.name, {
        ...ended,
        ...(input !== undefined && { input }),
        ...(output !== undefined && { output }),
        ...(cause !== undefined && { cause }),
      });
      dropOldest(newest, KEPT_DETAILS);
      dropOldest(names, KEPT_NAMES);
    },
    find: (name) => newest.get(name) ?? names.get(name) ?? null,
  };
}

/** A Map keeps the order of insertion. */
function dropOldest(map: Map<string, unknown>, limit: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}

/**
 * The product in this process: the real intake, steps, ledger and machine on the workbench's parts. Left out
 * against the local stack: the HTTP gateway with its tokens, Middy, the Step Functions endpoint and the threads
 * of send.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import { dynamoLedger } from '../../lib/ledger/dynamo-ledger.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { type ClosedExecution, createExecutions } from '../../lib/local/executions.ts';
import { localDefinition } from '../../lib/local/step-functions.ts';
import { systemClock } from '../../lib/platform/clock.ts';
import { newId } from '../../lib/platform/ids.ts';
import { logTo } from '../../lib/platform/log.ts';
import { STEPS } from '../../lib/platform/names.ts';
import { secretReader } from '../../lib/platform/secrets.ts';
import { reader } from '../../lib/providers/reader.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { sessionCall } from '../../lib/providers/session-call.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { accept } from '../../lib/workflow/accept.ts';
import type { Deps, RunInput, StartRun, Step } from '../../lib/workflow/deps.ts';
import { handOver } from '../../lib/workflow/hand-over.ts';
import { search } from '../../lib/workflow/search.ts';
import { send } from '../../lib/workflow/send.ts';
import { keepSessions } from '../../lib/workflow/sessions.ts';
import { verify } from '../../lib/workflow/verify.ts';
import type { Workbench } from './workbench.ts';

export interface Product {
  /** Submits one order and resolves when its run has ended; throws when it was not accepted as new. */
  readonly settle: (order: string) => Promise<Settled>;
  readonly ledger: Ledger;
  readonly deps: Deps;
}

export interface Settled extends ClosedExecution {
  readonly intentId: string;
}

export const CALLER = { tenant: 'acme', unit: 'sales', subject: 'bench' };
const GRACE_MS = 60_000;

export function buildProduct(bench: Workbench, client: DynamoDBClient, table: string): Product {
  const deps = depsOf(bench, client, table);
  const runs = runsOf(stepsOf(bench, deps));
  const take = accept({ ...deps, start: runs.start });
  return {
    ledger: deps.ledger,
    deps,
    settle: async (order) => {
      const payload = { order_id: order, sku: 'TEA-01', quantity: 2 };
      const submission = { ...CALLER, key: order, route: 'warehouse', payload, parent: null, traceIds: {} };
      const accepted = await take(submission);
      if (accepted.kind !== 'accepted') throw new Error(`Cannot measure order ${order}: ${accepted.kind}`);
      const { id, runs: run } = accepted.intent;
      return { ...(await runs.ended(`${id}-${run}`)), intentId: id };
    },
  };
}

function depsOf(bench: Workbench, client: DynamoDBClient, table: string): Deps {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return {
    ledger: dynamoLedger({ client: documents, table, newId }),
    clock: systemClock,
    newId,
    timing: { senderLifeMs: STEPS.Send.timeoutSeconds * 1000, skewMs: 0, graceMs: GRACE_MS },
    routes: registryOf(bench.routes),
    // Lines are made, as in the cloud, and go nowhere.
    log: logTo(() => undefined, systemClock.now),
  };
}

function stepsOf(bench: Workbench, deps: Deps): ReadonlyMap<string, Step> {
  const secret = secretReader(bench.secretsFile, deps.clock.now);
  return new Map<string, Step>([
    [
      STEPS.Send.function,
      send({ ...deps, secret, transport: sendOnce, sessions: keepSessions(sessionCall, deps.clock) }),
    ],
    [STEPS.Search.function, search({ ...deps, secret, reader })],
    [STEPS.Verify.function, verify({ ...deps, secret, reader })],
    [STEPS.HandOver.function, handOver(deps)],
  ]);
}

/** Runs of the deployed machine by name, each with a promise of its end. */
function runsOf(steps: ReadonlyMap<string, Step>) {
  const ends = new Map<string, PromiseWithResolvers<ClosedExecution>>();
  const executions = createExecutions({
    // The library checks it against its schema.
    definition: localDefinition() as StateMachineDefinition,
    arnOf: (name) => name,
    invoke: async (name, payload) => {
      const step = steps.get(name);
      if (step === undefined) throw new RangeError(`There is no step ${name}.`);
      return step(payload as RunInput);
    },
    onClosed: (closed) => ends.get(closed.name)?.resolve(closed),
  });
  const start: StartRun = async (name, input) => {
    ends.set(name, Promise.withResolvers());
    executions.start(name, JSON.stringify(input));
  };
  const ended = async (name: string): Promise<ClosedExecution> => {
    const end = ends.get(name);
    if (end === undefined) throw new Error(`Cannot wait for run ${name}: it was never started`);
    const closed = await end.promise;
    ends.delete(name);
    return closed;
  };
  return { start, ended };
}

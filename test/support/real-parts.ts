/**
 * The product on real parts, moved by hand: the real steps, the real ledger on DynamoDB (through a proxy that
 * can fail), the real transport and the simulated warehouse. Only time is not real: it passes when somebody
 * waits, so that hours of back-off take no time.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Intent } from '../../lib/domain/intent.ts';
import { dynamoLedger } from '../../lib/ledger/dynamo-ledger.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createTable } from '../../lib/local/table.ts';
import { newId } from '../../lib/platform/ids.ts';
import type { LogFields } from '../../lib/platform/log.ts';
import { reader } from '../../lib/providers/reader.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { sessionCall } from '../../lib/providers/session-call.ts';
import { sendOnce, type Transport } from '../../lib/providers/transport.ts';
import { accept } from '../../lib/workflow/accept.ts';
import type { RunInput, StartRun, Step, StepAnswer } from '../../lib/workflow/deps.ts';
import { handOver } from '../../lib/workflow/hand-over.ts';
import machine from '../../lib/workflow/machine.asl.json' with { type: 'json' };
import { search } from '../../lib/workflow/search.ts';
import { send } from '../../lib/workflow/send.ts';
import { keepSessions } from '../../lib/workflow/sessions.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { verify } from '../../lib/workflow/verify.ts';
import { fakeClock, POLICY, routeTo, TIMING } from './kit.ts';

export interface RealPartsOptions {
  /** DynamoDB as the product sees it. */
  readonly endpoint: string;
  /** DynamoDB as the test sees it, past all faults. */
  readonly direct: string;
  readonly warehouseUrl: string;
  /** Of the SDK: 1 repeats nothing. */
  readonly maxAttempts: number;
  /** After this the product gives a call of the ledger up; 5000 when left out, for a slow machine is no fault. */
  readonly callLimitMs?: number;
  readonly transport?: Transport;
}

export type RealParts = Awaited<ReturnType<typeof realParts>>;

const CALL_LIMIT_MS = 5000;
/** The longest that a route may wait for an answer. */
const REQUEST_MS = 3000;
/** The test itself waits for a database that is just up. */
const PATIENCE_MS = 30_000;
const MOST_ROUNDS = 40;
const LONGEST_RUN = 500;
let tables = 0;

export async function realParts(options: RealPartsOptions) {
  const clock = fakeClock();
  const logged: { readonly event: string; readonly fields: LogFields }[] = [];
  const runs: RunInput[] = [];
  tables += 1;
  const table = `parts-${process.pid}-${tables}`;
  const seen = clientOf(options.endpoint, options.maxAttempts, options.callLimitMs ?? CALL_LIMIT_MS);
  const direct = clientOf(options.direct, 3, PATIENCE_MS);
  await createTable(direct, table);
  const plain = ledgerOn(direct, table);
  const start: StartRun = async (_, input) => void runs.push(input);
  const deps = {
    ledger: ledgerOn(seen, table),
    clock,
    newId,
    timing: TIMING,
    routes: registryOf([routeTo(options.warehouseUrl, { policy: { ...POLICY, requestMs: REQUEST_MS } })]),
    log: (_: unknown, event: string, fields: LogFields = {}) => void logged.push({ event, fields }),
    transport: options.transport ?? sendOnce,
    reader,
    secret: async () => 'unused',
    sessions: keepSessions(sessionCall, clock),
    start,
  };
  const steps = { Send: send(deps), Search: search(deps), Verify: verify(deps), HandOver: handOver(deps) };
  const drain = async (): Promise<void> => {
    for (let input = runs.shift(); input !== undefined; input = runs.shift()) {
      await walk(steps, clock.advance, input);
    }
  };
  const submit = (order: string) =>
    accept(deps)({
      ...{ tenant: 'acme', unit: 'sales', subject: 'shop', route: 'warehouse', key: order },
      payload: { order_id: order, sku: 'TEA-01', quantity: 2 },
      ...{ parent: null, traceIds: {} },
    });

  return {
    clock,
    logged,
    drain,
    submit,
    /** The stored intent, read past all faults. */
    read: (id: string) => stored(plain, id),
    evidence: async (id: string) => (await plain.evidence({ tenant: 'acme', intentId: id }, 100, null)).items,
    /** Submits as a caller does: on any trouble again, with the same key. */
    submitUntilAccepted: async (order: string): Promise<Intent> => {
      for (let time = 0; time < MOST_ROUNDS; time += 1) {
        const answer = await submit(order).catch(() => undefined);
        if (answer !== undefined && 'intent' in answer) return answer.intent;
      }
      throw new Error(`${order} was not accepted in ${MOST_ROUNDS} submissions.`);
    },
    /** Runs and sweeps at each due time until nothing is due any more. */
    untilQuiet: async (id: string): Promise<Intent> => {
      for (let round = 0; round < MOST_ROUNDS; round += 1) {
        await drain();
        const intent = await stored(plain, id);
        if (intent.state === 'handover' || intent.dueAt === null) return intent;
        clock.advance(Math.max(0, intent.dueAt - clock.now()));
        await sweep(deps)
          .runOnce()
          .catch(() => undefined);
      }
      throw new Error(`Still open after ${MOST_ROUNDS} rounds of the sweep.`);
    },
    close: () => {
      seen.destroy();
      direct.destroy();
    },
  };
}

function clientOf(endpoint: string, maxAttempts: number, limitMs: number): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    maxAttempts,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: { connectionTimeout: limitMs, requestTimeout: limitMs, throwOnRequestTimeout: true },
  });
}

function ledgerOn(client: DynamoDBClient, table: string): Ledger {
  const marshallOptions = { removeUndefinedValues: true };
  return dynamoLedger({ client: DynamoDBDocumentClient.from(client, { marshallOptions }), table, newId });
}

async function stored(ledger: Ledger, id: string): Promise<Intent> {
  const intent = await ledger.read({ tenant: 'acme', intentId: id });
  if (intent === undefined) throw new Error(`Intent ${id} is not in the ledger.`);
  return intent;
}

type StateName = keyof typeof machine.States;
type Task = 'Send' | 'Search' | 'Verify' | 'HandOver';
const AFTER: Readonly<Record<StepAnswer['next'], StateName>> = {
  send: 'Send',
  search: 'Search',
  verify: 'Verify',
  hand_over: 'HandOver',
  wait: 'Wait',
  end: 'Done',
};

/** One run, state by state as the machine has them; time passes only in its waits. */
async function walk(
  steps: Readonly<Record<Task, Step>>,
  advance: (ms: number) => void,
  input: RunInput,
): Promise<void> {
  let at: StateName = 'Send';
  for (let count = 0; count < LONGEST_RUN; count += 1) {
    if (at === 'AfterTrouble') {
      advance(1000 * machine.States.AfterTrouble.Seconds);
      at = 'Search';
    }
    if (at !== 'Send' && at !== 'Search' && at !== 'Verify' && at !== 'HandOver') return;
    const state: Task = at;
    const answer: StepAnswer | undefined = await steps[state](input).catch(() => undefined);
    if (answer === undefined) at = state === 'Send' ? 'AfterTrouble' : 'Stopped';
    else if (answer.next === 'wait') {
      advance(1000 * answer.waitSeconds);
      at = 'Search';
    } else at = state === 'HandOver' ? 'Done' : AFTER[answer.next];
  }
  throw new Error(`A run entered ${LONGEST_RUN} tasks.`);
}

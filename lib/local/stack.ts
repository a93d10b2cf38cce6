/**
 * The whole product on one machine: DynamoDB Local with a data path, the deployed handlers behind the local
 * gateway, the deployed machine, the sweep, and the simulated warehouse in its own process. One stack per
 * process: the functions keep their clients for the life of a process, as in a sandbox of Lambda.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { endpoints } from '../../functions/endpoints.ts';
import { newId } from '../platform/ids.ts';
import { DRY_RUN, ENV, STEPS } from '../platform/names.ts';
import { localSecrets, writeRoutes } from './configuration.ts';
import { startDynamoDb } from './dynamodb.ts';
import { startGateway } from './gateway.ts';
import { type Handler, loadHandlers } from './handlers.ts';
import { localArn, startLambda } from './lambda.ts';
import { claimRun, type RunRecord } from './run-record.ts';
import { createSendPool, type SendPool } from './send-pool.ts';
import { type Simulators, type SupplierUrls, startSimulators } from './simulators.ts';
import { localDefinition, startStepFunctions } from './step-functions.ts';
import { startSweeping } from './sweeping.ts';
import { createTable } from './table.ts';
import { createIssuer, type Issuer, type ReadyMadeTokens } from './tokens.ts';

const TABLE_NAME = 'kakutei';
const MACHINE_ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:kakutei';
/** One thread carries all sends; a second one would only take memory here. */
const SEND_THREADS = 1;
const MS = 1000;

export interface StackOptions {
  /** Ledger, warehouse book and what was started; made when missing, owned by one stack at a time. */
  readonly dataDir: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Data to be forgotten first, once nobody else can be using it. */
  readonly anew?: readonly Place[];
  /** Starts the warehouse alone, without suppliers and medium. */
  readonly warehouseOnly?: boolean;
  /** A part of the stack ended by itself. */
  readonly onBroken: (what: string) => void;
}

export interface Stack {
  readonly url: string;
  readonly tokens: ReadyMadeTokens & { readonly callers: Readonly<Record<string, string>> };
  readonly warehouseUrl: string;
  /** Null where they were not started. */
  readonly suppliers: SupplierUrls | null;
  readonly mediumUrl: string | null;
  /** Ends everything that was started. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export type Place = 'ledger' | 'book' | 'suppliers' | 'medium';

/** Where the parts keep their data below `dataDir`. */
export function placesIn(dataDir: string): Record<Place, string> {
  return {
    ledger: join(dataDir, 'ledger'),
    book: join(dataDir, 'warehouse.sqlite'),
    suppliers: join(dataDir, 'suppliers'),
    medium: join(dataDir, 'medium.sqlite'),
  };
}

/** Throws `CannotStart` with one clear sentence; what was started until then is ended first. */
export async function startStack(options: StackOptions): Promise<Stack> {
  mkdirSync(options.dataDir, { recursive: true });
  const ends: (() => Promise<void> | void)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= endAll(ends);
    return stopping;
  };
  try {
    return { ...(await assemble(options, ends)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Last started, first ended. */
async function endAll(ends: (() => Promise<void> | void)[]): Promise<void> {
  for (const end of ends.reverse()) await end();
}

type Ends = (() => Promise<void> | void)[];

async function assemble(options: StackOptions, ends: Ends): Promise<Omit<Stack, 'stop'>> {
  const run = await claimRun(options.dataDir);
  ends.push(run.release);
  for (const place of options.anew ?? []) forget(placesIn(options.dataDir)[place]);
  const pool = createSendPool({ threads: SEND_THREADS, timeoutMs: STEPS.Send.timeoutSeconds * MS });
  ends.push(pool.close);
  const loading = loadHandlers();
  const { secretsFile, ...simulated } = await startParts(options, run, ends);
  const { warehouseUrl, suppliers, mediumUrl } = simulated;
  // Once more, so that sends under way end before what they write to does.
  ends.push(pool.close);
  process.env[ENV.routes] = writeRoutes(options.dataDir, warehouseUrl, suppliers, mediumUrl);
  process.env[ENV.secrets] = secretsFile;
  process.env[ENV.skewMs] = '0';
  const handlers = await loading;
  const invoke = invoker(handlers, pool);
  const machine = await startStepFunctions({
    definition: localDefinition(),
    machineArn: MACHINE_ARN,
    invoke,
  });
  ends.push(machine.close);
  process.env[ENV.machineArn] = MACHINE_ARN;
  process.env['AWS_ENDPOINT_URL_SFN'] = machine.endpoint;
  const lambda = await startLambda({ functions: [DRY_RUN], invoke });
  ends.push(lambda.close);
  process.env[ENV.dryRunArn] = localArn(DRY_RUN.function);
  process.env['AWS_ENDPOINT_URL_LAMBDA'] = lambda.endpoint;
  ends.push(startSweeping(() => invoke('sweep', {})));
  const issuer = await createIssuer({ issuer: 'https://issuer.kakutei.local', audience: 'kakutei' });
  const { verify, jwks, tokens } = issuer;
  const gateway = await startGateway({
    endpoints,
    port: options.port,
    verify,
    jwks,
    newId,
    invoke: (name, event) => invoke(name, event) as Promise<string>,
  });
  ends.push(gateway.close);
  return {
    url: gateway.url,
    tokens: { ...tokens, callers: await callersOf(issuer) },
    ...simulated,
  };
}

/** Callers of one unit, as different as a web shop, a worker and a telephone desk. */
export const CALLERS = ['desk', 'worker', 'phone'] as const;

async function callersOf(issuer: Issuer): Promise<Record<string, string>> {
  const tokens = CALLERS.map(async (sub) => {
    const caller = { sub, tenant: 'acme', unit: 'sales', kind: 'service', scope: 'submit read' } as const;
    return [sub, await issuer.sign(caller)] as const;
  });
  return Object.fromEntries(await Promise.all(tokens));
}

/** SQLite keeps two files beside its own. */
function forget(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { recursive: true, force: true });
}

async function startParts(
  options: StackOptions,
  run: RunRecord,
  ends: Ends,
): Promise<Omit<Simulators, 'stop'> & { secretsFile: string }> {
  const { ledger, book, suppliers, medium } = placesIn(options.dataDir);
  const database = await startDynamoDb({
    dataDir: ledger,
    onSpawn: (pid) => run.remember({ name: 'dynamodb-local', pid }),
    onExit: () => options.onBroken('DynamoDB Local ended by itself'),
  });
  ends.push(database.stop);
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    [ENV.table]: TABLE_NAME,
  });
  const client = new DynamoDBClient({});
  await createTable(client, TABLE_NAME);
  client.destroy();
  const { file, secrets } = localSecrets(options.dataDir);
  mkdirSync(suppliers, { recursive: true });
  const alone = options.warehouseOnly === true;
  const { stop, ...simulated } = await startSimulators({
    book,
    ...(alone ? { suppliers: null, medium: null } : { suppliers, medium }),
    secrets,
    onSpawn: (name, pid) => run.remember({ name, pid }),
    onBroken: options.onBroken,
  });
  ends.push(stop);
  return { ...simulated, secretsFile: file };
}

/** Calls a function by name, as Lambda would: send in a thread that ends with its time limit. */
function invoker(handlers: ReadonlyMap<string, Handler>, pool: SendPool) {
  return async (name: string, payload: unknown): Promise<unknown> => {
    if (name === STEPS.Send.function) return pool.invoke(payload);
    const handler = handlers.get(name);
    if (handler === undefined) throw new RangeError(`There is no function ${name}.`);
    return handler(payload);
  };
}

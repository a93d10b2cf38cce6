/**
 * The parts that the bench measures on: DynamoDB Local in memory, and the simulated warehouse as a process of
 * its own whose book gives up safety against power loss, so that a disk is not what is measured.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import type { Route } from '../../lib/domain/route.ts';
import { CannotStart } from '../../lib/local/cannot-start.ts';
import { endChild, exitOf } from '../../lib/local/child.ts';
import { LOCAL_ACCOUNT, LOCAL_LAG, localSecrets, writeRoutes } from '../../lib/local/configuration.ts';
import { startDynamoDb } from '../../lib/local/dynamodb.ts';
import { createTable } from '../../lib/local/table.ts';
import { parseRoutes } from '../../lib/platform/config.ts';
import { readBook } from '../../lib/simulators/warehouse-book.ts';

export interface Workbench {
  /** A new client; one for each part that is measured. */
  readonly client: () => DynamoDBClient;
  /** Makes an empty table as it is deployed, and answers its name. */
  readonly table: (name: string) => Promise<string>;
  readonly routes: readonly Route[];
  readonly secretsFile: string;
  readonly warehouse: Warehouse;
  /** Ends both processes and forgets their data. */
  readonly stop: () => Promise<void>;
}

export interface Warehouse {
  readonly url: string;
  readonly writeToken: string;
  readonly readToken: string;
  /** Reservations per order number, from its own book. */
  readonly effects: () => ReadonlyMap<string, number>;
}

const STOP_GRACE_MS = 3000;
/** Longer than deployed: a machine that is busy is to show as slow, not as requests repeated by the SDK. */
const LEDGER_LIMIT_MS = 10_000;

type Ends = (() => Promise<void> | void)[];

/** Throws `CannotStart`; what was started until then is ended first. */
export async function openWorkbench(): Promise<Workbench> {
  const ends: Ends = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await assemble(ends)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(ends: Ends): Promise<Omit<Workbench, 'stop'>> {
  const dir = mkdtempSync(join(tmpdir(), 'kakutei-bench-'));
  const forget = (): void => rmSync(dir, { recursive: true, force: true });
  ends.push(() => void process.off('exit', forget), forget);
  const database = await startDynamoDb();
  for (const last of [database.kill, forget]) process.once('exit', last);
  ends.push(() => void process.off('exit', database.kill), database.stop);
  const client = (): DynamoDBClient => {
    const made = clientOf(database.endpoint);
    ends.push(() => made.destroy());
    return made;
  };
  const admin = client();
  const { file: secretsFile, secrets } = localSecrets(dir);
  const tokens = { writeToken: secrets['warehouse-write'], readToken: secrets['warehouse-read'] };
  const warehouse = await openWarehouse(join(dir, 'warehouse.sqlite'), tokens, ends);
  return {
    client,
    table: async (name) => {
      await createTable(admin, name);
      return name;
    },
    routes: parseRoutes(readFileSync(writeRoutes(dir, warehouse.url, null), 'utf8')),
    secretsFile,
    warehouse,
  };
}

function clientOf(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: LEDGER_LIMIT_MS,
      throwOnRequestTimeout: true,
    },
  });
}

async function openWarehouse(
  file: string,
  tokens: Pick<Warehouse, 'writeToken' | 'readToken'>,
  ends: Ends,
): Promise<Warehouse> {
  const module = fileURLToPath(new URL('../../lib/simulators/warehouse.ts', import.meta.url));
  const args = [
    ['--file', file, '--account', LOCAL_ACCOUNT, '--not-durable', '--with-parent'],
    ['--apply-delay-ms', String(LOCAL_LAG.applyDelayMs)],
    ['--visibility-lag-ms', String(LOCAL_LAG.visibilityLagMs)],
  ].flat();
  const env = {
    ...process.env,
    KAKUTEI_WAREHOUSE_WRITE_TOKEN: tokens.writeToken,
    KAKUTEI_WAREHOUSE_READ_TOKEN: tokens.readToken,
  };
  const child = spawn(process.execPath, [module, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  ends.push(() => endChild(child, STOP_GRACE_MS));
  const ready = new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once('line', resolve),
  );
  const line = await Promise.race([ready, exitOf(child).then(() => undefined)]);
  if (line === undefined) throw new CannotStart('Cannot start the simulated warehouse: it ended at once.');
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(line));
  return { url, ...tokens, effects: () => effectsIn(file) };
}

function effectsIn(file: string): ReadonlyMap<string, number> {
  const book = readBook(file);
  try {
    return new Map(book.effects().map((each) => [each.orderId, each.reservationIds.length]));
  } finally {
    book.close();
  }
}

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DynamoDb, startDynamoDb } from '../../lib/local/dynamodb.ts';
import { freePort } from '../../lib/local/loopback.ts';
import { startTimeOf } from '../../lib/local/process-identity.ts';
import { createTable } from '../../lib/local/table.ts';

const JVM_MS = 60_000;
const NAME = 'kakutei-test';
let dir = '';
const started: DynamoDb[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kakutei-dynamodb-'));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()));
  rmSync(dir, { recursive: true, force: true });
});

test('the table has the three indexes, and the data outlives the process', { timeout: JVM_MS }, async () => {
  const exits: unknown[] = [];
  const first = await start({ dataDir: join(dir, 'data'), onExit: (exit) => exits.push(exit) });
  const client = clientOf(first.endpoint);
  await createTable(client, NAME);
  await createTable(client, NAME);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: NAME }));
  expect(Table?.TableStatus).toBe('ACTIVE');
  expect(Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
  expect(Table?.GlobalSecondaryIndexes?.map((index) => index.IndexName).toSorted()).toEqual([
    'attention',
    'due',
    'list',
  ]);
  await client.send(new PutItemCommand({ TableName: NAME, Item: key('a') }));
  client.destroy();
  await first.stop();
  expect(startTimeOf(first.pid)).toBeNull();
  expect(exits, 'an end that was asked for is not reported').toEqual([]);

  const second = await start({ dataDir: join(dir, 'data') });
  const again = clientOf(second.endpoint);
  await createTable(again, NAME);
  const { Item } = await again.send(new GetItemCommand({ TableName: NAME, Key: key('a') }));
  again.destroy();
  expect(Item).toEqual(key('a'));
});

test('another DynamoDB on the port is never taken for our own', { timeout: JVM_MS }, async () => {
  const stranger = await start({});
  const taken = Number(new URL(stranger.endpoint).port);
  const ports = [taken, await freePort()];
  const pids: number[] = [];
  const ours = await start({
    pickPort: async () => ports.shift() ?? freePort(),
    onSpawn: (pid) => pids.push(pid),
  });
  expect(pids).toHaveLength(2);
  expect(ours.pid).toBe(pids[1]);
  expect(ours.endpoint).not.toBe(stranger.endpoint);
  expect(startTimeOf(pids[0] ?? 0)).toBeNull();
});

test('an end of the child that nobody asked for is reported', { timeout: JVM_MS }, async () => {
  const reported = Promise.withResolvers<{ signal: string | null }>();
  const one = await start({ onExit: reported.resolve });
  process.kill(one.pid, 'SIGKILL');
  expect(await reported.promise).toMatchObject({ signal: 'SIGKILL' });
});

test('a missing Java is one sentence with the way to get it', async () => {
  await expect(startDynamoDb({ java: join(dir, 'no-java') })).rejects.toMatchObject({
    name: 'CannotStart',
    message:
      'Java 17 or newer is needed for DynamoDB Local and was not found; install it ' +
      '(Debian: apt-get install openjdk-17-jre-headless) and start again.',
  });
});

test.skipIf(process.platform === 'win32').each([
  { prints: 'openjdk version "11.0.22" 2024-01-16', found: 11 },
  { prints: 'java version "1.8.0_401"', found: 8 },
])('Java $found is too old, and the sentence says so', async ({ prints, found }) => {
  const java = join(dir, 'java');
  writeFileSync(java, `#!/bin/sh\necho '${prints}' >&2\n`);
  chmodSync(java, 0o755);
  await expect(startDynamoDb({ java })).rejects.toThrow(`only Java ${found} was found`);
});

async function start(options: Parameters<typeof startDynamoDb>[0]): Promise<DynamoDb> {
  const one = await startDynamoDb(options);
  started.push(one);
  return one;
}

function clientOf(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return new DynamoDBClient({ endpoint, region: 'eu-west-1', credentials });
}

function key(id: string): Record<string, { S: string }> {
  return { pk: { S: id }, sk: { S: 'INTENT' } };
}

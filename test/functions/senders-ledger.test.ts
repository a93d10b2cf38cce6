/** A ledger that takes connections and never answers must leave a sender the time to say so. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { sendersLedger } from '../../functions/wiring.ts';
import { STEPS } from '../../lib/platform/names.ts';

/** The last try of a sender may start this long before its time is over: see RESERVE_MS in send.ts. */
const RESERVE_MS = 4000;

test('one call of a sender to a ledger that hangs ends within what it keeps free', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = new DynamoDBClient({
    ...sendersLedger,
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const startedAt = performance.now();
  await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
  expect(performance.now() - startedAt).toBeLessThan(RESERVE_MS);
  expect(sockets.length, 'tries that arrived').toBe(2);
  expect(RESERVE_MS).toBeLessThan(STEPS.Send.timeoutSeconds * 1000);
  client.destroy();
  for (const socket of sockets) socket.destroy();
  server.close();
});

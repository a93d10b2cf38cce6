/** One function asks another through the SDK's own client; what is no answer of the API is never passed on as one. */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, expect, test } from 'vitest';
import { functionAsker } from '../../functions/ask-function.ts';
import { type Lambda, localArn, startLambda } from '../../lib/local/lambda.ts';

const ANSWER = { statusCode: 404, headers: { 'content-type': 'application/json' }, body: '{"é":"確定"}' };
const EVENT = { version: '2.0', body: '{"dryRun":true}', headers: { 'x-name': 'é' } };
const open: Lambda[] = [];

afterEach(async () => {
  for (const lambda of open.splice(0)) await lambda.close();
});

interface World {
  readonly ask: (event?: unknown) => Promise<unknown>;
  readonly calls: unknown[];
}

async function worldWith(
  answer: () => unknown,
  { name = 'dry-run', timeoutSeconds = 25, deadlineMs = 20_000 } = {},
): Promise<World> {
  const calls: unknown[] = [];
  const lambda = await startLambda({
    functions: [{ function: 'dry-run', timeoutSeconds }],
    invoke: async (functionName, payload) => {
      calls.push({ functionName, payload });
      return answer();
    },
  });
  open.push(lambda);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new LambdaClient({ endpoint: lambda.endpoint, region: 'us-east-1', credentials });
  const asker = functionAsker(client, localArn(name), deadlineMs);
  return { ask: (event = EVENT) => asker(event), calls };
}

test('the event arrives as it came, once, and the answer comes back as it was given', async () => {
  const { ask, calls } = await worldWith(() => ANSWER);
  expect(await ask()).toEqual(ANSWER);
  expect(calls).toEqual([{ functionName: 'dry-run', payload: EVENT }]);
});

test.each<[string, () => unknown, string]>([
  ['throws', () => Promise.reject(new Error('ledger at 10.0.0.7')), 'AskedFunctionFailed'],
  ['answers nothing', () => undefined, 'ZodError'],
  ['answers a text', () => 'fine', 'ZodError'],
  ['answers without a status', () => ({ ...ANSWER, statusCode: undefined }), 'ZodError'],
  ['answers a status that is none', () => ({ ...ANSWER, statusCode: 42 }), 'ZodError'],
  ['answers a header that is no text', () => ({ ...ANSWER, headers: { etag: 1 } }), 'ZodError'],
])('a function that %s has not answered, and is not asked again', async (_, answer, name) => {
  const { ask, calls } = await worldWith(answer);
  const failure = await ask().catch((error: unknown) => error);
  expect(failure).toMatchObject({ name });
  expect(String(failure)).not.toContain('10.0.0.7');
  expect(calls).toHaveLength(1);
});

test('a function that outlives its time limit has failed, and is not asked again', async () => {
  const { ask, calls } = await worldWith(() => new Promise(() => undefined), { timeoutSeconds: 0.05 });
  await expect(ask()).rejects.toMatchObject({ name: 'AskedFunctionFailed' });
  expect(calls).toHaveLength(1);
});

test('nobody waits beyond the deadline, however often the SDK would try', async () => {
  const { ask, calls } = await worldWith(() => new Promise(() => undefined), { deadlineMs: 300 });
  await expect(ask()).rejects.toThrow();
  expect(calls).toHaveLength(1);
});

test('a function that may not be asked does not exist', async () => {
  const { ask, calls } = await worldWith(() => ANSWER, { name: 'send' });
  await expect(ask()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(calls).toEqual([]);
});

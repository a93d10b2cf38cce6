import { once } from 'node:events';
import {
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, expect, test } from 'vitest';
import type { ClosedExecution } from '../../lib/local/executions.ts';
import { localDefinition, type StepFunctions, startStepFunctions } from '../../lib/local/step-functions.ts';
import { endAll, runModule } from './child-process.ts';

const ARN = 'arn:aws:states:eu-west-1:000000000000:stateMachine:kakutei';
const INPUT = JSON.stringify({ tenant: 'acme', intentId: 'int_1' });
const SOURCE = new URL('../../lib/local/step-functions.ts', import.meta.url).href;

type Step = (payload: unknown) => Promise<unknown>;

interface Stack {
  readonly sfn: SFNClient;
  readonly server: StepFunctions;
  readonly calls: { readonly name: string; readonly payload: unknown }[];
  /** The next execution to end. */
  readonly closed: () => Promise<ClosedExecution>;
}

const open: Stack[] = [];

afterEach(async () => {
  for (const { sfn, server } of open.splice(0)) {
    sfn.destroy();
    await server.close();
  }
  await endAll();
});

test('the happy path enters five states, and every step gets the execution input', async () => {
  const stack = await startStack({ send: next('verify'), verify: next('end') });
  const closed = stack.closed();
  const { executionArn, startDate } = await stack.sfn.send(startCommand('int_1-1'));
  expect(await closed).toEqual({ name: 'int_1-1', status: 'SUCCEEDED', statesEntered: 5 });
  expect(stack.calls).toEqual([
    { name: 'send', payload: JSON.parse(INPUT) },
    { name: 'verify', payload: JSON.parse(INPUT) },
  ]);
  expect(await describeOf(stack, executionArn)).toMatchObject({
    status: 'SUCCEEDED',
    name: 'int_1-1',
    stateMachineArn: ARN,
    input: INPUT,
    output: '{"next":"end"}',
    startDate,
    stopDate: expect.any(Date),
  });
  expect(stack.server.running()).toBe(0);
});

test('the same name and input while it runs is the same execution', async () => {
  const held = heldStep();
  const stack = await startStack({ send: held.step });
  const first = await stack.sfn.send(startCommand('same'));
  await held.called;
  const second = await stack.sfn.send(startCommand('same'));
  expect(second.executionArn).toBe(first.executionArn);
  expect(second.startDate).toEqual(first.startDate);
  expect(stack.calls).toHaveLength(1);
  expect(await describeOf(stack, first.executionArn)).toMatchObject({ status: 'RUNNING', input: INPUT });
});

test('a start whose answer is lost is repeated by the client and starts nothing twice', async () => {
  const held = heldStep();
  const stack = await startStack({ send: held.step });
  let lost = 0;
  stack.sfn.middlewareStack.add(
    (send) => async (args) => {
      const answer = await send(args);
      if (lost > 0) return answer;
      lost += 1;
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', name: 'TimeoutError' });
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  const { $metadata } = await stack.sfn.send(startCommand('lost'));
  expect(lost, 'the fault was hit').toBe(1);
  expect($metadata.attempts).toBe(2);
  expect(stack.calls).toHaveLength(1);
  expect(stack.server.running()).toBe(1);
});

test('the same name with another input is refused while it runs', async () => {
  const stack = await startStack({ send: heldStep().step });
  await stack.sfn.send(startCommand('taken'));
  await expect(stack.sfn.send(startCommand('taken', '{}'))).rejects.toMatchObject({
    name: 'ExecutionAlreadyExists',
    $metadata: { httpStatusCode: 400 },
  });
});

test('the same name and input is refused once the execution has ended', async () => {
  const stack = await startStack({ send: next('end') });
  const closed = stack.closed();
  await stack.sfn.send(startCommand('done'));
  await closed;
  await expect(stack.sfn.send(startCommand('done'))).rejects.toMatchObject({
    name: 'ExecutionAlreadyExists',
  });
});

test('an execution without a name gets one', async () => {
  const stack = await startStack({ send: next('end') });
  const [a, b] = await Promise.all([stack.sfn.send(unnamed()), stack.sfn.send(unnamed())]);
  expect(a.executionArn).toContain(':execution:kakutei:');
  expect(a.executionArn).not.toBe(b.executionArn);
});

test('a name that is empty, too long, or holds a character that is not allowed is refused', async () => {
  const stack = await startStack({});
  const bad = [
    '',
    'x'.repeat(81),
    'a b',
    'a\u0000b',
    'a\u009fb',
    ...[...'<>{}[]?*"#%\\^|~`$&,;:/'].map((c) => `a${c}b`),
  ];
  for (const name of bad) {
    const refusal = expect(stack.sfn.send(startCommand(name)), JSON.stringify(name)).rejects;
    await refusal.toMatchObject({ name: 'InvalidName' });
  }
  expect(stack.server.running()).toBe(0);
});

test('a name of 80 allowed characters is taken', async () => {
  const stack = await startStack({ send: next('end') });
  const { executionArn } = await stack.sfn.send(startCommand(`${'x'.repeat(70)}-_.+!@()='`));
  expect(executionArn).toMatch(/:execution:kakutei:x{70}-_\.\+!@\(\)='$/);
});

test('an input that is no JSON, or over 262144 bytes, is refused; exactly 262144 is taken', async () => {
  const stack = await startStack({ send: next('end') });
  const exact = JSON.stringify('é'.repeat(131_071));
  expect(Buffer.byteLength(exact)).toBe(262_144);
  const invalid = { name: 'InvalidExecutionInput' };
  await expect(stack.sfn.send(startCommand('a', '{"cut":'))).rejects.toMatchObject(invalid);
  await expect(stack.sfn.send(startCommand('b', ''))).rejects.toMatchObject(invalid);
  await expect(stack.sfn.send(startCommand('c', ` ${exact}`))).rejects.toMatchObject(invalid);
  await expect(stack.sfn.send(startCommand('d', exact))).resolves.toHaveProperty('executionArn');
});

test('what does not exist is named so', async () => {
  const { sfn } = await startStack({});
  const other = new StartExecutionCommand({ stateMachineArn: `${ARN}2`, name: 'a', input: INPUT });
  await expect(sfn.send(other)).rejects.toMatchObject({ name: 'StateMachineDoesNotExist' });
  const missing = ARN.replace(':stateMachine:', ':execution:');
  for (const executionArn of [`${missing}:nothing`, `${ARN}:nothing`, 'nothing']) {
    const describe = new DescribeExecutionCommand({ executionArn });
    await expect(sfn.send(describe)).rejects.toMatchObject({ name: 'ExecutionDoesNotExist' });
  }
  const list = new ListExecutionsCommand({ stateMachineArn: ARN });
  await expect(sfn.send(list)).rejects.toMatchObject({ name: 'UnknownOperationException' });
});

test('a request that is no JSON, or of another service, is refused', async () => {
  const { server } = await startStack({});
  const post = async (target: string, body: string) => {
    const headers = { 'x-amz-target': target };
    const answer = await fetch(server.endpoint, { method: 'POST', headers, body });
    return [answer.status, await answer.json()];
  };
  expect(await post('AWSStepFunctions.StartExecution', '{')).toMatchObject([
    400,
    { __type: 'SerializationException' },
  ]);
  expect(await post('AWSStepFunctions.StartExecution', '{}')).toMatchObject([
    400,
    { __type: 'ValidationException' },
  ]);
  expect(await post('DynamoDB_20120810.ListTables', '{}')).toMatchObject([
    400,
    { __type: 'UnknownOperationException' },
  ]);
});

test('a send that throws is followed by a wait and a search, never by another send', async () => {
  const stack = await startStack({ send: fails(), search: next('end') }, afterTrouble(1));
  const closed = stack.closed();
  await stack.sfn.send(startCommand('trouble'));
  expect(await closed).toMatchObject({ status: 'SUCCEEDED', statesEntered: 5 });
  expect(stack.calls.map((call) => call.name)).toEqual(['send', 'search']);
});

test('wait takes the seconds of the step, and search comes after it', async () => {
  const wait = { next: 'wait', waitSeconds: 1 };
  const stack = await startStack({ send: async () => wait, search: next('end') });
  const closed = stack.closed();
  const { executionArn } = await stack.sfn.send(startCommand('wait'));
  expect(await closed).toMatchObject({ status: 'SUCCEEDED', statesEntered: 6 });
  const { startDate, stopDate } = await describeOf(stack, executionArn);
  expect(Number(stopDate) - Number(startDate)).toBeGreaterThanOrEqual(1_000);
  expect(stack.calls.map((call) => call.name)).toEqual(['send', 'search']);
});

test.each([
  ['a word that nobody knows', next('dance')],
  ['no word at all', async () => ({})],
])('%s ends in failure', async (_case, send) => {
  const stack = await startStack({ send });
  const closed = stack.closed();
  const { executionArn } = await stack.sfn.send(startCommand('fail'));
  expect(await closed).toMatchObject({ status: 'FAILED' });
  expect(await describeOf(stack, executionArn)).toMatchObject({ status: 'FAILED' });
});

test('a search, verify or hand-over that throws ends in failure with the named error', async () => {
  for (const step of ['search', 'verify', 'hand-over']) {
    const stack = await startStack({ send: next(step.replace('-', '_')), [step]: fails() });
    const closed = stack.closed();
    const { executionArn } = await stack.sfn.send(startCommand('fail'));
    expect(await closed).toMatchObject({ status: 'FAILED' });
    expect(await describeOf(stack, executionArn)).toMatchObject({ error: 'StepFailed' });
    expect(stack.calls.map((call) => call.name)).toEqual(['send', step]);
  }
});

test('closing aborts what runs and does not wait for a step that hangs', async () => {
  const held = heldStep();
  const stack = await startStack({ send: held.step });
  const closed = stack.closed();
  await stack.sfn.send(startCommand('hangs'));
  await held.called;
  await stack.server.close();
  expect(await closed).toEqual({ name: 'hangs', status: 'ABORTED', statesEntered: 1 });
  expect(stack.server.running()).toBe(0);
});

test.each([
  ['a wait of an hour', `async () => ({ next: 'wait', waitSeconds: 3600 })`],
  ['a step that never answers', `() => new Promise(() => {})`],
])('after closing, %s does not keep the process alive', async (_case, invoke) => {
  const { child } = await runModule(`
    import { localDefinition, startStepFunctions } from '${SOURCE}';
    const called = Promise.withResolvers();
    const step = ${invoke};
    const server = await startStepFunctions({
      definition: localDefinition(),
      machineArn: '${ARN}',
      invoke: (name, payload) => { setImmediate(called.resolve); return step(); },
    });
    await fetch(server.endpoint, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSStepFunctions.StartExecution' },
      body: JSON.stringify({ stateMachineArn: '${ARN}', name: 'a', input: '{}' }),
    });
    await called.promise;
    process.stdin.destroy();
    console.log(server.running());
    await server.close();
  `);
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

async function startStack(
  steps: Record<string, Step>,
  definition: object = localDefinition(),
): Promise<Stack> {
  const calls: { name: string; payload: unknown }[] = [];
  const waiting: ((closed: ClosedExecution) => void)[] = [];
  const server = await startStepFunctions({
    definition,
    machineArn: ARN,
    invoke: async (name, payload) => {
      calls.push({ name, payload });
      return steps[name]?.(payload);
    },
    onClosed: (closed) => waiting.shift()?.(closed),
  });
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const sfn = new SFNClient({ endpoint: server.endpoint, region: 'eu-west-1', credentials });
  const closed = () => new Promise<ClosedExecution>((resolve) => waiting.push(resolve));
  const stack = { sfn, server, calls, closed };
  open.push(stack);
  return stack;
}

function startCommand(name: string, input = INPUT): StartExecutionCommand {
  return new StartExecutionCommand({ stateMachineArn: ARN, name, input });
}

function unnamed(): StartExecutionCommand {
  return new StartExecutionCommand({ stateMachineArn: ARN });
}

function describeOf(stack: Stack, executionArn: string | undefined): Promise<DescribeExecutionCommandOutput> {
  return stack.sfn.send(new DescribeExecutionCommand({ executionArn }));
}

function next(word: string): Step {
  return async () => ({ next: word });
}

function fails(): Step {
  return async () => {
    throw new Error('the function broke');
  };
}

/** A step that never answers; `called` resolves when it is called. */
function heldStep(): { step: Step; called: Promise<void> } {
  const called = Promise.withResolvers<void>();
  return {
    called: called.promise,
    step: () => {
      called.resolve();
      return new Promise(() => {});
    },
  };
}

/** The same machine with a shorter pause, so that the test need not wait five seconds. */
function afterTrouble(seconds: number): object {
  const text = JSON.stringify(localDefinition());
  const shorter = text.replace('"Type":"Wait","Seconds":5', `"Type":"Wait","Seconds":${seconds}`);
  if (shorter === text) throw new Error('The machine has no pause after trouble');
  return JSON.parse(shorter);
}

/**
 * A local endpoint of Step Functions for the real SDK client: StartExecution and DescribeExecution with the
 * real rules for names, inputs and repeated starts. Everything else is an unknown operation.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import * as z from 'zod';
import { newId } from '../platform/ids.ts';
import { STEPS } from '../platform/names.ts';
import machineTemplate from '../workflow/machine.asl.json' with { type: 'json' };
import { type ClosedExecution, createExecutions, type Execution, type Executions } from './executions.ts';
import { listenOnLoopback, readBody } from './loopback.ts';

const TARGET = 'AWSStepFunctions.';
const MAX_REQUEST_BYTES = 1_048_576;
const MAX_INPUT_BYTES = 262_144;
/** Not allowed in a name: white space, brackets, wildcards, special and control characters. */
const NAME = /^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]{1,80}$/u;

export interface StepFunctionsOptions {
  /** A definition in JSONPath without placeholders left; see `localDefinition`. */
  readonly definition: object;
  /** `arn:aws:states:<region>:<account>:stateMachine:<name>`; the only machine that exists here. */
  readonly machineArn: string;
  /** Calls a function; an error it throws is the task's error. */
  readonly invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  readonly onClosed?: (closed: ClosedExecution) => void;
  /** Any free port when left out. */
  readonly port?: number;
}

export interface StepFunctions {
  readonly endpoint: string;
  /** Executions that have not ended. */
  readonly running: () => number;
  /** Takes no more requests, aborts what runs, and resolves when all of it is recorded as aborted. */
  readonly close: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

type Operation = (input: unknown) => Answer;

/** The deployed machine with the local names of its functions in place of the template's placeholders. */
export function localDefinition(): object {
  const names = Object.entries(STEPS).map(
    ([state, step]) => [`\${${state}Function}`, step.function] as const,
  );
  let text = JSON.stringify(machineTemplate);
  for (const [placeholder, name] of names) text = text.replaceAll(placeholder, name);
  if (text.includes('${')) throw new Error('The machine names a function that no step defines');
  return JSON.parse(text);
}

export async function startStepFunctions(options: StepFunctionsOptions): Promise<StepFunctions> {
  const executionArn = (name: string) =>
    `${options.machineArn.replace(':stateMachine:', ':execution:')}:${name}`;
  const executions = createExecutions({
    ...options,
    // The library checks the definition itself, against its schema, and throws.
    definition: options.definition as StateMachineDefinition,
    arnOf: executionArn,
  });
  const operations = new Map<string, Operation>([
    ['StartExecution', startExecution(options.machineArn, executionArn, executions)],
    ['DescribeExecution', describeExecution(options.machineArn, executionArn, executions)],
  ]);
  const server = createServer((request, response) => {
    answer(request, operations).then(
      ({ status, body }) => {
        response.writeHead(status, {
          'content-type': 'application/x-amz-json-1.0',
          'x-amzn-requestid': newId(),
        });
        response.end(JSON.stringify(body));
      },
      () => response.destroy(),
    );
  });
  const listening = await listenOnLoopback(server, options.port ?? 0);
  const close = async () => {
    await listening.close();
    await executions.abortAll();
  };
  return { endpoint: listening.url, running: executions.running, close };
}

async function answer(request: IncomingMessage, operations: Map<string, Operation>): Promise<Answer> {
  const body = await readBody(request, MAX_REQUEST_BYTES);
  const target = String(request.headers['x-amz-target'] ?? '');
  const operation = target.startsWith(TARGET) ? operations.get(target.slice(TARGET.length)) : undefined;
  if (request.method !== 'POST' || operation === undefined) return refuse('UnknownOperationException', '');
  const input = body === null ? undefined : parsed(body.toString('utf8'));
  return input === undefined ? refuse('SerializationException', 'Not a JSON request') : operation(input);
}

const startInput = z.looseObject({
  stateMachineArn: z.string(),
  name: z.string().optional(),
  input: z.string().default('{}'),
});

function startExecution(
  machineArn: string,
  executionArn: (name: string) => string,
  executions: Executions,
): Operation {
  return (request) => {
    const { success, data } = startInput.safeParse(request);
    if (!success) return refuse('ValidationException', 'stateMachineArn is missing');
    const { name = newId(), input } = data;
    if (data.stateMachineArn !== machineArn) {
      return refuse('StateMachineDoesNotExist', `State Machine Does Not Exist: '${data.stateMachineArn}'`);
    }
    if (!NAME.test(name)) return refuse('InvalidName', `Invalid Name: '${name}'`);
    if (Buffer.byteLength(input) > MAX_INPUT_BYTES || parsed(input) === undefined) {
      return refuse('InvalidExecutionInput', 'Invalid State Machine Execution Input');
    }
    const started = executions.start(name, input);
    switch (started.kind) {
      case 'started':
        return ok({ executionArn: executionArn(name), startDate: started.startedAt / 1000 });
      case 'exists':
        return refuse('ExecutionAlreadyExists', `Execution Already Exists: '${executionArn(name)}'`);
      case 'limit':
        return refuse('ExecutionLimitExceeded', 'Too many executions are running');
    }
  };
}

const describeInput = z.looseObject({ executionArn: z.string() });

function describeExecution(
  machineArn: string,
  executionArn: (name: string) => string,
  executions: Executions,
): Operation {
  return (request) => {
    const { success, data } = describeInput.safeParse(request);
    if (!success) return refuse('ValidationException', 'executionArn is missing');
    const name = data.executionArn.slice(executionArn('').length);
    const found = data.executionArn === executionArn(name) ? executions.find(name) : null;
    if (found === null) {
      return refuse('ExecutionDoesNotExist', `Execution Does Not Exist: '${data.executionArn}'`);
    }
    return ok({ executionArn: data.executionArn, stateMachineArn: machineArn, ...describe(found) });
  };
}

/** Absent members stay absent: JSON leaves `undefined` out. Dates are seconds since the epoch. */
function describe({ startedAt, stoppedAt, ...execution }: Execution): object {
  return {
    ...execution,
    startDate: startedAt / 1000,
    stopDate: stoppedAt === undefined ? undefined : stoppedAt / 1000,
  };
}

function ok(body: object): Answer {
  return { status: 200, body };
}

function refuse(type: string, message: string): Answer {
  return { status: 400, body: { __type: type, message } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// @ts-expect-error The package ships no types.
import untypedValidate from 'asl-validator';
import { describe, expect, test } from 'vitest';
import { localDefinition } from '../../lib/local/step-functions.ts';
import { STEPS } from '../../lib/platform/names.ts';
import machine from '../../lib/workflow/machine.asl.json' with { type: 'json' };

interface State {
  readonly Type: string;
  readonly Next?: string;
  readonly Seconds?: number;
  readonly SecondsPath?: string;
  readonly Resource?: string;
  readonly Parameters?: { readonly FunctionName: string; readonly 'Payload.$': string };
  readonly TimeoutSeconds?: number;
  readonly Catch?: readonly { readonly ErrorEquals: readonly string[]; readonly Next: string }[];
  readonly Choices?: readonly { readonly StringEquals: string; readonly Next: string }[];
  readonly Default?: string;
}

const validate: (definition: object) => { isValid: boolean; errorsText: () => string } = untypedValidate;
const states: Readonly<Record<string, State>> = machine.States;
const all = Object.entries(states);
const tasks = all.filter(([, state]) => state.Type === 'Task');
const choices = all.filter(([, state]) => state.Type === 'Choice');
const { AfterTrouble, Wait, Done, Stopped } = states;
const text = JSON.stringify(machine);

test('the machine is valid, as a template and with its functions named', () => {
  for (const definition of [structuredClone(machine), localDefinition()]) {
    const result = validate(definition);
    expect(result.isValid, result.errorsText()).toBe(true);
  }
});

test('only states that run the same locally and deployed are used', () => {
  const allowed = ['Task', 'Choice', 'Wait', 'Pass', 'Succeed', 'Fail'];
  for (const [name, state] of all) expect(allowed, name).toContain(state.Type);
});

test('the machine speaks JSONPath only', () => {
  for (const word of ['QueryLanguage', 'JSONata', 'Assign', 'Arguments', 'Output', '{%']) {
    expect(text).not.toContain(`"${word}"`);
  }
  expect(text).not.toContain('{%');
});

test('nothing is ever retried by the machine: one run of send, one write', () => {
  expect(text).not.toContain('"Retry"');
});

test('it starts with send, and after every wait comes search', () => {
  expect(machine.StartAt).toBe('Send');
  const waits = all.filter(([, state]) => state.Type === 'Wait');
  expect(waits.length).toBeGreaterThan(0);
  for (const [name, wait] of waits) expect(wait.Next, name).toBe('Search');
  expect(AfterTrouble?.Seconds).toBe(5);
  expect(Wait?.SecondsPath).toBe('$.waitSeconds');
});

test('the tasks are the steps', () => {
  expect(tasks.map(([name]) => name).toSorted()).toEqual(Object.keys(STEPS).toSorted());
});

describe.each(tasks)('%s', (name, task) => {
  test('calls its own function with the execution input, whatever came before', () => {
    expect(task.Resource).toBe('arn:aws:states:::lambda:invoke');
    expect(task.Parameters).toEqual({
      FunctionName: `\${${name}Function}`,
      'Payload.$': '$$.Execution.Input',
    });
  });

  test('outlives its function, so that the function ends by its own limit', () => {
    const step = Object.entries(STEPS).find(([state]) => state === name)?.[1];
    expect(task.TimeoutSeconds ?? 0).toBeGreaterThan(step?.timeoutSeconds ?? Number.POSITIVE_INFINITY);
  });

  test('catches everything: send into a pause before search, the others into failure', () => {
    const next = name === 'Send' ? 'AfterTrouble' : 'Stopped';
    expect(task.Catch).toEqual([{ ErrorEquals: ['States.ALL'], Next: next }]);
  });
});

test('every word has one way, and an unknown word is a failure', () => {
  const [choice] = choices.map(([, state]) => state);
  expect(choices).toHaveLength(1);
  expect(choice?.Choices?.map((one) => [one.StringEquals, one.Next])).toEqual([
    ['verify', 'Verify'],
    ['search', 'Search'],
    ['send', 'Send'],
    ['wait', 'Wait'],
    ['hand_over', 'HandOver'],
    ['end', 'Done'],
  ]);
  expect(choice?.Default).toBe('Stopped');
  expect(Done?.Type).toBe('Succeed');
  expect(Stopped?.Type).toBe('Fail');
});

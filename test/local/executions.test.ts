import { expect, test } from 'vitest';
import { createExecutions } from '../../lib/local/executions.ts';

const KEPT_NAMES = 20_000;
const KEPT_DETAILS = 1_000;

test('the newest names are remembered, older ones become free again, and details go first', async () => {
  const ended = Promise.withResolvers<void>();
  let closed = 0;
  const executions = createExecutions({
    definition: { StartAt: 'Done', States: { Done: { Type: 'Succeed' } } },
    arnOf: (name) => name,
    invoke: async () => null,
    onClosed: () => {
      closed += 1;
      if (closed === KEPT_NAMES + 1) ended.resolve();
    },
  });
  for (let n = 0; n <= KEPT_NAMES; n++) {
    executions.start(`e${n}`, '{}');
    // As real starts do, one request at a time.
    if (n % 100 === 0) await new Promise(setImmediate);
  }
  await ended.promise;
  expect(executions.find('e0')).toBeNull();
  expect(executions.find('e1')).toMatchObject({ status: 'SUCCEEDED' });
  expect(executions.find('e1')).not.toHaveProperty('input');
  expect(executions.find(`e${KEPT_NAMES - KEPT_DETAILS + 1}`)).toMatchObject({ input: '{}', output: '{}' });
  expect(executions.start('e1', '{}').kind).toBe('exists');
  expect(executions.start('e0', '{}').kind).toBe('started');
});

test('a definition that is not valid is refused at start', () => {
  const definition = { StartAt: 'Nowhere', States: { Done: { Type: 'Succeed' as const } } };
  const options = { definition, arnOf: String, invoke: async () => null };
  expect(() => createExecutions(options)).toThrow('State machine definition is invalid');
});

/** What one intent may cost on the happy path, counted on the client and by DynamoDB. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Budget, measureBudget } from '../bench/budget.ts';
import { openWorkbench, type Workbench } from '../bench/workbench.ts';

const INTENTS = 20;
let bench: Workbench | undefined;
let budget: Budget;

beforeAll(async () => {
  bench = await openWorkbench();
  budget = await measureBudget(bench, INTENTS);
});
afterAll(() => bench?.stop());

test('every intent is confirmed with one effect in the warehouse’s book', () => {
  const { confirmed, effects, mostEffects } = budget;
  expect({ confirmed, effects, mostEffects }).toEqual({
    confirmed: INTENTS,
    effects: INTENTS,
    mostEffects: 1,
  });
});

test('create, claim, result, binding and confirm are the only writes, for the client and for DynamoDB', () => {
  expect(budget.mostWrites).toEqual({ client: 5, dynamoDb: 5 });
  const { writes, reportedWrites } = budget.traffic;
  expect({ writes, reportedWrites }).toEqual({ writes: 5 * INTENTS, reportedWrites: 5 * INTENTS });
});

test('Send, Choice, Verify, Choice and Succeed are the only states entered', () => {
  expect(budget.mostStates).toBe(5);
});

test('the ledger is read twice by send and once by verify', () => {
  const { gets, queries, keys } = budget.traffic;
  expect({ gets, queries, keys }).toEqual({ gets: 3 * INTENTS, queries: 0, keys: 7 * INTENTS });
});

test('no request is refused or repeated, and no index but due and list is touched', () => {
  const { failed, repeats, indexes } = budget.traffic;
  expect({ failed, repeats }).toEqual({ failed: 0, repeats: 0 });
  expect(Object.keys(indexes).toSorted()).toEqual(['due', 'list']);
});

import { App, Stack } from 'aws-cdk-lib';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import { ACKNOWLEDGED } from '../../cdk/acknowledged.ts';
import { described } from './synthesised.ts';

test.each([AwsSolutionsChecks, ServerlessChecks])('%o finds nothing that is not acknowledged', (Pack) => {
  const { node } = described();
  const { violations } = new Pack(node.root).validateScope(node.root);
  expect(violations.map(({ ruleName, violatingResources }) => ({ ruleName, violatingResources }))).toEqual(
    [],
  );
});

test('the packs do look: a bare table is found', () => {
  const app = new App();
  new Table(new Stack(app, 'Bare'), 'Table', { partitionKey: { name: 'pk', type: AttributeType.STRING } });
  const { violations } = new AwsSolutionsChecks(app).validateScope(app);
  expect(violations.map(({ ruleName }) => ruleName)).toContain('AwsSolutions-DDB3');
});

test('at most ten rules are acknowledged, each with a reason', () => {
  const reasons = Object.values(ACKNOWLEDGED);
  expect(reasons.length).toBeLessThanOrEqual(10);
  expect(reasons.filter((reason) => reason.length < 60)).toEqual([]);
});

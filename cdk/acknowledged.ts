/** What the rule packs find and we keep, each with its reason. Tests hold the list to ten. */
import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

const ONLY_UNNAMEABLE =
  'X-Ray and the delivery of Step Functions logs have no resources to name; only their actions, each listed, stand on "*".';

const THE_LEDGER_IS_THE_QUEUE =
  'What is due stays in the ledger and the next sweep finds it; a dead letter would only be a second, older copy of that fact.';

export const ACKNOWLEDGED = {
  'AwsSolutions-IAM5[Resource::*]': ONLY_UNNAMEABLE,
  'AwsSolutions-APIG4':
    'No caller to authorise: /health says that the service is up, /openapi.json what the API is, of no tenant anything; /webhooks checks a signature itself.',
  'Serverless-LambdaStarPermissions': ONLY_UNNAMEABLE,
  'Serverless-LambdaDLQ': THE_LEDGER_IS_THE_QUEUE,
  'Serverless-LambdaAsyncFailureDestination': THE_LEDGER_IS_THE_QUEUE,
} as const;

export function acknowledge(construct: IConstruct, ...ids: readonly (keyof typeof ACKNOWLEDGED)[]): void {
  for (const id of ids) Validations.of(construct).acknowledge({ id, reason: ACKNOWLEDGED[id] });
}

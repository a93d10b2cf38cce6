/**
 * One role per function, with all its statements written down in one inline policy. What constructs get to
 * see refuses later additions, so that no convenience grant can widen a role behind our back.
 */
import { Aws } from 'aws-cdk-lib';
import { type IRole, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { TABLE } from '../lib/platform/names.ts';
import { acknowledge } from './acknowledged.ts';
import type { Access } from './deployed.ts';
import type { SecretArns } from './secrets.ts';
import type { Ledger } from './table.ts';

export interface RoleParts {
  readonly ledger: Ledger;
  readonly secrets: SecretArns;
  readonly logGroup: ILogGroup;
  /** Needed by functions that start runs. */
  readonly machineArn?: string | undefined;
  /** Needed by functions that invoke another one. */
  readonly invokedArn?: string | undefined;
}

/** The role of one function: its log group, its part of the ledger, and what its access line adds. */
export function functionRole(scope: Construct, id: string, access: Access, parts: RoleParts): IRole {
  return closedRole(scope, id, new ServicePrincipal('lambda.amazonaws.com'), [
    // The ARN of a log group ends in `:*`, which stands for its streams.
    allow([parts.logGroup.logGroupArn], 'logs:CreateLogStream', 'logs:PutLogEvents'),
    ...tableStatements(access, parts.ledger),
    ...keyStatements(access, parts.ledger),
    ...secretStatements(access, parts.secrets),
    ...startStatements(access, parts.machineArn),
    ...invokeStatements(access, parts.invokedArn),
    traces(),
  ]);
}

/** A role whose policy is complete: what a construct wants to add to it later is not added. */
export function closedRole(
  scope: Construct,
  id: string,
  assumedBy: ServicePrincipal,
  statements: readonly PolicyStatement[],
): IRole {
  const policy = new PolicyDocument({ statements: [...statements] });
  const role = new Role(scope, id, { assumedBy, inlinePolicies: { Allowed: policy } });
  if (statements.some((statement) => statement.resources.includes('*'))) {
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'Serverless-LambdaStarPermissions');
  }
  return role.withoutPolicyUpdates();
}

/** A service that may use a role only on behalf of this account. */
export function ownService(name: string): ServicePrincipal {
  return new ServicePrincipal(name, {
    conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  });
}

export function allow(resources: readonly string[], ...actions: readonly string[]): PolicyStatement {
  return new PolicyStatement({ resources: [...resources], actions: [...actions] });
}

/** X-Ray has no resources to name, so these two actions can only be allowed on all. */
export function traces(): PolicyStatement {
  return allow(['*'], 'xray:PutTraceSegments', 'xray:PutTelemetryRecords');
}

function tableStatements(access: Access, { table }: Ledger): readonly PolicyStatement[] {
  // A statement without actions would not deploy; the API document asks no ledger.
  if (access.table.length === 0) return [];
  const onTable = allow([table.tableArn], ...access.table.map((action) => `dynamodb:${action}`));
  if (access.index === undefined) return [onTable];
  const index = `${table.tableArn}/index/${TABLE.indexes[access.index].name}`;
  return [onTable, allow([index], 'dynamodb:Query')];
}

/** The table's key, usable through DynamoDB only: what the function holds itself it cannot decrypt. */
function keyStatements(access: Access, { key }: Ledger): readonly PolicyStatement[] {
  if (access.table.length === 0) return [];
  const writes = access.table.includes('PutItem') || access.table.includes('UpdateItem');
  const statement = writes
    ? allow([key.keyArn], 'kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey')
    : allow([key.keyArn], 'kms:Decrypt');
  statement.addCondition('StringEquals', { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` });
  return [statement];
}

function secretStatements(access: Access, secrets: SecretArns): readonly PolicyStatement[] {
  const arns = access.secrets === undefined ? [] : secrets[access.secrets];
  // A statement without resources would not deploy; a configuration may name no secrets.
  return arns.length === 0 ? [] : [allow(arns, 'secretsmanager:GetSecretValue')];
}

function startStatements(access: Access, machineArn: string | undefined): readonly PolicyStatement[] {
  if (access.startsRuns !== true) return [];
  if (machineArn === undefined)
    throw new Error('Cannot allow runs to be started: the machine is not there yet');
  return [allow([machineArn], 'states:StartExecution')];
}

function invokeStatements(access: Access, invokedArn: string | undefined): readonly PolicyStatement[] {
  if (access.invokes === undefined) return [];
  if (invokedArn === undefined)
    throw new Error(`Cannot allow "${access.invokes}" to be invoked: it is not there yet`);
  return [allow([invokedArn], 'lambda:InvokeFunction')];
}

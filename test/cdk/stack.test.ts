import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deployedFunctions } from '../../cdk/deployed.ts';
import { endpoints } from '../../functions/endpoints.ts';
import { logLine } from '../../lib/platform/log.ts';
import { ENV, TABLE } from '../../lib/platform/names.ts';
import { nameOf, ofType, type Resource, ROOT, type Synthesised, synthesised, TOKENS } from './synthesised.ts';

let stack: Synthesised;
beforeAll(() => {
  stack = synthesised();
}, 60_000);

function only(type: string): Resource {
  const found = ofType(stack, type);
  expect(found).toHaveLength(1);
  return z.tuple([z.string(), z.custom<Resource>()]).parse(found[0])[1];
}

describe('ledger', () => {
  test('the table is kept, restorable, protected, on demand, and has no TTL', () => {
    const table = only('AWS::DynamoDB::Table');
    expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    expect(table.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      KeySchema: [key(TABLE.partitionKey, 'HASH'), key(TABLE.sortKey, 'RANGE')],
    });
    expect(table.Properties['TimeToLiveSpecification']).toBeUndefined();
  });

  test('the table is encrypted under a key of ours that rotates and is kept', () => {
    const encryption = only('AWS::DynamoDB::Table').Properties['SSESpecification'];
    expect(encryption).toMatchObject({ SSEEnabled: true, SSEType: 'KMS' });
    expect(nameOf(z.object({ KMSMasterKeyId: z.unknown() }).parse(encryption).KMSMasterKeyId)).toBe(
      'LedgerKey',
    );
    const master = only('AWS::KMS::Key');
    expect(master).toMatchObject({ DeletionPolicy: 'Retain', Properties: { EnableKeyRotation: true } });
  });

  test('its indexes are those of the names file, and project keys only', () => {
    const expected = Object.values(TABLE.indexes).map((index) => ({
      IndexName: index.name,
      KeySchema: [key(index.partitionKey, 'HASH'), key(index.sortKey, 'RANGE')],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    }));
    expect(only('AWS::DynamoDB::Table').Properties['GlobalSecondaryIndexes']).toEqual(expected);
  });
});

describe('functions', () => {
  const functions = () => ofType(stack, 'AWS::Lambda::Function');

  test('every function runs on Node 24, ARM, with its timeout, its logs and 256 to 512 MB', () => {
    expect(functions()).toHaveLength(deployedFunctions().length);
    for (const [id, { Properties }] of functions()) {
      const spec = deployedFunctions().find(({ name }) => Properties['Description'] === `Kakutei: ${name}`);
      expect(Properties, id).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        Timeout: spec?.timeoutSeconds,
        MemorySize: 512,
      });
      const logging = z.object({ LogGroup: z.unknown() }).parse(Properties['LoggingConfig']);
      expect(`${nameOf(logging.LogGroup)}`).toBe(id.replace('Function', 'Logs'));
    }
  });

  test('only functions that start runs know the machine, and no secret is in an environment', () => {
    const known = functions().filter(([, made]) => JSON.stringify(made).includes(ENV.machineArn));
    expect(known.map(([id]) => id)).toEqual(['AcceptFunction', 'ReconcileFunction', 'SweepFunction']);
    for (const [, made] of functions()) {
      const names = z
        .object({ Variables: z.record(z.string(), z.unknown()) })
        .parse(made.Properties['Environment']);
      const strange = Object.keys(names.Variables).filter(
        (name) => name !== ENV.table && name !== ENV.machineArn && name !== ENV.dryRunArn,
      );
      expect(strange).toEqual([]);
    }
  });

  test('only who asks the dry run knows where it is, and it ends before who asks it', () => {
    const known = functions().filter(([, made]) => JSON.stringify(made).includes(ENV.dryRunArn));
    expect(known.map(([id]) => id)).toEqual(['ReconcileFunction']);
    const environment = z
      .object({ Variables: z.record(z.string(), z.unknown()) })
      .parse(known[0]?.[1].Properties['Environment']);
    expect(nameOf(environment.Variables[ENV.dryRunArn])).toBe('DryRunFunction');
    const seconds = (id: string) => Number(stack.resources.get(id)?.Properties['Timeout']);
    expect(seconds('ReconcileFunction') - seconds('DryRunFunction')).toBeGreaterThanOrEqual(2);
  });

  test('only send has its concurrency reserved', () => {
    const reserved = functions().filter(([, made]) => 'ReservedConcurrentExecutions' in made.Properties);
    expect(reserved.map(([id, made]) => [id, made.Properties['ReservedConcurrentExecutions']])).toEqual([
      ['SendFunction', 7],
    ]);
  });

  test('every log group ends its records after a month and outlives the stack', () => {
    const groups = ofType(stack, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(deployedFunctions().length + 2);
    for (const [id, group] of groups) {
      expect(group, id).toMatchObject({ DeletionPolicy: 'Retain', Properties: { RetentionInDays: 30 } });
    }
  });
});

test('a risk of a duplicate is a metric, counted from the log line that search writes', () => {
  const [filter, ...more] = ofType(stack, 'AWS::Logs::MetricFilter').map(([, made]) => made.Properties);
  expect(more).toEqual([]);
  expect(nameOf(filter?.['LogGroupName'])).toBe('SearchLogs');
  const line: unknown = JSON.parse(logLine('error', 'duplicate_risk', {}, 0));
  expect(line).toMatchObject({ event: 'duplicate_risk' });
  expect(filter).toMatchObject({
    FilterPattern: '{ $.event = "duplicate_risk" }',
    MetricTransformations: [{ MetricNamespace: 'Kakutei', MetricName: 'DuplicateRisk', MetricValue: '1' }],
  });
});

describe('nothing is repeated behind our back', () => {
  test('Lambda repeats no asynchronous call of any function', () => {
    const configs = ofType(stack, 'AWS::Lambda::EventInvokeConfig').map(([, config]) => config.Properties);
    expect(configs.map((config) => nameOf(config['FunctionName'])).sort()).toEqual(
      ofType(stack, 'AWS::Lambda::Function')
        .map(([id]) => id)
        .sort(),
    );
    expect(configs.map((config) => config['MaximumRetryAttempts'])).toEqual(configs.map(() => 0));
  });

  test('no state of the machine has a Retry, and every task has a timeout and a Catch', () => {
    const states = Object.entries(machine.parse(JSON.parse(definition())).States);
    expect(states.filter(([, state]) => 'Retry' in state)).toEqual([]);
    const tasks = states.filter(([, state]) => state['Type'] === 'Task');
    expect(tasks.map(([name]) => name)).toEqual(['Send', 'Search', 'Verify', 'HandOver']);
    for (const [, task] of tasks)
      expect(task).toMatchObject({ TimeoutSeconds: expect.any(Number), Catch: [{}] });
  });

  test('the schedule starts the sweep every minute and repeats nothing', () => {
    const target = z
      .object({ Arn: z.unknown(), RoleArn: z.unknown(), RetryPolicy: z.unknown() })
      .parse(only('AWS::Scheduler::Schedule').Properties['Target']);
    expect(only('AWS::Scheduler::Schedule').Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
    });
    expect([nameOf(target.Arn), nameOf(target.RoleArn)]).toEqual(['SweepFunction', 'ScheduleRole']);
    expect(target.RetryPolicy).toEqual({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
  });

  test('no queue, stream or mapping can call a function again', () => {
    expect(ofType(stack, 'AWS::Lambda::EventSourceMapping')).toEqual([]);
    expect(ofType(stack, 'AWS::SQS::Queue')).toEqual([]);
  });
});

const machine = z.object({ States: z.record(z.string(), z.record(z.string(), z.unknown())) });

function definition(): string {
  return z.string().parse(only('AWS::StepFunctions::StateMachine').Properties['DefinitionString']);
}

describe('machine', () => {
  test('the deployed definition is machine.asl.json, byte for byte', () => {
    expect(definition()).toBe(readFileSync(join(ROOT, 'lib/workflow/machine.asl.json'), 'utf8'));
  });

  test('each name in it stands for the function of that state', () => {
    const filled = only('AWS::StepFunctions::StateMachine').Properties['DefinitionSubstitutions'];
    const names = Object.entries(z.record(z.string(), z.unknown()).parse(filled)).map(([name, arn]) => [
      name,
      nameOf(arn),
    ]);
    const wanted = [...definition().matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect(names).toEqual(wanted.map((name) => [name, name]));
  });

  test('it is a Standard machine, traced, and logs every event without its data', () => {
    expect(only('AWS::StepFunctions::StateMachine').Properties).toMatchObject({
      StateMachineType: 'STANDARD',
      TracingConfiguration: { Enabled: true },
      LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
    });
  });
});

describe('API', () => {
  test('each endpoint has exactly one route, with its scope and authoriser and its function', () => {
    const found = ofType(stack, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => ({
      route: Properties['RouteKey'],
      type: Properties['AuthorizationType'],
      scopes: Properties['AuthorizationScopes'],
      authoriser: 'AuthorizerId' in Properties ? nameOf(Properties['AuthorizerId']) : undefined,
      to: targetOf(Properties['Target']),
    }));
    const wanted = endpoints.map(({ method, path, scope, function: name }) => ({
      route: `${method} ${path}`,
      type: scope === null ? 'NONE' : 'JWT',
      scopes: scope === null ? undefined : [scope],
      authoriser: scope === null ? undefined : 'ApiTokens',
      to: `Kakutei: ${name}`,
    }));
    expect(found).toEqual(wanted);
  });

  test('tokens are accepted from the one issuer, for the one audience', () => {
    expect(only('AWS::ApiGatewayV2::Authorizer').Properties).toMatchObject({
      AuthorizerType: 'JWT',
      JwtConfiguration: { Issuer: TOKENS.issuer, Audience: [TOKENS.audience] },
    });
  });

  test('the stage is throttled, and its log holds no path, body or token', () => {
    const stage = only('AWS::ApiGatewayV2::Stage').Properties;
    expect(stage).toMatchObject({
      StageName: '$default',
      DefaultRouteSettings: { ThrottlingRateLimit: 200, ThrottlingBurstLimit: 400 },
    });
    const { Format } = z.object({ Format: z.string() }).parse(stage['AccessLogSettings']);
    const logged = Object.values(z.record(z.string(), z.string()).parse(JSON.parse(Format)));
    expect(logged.filter((name) => /path|body|claims|header|token|query/i.test(name))).toEqual([]);
  });

  test('the outputs say where the API, the table and the machine are', () => {
    expect([...stack.outputs].sort()).toEqual(['ApiUrl', 'MachineArn', 'TableName']);
  });
});

/** Follows a route to the description of its function. */
function targetOf(target: unknown): string {
  const integration = stack.resources.get(nameOf(target).replace('integrations/', ''));
  const made = stack.resources.get(nameOf(integration?.Properties['IntegrationUri']));
  return z.string().parse(made?.Properties['Description']);
}

function key(name: string, type: 'HASH' | 'RANGE') {
  return { AttributeName: name, KeyType: type };
}

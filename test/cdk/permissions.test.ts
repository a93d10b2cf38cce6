import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { secretsOf } from '../../cdk/secrets.ts';
import { nameOf, newFolder, ofType, ROOT, type Synthesised, synthesised } from './synthesised.ts';

const WRITE = 'arn:aws:secretsmanager:ap-northeast-1:111122223333:secret:warehouse-write-AbCdEf';
const READ = 'arn:aws:secretsmanager:ap-northeast-1:111122223333:secret:warehouse-read-GhIjKl';
const SIGNING = 'arn:aws:secretsmanager:ap-northeast-1:111122223333:secret:warehouse-hook-MnOpQr';

const reads = 'kms:Decrypt on LedgerKey if kms:ViaService = dynamodb.AWS::Region.amazonaws.com';
const writes = `kms:Decrypt, kms:Encrypt, kms:GenerateDataKey on LedgerKey if kms:ViaService = dynamodb.AWS::Region.amazonaws.com`;
const traces = 'xray:PutTraceSegments, xray:PutTelemetryRecords on *';
const logs = (role: string) => `logs:CreateLogStream, logs:PutLogEvents on ${role}Logs`;
const starts = 'states:StartExecution on Machine';

/** Everything that every role may do; a change here is a change of what a stolen role can do. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  AcceptRole: [
    logs('Accept'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    starts,
    traces,
  ],
  ListRole: [
    logs('List'),
    'dynamodb:GetItem, dynamodb:Query on Ledger',
    'dynamodb:Query on Ledger/index/list',
    reads,
    traces,
  ],
  ShowRole: [logs('Show'), 'dynamodb:GetItem, dynamodb:Query on Ledger', reads, traces],
  EvidenceRole: [logs('Evidence'), 'dynamodb:GetItem, dynamodb:Query on Ledger', reads, traces],
  ReceiptRole: [logs('Receipt'), 'dynamodb:GetItem on Ledger', reads, traces],
  ManifestRole: [logs('Manifest'), 'dynamodb:GetItem on Ledger', reads, traces],
  ApprovalRole: [logs('Approval'), 'dynamodb:GetItem on Ledger', reads, traces],
  // Who approves can start nothing: no state machine here.
  ApproveRole: [
    logs('Approve'),
    'dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  RevokeRole: [
    logs('Revoke'),
    'dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  ReconcileRole: [
    logs('Reconcile'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:UpdateItem on Ledger',
    writes,
    starts,
    'lambda:InvokeFunction on DryRunFunction',
    traces,
  ],
  // It looks outside; nothing here can write.
  DryRunRole: [
    logs('DryRun'),
    'dynamodb:GetItem, dynamodb:BatchGetItem on Ledger',
    reads,
    `secretsmanager:GetSecretValue on ${READ}`,
    traces,
  ],
  WithdrawRole: [
    logs('Withdraw'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  DecideRole: [
    logs('Decide'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  AgainRole: [
    logs('Again'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  CorrectRole: [
    logs('Correct'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  OwnRole: [
    logs('Own'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  DisownRole: [
    logs('Disown'),
    'dynamodb:GetItem, dynamodb:Query, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  QueueRole: [
    logs('Queue'),
    'dynamodb:GetItem, dynamodb:BatchGetItem, dynamodb:Query on Ledger',
    'dynamodb:Query on Ledger/index/attention',
    reads,
    traces,
  ],
  FreezeRole: [logs('Freeze'), 'dynamodb:PutItem on Ledger', writes, traces],
  ThawRole: [logs('Thaw'), 'dynamodb:PutItem on Ledger', writes, traces],
  FreezeAllRole: [logs('FreezeAll'), 'dynamodb:PutItem on Ledger', writes, traces],
  ThawAllRole: [logs('ThawAll'), 'dynamodb:PutItem on Ledger', writes, traces],
  TakeEvidenceRole: [
    logs('TakeEvidence'),
    'dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    traces,
  ],
  HealthRole: [logs('Health'), 'dynamodb:GetItem on Ledger', reads, traces],
  OpenapiRole: [logs('Openapi'), traces],
  SendRole: [
    logs('Send'),
    'dynamodb:GetItem, dynamodb:BatchGetItem, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    `secretsmanager:GetSecretValue on ${WRITE}`,
    traces,
  ],
  SearchRole: [
    logs('Search'),
    'dynamodb:GetItem, dynamodb:BatchGetItem, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    `secretsmanager:GetSecretValue on ${READ}`,
    traces,
  ],
  VerifyRole: [
    logs('Verify'),
    'dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    writes,
    `secretsmanager:GetSecretValue on ${READ}`,
    traces,
  ],
  HandOverRole: [logs('HandOver'), 'dynamodb:GetItem, dynamodb:UpdateItem on Ledger', writes, traces],
  SweepRole: [
    logs('Sweep'),
    'dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem on Ledger',
    'dynamodb:Query on Ledger/index/due',
    writes,
    starts,
    traces,
  ],
  MachineRole: [
    'lambda:InvokeFunction on SendFunction, SearchFunction, VerifyFunction, HandOverFunction',
    'logs:CreateLogDelivery, logs:GetLogDelivery, logs:UpdateLogDelivery, logs:DeleteLogDelivery, logs:ListLogDeliveries, logs:PutResourcePolicy, logs:DescribeResourcePolicies, logs:DescribeLogGroups on *',
    traces,
    'xray:GetSamplingRules, xray:GetSamplingTargets on *',
  ],
  ScheduleRole: ['lambda:InvokeFunction on SweepFunction'],
};

/** The only actions that may stand on every resource. */
const UNNAMEABLE = [
  { actions: /^xray:(PutTraceSegments|PutTelemetryRecords|GetSampling\w+)$/, because: 'X-Ray has no ARNs' },
  { actions: /^logs:\w*(LogDeliver|ResourcePolic|LogGroups)\w*$/, because: 'log delivery has no ARNs' },
];

const oneOrMore = <T extends z.ZodType>(item: T) =>
  z.union([z.array(item), item.transform((value) => [value])]);
const statement = z.strictObject({
  Effect: z.literal('Allow'),
  Action: oneOrMore(z.string()),
  Resource: oneOrMore(z.unknown().refine((value) => !Array.isArray(value))),
  Condition: z.strictObject({ StringEquals: z.record(z.string(), z.unknown()) }).optional(),
});
type Statement = z.infer<typeof statement>;
const policies = z
  .array(
    z.strictObject({ PolicyName: z.string(), PolicyDocument: z.object({ Statement: z.array(statement) }) }),
  )
  .default([]);

let stack: Synthesised;
beforeAll(() => {
  stack = synthesised();
}, 60_000);

function roles(): readonly (readonly [string, readonly Statement[]])[] {
  return rolesOf(stack);
}

function rolesOf(of: Synthesised): readonly (readonly [string, readonly Statement[]])[] {
  return ofType(of, 'AWS::IAM::Role').map(([id, role]) => [
    id,
    policies.parse(role.Properties['Policies']).flatMap((policy) => policy.PolicyDocument.Statement),
  ]);
}

function line({ Action, Resource, Condition }: Statement): string {
  const conditions = Object.entries(Condition?.StringEquals ?? {});
  const only = conditions.map(([name, value]) => ` if ${name} = ${nameOf(value)}`).join('');
  return `${Action.join(', ')} on ${Resource.map(nameOf).join(', ')}${only}`;
}

describe('roles', () => {
  test('each role may do exactly what is written here, and nothing else grants anything', () => {
    const found = roles().map(([id, statements]) => [id, statements.map(line)]);
    expect(Object.fromEntries(found)).toEqual(EXPECTED);
    expect(ofType(stack, 'AWS::IAM::Policy')).toEqual([]);
    expect(ofType(stack, 'AWS::IAM::ManagedPolicy')).toEqual([]);
    expect(stack.text).not.toContain('ManagedPolicyArns');
  });

  test('no action has a wildcard, and only actions without resource names stand on "*"', () => {
    const all = roles().flatMap(([, statements]) => statements);
    expect(all.flatMap((one) => one.Action).filter((action) => action.includes('*'))).toEqual([]);
    const wide = all.filter((one) => one.Resource.some((resource) => nameOf(resource).includes('*')));
    const actions = wide.flatMap((one) => one.Action);
    expect(actions.filter((action) => !UNNAMEABLE.some((known) => known.actions.test(action)))).toEqual([]);
    expect(wide.length).toBeGreaterThan(0);
  });

  test('every function has a role of its own', () => {
    const used = ofType(stack, 'AWS::Lambda::Function').map(([, made]) => nameOf(made.Properties['Role']));
    expect(new Set(used).size).toBe(used.length);
    expect([...used, 'MachineRole', 'ScheduleRole'].sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  test('a service uses the machine role and the schedule role only on behalf of this account', () => {
    for (const name of ['MachineRole', 'ScheduleRole']) {
      const trust = JSON.stringify(stack.resources.get(name)?.Properties['AssumeRolePolicyDocument']);
      expect(trust, name).toContain('"aws:SourceAccount":{"Ref":"AWS::AccountId"}');
    }
  });
});

describe('provider secrets', () => {
  const holders = (arn: string) =>
    roles()
      .filter(([, statements]) => JSON.stringify(statements).includes(arn))
      .map(([id]) => id);

  test('only send may read the secret that can write', () => {
    expect(holders(WRITE)).toEqual(['SendRole']);
  });

  test('only search, verify and the dry run may read the secret that can look', () => {
    expect(holders(READ).sort()).toEqual(['DryRunRole', 'SearchRole', 'VerifyRole']);
  });

  test('no secret stands anywhere outside a role', () => {
    const mentions = stack.text.split(':secretsmanager:').length - 1;
    expect(mentions).toBe(4);
  });

  test('giving search the write secret is refused before there is a template', () => {
    const routes = routesWith({ readSecretRef: WRITE });
    expect(() => synthesised(routes)).toThrow('named for writing and for reading');
  });

  test('only the function that takes signed events may read what they are signed with', () => {
    const withWebhook = synthesised(routesWith({}, [SIGNING]));
    const holding = rolesOf(withWebhook).filter(([, all]) => JSON.stringify(all).includes(SIGNING));
    expect(holding.map(([id]) => id)).toEqual(['TakeEvidenceRole']);
    expect(JSON.stringify(holding)).not.toContain(WRITE);
  });

  test.each([
    [WRITE, 'write'],
    [READ, 'look'],
  ])('%s cannot check signatures too, because who checks them could then %s', (arn) => {
    expect(() => secretsOf(routesWith({}, [SIGNING, arn]))).toThrow('named for signatures and for calls');
  });

  test('a signing secret is named in full', () => {
    expect(() => secretsOf(routesWith({}, ['local:hook']))).toThrow('it is not a full secret ARN');
  });

  test.each<[unknown, string]>([
    ['local:warehouse', 'a local secret is not deployed'],
    [
      'arn:aws:secretsmanager:ap-northeast-1:111122223333:secret:warehouse-*',
      'a wildcard names more than one',
    ],
    [
      'arn:aws:secretsmanager:ap-northeast-1:111122223333:secret:warehouse',
      'without its suffix it matches nothing',
    ],
    [7, 'a reference is text'],
  ])('the secret reference %j is refused, because %s', (reference) => {
    expect(() => secretsOf(routesWith({ writeSecretRef: reference }))).toThrow('it is not a full secret ARN');
  });

  test('a route without secrets asks for none', () => {
    const routes = routesWith({ writeSecretRef: undefined, readSecretRef: null });
    expect(secretsOf(routes)).toEqual({ write: [], read: [], webhook: [] });
  });
});

/** The deployed example with other secrets on its one route, and with an endpoint for signed events. */
function routesWith(changed: Readonly<Record<string, unknown>>, webhookSecrets?: readonly unknown[]): string {
  const config = example.parse(JSON.parse(readFileSync(join(ROOT, 'routes.json'), 'utf8')));
  const webhook = { endpoint: 'warehouse', routes: ['warehouse'], secretRefs: webhookSecrets };
  const tenants = config.tenants.map((tenant) => ({
    ...tenant,
    routes: tenant.routes.map((route) => ({ ...route, ...changed })),
    ...(webhookSecrets === undefined ? {} : { webhooks: [webhook] }),
  }));
  const file = join(newFolder(), 'routes.json');
  writeFileSync(file, JSON.stringify({ tenants }));
  return file;
}

const example = z.object({
  tenants: z.array(z.looseObject({ routes: z.array(z.record(z.string(), z.unknown())) })),
});

/**
 * The state machine, deployed from the very text that the local stack runs. Its role may invoke the four
 * steps and nothing else; its log has every event and never the data.
 */
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import type { STEPS } from '../lib/platform/names.ts';
import { keptLogs } from './functions.ts';
import { allow, closedRole, ownService, traces } from './roles.ts';

export type StepFunctions = Readonly<Record<keyof typeof STEPS, IFunction>>;

/** @param definition text of `lib/workflow/machine.asl.json`; `${SendFunction}` and its like are filled in at deployment. */
export function deployMachine(scope: Construct, definition: string, steps: StepFunctions): StateMachine {
  const arns = Object.entries(steps).map(([state, step]) => [`${state}Function`, step.functionArn] as const);
  return new StateMachine(scope, 'Machine', {
    stateMachineType: StateMachineType.STANDARD,
    definitionBody: DefinitionBody.fromString(definition),
    definitionSubstitutions: Object.fromEntries(arns),
    role: machineRole(scope, steps),
    tracingEnabled: true,
    logs: { destination: keptLogs(scope, 'MachineLogs'), level: LogLevel.ALL, includeExecutionData: false },
  });
}

function machineRole(scope: Construct, steps: StepFunctions) {
  return closedRole(scope, 'MachineRole', ownService('states.amazonaws.com'), [
    allow(
      Object.values(steps).map((step) => step.functionArn),
      'lambda:InvokeFunction',
    ),
    // The delivery of logs is set up through actions that name no resource.
    allow(['*'], ...LOG_DELIVERY),
    traces(),
    allow(['*'], 'xray:GetSamplingRules', 'xray:GetSamplingTargets'),
  ]);
}

const LOG_DELIVERY = [
  'logs:CreateLogDelivery',
  'logs:GetLogDelivery',
  'logs:UpdateLogDelivery',
  'logs:DeleteLogDelivery',
  'logs:ListLogDeliveries',
  'logs:PutResourcePolicy',
  'logs:DescribeResourcePolicies',
  'logs:DescribeLogGroups',
];

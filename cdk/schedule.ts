/**
 * Starts the sweep every minute. A start that fails is not repeated and needs no dead-letter queue: nothing
 * is in it, what is due stays in the ledger, and the next minute brings the next start.
 */
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import type { Construct } from 'constructs';
import { allow, closedRole, ownService } from './roles.ts';

export function deploySchedule(scope: Construct, sweep: IFunction): void {
  const role = closedRole(scope, 'ScheduleRole', ownService('scheduler.amazonaws.com'), [
    allow([sweep.functionArn], 'lambda:InvokeFunction'),
  ]);
  new CfnSchedule(scope, 'Schedule', {
    description: 'Kakutei: brings back every intent that is due',
    scheduleExpression: 'rate(1 minute)',
    flexibleTimeWindow: { mode: 'OFF' },
    target: {
      arn: sweep.functionArn,
      roleArn: role.roleArn,
      retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
    },
  });
}

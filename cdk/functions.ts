/**
 * The functions: Node 24 on ARM, one role and one log group each. Lambda repeats nothing by itself: an
 * asynchronous invocation that failed is met again by the sweep, which asks the ledger first.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, LogGroup, MetricFilter, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ENV, METRICS, STEPS } from '../lib/platform/names.ts';
import { acknowledge } from './acknowledged.ts';
import type { BundleInfo } from './bundle.ts';
import type { Deployed } from './deployed.ts';
import { functionRole } from './roles.ts';
import type { SecretArns } from './secrets.ts';
import type { Ledger } from './table.ts';

export interface FunctionParts {
  readonly ledger: Ledger;
  readonly secrets: SecretArns;
  readonly bundles: readonly BundleInfo[];
  /** Most sends at one time; unlimited when absent. */
  readonly sendConcurrency: number | undefined;
}

/** What a function calls besides the ledger, by ARN; each only where its access line says so. */
export interface Callees {
  readonly machineArn?: string | undefined;
  /** The function that it invokes. */
  readonly invokedArn?: string | undefined;
}

/** Makes one function, with its role, its logs, and the names of what it calls. */
export function deployFunction(
  scope: Construct,
  spec: Deployed,
  parts: FunctionParts,
  callees: Callees = {},
): LambdaFunction {
  const own = new Construct(scope, constructId(spec.name));
  const logGroup = keptLogs(own, 'Logs');
  const made = new LambdaFunction(own, 'Function', {
    ...SAME_FOR_ALL,
    description: `Kakutei: ${spec.name}`,
    code: Code.fromAsset(bundleDir(parts.bundles, spec.name)),
    timeout: Duration.seconds(spec.timeoutSeconds),
    role: functionRole(own, 'Role', spec.access, { ...parts, ...callees, logGroup }),
    logGroup,
    environment: environment(parts.ledger, callees),
    ...concurrency(spec, parts.sendConcurrency),
  });
  if (spec.name === STEPS.Search.function) countDuplicateRisks(own, logGroup);
  acknowledge(made, 'Serverless-LambdaDLQ', 'Serverless-LambdaAsyncFailureDestination');
  return made;
}

const SAME_FOR_ALL = {
  runtime: Runtime.NODEJS_24_X,
  architecture: Architecture.ARM_64,
  handler: 'index.handler',
  // Memory buys CPU; a cold start is mostly parsing the SDK.
  memorySize: 512,
  tracing: Tracing.ACTIVE,
  retryAttempts: 0,
} as const;

function environment(ledger: Ledger, { machineArn, invokedArn }: Callees): Record<string, string> {
  return {
    [ENV.table]: ledger.table.tableName,
    ...(machineArn === undefined ? {} : { [ENV.machineArn]: machineArn }),
    ...(invokedArn === undefined ? {} : { [ENV.dryRunArn]: invokedArn }),
  };
}

/** Effects that turned up where none, or no second one, was believed to exist; only search looks for them. */
function countDuplicateRisks(scope: Construct, logGroup: LogGroup): void {
  new MetricFilter(scope, 'DuplicateRisk', {
    logGroup,
    filterPattern: FilterPattern.stringValue('$.event', '=', METRICS.duplicateRisk.event),
    metricNamespace: METRICS.namespace,
    metricName: METRICS.duplicateRisk.name,
    metricValue: '1',
    defaultValue: 0,
  });
}

/** Logs that end by their age and not with the stack: an effect may have to be explained after it. */
export function keptLogs(scope: Construct, id: string): LogGroup {
  return new LogGroup(scope, id, { retention: RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.RETAIN });
}

function concurrency(spec: Deployed, most: number | undefined): { reservedConcurrentExecutions?: number } {
  return spec.name === STEPS.Send.function && most !== undefined
    ? { reservedConcurrentExecutions: most }
    : {};
}

function bundleDir(bundles: readonly BundleInfo[], name: string): string {
  const bundle = bundles.find((candidate) => candidate.name === name);
  if (bundle === undefined) throw new Error(`Cannot deploy function "${name}": there is no bundle of it`);
  return bundle.dir;
}

/** `hand-over` becomes `HandOver`. */
function constructId(name: string): string {
  return name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

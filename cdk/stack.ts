/** The whole cloud in one stack: ledger, steps, machine, what starts it, and the API in front. */
import { readFileSync } from 'node:fs';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { STEPS, SWEEP } from '../lib/platform/names.ts';
import { deployApi, type TokenIssuer } from './api.ts';
import type { BundleInfo } from './bundle.ts';
import { deployedFunctions } from './deployed.ts';
import { deployFunction, type FunctionParts } from './functions.ts';
import { deployMachine } from './machine.ts';
import { deploySchedule } from './schedule.ts';
import { secretsOf } from './secrets.ts';
import { ledgerTable } from './table.ts';

export interface KakuteiProps extends StackProps {
  readonly bundles: readonly BundleInfo[];
  readonly routesFile: string;
  readonly tokens: TokenIssuer;
  /** Most sends at one time; unlimited when absent. */
  readonly sendConcurrency?: number | undefined;
}

const MACHINE = new URL('../lib/workflow/machine.asl.json', import.meta.url);

export class KakuteiStack extends Stack {
  constructor(scope: Construct, id: string, props: KakuteiProps) {
    super(scope, id, props);
    const ledger = ledgerTable(this);
    const { bundles, sendConcurrency } = props;
    const parts: FunctionParts = { ledger, secrets: secretsOf(props.routesFile), bundles, sendConcurrency };

    const steps = functionsOf(this, parts, (name) => STEP_NAMES.has(name));
    const machine = deployMachine(this, readFileSync(MACHINE, 'utf8'), {
      Send: steps(STEPS.Send.function),
      Search: steps(STEPS.Search.function),
      Verify: steps(STEPS.Verify.function),
      HandOver: steps(STEPS.HandOver.function),
    });
    const others = functionsOf(this, parts, (name) => !STEP_NAMES.has(name), machine.stateMachineArn);
    deploySchedule(this, others(SWEEP.function));
    const api = deployApi(this, others, props.tokens);

    new CfnOutput(this, 'ApiUrl', { value: api.url });
    new CfnOutput(this, 'TableName', { value: ledger.table.tableName });
    new CfnOutput(this, 'MachineArn', { value: machine.stateMachineArn });
  }
}

const STEP_NAMES: ReadonlySet<string> = new Set(Object.values(STEPS).map((step) => step.function));

/** Deploys the wanted functions, in their order, and returns how to find them; each gets what its access line names. */
function functionsOf(
  stack: Stack,
  parts: FunctionParts,
  wanted: (name: string) => boolean,
  machineArn?: string,
): (name: string) => LambdaFunction {
  const made = new Map<string, LambdaFunction>();
  const find = (name: string): LambdaFunction => {
    const found = made.get(name);
    if (found === undefined) throw new Error(`Cannot wire function "${name}": it is not deployed here`);
    return found;
  };
  for (const spec of deployedFunctions().filter(({ name }) => wanted(name))) {
    const { startsRuns, invokes } = spec.access;
    const callees = {
      machineArn: startsRuns === true ? machineArn : undefined,
      invokedArn: invokes === undefined ? undefined : find(invokes).functionArn,
    };
    made.set(spec.name, deployFunction(stack, spec, parts, callees));
  }
  return find;
}

/**
 * Entry of `cdk synth` and `cdk deploy`: bundle, describe, check against two rule packs. Settings come from
 * the context: `jwtIssuer`, `jwtAudience`, `sendConcurrency` (absent: unlimited), `routesFile`.
 */
import { resolve } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { checkRoutesFile } from '../functions/routes-file.ts';
import { bundleAll } from './bundle.ts';
import { deployedFunctions } from './deployed.ts';
import { KakuteiStack } from './stack.ts';

const root = resolve(import.meta.dirname, '..');
const app = new App();
const routesFile = resolve(root, setting('routesFile'));
// What a function would refuse when it starts must not be deployed.
checkRoutesFile(routesFile);

const bundles = await bundleAll({
  names: deployedFunctions().map((spec) => spec.name),
  functionsDir: resolve(root, 'functions'),
  outDir: resolve(app.outdir, 'bundles'),
  routesFile,
});
new KakuteiStack(app, 'Kakutei', {
  bundles,
  routesFile,
  tokens: { issuer: setting('jwtIssuer'), audience: setting('jwtAudience') },
  sendConcurrency: concurrency(),
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
app.synth();

function setting(name: string): string {
  const value: unknown = app.node.tryGetContext(name);
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`Cannot describe the cloud: context "${name}" is missing (cdk.json, or -c ${name}=...)`);
}

function concurrency(): number | undefined {
  const value: unknown = app.node.tryGetContext('sendConcurrency');
  if (value === undefined || value === null) return undefined;
  const most = Number(value);
  if (Number.isInteger(most) && most >= 1) return most;
  throw new Error(`Cannot limit sends to ${JSON.stringify(value)}: a whole number of at least 1 is wanted`);
}

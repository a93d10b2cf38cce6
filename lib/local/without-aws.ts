/**
 * The library that runs the machine carries a Lambda client for machines that call the cloud. Ours never does: every
 * task is answered here. Left out, it saves the local stack some sixteen megabytes and part of its start.
 */
import { registerHooks } from 'node:module';

/** What the library imports of the clients, as things that are never made. */
const NOTHING =
  'data:text/javascript,export class LambdaClient {} export class InvokeCommand {} export const fromCognitoIdentityPool = () => {};';

/** Call it before the library is imported. A library that imports more than this does not start. */
export function leaveAwsOut(): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      const ofTheLibrary = context.parentURL?.includes('/aws-local-stepfunctions/') === true;
      return ofTheLibrary && specifier.startsWith('@aws-sdk/')
        ? { url: NOTHING, shortCircuit: true }
        : next(specifier, context);
    },
  });
}

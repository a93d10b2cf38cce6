/**
 * One function asks another, as the gateway would: the same event, and its answer passed on as it came. Apart from
 * `wiring.ts`, so that only who asks loads the client of Lambda.
 */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { BadConfiguration } from '../lib/platform/config.ts';
import { DRY_RUN } from '../lib/platform/names.ts';
import type { ApiAnswer } from './handler.ts';
import { once, settings } from './wiring.ts';

export type AskFunction = (event: unknown) => Promise<ApiAnswer>;

/** For all tries together: longer than the asked function lives, so that its own end comes first. */
const DEADLINE_MS = DRY_RUN.timeoutSeconds * 1000 + 1500;

export const askingDryRun = once((): AskFunction => {
  const { dryRunArn } = settings();
  if (dryRunArn === null) throw new BadConfiguration('Cannot ask: the dry-run function is not named.');
  return functionAsker(new LambdaClient({}), dryRunArn);
});

const answer = z.object({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

/**
 * Only for a function that writes nothing: where it was not taken, the SDK asks again. Throws where the function
 * failed, did not answer in time, or answered something else than an answer of the API.
 */
export function functionAsker(
  client: LambdaClient,
  functionArn: string,
  deadlineMs: number = DEADLINE_MS,
): AskFunction {
  return async (event) => {
    const { FunctionError, Payload } = await client.send(
      new InvokeCommand({ FunctionName: functionArn, Payload: JSON.stringify(event) }),
      { abortSignal: AbortSignal.timeout(deadlineMs) },
    );
    // What it holds then is no answer, and may name what nobody outside should read.
    if (FunctionError !== undefined) throw new AskedFunctionFailed('The function that was asked has failed.');
    return answer.parse(JSON.parse(Payload?.transformToString() ?? ''));
  };
}

class AskedFunctionFailed extends Error {
  override readonly name = 'AskedFunctionFailed';
}

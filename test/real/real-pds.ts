/**
 * A real PDS for tests: a process of its own on loopback, with a PLC directory on loopback and two accounts. Its
 * files lie in a temporary folder; a crash keeps them, a close deletes them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Database, PlcServer } from '@did-plc/server';
import * as z from 'zod/v4';
import { portOf, serveOnLoopback } from './ground.ts';
import { call } from './xrpc.ts';

export interface Account {
  readonly did: string;
  readonly handle: string;
  /** Of the account itself; a client under test gets the app password. */
  readonly password: string;
  readonly appPassword: string;
  /** Made with the app password; it lives for two hours. */
  readonly accessToken: string;
}

export interface RealPds {
  /** `http://127.0.0.1:<port>`, the same after a new start. */
  readonly url: string;
  readonly port: number;
  readonly alice: Account;
  readonly bob: Account;
  /** Ends the process as a power cut would. The accounts, their records and their tokens outlive it. */
  readonly crash: () => Promise<void>;
  /** Does nothing when it runs. */
  readonly startAgain: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const PROGRAM = join(import.meta.dirname, 'pds-process.ts');

/** @param limits with `rateLimits`, writes are counted and refused as on the public servers; in memory, for one life. */
export async function startRealPds(limits = { rateLimits: false }): Promise<RealPds> {
  const plc = await serveOnLoopback(PlcServer.create({ db: Database.mock() }).app);
  const directory = mkdtempSync(join(tmpdir(), 'real-pds-'));
  const settings = { ...limits, directory, plcUrl: `http://127.0.0.1:${portOf(plc)}` };
  let running: Running | undefined;
  const close = async () => {
    if (running !== undefined) await kill(running.child);
    plc.close();
    plc.closeAllConnections();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    running = await run({ ...settings, port: 0 });
    const { port } = running;
    const url = `http://127.0.0.1:${port}`;
    return {
      url,
      port,
      alice: await createAccount(url, 'alice'),
      bob: await createAccount(url, 'bob'),
      crash: async () => {
        if (running !== undefined) await kill(running.child);
      },
      startAgain: async () => {
        if (running === undefined || isOver(running.child)) running = await run({ ...settings, port });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the program takes. */
interface Settings {
  readonly directory: string;
  readonly plcUrl: string;
  readonly port: number;
  readonly rateLimits: boolean;
}

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

async function run(settings: Settings): Promise<Running> {
  const child = spawn(process.execPath, ['--no-warnings', PROGRAM, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const early = once(child, 'exit').then(([code]) => {
    throw new Error(`Cannot start the PDS: its process ended with ${code}`);
  });
  early.catch(() => undefined);
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), early]);
  const { port } = z.object({ port: z.int() }).parse(JSON.parse(String(line)));
  return { child, port };
}

function isOver(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function kill(child: ChildProcess): Promise<void> {
  if (isOver(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

const Created = z.object({ did: z.string(), accessJwt: z.string() });
const AppPassword = z.object({ password: z.string() });
const Session = z.object({ accessJwt: z.string() });

async function createAccount(url: string, name: string): Promise<Account> {
  const handle = `${name}.test`;
  const password = `password-of-${name}`;
  const ask = async (nsid: string, input: object, token?: string) => {
    const answer = await call(url, { nsid, input, ...(token === undefined ? {} : { token }) });
    if (answer.status === 200) return answer.body;
    throw new Error(`Cannot set up ${handle}: ${nsid} answered ${JSON.stringify(answer)}`);
  };
  const signUp = { handle, email: `${name}@example.test`, password };
  const { did, accessJwt } = Created.parse(await ask('com.atproto.server.createAccount', signUp));
  const named = { name: 'tests' };
  const app = AppPassword.parse(await ask('com.atproto.server.createAppPassword', named, accessJwt));
  const signIn = { identifier: did, password: app.password };
  const session = Session.parse(await ask('com.atproto.server.createSession', signIn));
  return { did, handle, password, appPassword: app.password, accessToken: session.accessJwt };
}

/**
 * A TCP proxy before a real server. It passes bytes on as they are, except for requests that a fault was armed for.
 * A fault is played once, and closing the proxy with one that was never met is an error: a test of a fault that
 * nobody hit proves nothing.
 */
import { once } from 'node:events';
import * as net from 'node:net';
import { portOf } from './ground.ts';
import { firstWords, headLength, messageLength } from './http-framing.ts';

export const FAULTS = {
  cut_before_request: 'the request is taken and the connection reset; the server sees nothing',
  cut_in_request: 'the server gets all but the last byte of the request, then the end of the connection',
  cut_before_answer: 'the server has answered, and not one byte of it comes back',
  cut_in_head: 'half of the head of the answer, then a reset',
  cut_in_body: 'the head and half of the body of the answer, then a reset',
  cut_after_answer: 'the whole answer, then a reset',
  stall: 'the server has answered, and nothing more happens until the client leaves',
  hold: 'the request waits in the proxy until it is released, even when the client has left by then',
} as const;

export type Fault = keyof typeof FAULTS;

export interface Armed {
  /** The fault bites: the cut was made, the stalled answer is here, the request is held. */
  readonly hit: Promise<void>;
  /** It is over. The status that the server itself gave, or null when it was never asked or did not answer. */
  readonly done: Promise<number | null>;
  /** Sends a held request on. */
  readonly release: () => void;
}

/** What else happens while a fault is played; the fault waits for it. */
export interface Meanwhile {
  /** Before the server is asked, when it has been sent the whole request, or when it has answered. */
  readonly when: 'before' | 'during' | 'after';
  readonly act: () => Promise<unknown>;
}

export interface FaultProxy {
  readonly url: string;
  /** Arms a fault for the next request whose path holds this text; of several, each for one request, in order. */
  readonly arm: (fault: Fault, path: string, meanwhile?: Meanwhile) => Armed;
  /** Takes back the faults that no request has met yet, and names them. */
  readonly disarm: () => readonly string[];
  /** Every complete request that came in, in order: `POST /xrpc/…`. */
  readonly requests: () => readonly string[];
  /** Ends every connection. Throws when an armed fault was never hit. */
  readonly close: () => Promise<void>;
}

/** @param port of the server on loopback. When it is down, clients see a reset. */
export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const plans: Plan[] = [];
  const seen: string[] = [];
  const clients = new Set<net.Socket>();
  const server = net.createServer((client) => {
    clients.add(client);
    client.once('close', () => clients.delete(client));
    client.on('error', () => undefined);
    serve(client, (request) => {
      const words = firstWords(request);
      seen.push(words);
      const index = plans.findIndex((plan) => words.includes(plan.path));
      const [plan] = index < 0 ? [] : plans.splice(index, 1);
      return plan === undefined ? pass(client, request, port) : play(plan, { client, request, port });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    arm: (fault, path, meanwhile) => {
      const plan = newPlan(fault, path, meanwhile);
      plans.push(plan);
      return plan.armed;
    },
    disarm: () => plans.splice(0).map(nameOf),
    requests: () => [...seen],
    close: async () => {
      for (const client of clients) client.destroy();
      await new Promise((closed) => server.close(closed));
      const unmet = plans.map(nameOf);
      if (unmet.length > 0) throw new Error(`Cannot close the proxy: never hit ${unmet.join(', ')}`);
    },
  };
}

interface Plan {
  readonly fault: Fault;
  readonly path: string;
  readonly armed: Armed;
  readonly hit: () => void;
  readonly finish: (status: number | null) => void;
  readonly released: Promise<void>;
  readonly meanwhile: Meanwhile | undefined;
}

const nameOf = ({ fault, path }: Plan): string => `${fault} on ${path}`;

interface Exchange {
  readonly client: net.Socket;
  readonly request: Buffer;
  readonly port: number;
}

function newPlan(fault: Fault, path: string, meanwhile: Meanwhile | undefined): Plan {
  const hit = Promise.withResolvers<void>();
  const done = Promise.withResolvers<number | null>();
  const release = Promise.withResolvers<void>();
  return {
    ...{ fault, path, meanwhile, hit: hit.resolve, finish: done.resolve, released: release.promise },
    armed: { hit: hit.promise, done: done.promise, release: release.resolve },
  };
}

/** One request after another on one connection: nobody here pipelines. */
function serve(client: net.Socket, exchange: (request: Buffer) => Promise<void>): void {
  let bytes = Buffer.alloc(0);
  client.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    const length = messageLength(bytes);
    if (length === null) return;
    const request = bytes.subarray(0, length);
    bytes = bytes.subarray(length);
    void exchange(request);
  });
}

async function pass(client: net.Socket, request: Buffer, port: number): Promise<void> {
  const answer = await ask(port, request).answer;
  if (answer === null) client.resetAndDestroy();
  else client.write(answer);
}

async function play(plan: Plan, exchange: Exchange): Promise<void> {
  const { client, request, port } = exchange;
  if (plan.fault === 'hold') {
    plan.hit();
    await plan.released;
  }
  const answer = await asked(plan, port, request);
  if (plan.fault === 'stall') {
    plan.hit();
    // Not `once`: a client that leaves by a reset is no error here.
    if (!client.destroyed) await new Promise<void>((gone) => client.once('close', () => gone()));
  } else if (plan.fault === 'hold') {
    if (answer !== null && client.writable) client.write(answer);
  } else {
    const part = answer?.subarray(0, passed(plan.fault, answer)) ?? Buffer.alloc(0);
    if (part.length > 0) await new Promise((written) => client.write(part, written));
    client.resetAndDestroy();
    plan.hit();
  }
  plan.finish(answer === null ? null : Number(firstWords(answer).split(' ')[1]));
}

async function asked({ fault, meanwhile }: Plan, port: number, request: Buffer): Promise<Buffer | null> {
  const act = async (when: Meanwhile['when']) => {
    if (meanwhile?.when === when) await meanwhile.act();
  };
  await act('before');
  let answer: Buffer | null = null;
  if (fault === 'cut_in_request') await tell(port, request.subarray(0, -1));
  else if (fault !== 'cut_before_request') {
    const asking = ask(port, request);
    [answer] = await Promise.all([asking.answer, asking.sent.then(() => act('during'))]);
  }
  await act('after');
  return answer;
}

/** How many bytes of the answer come back before the cut. */
function passed(fault: Fault, answer: Buffer): number {
  const head = headLength(answer) ?? 0;
  if (fault === 'cut_in_head') return Math.floor(head / 2);
  if (fault === 'cut_in_body') return head + Math.floor((answer.length - head) / 2);
  return fault === 'cut_after_answer' ? answer.length : 0;
}

interface Asking {
  /** The kernel has the whole request, or never will. */
  readonly sent: Promise<void>;
  /** The server's whole answer, or null when the connection ended without one. */
  readonly answer: Promise<Buffer | null>;
}

function ask(port: number, request: Buffer): Asking {
  const upstream = net.connect(port, '127.0.0.1');
  const sent = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  let bytes = Buffer.alloc(0);
  upstream.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    const length = messageLength(bytes);
    if (length !== null) resolve(bytes.subarray(0, length));
  });
  upstream.on('error', () => resolve(null));
  upstream.once('close', () => resolve(null));
  upstream.write(request, () => sent.resolve());
  return { sent: sent.promise, answer: promise.finally(() => upstream.destroy()) };
}

/** Ends by a FIN and not by a reset, which could take bytes away that the server has not read yet. */
async function tell(port: number, bytes: Buffer): Promise<void> {
  const upstream = net.connect(port, '127.0.0.1');
  upstream.on('error', () => undefined);
  upstream.resume().end(bytes);
  await new Promise<void>((closed) => upstream.once('close', () => closed()));
}

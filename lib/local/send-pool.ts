/**
 * Runs the send function in threads and ends a thread whose call outlives the function's time limit. Without
 * that, Z (the longest a sender can live) would be a wish: a sender that slept could wake up and write. A
 * thread carries several calls; those that die with it are what a crash leaves, and are reconciled.
 */
import { SHARE_ENV, Worker } from 'node:worker_threads';

export interface Call {
  readonly id: number;
  readonly payload: unknown;
}
export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: string };

export interface SendPool {
  readonly invoke: (payload: unknown) => Promise<unknown>;
  /** Waits for the calls under way, at most their time limit, then ends every thread. */
  readonly close: () => Promise<void>;
}

export interface SendPoolOptions {
  readonly threads: number;
  readonly timeoutMs: number;
  /** The module a thread runs; the send function's when left out. */
  readonly module?: URL;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: NodeJS.Timeout;
}
interface Thread {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
}

export function createSendPool(options: SendPoolOptions): SendPool {
  const module = options.module ?? new URL('./send-worker.ts', import.meta.url);
  const threads: Thread[] = [];
  // Threads load their module while the rest of the stack comes up; the environment they share is complete by the first call.
  while (threads.length < options.threads) threads.push(startThread(module, threads));
  let calls = 0;
  const pick = (): Thread => {
    if (threads.length < options.threads) threads.push(startThread(module, threads));
    return threads.reduce((least, each) => (each.pending.size < least.pending.size ? each : least));
  };
  return {
    invoke: (payload) => {
      const thread = pick();
      calls += 1;
      const id = calls;
      return new Promise((resolve, reject) => {
        const deadline = setTimeout(() => void thread.worker.terminate(), options.timeoutMs);
        thread.pending.set(id, { resolve, reject, deadline });
        thread.worker.postMessage({ id, payload } satisfies Call);
      });
    },
    close: async () => {
      while (threads.some((thread) => thread.pending.size > 0)) await nextChange(threads);
      await Promise.all(threads.splice(0).map((thread) => thread.worker.terminate()));
    },
  };
}

function startThread(module: URL, threads: Thread[]): Thread {
  const thread: Thread = { worker: new Worker(module, { env: SHARE_ENV }), pending: new Map() };
  thread.worker.on('message', (answer: Answer) => {
    const call = thread.pending.get(answer.id);
    if (call === undefined) return;
    thread.pending.delete(answer.id);
    clearTimeout(call.deadline);
    if (answer.ok) call.resolve(answer.value);
    else call.reject(named(answer.error));
  });
  // The 'exit' that follows settles the calls.
  thread.worker.on('error', () => undefined);
  thread.worker.on('exit', () => {
    const at = threads.indexOf(thread);
    if (at >= 0) threads.splice(at, 1);
    for (const call of thread.pending.values()) {
      clearTimeout(call.deadline);
      call.reject(named('Lambda.Unknown'));
    }
    thread.pending.clear();
  });
  return thread;
}

function named(name: string): Error {
  const error = new Error('The send function failed.');
  error.name = name;
  return error;
}

function nextChange(threads: readonly Thread[]): Promise<unknown> {
  const busy = threads.filter((thread) => thread.pending.size > 0);
  return Promise.race(
    busy.flatMap(({ worker }) =>
      ['message', 'exit'].map((event) => new Promise((resolve) => worker.once(event, resolve))),
    ),
  );
}

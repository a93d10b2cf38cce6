/** One sandbox of the send function: a thread that the stack can end at any moment, sockets and all. */
import { parentPort } from 'node:worker_threads';
import { handler } from '../../functions/send.ts';
import type { Answer, Call } from './send-pool.ts';

parentPort?.on('message', ({ id, payload }: Call) => {
  handler(payload).then(
    (value) => reply({ id, ok: true, value }),
    (error: unknown) => reply({ id, ok: false, error: error instanceof Error ? error.name : 'Error' }),
  );
});

function reply(answer: Answer): void {
  parentPort?.postMessage(answer);
}

/** A sandbox that does as it is told: `block` never gives the thread back, `hang` never answers, `fail` throws. */
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', ({ id, payload }: { id: number; payload: string }) => {
  if (payload === 'block') for (;;);
  if (payload === 'hang') return;
  parentPort?.postMessage(
    payload === 'fail' ? { id, ok: false, error: 'Away' } : { id, ok: true, value: payload },
  );
});

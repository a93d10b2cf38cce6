import { sweep } from '../lib/workflow/sweep.ts';
import { job } from './handler.ts';
import { log, starting } from './wiring.ts';

/** Fired by the scheduler. A pass that fails is not retried: the next one comes anyway. */
export const handler = job('sweep', log, async () => {
  const swept = await sweep(starting()).runOnce();
  if (swept.due > 0) log()('info', 'swept', { count: swept.started });
  return swept;
});

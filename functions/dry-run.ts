import { dryRunView } from '../lib/operations/dry-run-view.ts';
import { dryRun } from '../lib/workflow/dry-run.ts';
import { api, json } from './handler.ts';
import { ProblemError } from './problem.ts';
import { ownIntent } from './shown.ts';
import { log, looking } from './wiring.ts';

/**
 * What a look would find and lead to, now; nothing is written, outside or here. Its ETag is that of the intent.
 * It is asked by `reconcile` alone, which has read the body, and lets in the same callers by itself.
 */
export const handler = api('dry-run', log, async (request) => {
  const { tenant, id: intentId, route } = await ownIntent(request);
  const run = await dryRun(looking())({ tenant, intentId, route });
  if (run === undefined) throw new ProblemError('not-found');
  return json(200, dryRunView(run), { etag: `"${run.intent.version}"` });
});

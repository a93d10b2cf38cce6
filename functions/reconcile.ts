import { lookAgain } from '../lib/operations/look-again.ts';
import { askingDryRun } from './ask-function.ts';
import { api } from './handler.ts';
import { ProblemError } from './problem.ts';
import { readBody } from './request-body.ts';
import { reconcileBody } from './request-schemas.ts';
import { onlyQuery, refOf, shownTo } from './shown.ts';
import { log, starting } from './wiring.ts';

/**
 * Look again now: 202 when a look was started, 200 when there is nothing to look for. Never a write outside.
 * A dry run is answered by a function that cannot write; here is neither a secret nor a way to look.
 */
export const handler = api('reconcile', log, async (request, event) => {
  // `?dryRun=true` must not start what it was meant to only show.
  onlyQuery(request, []);
  const wish = request.body === '' ? undefined : readBody(request, reconcileBody);
  if (wish?.dryRun === true) return askingDryRun()(event);
  const ref = refOf(request);
  const looked = ref === undefined ? undefined : await lookAgain(starting())(ref, request.caller.unit);
  if (looked === undefined || looked.kind === 'absent') throw new ProblemError('not-found');
  return shownTo(request, looked.kind === 'started' ? 202 : 200, looked.intent);
});

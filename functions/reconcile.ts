import { lookAgain } from '../lib/operations/look-again.ts';
import { api } from './handler.ts';
import { ProblemError } from './problem.ts';
import { readBody } from './request-body.ts';
import { reconcileBody } from './request-schemas.ts';
import { refOf, shownTo } from './shown.ts';
import { log, starting } from './wiring.ts';

/** Look again now: 202 when a look was started, 200 when there is nothing to look for. Never a write outside. */
export const handler = api('reconcile', log, async (request) => {
  if (request.body !== '') readBody(request, reconcileBody);
  const ref = refOf(request);
  const looked = ref === undefined ? undefined : await lookAgain(starting())(ref, request.caller.unit);
  if (looked === undefined || looked.kind === 'absent') throw new ProblemError('not-found');
  return shownTo(request, looked.kind === 'started' ? 202 : 200, looked.intent);
});

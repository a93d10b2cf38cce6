import { again } from '../lib/operations/again.ts';
import { answerTo } from './acceptance-answers.ts';
import { api } from './handler.ts';
import { ProblemError, problem } from './problem.ts';
import { readBody } from './request-body.ts';
import { againBody } from './request-schemas.ts';
import { refOf } from './shown.ts';
import { deps, log } from './wiring.ts';

/** Orders a settled effect once more, under a key of the server's: 202 new, 200 when it was asked for before. */
export const handler = api('again', log, async (request) => {
  const ref = refOf(request);
  const { reason } = readBody(request, againBody);
  if (ref === undefined) throw new ProblemError('not-found');
  const { unit, subject } = request.caller;
  const made = await again(deps())(ref, unit, { by: subject, reason });
  switch (made.kind) {
    case 'absent':
      return problem('not-found');
    case 'not_settled':
      return problem('not-settled', { detail: 'Read it again once it is confirmed, rejected or closed.' });
    case 'route_changed':
      return problem('unknown-route', { detail: 'Its route is gone, or leads elsewhere than it did.' });
    default:
      return answerTo(request, made);
  }
});

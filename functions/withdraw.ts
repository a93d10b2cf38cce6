import { withdraw } from '../lib/operations/withdraw.ts';
import { api } from './handler.ts';
import { ProblemError, problem } from './problem.ts';
import { refOf, shownTo } from './shown.ts';
import { deps, log } from './wiring.ts';

/** Takes an intent back: 200 with the state that stands. Bytes that are out are not called back. */
export const handler = api('withdraw', log, async (request) => {
  const ref = refOf(request);
  const { unit, subject } = request.caller;
  const withdrawn = ref === undefined ? undefined : await withdraw(deps())(ref, unit, subject);
  switch (withdrawn?.kind) {
    case 'done':
      return shownTo(request, 200, withdrawn.intent);
    case 'settled':
      return problem('invalid-request', { detail: 'The intent is settled; there is nothing to take back.' });
    case 'busy':
      return problem('acceptance-undetermined', {
        detail: 'Others kept writing. Ask again.',
        retryAfterSeconds: 1,
      });
    default:
      throw new ProblemError('not-found');
  }
});

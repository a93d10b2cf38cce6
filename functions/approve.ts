import { approve } from '../lib/operations/approve.ts';
import { answerTo, refOrNotFound } from './approval-answers.ts';
import { api } from './handler.ts';
import { readBody } from './request-body.ts';
import { approveBody } from './request-schemas.ts';
import { deps, log } from './wiring.ts';

/** Signs one intent. The signature binds the request that stands, not the one that the body claims. */
export const handler = api('approve', log, async (request) => {
  const ref = refOrNotFound(request);
  const { fingerprint, until } = readBody(request, approveBody);
  const { unit, subject } = request.caller;
  return answerTo(await approve(deps())(ref, unit, { by: subject, fingerprint, until }));
});

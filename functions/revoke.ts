import { revoke } from '../lib/operations/approve.ts';
import { answerTo, refOrNotFound } from './approval-answers.ts';
import { api } from './handler.ts';
import { deps, log } from './wiring.ts';

/** Takes an approval back: no write from the next check on. */
export const handler = api('revoke', log, async (request) => {
  const { unit, subject } = request.caller;
  return answerTo(await revoke(deps())(refOrNotFound(request), unit, subject));
});

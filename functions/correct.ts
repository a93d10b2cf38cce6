import { enter } from '../lib/workflow/accept.ts';
import { answerTo, submissionOf } from './acceptance-answers.ts';
import { api } from './handler.ts';
import { readBody, readKey } from './request-body.ts';
import { correctBody } from './request-schemas.ts';
import { ownIntent } from './shown.ts';
import { deps, log } from './wiring.ts';

/** Takes a correction of one's own intent: an intent of its own that waits until the first one has settled. */
export const handler = api('correct', log, async (request) => {
  const key = readKey(request);
  const body = readBody(request, correctBody);
  const { id: corrects } = await ownIntent(request);
  return answerTo(request, await enter(deps())({ ...submissionOf(request, key, body), corrects }));
});

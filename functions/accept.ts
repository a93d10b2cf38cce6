import { accept } from '../lib/workflow/accept.ts';
import { answerTo, submissionOf } from './acceptance-answers.ts';
import { api } from './handler.ts';
import { readBody, readKey } from './request-body.ts';
import { acceptBody } from './request-schemas.ts';
import { log, starting } from './wiring.ts';

/** Takes one approved action: 202 new, 200 the same again, 409 the key with another request. */
export const handler = api('accept', log, async (request) => {
  const key = readKey(request);
  const submission = submissionOf(request, key, readBody(request, acceptBody));
  return answerTo(request, await accept(starting())(submission));
});

import { agree, decide } from '../lib/operations/decide.ts';
import { refOrNotFound } from './approval-answers.ts';
import { answerDecided } from './decision-answers.ts';
import { readDecision } from './decision-body.ts';
import { api } from './handler.ts';
import { versionNamed } from './if-match.ts';
import { deps, log } from './wiring.ts';

/** A decision about one intent: 200 carried out, 202 proposed to a second person. Nothing is called outside. */
export const handler = api('decide', log, async (request) => {
  const body = readDecision(request);
  const version = versionNamed(request);
  const ref = refOrNotFound(request);
  const { unit, subject: by } = request.caller;
  const decided =
    body.kind === 'agreement'
      ? await agree(deps())(ref, unit, { ...body, by, version })
      : await decide(deps())(ref, unit, { ...body, by, version });
  return answerDecided(request, decided);
});

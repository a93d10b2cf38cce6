import * as z from 'zod';
import { approve } from '../lib/operations/approve.ts';
import { answerTo, refOrNotFound } from './approval-answers.ts';
import { api } from './handler.ts';
import { readBody } from './request-body.ts';
import { deps, log } from './wiring.ts';

const body = z.strictObject({
  /** What the approver read: the fingerprint shown with the exact request. */
  fingerprint: z.string().min(1).max(128),
  until: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .optional(),
});

/** Signs one intent. The signature binds the request that stands, not the one that the body claims. */
export const handler = api('approve', log, async (request) => {
  const ref = refOrNotFound(request);
  const { fingerprint, until } = readBody(request, body);
  const { unit, subject } = request.caller;
  return answerTo(await approve(deps())(ref, unit, { by: subject, fingerprint, until }));
});

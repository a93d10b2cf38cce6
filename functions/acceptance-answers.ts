/** What those who submit are answered, on each of the ways in. */
import type { Acceptance, Submission } from '../lib/workflow/accept.ts';
import type { ApiAnswer, ApiRequest } from './handler.ts';
import { problem } from './problem.ts';
import type { SubmittedBody } from './request-schemas.ts';
import { shownInTime } from './waiting.ts';

/** A body that was read, as the submission of its caller. */
export function submissionOf(
  { caller }: ApiRequest,
  key: string,
  { traceIds, then, ...body }: SubmittedBody,
): Submission {
  const named = Object.entries(traceIds).filter((each): each is [string, string] => each[1] !== undefined);
  return { ...caller, ...body, key, followWith: then, traceIds: Object.fromEntries(named) };
}

/** 202 new and 200 the same again, both with their place; else the problem. */
export async function answerTo(request: ApiRequest, accepted: Acceptance): Promise<ApiAnswer> {
  switch (accepted.kind) {
    case 'accepted':
      return shownInTime(request, 202, accepted.intent, { location: `/intents/${accepted.intent.id}` });
    case 'same':
      return shownInTime(request, 200, accepted.intent, { location: `/intents/${accepted.intent.id}` });
    case 'conflict':
      return problem('key-conflict', { detail: 'The first request stands. Nothing was sent for this one.' });
    case 'unknown_route':
      return problem('unknown-route');
    case 'key_mismatch':
      return problem('key-mismatch', { detail: `The key must equal payload field ${accepted.field}.` });
    case 'invalid':
      return problem('invalid-request', { errors: accepted.faults });
  }
}

import * as z from 'zod';
import type { JsonObject } from '../lib/domain/intent.ts';
import { type Acceptance, accept } from '../lib/workflow/accept.ts';
import { type ApiAnswer, type ApiRequest, api } from './handler.ts';
import { problem } from './problem.ts';
import { readBody, readKey } from './request-body.ts';
import { shownInTime } from './waiting.ts';
import { log, starting } from './wiring.ts';

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const traceId = z.string().min(1).max(128);

const body = z.strictObject({
  route: z.string().min(1).max(64),
  payload: z.record(z.string(), z.unknown()).transform((value) => value as JsonObject),
  parent: z.string().min(1).max(255).nullable().default(null),
  plannedAt: instant.optional(),
  sendBy: instant.optional(),
  traceIds: z
    .strictObject({ call: traceId.optional(), conversation: traceId.optional(), worker: traceId.optional() })
    .default({}),
});

/** Takes one approved action: 202 new, 200 the same again, 409 the key with another request. */
export const handler = api('accept', log, async (request) => {
  const key = readKey(request);
  const { traceIds, ...rest } = readBody(request, body);
  const named = Object.entries(traceIds).filter((each): each is [string, string] => each[1] !== undefined);
  const accepted = await accept(starting())({
    ...request.caller,
    ...rest,
    key,
    traceIds: Object.fromEntries(named),
  });
  return answerTo(request, accepted);
});

async function answerTo(request: ApiRequest, accepted: Acceptance): Promise<ApiAnswer> {
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

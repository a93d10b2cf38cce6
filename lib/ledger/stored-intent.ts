/** The shape of a stored intent, parsed again whenever it is read back. */
import * as z from 'zod';
import { type Intent, type JsonObject, STATES } from '../domain/intent.ts';
import type { WriteResult } from '../domain/write-result.ts';
import type { Item } from './item.ts';

const ms = z.number();
const count = z.number().int().nonnegative();
const maybe = <T extends z.ZodType>(schema: T) => schema.nullable().default(null as never);

const writeResult = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('acknowledged'),
    externalId: z.string().nullable(),
    status: z.number(),
    answerDigest: z.string(),
    at: ms,
  }),
  z.object({
    kind: z.literal('rejected'),
    proof: z.enum(['not_sent', 'refused']),
    code: z.string(),
    retryable: z.boolean(),
    detail: z.string(),
    at: ms,
  }),
  z.object({
    kind: z.literal('unknown'),
    code: z.string(),
    startedAt: ms,
    evidenceId: z.string(),
    at: ms,
    exists: z.literal(true).optional(),
    notBefore: ms.optional(),
  }),
]) as unknown as z.ZodType<WriteResult>;

const environment = z.enum(['test', 'production']);

const attempt = z.object({
  number: count,
  token: z.string(),
  claimedAt: ms,
  sendBefore: ms,
  permission: z.string(),
  result: writeResult.optional(),
  lostAt: ms.optional(),
});

const search = z.object({
  startedAt: ms,
  endedAt: ms,
  verdict: z.enum(['found', 'many', 'absent', 'wait', 'inconclusive']),
  complete: z.boolean(),
  authorised: z.boolean(),
  candidates: z.array(z.string()),
  reference: maybe(z.string()),
  account: z.string(),
  environment,
  error: z.string().optional(),
  cancelUntil: ms.optional(),
});

const handover = z.object({
  reason: z.string(),
  candidates: z.array(z.string()),
  at: ms,
  failedChecks: z.array(z.string()).optional(),
});
const promiseClass = z.enum(['keyed', 'unique', 'searchable', 'blind']);

const receipt = z.object({
  schema: z.literal('kakutei-receipt/v1'),
  externalId: z.string(),
  url: maybe(z.string()),
  checks: z.record(z.string(), z.boolean()),
  readAt: ms,
  payloadDigest: z.string(),
  promiseClass,
  searchedWhole: z.boolean(),
});

const signature = z.object({ by: z.string(), at: ms });
const approval = z.object({
  fingerprint: z.string(),
  policyVersion: z.string(),
  until: ms,
  signatures: z.array(signature),
  // A null inside a map is stored as it is.
  revoked: signature.nullable(),
});

const decision = z.looseObject({ kind: z.string() });
const proposal = z.object({
  id: z.string(),
  decision,
  by: z.string(),
  reason: z.string(),
  at: ms,
  until: ms,
});
/** Payloads are kept as text: a number in them must come back as it was. */
const followUp = z.object({ route: z.string(), payload: z.string().transform(jsonOf) });

const stored = z.object({
  id: z.string(),
  tenant: z.string(),
  unit: z.string(),
  environment,
  action: z.string(),
  key: z.string(),
  route: z.string(),
  provider: z.string(),
  account: z.string(),
  parent: maybe(z.string()),
  payload: z.string().transform(jsonOf),
  frozen: z.object({
    method: z.enum(['POST', 'PUT']),
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
  }),
  fingerprint: z.string(),
  payloadDigest: z.string(),
  promiseClass,
  submitToken: z.string(),
  submittedBy: z.string(),
  traceIds: z.record(z.string(), z.string()),
  corrects: maybe(z.string()),
  followWith: maybe(followUp),
  createdAt: ms,
  plannedAt: ms,
  sendBy: ms,
  state: z.enum(STATES),
  version: count,
  dueAt: maybe(ms),
  runs: count,
  idleRuns: count,
  attempts: z.array(attempt),
  noMoreWrites: z.boolean(),
  seenAt: maybe(ms),
  acknowledgedId: maybe(z.string()),
  searches: count,
  searchingSince: maybe(ms),
  heldBack: maybe(z.object({ times: count, calls: count.nullable() })),
  unknownSince: maybe(ms),
  lastSearch: maybe(search),
  absentSince: maybe(ms),
  approval: maybe(approval),
  readbacks: count,
  handover: maybe(handover),
  conflictAt: maybe(ms),
  externalId: maybe(z.string()),
  receipt: maybe(receipt),
  outcome: maybe(z.enum(['no_effect', 'attested', 'undetermined'])),
  attestedId: maybe(z.string()),
  incident: maybe(handover),
  contraryAt: maybe(ms),
  trustedSearchAt: maybe(ms),
  cancelUntil: maybe(ms),
  checkedAt: maybe(ms),
  waitsFor: maybe(z.string()),
  followUp: maybe(z.string()),
  owner: maybe(signature),
  proposal: maybe(proposal),
  waitUntil: maybe(ms),
  declaredAbsentAt: maybe(ms),
  surplus: z.array(z.string()).default([]),
  writeToken: z.string(),
});

function jsonOf(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}

/** Parses an item again; throws when what is stored is not an intent. */
export function fromItem(item: Item): Intent {
  return stored.parse(item) as Intent;
}

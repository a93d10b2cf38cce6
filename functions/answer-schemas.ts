/**
 * What the API answers, as schemas: the API document is made from them, and tests parse real answers with them.
 * Nothing that is deployed checks its own answers.
 */
import * as z from 'zod';
import { STATES } from '../lib/domain/intent.ts';
import type { FollowUpView, IntentView, ProposalView } from '../lib/operations/trail.ts';

/** UTC, ISO 8601 with milliseconds. */
export const utcTime = z.iso.datetime();
const count = z.int().min(0);
const idOrNull = z.string().nullable();
export const cursor = z.string().nullable().meta({ description: 'For the next page; null on the last one.' });

/** Written as a union: a named schema that is nullable would be null wherever it is named. */
export function orNull<T extends z.ZodType>(schema: T) {
  return z.union([schema, z.null()]);
}

export const intentId = z
  .string()
  .regex(/^int_[0-9a-f]{40}$/)
  .meta({ id: 'IntentId', description: 'Made from tenant, unit, environment, action and key.' });

export const receiptShape = {
  schema: z.literal('kakutei-receipt/v1'),
  intentId,
  fingerprint: z.string(),
  externalId: z.string().meta({ description: "The provider's id." }),
  url: idOrNull.meta({ description: 'Where everybody can see it.' }),
  checks: z
    .record(z.string(), z.boolean())
    .meta({ description: 'What was compared with what was read back.' }),
  readAt: utcTime,
  payloadDigest: z.string().meta({ description: 'sha256 of the canonical payload, hex.' }),
  promiseClass: z.enum(['keyed', 'unique', 'searchable', 'blind']),
  searchedWhole: z.boolean().meta({ description: 'Whether a complete search was part of the proof.' }),
};
const receipt = z
  .strictObject(receiptShape)
  .meta({ id: 'Receipt', description: 'Proof by readback; only a receipt makes an intent confirmed.' });

const followUp = z
  .strictObject({
    route: z.string(),
    state: z.enum(['waiting', 'created', 'not_created']),
    id: idOrNull,
  } satisfies Shape<FollowUpView>)
  .meta({ id: 'FollowUp', description: 'What was ordered to follow once it is confirmed.' });

const hand = z
  .strictObject({ by: z.string().meta({ description: 'Subject of the token.' }), at: utcTime })
  .meta({ id: 'Hand', description: 'Who did it, and when.' });

const decision = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('attach_external_id'), externalId: z.string() }),
    z.strictObject({ kind: z.literal('declare_absent'), lookedAt: utcTime }),
    z.strictObject({ kind: z.literal('settle_many'), keep: z.string(), surplus: z.array(z.string()) }),
    z.strictObject({ kind: z.literal('wait_until'), until: utcTime }),
    z.strictObject({
      kind: z.literal('close'),
      outcome: z.enum(['no_effect', 'attested', 'undetermined']),
      lookedAt: utcTime.optional(),
      externalId: idOrNull.optional(),
    }),
    z.strictObject({ kind: z.literal('reopen') }),
  ])
  .meta({ id: 'Decision' });

const proposal = z
  .strictObject({
    id: z.string(),
    decision,
    by: z.string(),
    reason: z.string(),
    until: utcTime.meta({ description: 'Exclusive.' }),
  } satisfies Shape<ProposalView>)
  .meta({ id: 'Proposal', description: 'A decision of one person that waits for a second one.' });

export const waitsFor = idOrNull.meta({
  description: 'Id of the intent that has to settle first; `elsewhere` where that is of another unit.',
});

export const intentShape = {
  id: intentId,
  key: z.string(),
  route: z.string(),
  state: z.enum(STATES),
  report: z.enum(['confirmed', 'rejected', 'unconfirmed']).meta({
    description: 'Unconfirmed means not known yet, never "no effect".',
  }),
  attempts: count.meta({ description: 'How often bytes may have left.' }),
  errorKinds: z
    .array(z.string())
    .meta({ description: 'One word for each attempt that did not succeed, in order.' }),
  conflicts: count.meta({ description: 'Different requests that came under the same key.' }),
  externalId: idOrNull.meta({ description: "The provider's id, only when confirmed." }),
  acknowledgedId: idOrNull.meta({ description: 'An id that was seen and not verified.' }),
  receipt: orNull(receipt),
  reason: idOrNull.meta({
    description: 'Why a person is asked: the word of the hand-over or of a second effect.',
  }),
  outcome: z
    .enum(['no_effect', 'attested', 'undetermined'])
    .nullable()
    .meta({ description: 'How a closed intent ended.' }),
  nextAt: utcTime.nullable().meta({ description: 'When the next look is due.' }),
  // biome-ignore lint/suspicious/noThenProperty: the name of a field, never awaited.
  then: orNull(followUp),
  corrects: idOrNull.meta({ description: 'Id of the intent that this one corrects.' }),
  waitsFor,
  owner: orNull(hand),
  proposal: orNull(proposal),
  explanation: z.string().meta({ description: 'For people, in the language of Content-Language.' }),
  version: z.int().min(1).meta({ description: 'Grows by one with every change; the ETag.' }),
} satisfies Shape<IntentView>;

export const intent = z.strictObject(intentShape).meta({ id: 'Intent' });

export const intentList = z
  .strictObject({
    day: z.iso.date().optional().meta({ description: 'UTC; absent when asked for by key.' }),
    items: z.array(intent),
    cursor,
  })
  .meta({ id: 'IntentList' });

export const approval = z
  .strictObject({
    id: intentId,
    fingerprint: z.string(),
    request: z
      .strictObject({
        route: z.string(),
        account: z.string(),
        environment: z.enum(['test', 'production']),
        action: z.string(),
        key: z.string(),
        parent: idOrNull,
        payload: z.record(z.string(), z.unknown()),
        corrects: intentId.optional(),
        // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data that is never awaited.
        then: z.strictObject({ route: z.string(), payload: z.record(z.string(), z.unknown()) }).optional(),
      })
      .meta({ description: 'Exactly what would be sent, and where.' }),
    policyVersion: idOrNull.meta({ description: 'Null when the route is not configured any more.' }),
    signaturesNeeded: z.int().min(0).max(2),
    permitted: z.boolean(),
    reason: idOrNull.meta({ description: 'Why nothing is permitted; null when it is.' }),
    approval: z
      .strictObject({
        policyVersion: z.string(),
        until: utcTime.meta({ description: 'Exclusive.' }),
        signatures: z.array(hand),
        revoked: orNull(hand),
      })
      .nullable()
      .meta({ description: 'In force, or the last one.' }),
  })
  .meta({ id: 'Approval' });

export const routeState = z
  .strictObject({
    route: z.string().meta({ description: '`*` for everything.' }),
    frozen: z.boolean(),
    by: z.string(),
    why: z.string(),
    at: utcTime,
  })
  .meta({ id: 'RouteState', description: 'Who stopped sends or let them go on last, and why.' });

export const health = z.strictObject({ status: z.enum(['ok', 'ledger_unavailable']) }).meta({ id: 'Health' });

export const document = z
  .looseObject({
    openapi: z.string().regex(/^3\.1\./),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    paths: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'ApiDocument', description: 'This document.' });

/** A schema for each field of `T`, and for no other. */
export type Shape<T> = { readonly [K in keyof T]-?: z.ZodType };

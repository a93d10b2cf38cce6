/** What people may send to decide: a decision of their own, or their word to a proposal. */
import * as z from 'zod';
import type { Decision } from '../lib/domain/decision.ts';
import type { ApiRequest } from './handler.ts';
import { readBody } from './request-body.ts';

export type Body =
  | { readonly kind: 'decision'; readonly decision: Decision; readonly reason: string }
  | { readonly kind: 'agreement'; readonly agreesTo: string; readonly reason: string | null };

/** With the one that is kept, as many ids as a hand-over shows. */
const MOST_SURPLUS = 19;

const reason = z.string().trim().min(1).max(500);
const moment = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const externalId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}+$/u, 'without control characters')
  // For the API document: readers of a schema need not know Unicode classes.
  .meta({ pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]+$` });

const close = z.discriminatedUnion('outcome', [
  z.strictObject({ kind: z.literal('close'), outcome: z.literal('no_effect'), lookedAt: moment, reason }),
  z.strictObject({
    kind: z.literal('close'),
    outcome: z.literal('attested'),
    externalId: externalId.nullable().default(null),
    reason,
  }),
  z.strictObject({ kind: z.literal('close'), outcome: z.literal('undetermined'), reason }),
]);

export const decision = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('attach_external_id'), externalId, reason }),
  z.strictObject({ kind: z.literal('declare_absent'), lookedAt: moment, reason }),
  z.strictObject({
    kind: z.literal('settle_many'),
    keep: externalId,
    surplus: z.array(externalId).max(MOST_SURPLUS),
    reason,
  }),
  z.strictObject({ kind: z.literal('wait_until'), until: moment, reason }),
  close,
  z.strictObject({ kind: z.literal('reopen'), reason }),
]);

export const agreement = z.strictObject({
  agreesTo: z.string().min(1).max(64),
  reason: reason.nullable().default(null),
});

/** Which of the two it is shows in `agreesTo`; unknown fields are refused in both. */
export function readDecision(request: ApiRequest): Body {
  if ('agreesTo' in readBody(request, z.looseObject({}))) {
    return { kind: 'agreement', ...readBody(request, agreement) };
  }
  const { reason: why, ...what } = readBody(request, decision);
  return { kind: 'decision', decision: what, reason: why };
}

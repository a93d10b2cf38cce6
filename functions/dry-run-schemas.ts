/** The answer of a dry run, as a schema. */
import * as z from 'zod';
import { STATES } from '../lib/domain/intent.ts';
import type { CandidateView, DryRunView, LookView, SearchView } from '../lib/operations/dry-run-view.ts';
import type { Next } from '../lib/workflow/what-next.ts';
import { intentId, orNull, type Shape, utcTime, waitsFor } from './answer-schemas.ts';

const candidate = z
  .strictObject({
    externalId: z.string(),
    url: z.string().nullable().meta({ description: 'Where everybody can see it.' }),
    checks: z.record(z.string(), z.boolean()).meta({
      description: 'Those that this look makes. All of a readback must hold for a receipt.',
    }),
  } satisfies Shape<CandidateView>)
  .meta({ id: 'Candidate', description: 'A record at the provider that matches.' });

const lookShape = {
  startedAt: utcTime,
  endedAt: utcTime,
  complete: z.boolean(),
  authorised: z.boolean(),
  error: z.string().nullable().meta({ description: 'One word where the look failed.' }),
  candidates: z.array(candidate),
  refused: z.array(z.string()).meta({ description: 'Ids that the provider lists as without effect.' }),
} satisfies Shape<LookView>;

const seen = z
  .strictObject({
    externalId: z.string(),
    url: z
      .string()
      .nullable()
      .meta({ description: 'Of its public page, where known; a search does not go there.' }),
    createdAt: utcTime.nullable().meta({ description: "By the provider's clock." }),
    near: z
      .boolean()
      .meta({ description: 'A near miss: a reason besides `time` is false, so it does not match.' }),
    reasons: z.record(z.string(), z.union([z.boolean(), z.string()])).meta({
      description:
        'What agrees. `not_comparable:…` is a comparison that cannot be made; `binding` says whose it is.',
    }),
  })
  .meta({ id: 'SeenRecord', description: 'Where identity is content: what agrees, and what does not.' });

const search = z
  .strictObject({
    ...lookShape,
    reference: z.string().nullable().meta({ description: 'Null where the provider shows none.' }),
    account: z.string(),
    environment: z.string(),
    seen: z.array(seen),
  } satisfies Shape<SearchView>)
  .meta({ id: 'DrySearch' });

const readback = z.strictObject(lookShape).meta({ id: 'DryReadback' });

const next = z
  .strictObject({
    do: z.enum([
      ...(['send', 'check', 'confirm', 'follow_up', 'reject', 'close'] as const),
      ...(['hand_over', 'decide', 'freeze', 'wait', 'end'] as const),
    ] satisfies readonly Next['do'][]),
    reason: z.string().nullable(),
  } satisfies Shape<Next>)
  .meta({ id: 'Next', description: 'What the machine would do next, and why.' });

export const dryRunAnswer = z
  .strictObject({
    id: intentId,
    state: z.enum(STATES),
    version: z.int().min(1),
    verdict: z
      .enum(['found', 'many', 'absent', 'wait', 'inconclusive'])
      .nullable()
      .meta({ description: 'Null where the route is not configured any more.' }),
    search: orNull(search),
    readback: orNull(readback),
    contradicting: z
      .array(z.string())
      .meta({ description: 'Settled intents: ids for which an audit would freeze the route.' }),
    sendRefusals: z.array(z.string()).nullable().meta({
      description:
        'Every reason against a write after this look. Empty: one may leave. Null: none is to come.',
    }),
    waitsFor,
    next,
  } satisfies Shape<DryRunView>)
  .meta({ id: 'DryRun', description: 'What a look would find and lead to. Nothing was written.' });

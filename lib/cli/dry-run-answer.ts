/** What the service answers to a dry run, checked as far as it is shown; members that are not shown may be added. */
import * as z from 'zod';

const flags = z.record(z.string(), z.boolean());

const look = z.object({
  startedAt: z.string(),
  endedAt: z.string(),
  complete: z.boolean(),
  authorised: z.boolean(),
  error: z.string().nullable(),
  candidates: z.array(z.object({ externalId: z.string(), url: z.string().nullable(), checks: flags })),
  refused: z.array(z.string()),
});

const search = look.extend({
  reference: z.string().nullable(),
  account: z.string(),
  environment: z.string(),
  seen: z.array(
    z.object({
      externalId: z.string(),
      url: z.string().nullable(),
      createdAt: z.string().nullable(),
      near: z.boolean(),
      reasons: z.record(z.string(), z.union([z.boolean(), z.string()])),
    }),
  ),
});

export const dryRunAnswer = z.object({
  id: z.string(),
  state: z.string(),
  version: z.int(),
  verdict: z.string().nullable(),
  search: search.nullable(),
  readback: look.nullable(),
  contradicting: z.array(z.string()),
  sendRefusals: z.array(z.string()).nullable(),
  waitsFor: z.string().nullable(),
  next: z.object({ do: z.string(), reason: z.string().nullable() }),
});

export type DryRunAnswer = z.infer<typeof dryRunAnswer>;
export type Look = z.infer<typeof look>;
export type Search = z.infer<typeof search>;

/** False where nobody looked, a look failed, or what was seen is not the whole or perhaps somebody else's. */
export function wholeLook({ search: seen, readback }: DryRunAnswer): boolean {
  if (seen === null || !seen.complete || !seen.authorised || seen.error !== null) return false;
  // A readback asks for one record, so that it is never all there is.
  return readback === null || (readback.authorised && readback.error === null);
}

/**
 * What bodies may hold: each function refuses what does not fit its schema, and the API document is made from the
 * same ones. They stand apart from the functions so that the document does not carry what the functions use.
 */
import * as z from 'zod';
import type { JsonObject } from '../lib/domain/intent.ts';

/** An instant with its offset, read as ms since the epoch. */
const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const traceId = z.string().min(1).max(128);
const route = z.string().min(1).max(64).meta({ description: 'Name of a route.' });
const payload = z
  .record(z.string(), z.unknown())
  .transform((value) => value as JsonObject)
  .meta({ description: 'What the provider of the route takes.' });

export const correctBody = z
  .strictObject({
    route,
    payload,
    parent: z
      .string()
      .min(1)
      .max(255)
      .nullable()
      .default(null)
      .meta({ description: 'External id of the parent.' }),
    plannedAt: instant.optional().meta({ description: 'Not before this time; now when left out.' }),
    sendBy: instant.optional().meta({
      description: 'No byte leaves from this time on; `plannedAt` plus what the route allows when left out.',
    }),
    traceIds: z
      .strictObject({
        call: traceId.optional(),
        conversation: traceId.optional(),
        worker: traceId.optional(),
      })
      .default({})
      .meta({ description: 'Recorded, never compared.' }),
    // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data, never awaited.
    then: z
      .strictObject({ route, payload })
      .nullable()
      .default(null)
      .meta({ description: 'What is to be made once this one is confirmed: an intent of its own.' }),
  })
  .meta({ id: 'CorrectionRequest' });

export type SubmittedBody = z.output<typeof correctBody> & { readonly corrects?: string | null };

export const acceptBody = correctBody
  .extend({
    corrects: z
      .string()
      .regex(/^int_[0-9a-f]{40}$/)
      .nullable()
      .default(null)
      .meta({
        description: 'Id of the own intent that this one corrects; it waits until that one has settled.',
      }),
  })
  .meta({ id: 'IntentRequest' });

export const againBody = z
  .strictObject({
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .meta({ description: 'Why it is ordered once more; kept as evidence.' }),
  })
  .meta({ id: 'AgainRequest' });

export const approveBody = z
  .strictObject({
    fingerprint: z
      .string()
      .min(1)
      .max(128)
      .meta({ description: 'What the approver read: the fingerprint shown with the exact request.' }),
    until: instant.optional().meta({
      description: 'Exclusive; as long as the policy of the route allows when left out.',
    }),
  })
  .meta({ id: 'ApprovalRequest' });

export const ownerBody = z
  .strictObject({
    takeOver: z.boolean().default(false).meta({ description: 'Also from somebody else.' }),
  })
  .meta({ id: 'OwnerRequest' });

export const reconcileBody = z
  .strictObject({
    dryRun: z.boolean().default(false).meta({
      description: 'Only show what a look would find and lead to: nothing is started, and nothing written.',
    }),
  })
  .meta({ id: 'ReconciliationRequest' });

export const freezeBody = z
  .strictObject({
    why: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .meta({ description: 'Asked for both ways: whoever reads it later was not there.' }),
  })
  .meta({ id: 'FreezeRequest' });

/** The longer answers: the evidence of one intent, and the queue of those that people should look at. */
import * as z from 'zod';
import { DECISIONS } from '../lib/domain/decision.ts';
import type { SearchFacts } from '../lib/domain/intent.ts';
import type { Deadline, Facts, QueueItem } from '../lib/operations/queue-item.ts';
import { cursor, intentId, intentShape, orNull, type Shape, utcTime } from './answer-schemas.ts';

const result = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('acknowledged'),
      externalId: z.string().nullable(),
      status: z.int(),
      answerDigest: z.string().meta({ description: 'sha256 of the answer body, hex.' }),
      at: utcTime,
    }),
    z.strictObject({
      kind: z.literal('rejected'),
      proof: z.enum(['not_sent', 'refused']),
      code: z.string(),
      retryable: z.boolean(),
      detail: z.string(),
      at: utcTime,
    }),
    z.strictObject({
      kind: z.literal('unknown'),
      code: z.string(),
      startedAt: utcTime,
      evidenceId: z.string(),
      at: utcTime,
      exists: z
        .literal(true)
        .optional()
        .meta({ description: 'The provider said that something of ours is there already.' }),
      notBefore: utcTime
        .optional()
        .meta({ description: 'The provider asked (Retry-After) to be left alone until then.' }),
    }),
  ])
  .meta({ id: 'WriteResult', description: 'What came of one write. Unknown may have had its effect.' });

const attempt = z
  .strictObject({
    number: z.int().min(1),
    evidenceId: z.string(),
    claimedAt: utcTime.meta({ description: 'Stored before any byte left.' }),
    sendBefore: utcTime.meta({ description: 'The last moment for the first byte, exclusive.' }),
    permission: z.string().meta({ description: 'Version of the permission it was claimed under.' }),
    lostAt: utcTime.optional().meta({ description: 'When its worker was declared lost.' }),
    result: orNull(result),
  })
  .meta({ id: 'Attempt' });

export const evidencePage = z
  .strictObject({
    intentId,
    attempts: z.array(attempt),
    items: z.array(
      z.strictObject({
        kind: z.string().meta({ description: 'One word for each sort of fact: search, conflict, approval.' }),
        id: z.string(),
        at: utcTime,
        facts: z.record(z.string(), z.unknown()).meta({ description: 'As recorded; instants in ms.' }),
      }),
    ),
    cursor,
  })
  .meta({ id: 'EvidencePage' });

const search = z
  .strictObject({
    startedAt: utcTime,
    endedAt: utcTime,
    verdict: z.enum(['found', 'many', 'absent', 'wait', 'inconclusive']),
    complete: z.boolean(),
    authorised: z.boolean(),
    candidates: z.array(z.string()),
    reference: z.string().nullable().meta({ description: 'Null where the provider shows none.' }),
    account: z.string(),
    environment: z.enum(['test', 'production']),
    error: z.string().optional(),
    cancelUntil: utcTime.optional(),
  } satisfies Shape<SearchFacts>)
  .meta({ id: 'Search', description: 'One search at the provider.' });

const facts = z
  .strictObject({
    reference: z.string().nullable(),
    account: z.string(),
    environment: z.string(),
    candidates: z.array(z.string()).meta({ description: 'Ids that were seen; none of them is verified.' }),
    failedChecks: z
      .array(z.string())
      .meta({ description: 'Of a mismatch: the checks of the readback that do not hold.' }),
    attempts: z.array(attempt),
    lastSearch: orNull(search),
    searchesHeldBack: z.int().min(0).meta({
      description: 'How often the next search was held back: the account has had its calls of the minute.',
    }),
  } satisfies Shape<Facts>)
  .meta({ id: 'Facts', description: 'What to look for at the provider, and what is on record.' });

const deadline = z
  .strictObject({
    at: utcTime,
    of: z.enum(['key', 'cancel', 'send']),
    passed: z.boolean(),
  } satisfies Shape<Deadline>)
  .meta({
    id: 'Deadline',
    description: 'Until when the provider remembers our key or can cancel, or something may be sent.',
  });

const queueItem = z
  .strictObject({
    ...intentShape,
    since: utcTime,
    ageMs: z.int().min(0),
    facts,
    lastTrustworthySearchAt: utcTime.nullable(),
    resend: z.strictObject({ allowed: z.boolean(), reasons: z.array(z.string()) }),
    deadline,
    allowedDecisions: z.array(z.enum(DECISIONS as readonly [string, ...string[]])),
  } satisfies Shape<QueueItem>)
  .meta({ id: 'QueueItem' });

export const queuePage = z
  .strictObject({ list: z.enum(['doubtful', 'approved']), items: z.array(queueItem), cursor })
  .meta({ id: 'QueuePage' });

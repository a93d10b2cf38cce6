/** The documents that are made to be kept by others: the receipt and the manifest. */
import * as z from 'zod';
import { STATES } from '../lib/domain/intent.ts';
import { RECEIPT_SCHEMA, type ReceiptDocument } from '../lib/domain/receipt-digest.ts';
import type { Manifest } from '../lib/operations/manifest.ts';
import { intentId, receiptShape, type Shape, utcTime } from './answer-schemas.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const parent = z.string().nullable().meta({ description: 'External id of the parent.' });

export const receiptDocument = z
  .strictObject({
    ...receiptShape,
    schema: z.literal(RECEIPT_SCHEMA),
    key: z.string(),
    route: z.string(),
    account: z.string(),
    environment: z.enum(['test', 'production']),
    action: z.string(),
    parent,
    attempts: z.int().min(0).meta({ description: 'How often bytes may have left.' }),
    digest: digest.meta({ description: 'sha256 of the RFC 8785 form of all other members, hex.' }),
  } satisfies Shape<ReceiptDocument>)
  .meta({ id: 'ReceiptDocument', description: 'A receipt that can be kept and checked offline.' });

export const manifest = z
  .strictObject({
    schema: z.literal('publish-intent/v1'),
    intent_id: intentId,
    route: z.string(),
    account: z.string(),
    payload_sha256: digest.meta({ description: 'Of the canonical payload, hex.' }),
    planned_time: utcTime.meta({ description: 'Not before.' }),
    parent_external_id: parent,
    status: z.enum(STATES).meta({ description: 'The state of the intent.' }),
  } satisfies Shape<Manifest>)
  .meta({ id: 'Manifest', description: 'What was ordered, where and for when, and how it stands.' });

/** The receipt as a document of its own, which can be kept and checked without this service. */
import type { Intent } from '../domain/intent.ts';
import { RECEIPT_SCHEMA, type ReceiptDocument, receiptDigest } from '../domain/receipt-digest.ts';
import { utc } from '../platform/clock.ts';

/** Null while there is no receipt. The same document for ever after. */
export function receiptDocumentOf(intent: Intent): ReceiptDocument | null {
  if (intent.receipt === null) return null;
  const { key, route, account, environment, action, parent, fingerprint } = intent;
  const { payloadDigest, externalId, url, checks, promiseClass, searchedWhole } = intent.receipt;
  const all = {
    schema: RECEIPT_SCHEMA,
    intentId: intent.id,
    ...{ key, route, account, environment, action, parent, fingerprint },
    ...{ payloadDigest, externalId, url, checks, promiseClass, searchedWhole },
    readAt: utc(intent.receipt.readAt),
    attempts: intent.attempts.length,
  } as const;
  return { ...all, digest: receiptDigest(all) };
}

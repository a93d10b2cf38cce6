/**
 * The receipt as it leaves the service, and the digest that it carries: sha256, hex, over the RFC 8785 form of every
 * other member. Whoever has the file and any canonical JSON library can make the digest again; nothing else of ours
 * is needed. It shows that a copy is whole. It is no signature: who changes a member can also make a new digest.
 */
import { canonicalText, sha256 } from './fingerprint.ts';
import type { Environment, JsonObject } from './intent.ts';
import type { PromiseClass } from './promise.ts';

export const RECEIPT_SCHEMA = 'kakutei-receipt/v2';

/** No secret, no header and no payload. It never changes once it was given out. */
export interface ReceiptDocument {
  readonly schema: typeof RECEIPT_SCHEMA;
  readonly intentId: string;
  readonly key: string;
  readonly route: string;
  readonly account: string;
  readonly environment: Environment;
  readonly action: string;
  /** External id of the parent. */
  readonly parent: string | null;
  readonly fingerprint: string;
  /** sha256 hex of the canonical payload, under the text rule that the fingerprint names. */
  readonly payloadDigest: string;
  readonly externalId: string;
  /** Where everybody can see it; null where the provider has no public page. */
  readonly url: string | null;
  readonly checks: Readonly<Record<string, boolean>>;
  /** UTC, ISO 8601 with milliseconds. */
  readonly readAt: string;
  readonly promiseClass: PromiseClass;
  readonly searchedWhole: boolean;
  /** How often bytes may have left. */
  readonly attempts: number;
  readonly digest: string;
}

/** The digest of a receipt, over all its members but `digest`. Throws `NotCanonical` on lone surrogates. */
export function receiptDigest(receipt: JsonObject): string {
  const { digest: _own, ...rest } = receipt;
  return sha256(rfc8785(rest));
}

/** Strings stay as they are: any other implementation must come to the same bytes. */
export function rfc8785(value: JsonObject): string {
  return canonicalText(value, (text) => text);
}

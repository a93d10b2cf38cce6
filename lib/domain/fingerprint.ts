/**
 * The fingerprint of a request: RFC 8785 canonical JSON after our own versioned text rule, hashed.
 * Equal meaning gives an equal fingerprint: key order, number spelling (RFC 8785), line ends and
 * composed or decomposed Unicode do not count. Everything else does, white space included.
 *
 * Rule `fp1`: every string, member names included, has CRLF and CR turned into LF and is put into
 * Unicode form NFC. Compatibility forms (NFKC) stay different. The bytes sent stay as submitted.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json, JsonObject } from './intent.ts';

export const FINGERPRINT_VERSION = 'fp1';

export interface FingerprintParts {
  readonly route: string;
  readonly account: string;
  readonly environment: string;
  readonly parent: string | null;
  readonly payload: JsonObject;
}

/** `fp1:<sha256 hex>`. Throws `NotCanonical` on lone surrogates and on names that the text rule makes equal. */
export function fingerprint(parts: FingerprintParts): string {
  return `${FINGERPRINT_VERSION}:${sha256(canonicalText({ ...parts }))}`;
}

/** sha256 hex of the canonical form of a payload. */
export function payloadDigest(payload: JsonObject): string {
  return sha256(canonicalText(payload));
}

export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

export function canonicalText(value: Json): string {
  const text = canonicalize(normalise(value));
  if (text === undefined) throw new NotCanonical('Cannot hash a value that is not JSON.');
  return text;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function normalise(value: Json): Json {
  if (typeof value === 'string') return normaliseText(value);
  if (Array.isArray(value)) return value.map(normalise);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).map(
    ([name, member]) => [normaliseText(name), normalise(member)] as const,
  );
  if (new Set(members.map(([name]) => name)).size !== members.length) {
    throw new NotCanonical('Cannot hash an object in which two member names are equal as text.');
  }
  return Object.fromEntries(members);
}

function normaliseText(text: string): string {
  if (!text.isWellFormed()) throw new NotCanonical('Cannot hash text with a lone surrogate.');
  return text.replace(/\r\n?/g, '\n').normalize('NFC');
}

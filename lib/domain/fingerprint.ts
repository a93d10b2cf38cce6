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
import type { Intent, Json, JsonObject } from './intent.ts';

/** Text rules by version, and the one that new requests are hashed under. Old versions stay for ever. */
export interface Normalisation {
  readonly current: string;
  readonly rules: Readonly<Record<string, (text: string) => string>>;
}

export const FINGERPRINT_VERSION = 'fp1';

export const NORMALISATION: Normalisation = {
  current: FINGERPRINT_VERSION,
  rules: { fp1: (text) => text.replace(/\r\n?/g, '\n').normalize('NFC') },
};

export interface FingerprintParts {
  readonly route: string;
  readonly account: string;
  readonly environment: string;
  readonly parent: string | null;
  readonly payload: JsonObject;
  /** The intent that this one corrects; left out where there is none. */
  readonly corrects?: string;
  /** What is to follow it; left out where nothing is. */
  readonly then?: JsonObject;
}

/** `fp1:<sha256 hex>`. Throws `NotCanonical` on lone surrogates and on names that the text rule makes equal. */
export function fingerprint(
  parts: FingerprintParts,
  { current, rules }: Normalisation = NORMALISATION,
): string {
  const rule = rules[current];
  if (rule === undefined) throw new NotCanonical(`Cannot hash under rule ${current}: it is not known here.`);
  return `${current}:${sha256(canonicalText({ ...parts }, rule))}`;
}

/** The fingerprint of a request as an intent keeps it. */
export function requestPrint(
  request: Pick<
    Intent,
    'route' | 'account' | 'environment' | 'parent' | 'payload' | 'corrects' | 'followWith'
  >,
  normalisation: Normalisation = NORMALISATION,
): string {
  const { route, account, environment, parent, payload, corrects, followWith } = request;
  const parts = { route, account, environment, parent, payload };
  const correcting = corrects === null ? parts : { ...parts, corrects };
  // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data that is never awaited.
  const all = followWith === null ? correcting : { ...correcting, then: { ...followWith } };
  return fingerprint(all, normalisation);
}

/** The rule that a fingerprint was made under. */
export function versionOfPrint(print: string): string {
  return print.split(':', 1)[0] ?? '';
}

/** sha256 hex of the canonical form of a payload. */
export function payloadDigest(payload: JsonObject): string {
  return sha256(canonicalText(payload));
}

export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
  /** JSON pointer to what of the request it speaks of. */
  readonly pointer: string;
  constructor(message: string, pointer = '/payload') {
    super(message);
    this.pointer = pointer;
  }
}

type TextRule = (text: string) => string;

export function canonicalText(value: Json, rule: TextRule = currentRule): string {
  const text = canonicalize(normalise(value, rule));
  if (text === undefined) throw new NotCanonical('Cannot hash a value that is not JSON.');
  return text;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function currentRule(text: string): string {
  return NORMALISATION.rules[FINGERPRINT_VERSION]?.(text) ?? text;
}

function normalise(value: Json, rule: TextRule): Json {
  if (typeof value === 'string') return normaliseText(value, rule);
  if (Array.isArray(value)) return value.map((each) => normalise(each, rule));
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).map(
    ([name, member]) => [normaliseText(name, rule), normalise(member, rule)] as const,
  );
  if (new Set(members.map(([name]) => name)).size !== members.length) {
    throw new NotCanonical('Cannot hash an object in which two member names are equal as text.');
  }
  return Object.fromEntries(members);
}

function normaliseText(text: string, rule: TextRule): string {
  if (!text.isWellFormed()) throw new NotCanonical('Cannot hash text with a lone surrogate.');
  return rule(text);
}

/** Judges a receipt by itself: its form, its checks, its digest, and the payload that it was made for. Pure. */
import { canonicalText, NORMALISATION, NotCanonical, sha256, versionOfPrint } from '../domain/fingerprint.ts';
import type { JsonObject } from '../domain/intent.ts';
import { RECEIPT_SCHEMA, type ReceiptDocument, receiptDigest } from '../domain/receipt-digest.ts';
import { quoted } from './command.ts';

export interface Broken {
  /** The member that is broken; `payload` for the other file. */
  readonly what: string;
  readonly why: string;
}

interface Form {
  readonly fits: (value: unknown) => boolean;
  readonly wanted: string;
}

const text: Form = { fits: (value) => typeof value === 'string' && value !== '', wanted: 'a text' };
const orNull: Form = { fits: (value) => value === null || text.fits(value), wanted: 'a text or null' };
const flag: Form = { fits: (value) => typeof value === 'boolean', wanted: 'true or false' };
const hash = like(/^[0-9a-f]{64}$/, '64 hexadecimal digits');

const MEMBERS: Readonly<Record<keyof ReceiptDocument, Form>> = {
  schema: oneOf(RECEIPT_SCHEMA),
  intentId: like(/^int_[0-9a-f]{40}$/, 'the id of an intent'),
  key: text,
  route: text,
  account: text,
  environment: oneOf('test', 'production'),
  action: text,
  parent: orNull,
  fingerprint: like(/^[a-z0-9]+:[0-9a-f]{64}$/, 'a version, a colon and 64 hexadecimal digits'),
  payloadDigest: hash,
  externalId: text,
  url: orNull,
  checks: { fits: areFlags, wanted: 'an object of true and false, with one member at least' },
  readAt: { fits: isUtc, wanted: 'a time in UTC with milliseconds' },
  promiseClass: oneOf('keyed', 'unique', 'searchable', 'blind'),
  searchedWhole: flag,
  attempts: { fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0, wanted: 'a whole number' },
  digest: hash,
};

/**
 * Everything that is broken, in a fixed order; empty: `receipt` is a `ReceiptDocument` that holds.
 * @param payload undefined: not given.
 */
export function brokenIn(receipt: unknown, payload?: unknown): readonly Broken[] {
  if (!isObject(receipt)) return [{ what: 'receipt', why: 'is no JSON object' }];
  const { schema } = receipt;
  // Another version has other members: nothing more can be said of it.
  if (typeof schema === 'string' && schema !== RECEIPT_SCHEMA) {
    return [{ what: 'schema', why: `is ${quoted(schema)}; only ${RECEIPT_SCHEMA} can be checked here` }];
  }
  return [
    ...malformed(receipt),
    ...falseChecks(receipt),
    ...wrongDigest(receipt),
    ...(payload === undefined ? [] : wrongPayload(receipt, payload)),
  ];
}

function malformed(receipt: JsonObject): Broken[] {
  const broken = Object.entries(MEMBERS).flatMap(([what, { fits, wanted }]): Broken[] => {
    if (!Object.hasOwn(receipt, what)) return [{ what, why: 'is missing' }];
    return fits(receipt[what]) ? [] : [{ what, why: `is not ${wanted}` }];
  });
  const strange = Object.keys(receipt).filter((name) => !Object.hasOwn(MEMBERS, name));
  return [...broken, ...strange.map((name) => ({ what: quoted(name), why: 'is no member of a receipt' }))];
}

function falseChecks({ checks }: JsonObject): Broken[] {
  if (!isObject(checks)) return [];
  const failed = Object.keys(checks).filter((name) => checks[name] === false);
  return failed.map((name) => ({ what: `checks.${quoted(name)}`, why: 'is false: this was not confirmed' }));
}

/** Made over whatever is there: also a receipt with a member too many is told whether it was changed since. */
function wrongDigest(receipt: JsonObject): Broken[] {
  if (!hash.fits(receipt['digest'])) return [];
  const made = receiptDigest(receipt);
  if (made === receipt['digest']) return [];
  return [{ what: 'digest', why: `does not fit the other members: theirs is ${made}` }];
}

/** Hashed under the text rule of its time, which the fingerprint names. */
function wrongPayload({ fingerprint, payloadDigest }: JsonObject, payload: unknown): Broken[] {
  if (!isObject(payload)) return [{ what: 'payload', why: 'is no JSON object' }];
  if (typeof fingerprint !== 'string' || !hash.fits(payloadDigest)) return [];
  const version = versionOfPrint(fingerprint);
  const rule = Object.hasOwn(NORMALISATION.rules, version) ? NORMALISATION.rules[version] : undefined;
  if (rule === undefined) return [{ what: 'fingerprint', why: `names the unknown rule ${quoted(version)}` }];
  try {
    const made = sha256(canonicalText(payload, rule));
    return made === payloadDigest
      ? []
      : [{ what: 'payloadDigest', why: `is not that of this payload: ${made}` }];
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return [{ what: 'payload', why: 'has two names that are equal as text' }];
  }
}

function like(pattern: RegExp, wanted: string): Form {
  return { fits: (value) => typeof value === 'string' && pattern.test(value), wanted };
}

function oneOf(...words: readonly string[]): Form {
  return { fits: (value) => words.some((word) => word === value), wanted: words.join(' or ') };
}

function areFlags(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(flag.fits);
}

/** A day that does not exist is no time. */
function isUtc(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return false;
  const at = Date.parse(value);
  return !Number.isNaN(at) && new Date(at).toISOString() === value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Record keys of posts: times in 13 digits of base 32 (TID). Ours are made from the id of the intent and not from a clock. */
import { sha256 } from '../domain/fingerprint.ts';
import { POST_COLLECTION } from './bluesky-promise.ts';

/** In the sort order of TIDs. */
const DIGITS = '234567abcdefghijklmnopqrstuvwxyz';
const LENGTH = 13;
/** The first digits are microseconds since 1970, the last two the clock that counted them. */
const TIME_DIGITS = 11;
const CLOCK_BITS = 10n;
const TID = /^[2-7a-j][2-7a-z]{12}$/;
/** 50 bits of microseconds (1970 to 2005, when no client took keys from a clock) and 10 bits of clock id. */
const HEX_OF_60_BITS = 15;

/** Goes in front of what is hashed; another way to make keys is another version, and this one stays for ever. */
const KEY_VERSION = 'bluesky-key/v1';

/** The key under which the post of this intent is, and no other: it depends on the intent's id alone. */
export function postKey(intentId: string): string {
  return keyOf(BigInt(`0x${sha256(`${KEY_VERSION}:${intentId}`).slice(0, HEX_OF_60_BITS)}`));
}

/** The smallest key that a server's clock can make at this time, ms; keys of later times sort behind it. */
export function keyAt(ms: number): string {
  return keyOf(BigInt(Math.floor(Math.max(0, ms) * 1000)) << CLOCK_BITS);
}

/** The time that a key states, ms with its microseconds; null for a key that is no time. */
export function timeOf(key: string): number | null {
  if (!TID.test(key)) return null;
  const digits = [...key.slice(0, TIME_DIGITS)];
  return digits.reduce((sum, digit) => 32 * sum + DIGITS.indexOf(digit), 0) / 1000;
}

function keyOf(number: bigint): string {
  let rest = number;
  let digits = '';
  for (let place = 0; place < LENGTH; place += 1) {
    digits = `${DIGITS[Number(rest % 32n)]}${digits}`;
    rest /= 32n;
  }
  return digits;
}

/** The address of a post, which is its external id. */
export function postUri(did: string, key: string): string {
  return `at://${did}/${POST_COLLECTION}/${key}`;
}

/** DID and key of a post's address, or null for any other text. Addresses with a handle are none: handles move. */
export function partsOf(uri: string): { readonly did: string; readonly key: string } | null {
  const [, did, key] = POST_URI.exec(uri) ?? [];
  return did === undefined || key === undefined ? null : { did, key };
}

/** Accounts of the two methods that the network knows. */
export const DID = /^did:(?:plc:[a-z2-7]{24}|web:[a-z0-9.-]{1,70})$/;
const POST_URI =
  /^at:\/\/(did:(?:plc:[a-z2-7]{24}|web:[a-z0-9.-]{1,70}))\/app\.bsky\.feed\.post\/([A-Za-z0-9._~:-]{1,200})$/;

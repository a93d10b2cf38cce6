/** Record keys of posts: times in 13 digits of base 32 (TID), made from the id of the intent and not from a clock. */
import { sha256 } from '../domain/fingerprint.ts';
import { POST_COLLECTION } from './bluesky-promise.ts';

/** In the sort order of TIDs. */
const DIGITS = '234567abcdefghijklmnopqrstuvwxyz';
const LENGTH = 13;
/** 50 bits of microseconds (1970 to 2005, when no client took keys from a clock) and 10 bits of clock id. */
const HEX_OF_60_BITS = 15;

/** Goes in front of what is hashed; another way to make keys is another version, and this one stays for ever. */
const KEY_VERSION = 'bluesky-key/v1';

/** The key under which the post of this intent is, and no other: it depends on the intent's id alone. */
export function postKey(intentId: string): string {
  let rest = BigInt(`0x${sha256(`${KEY_VERSION}:${intentId}`).slice(0, HEX_OF_60_BITS)}`);
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

/** Posts as tests write them, with keys of our own. */

import { POSTS } from './ground.ts';
import type { Account } from './real-pds.ts';

const CREATED_AT = '2026-11-30T09:00:00.000Z';
/** The alphabet of record keys that are times (TID), in their sort order. */
const DIGITS = '234567abcdefghijklmnopqrstuvwxyz';

/** A valid TID for a small number; greater numbers sort later. */
export function keyOf(number: number): string {
  let rest = number;
  let digits = '';
  for (let place = 0; place < 6; place += 1) {
    digits = `${DIGITS[rest % 32]}${digits}`;
    rest = Math.floor(rest / 32);
  }
  return `3mzzzzz${digits}`;
}

export function postOf(text: string): object {
  return { $type: POSTS, text, createdAt: CREATED_AT };
}

/** Input of `createRecord` and `putRecord`. */
export function writeOf(account: Pick<Account, 'did'>, rkey: string, text: string): object {
  return { repo: account.did, collection: POSTS, rkey, record: postOf(text) };
}

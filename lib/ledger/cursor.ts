import type { Item } from './item.ts';
import { BadCursor } from './ledger.ts';

/** An opaque place to page on from. */
export function encodeCursor(last: Item | undefined): string | null {
  return last === undefined ? null : Buffer.from(JSON.stringify(last)).toString('base64url');
}

/** Refuses a cursor that does not lie in the caller's own partition: it must never lead into another's. */
export function decodeCursor(
  cursor: string,
  attribute: string,
  partition: string,
): Record<string, string | number> {
  let key: unknown;
  try {
    key = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new BadCursor('Cannot page on from a cursor that is not ours.');
  }
  if (key === null || typeof key !== 'object' || (key as Item)[attribute] !== partition) {
    throw new BadCursor('Cannot page on from a cursor that is not ours.');
  }
  return key as Record<string, string | number>;
}

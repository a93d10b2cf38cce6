/** Opaque places to page on from. What a caller sends back is checked whole: it must lie in its own partition. */
import * as z from 'zod';
import { INTENT_SORT_KEY, type Item } from './item.ts';
import { BadCursor } from './ledger.ts';

export function encodeCursor(last: Item | undefined): string | null {
  return last === undefined ? null : Buffer.from(JSON.stringify(last)).toString('base64url');
}

/** A place among the evidence of one intent. */
export function evidencePlace(partition: string) {
  return z.strictObject({ pk: z.literal(partition), sk: z.string().startsWith('E#').max(1024) });
}

/** A place in one unit's list of one day. */
export function listPlace(tenant: string, listDay: string) {
  return z.strictObject({
    listDay: z.literal(listDay),
    createdAt: z.number().int(),
    pk: z.string().startsWith(`T#${tenant}#I#`).max(1024),
    sk: z.literal(INTENT_SORT_KEY),
  });
}

/** A place in a tenant's list of what people should look at. */
export function attentionPlace(tenant: string, attentionOf: string) {
  return z.strictObject({
    attentionOf: z.literal(attentionOf),
    attentionAt: z.number().int(),
    pk: z.string().startsWith(`T#${tenant}#I#`).max(1024),
    sk: z.literal(INTENT_SORT_KEY),
  });
}

/** A place among what is due in one shard. */
export function duePlace(dueShard: string) {
  const sk = z.literal(INTENT_SORT_KEY);
  return z.strictObject({
    dueShard: z.literal(dueShard),
    dueAt: z.number().int(),
    pk: z.string().startsWith('T#'),
    sk,
  });
}

/** Throws `BadCursor` for everything that this ledger cannot have given out for that place. */
export function decodeCursor<T>(cursor: string, place: z.ZodType<T>): T {
  try {
    return place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch {
    throw new BadCursor('Cannot page on from a cursor that is not ours.');
  }
}

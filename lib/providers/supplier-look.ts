/**
 * Looking at a supplier: one record by its id, or every record of a reference over all pages. An answer of any
 * other shape is a failed lookup, never zero records; so is a record of ours that is still being processed,
 * because what it will be is not yet known.
 */
import * as z from 'zod';
import type { JsonObject } from '../domain/intent.ts';
import { parseAnswer } from '../platform/json.ts';
import type { LookContext, Lookup, Place, ProviderRecord } from './provider.ts';

/** A record as one kind of call shows it, read and normalised. */
export interface Shown {
  readonly externalId: string;
  /** Null where the supplier shows none. */
  readonly reference: string | null;
  readonly status: string;
  readonly content: JsonObject;
  readonly cancelUntil: number | null;
}

/** Where a supplier keeps the records of one kind of call, and how one looks. */
export interface Shelf {
  /** `/orders` */
  readonly path: string;
  /** Name of one record in an answer: `order`. */
  readonly one: string;
  /** Name of the list in an answer: `orders`. */
  readonly many: string;
  readonly record: z.ZodType<Shown>;
}

/** A supplier that goes on naming next pages is not followed for ever; 1000 records of one reference are a fault. */
const MOST_PAGES = 20;
const PAGE_SIZE = 50;

const place = { account: z.string(), environment: z.string() };
const single = z.looseObject(place);
const page = z.looseObject({
  ...place,
  reference: z.string(),
  next: z.string().min(1).max(512).nullable(),
});
const notFound = z.strictObject({ error: z.literal('not_found') });

type Named = z.output<typeof single>;

/** GET by id. A 404 of the supplier's own shape is nothing seen, and never the whole: others may exist. */
export async function lookById(look: LookContext, shelf: Shelf, externalId: string): Promise<Lookup> {
  const answer = await getJson(look, `${shelf.path}/${encodeURIComponent(externalId)}`);
  if (answer.kind === 'failed') return answer;
  if (answer.status === 404 && notFound.safeParse(answer.body).success) {
    return { kind: 'seen', records: [], complete: false, authorised: true };
  }
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const named = single.safeParse(answer.body);
  const shown = shelf.record.safeParse(named.data?.[shelf.one]);
  if (!named.success || !shown.success || shown.data.externalId !== externalId) return failed('bad_answer');
  if (shown.data.status === 'processing') return failed('still_processing');
  const records = [recordOf(shown.data, named.data)];
  return { kind: 'seen', records, complete: false, authorised: isOurs(look, named.data) };
}

/**
 * Every record listed for the reference, whatever its status. The supplier's own matching is a filter only.
 * Pages that are cut off (an expired cursor, a failure after the first page, too many pages) make it incomplete.
 */
export async function lookByReference(look: LookContext, shelf: Shelf, reference: string): Promise<Lookup> {
  const records: ProviderRecord[] = [];
  let authorised = true;
  let cursor: string | null = null;
  for (let turned = 0; turned < MOST_PAGES; turned += 1) {
    const shown = await onePage(look, shelf, reference, cursor);
    if (shown.kind === 'failed') {
      return turned === 0 ? shown : { kind: 'seen', records, complete: false, authorised };
    }
    const { named, list } = shown;
    if (list.some((each) => each.status === 'processing' && each.reference === reference)) {
      return failed('still_processing');
    }
    authorised &&= isOurs(look, named) && named.reference === reference;
    records.push(...list.map((each) => recordOf(each, named)));
    cursor = named.next;
    if (cursor === null) return { kind: 'seen', records, complete: true, authorised };
  }
  return { kind: 'seen', records, complete: false, authorised };
}

type Page =
  | { readonly kind: 'page'; readonly named: z.output<typeof page>; readonly list: readonly Shown[] }
  | { readonly kind: 'failed'; readonly error: string };

async function onePage(
  look: LookContext,
  shelf: Shelf,
  reference: string,
  cursor: string | null,
): Promise<Page> {
  const query = new URLSearchParams({ reference, status: 'all', limit: String(PAGE_SIZE) });
  if (cursor !== null) query.set('cursor', cursor);
  const answer = await getJson(look, `${shelf.path}?${query}`);
  if (answer.kind === 'failed') return answer;
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const named = page.safeParse(answer.body);
  const list = z.array(shelf.record).max(PAGE_SIZE).safeParse(named.data?.[shelf.many]);
  if (!named.success || !list.success) return failed('bad_answer');
  return { kind: 'page', named: named.data, list: list.data };
}

function recordOf(shown: Shown, { account, environment }: Named): ProviderRecord {
  const { externalId, reference, status, cancelUntil } = shown;
  return {
    externalId,
    account,
    reference,
    content: { ...shown.content, environment, status },
    ...(cancelUntil === null ? {} : { cancelUntil }),
    ...(status === 'rejected' ? { withoutEffect: true } : {}),
  };
}

function isOurs(look: Place, named: Named): boolean {
  return named.account === look.account && named.environment === look.environment;
}

type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'failed'; readonly error: string };

async function getJson(look: LookContext, path: string): Promise<Answer> {
  const answer = await look.get(path);
  if (answer.kind === 'failed') return answer;
  return { kind: 'answered', status: answer.status, body: parsedOrNull(answer.body) };
}

function parsedOrNull(text: string): unknown {
  try {
    return parseAnswer(text);
  } catch {
    return null;
  }
}

function failed(error: string): { readonly kind: 'failed'; readonly error: string } {
  return { kind: 'failed', error };
}

/**
 * Looking for a post whose key its server made: the account's posts from the newest key down. Such a key is the time
 * at which the server made it, so a post's time is its key's, and never the `createdAt` that its writer put in.
 */
import * as z from 'zod';
import { accountHere, type Failed, failed, getXrpc, recordIn, seen, underKey } from './bluesky-api.ts';
import { keyAt, partsOf, timeOf } from './bluesky-key.ts';
import { withPublicUrl } from './bluesky-page.ts';
import { POST_COLLECTION } from './bluesky-promise.ts';
import type { LookContext, Lookup, ProviderRecord } from './provider.ts';

/** Records on a page; fewer after one that was longer than an answer may be, for a server takes records of up to 1 MB. */
const LIMITS: readonly number[] = [100, 25, 5, 1];
/** 2000 posts of one account since the first attempt are a fault; so is a server that goes on naming next pages. */
const MOST_PAGES = 20;
/** Turned to beyond the range, so that near misses show; nothing there counts. */
const BEYOND_MS = 300_000;

/** Every post of the account that may be in the range, and whatever else is on the same pages. */
export async function findInList(look: LookContext): Promise<Lookup> {
  const account = await accountHere(look);
  if (account.kind === 'failed') return account;
  if (account.kind === 'not_here') return { kind: 'seen', records: [], complete: false, authorised: false };
  return everyPage(look);
}

/** Readback of one address, as we see it and as a stranger does. Never the whole: others may be equal to it. */
export async function readAddress(look: LookContext, externalId: string | null): Promise<Lookup> {
  if (externalId === null) return failed('no_external_id');
  const named = partsOf(externalId);
  if (named === null || named.did !== look.account) return seen([], false);
  const lookup = await withPublicUrl(look, await underKey(look, named.key));
  if (lookup.kind === 'failed') return lookup;
  return { ...lookup, records: lookup.records.map(withTime), complete: false };
}

async function everyPage(look: LookContext): Promise<Lookup> {
  // One that stands on two pages counts once.
  const records = new Map<string, ProviderRecord>();
  const listed = (complete: boolean) => seen([...records.values()], complete);
  const oldest = keyAt(look.range.from - BEYOND_MS);
  const order = { falls: true, fell: false, last: '' };
  for await (const page of pagesOf(look)) {
    if (page.kind === 'failed') return records.size === 0 ? page : listed(false);
    for (const record of page.records) {
      const key = record.reference ?? '';
      order.falls &&= order.last === '' || key <= order.last;
      order.fell ||= key < order.last;
      order.last = key;
      records.set(record.externalId, withTime(record));
    }
    // The last page has a cursor too, and only an empty one after it has none.
    if (page.cursor === undefined) return listed(true);
    // Keys only fall, whoever chose them: no key made in the range can still follow. One key alone shows no direction.
    if (order.falls && order.fell && order.last < oldest) return listed(true);
  }
  return listed(false);
}

/** Page after page. One that was too long to be read counts as turned, so that the calls stay bounded. */
async function* pagesOf(look: LookContext): AsyncGenerator<Page | Failed, void> {
  let [limit = 0, ...shorter] = LIMITS;
  let cursor: string | undefined;
  for (let turned = 0; turned < MOST_PAGES; turned += 1) {
    const page = await onePage(look, limit, cursor);
    const tooLong = page.kind === 'failed' && page.error === 'too_large';
    if (tooLong && shorter.length > 0) {
      [limit = 0, ...shorter] = shorter;
      continue;
    }
    yield page;
    if (page.kind === 'failed' || page.cursor === undefined) return;
    cursor = page.cursor;
  }
}

const listing = z.object({
  records: z.array(z.unknown()),
  cursor: z.string().min(1).max(512).exactOptional(),
});

interface Page {
  readonly kind: 'page';
  readonly records: readonly ProviderRecord[];
  readonly cursor: string | undefined;
}

/** One record that is none, or another account's, and the page is not what was asked for. */
async function onePage(look: LookContext, limit: number, cursor: string | undefined): Promise<Page | Failed> {
  const answer = await getXrpc(look, 'repo.listRecords', {
    ...{ repo: look.account, collection: POST_COLLECTION, limit: String(limit) },
    ...(cursor === undefined ? {} : { cursor }),
  });
  if (answer.kind === 'failed') return answer;
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const { data } = listing.safeParse(answer.body);
  if (data === undefined || data.records.length > limit) return failed('bad_answer');
  const read = data.records.map((each) => recordIn(each, look.account));
  const records = read.filter((record) => record !== undefined);
  return records.length < read.length ? failed('bad_answer') : { kind: 'page', records, cursor: data.cursor };
}

/** No key of ours: it is the server's word for when. One that is no time says nothing, and no write of ours makes it. */
function withTime({ reference, ...record }: ProviderRecord): ProviderRecord {
  const createdAt = timeOf(reference ?? '');
  return { ...record, reference: null, ...(createdAt === null ? {} : { createdAt }) };
}

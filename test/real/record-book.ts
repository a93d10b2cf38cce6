/** The provider's own book: what a PDS holds, asked of the PDS itself and never through a proxy. */
import * as z from 'zod/v4';
import { call } from './xrpc.ts';

const Page = z.object({
  records: z.array(z.object({ uri: z.string(), cid: z.string(), value: z.looseObject({}) })),
  cursor: z.string().optional(),
});

export type HeldRecord = z.infer<typeof Page>['records'][number];

const PAGE = 100;
/** More pages than any test fills: a cursor that never ends is an error, not a wait. */
const MOST_PAGES = 50;

/** Every record of one collection, newest key first. Throws when the PDS does not answer as documented. */
export async function recordsOf(
  pdsUrl: string,
  repo: string,
  collection: string,
  pageSize = PAGE,
): Promise<readonly HeldRecord[]> {
  const held: HeldRecord[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const params = { repo, collection, limit: String(pageSize), ...(cursor === undefined ? {} : { cursor }) };
    const answer = await call(pdsUrl, { nsid: 'com.atproto.repo.listRecords', params });
    if (answer.status !== 200)
      throw new Error(`Cannot list ${collection} of ${repo}: status ${answer.status}`);
    const { records, cursor: next } = Page.parse(answer.body);
    held.push(...records);
    // The last page may have a cursor too: only an empty one has none.
    if (next === undefined) return held;
    cursor = next;
  }
  throw new Error(`Cannot list ${collection} of ${repo}: more than ${MOST_PAGES} pages`);
}

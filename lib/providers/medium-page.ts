/** The public page of a post, as a stranger sees it: the linked data in its HTML, never how it looks. */
import * as z from 'zod';
import { type Failed, failed, mediumId, parsedOrNull, type ShownPost } from './medium-api.ts';
import type { LookContext } from './provider.ts';

export type PageSight =
  | { readonly kind: 'page'; readonly url: string; readonly page: NonNullable<ShownPost['page']> }
  /** Nothing there for strangers. */
  | { readonly kind: 'nothing'; readonly url: string }
  | Failed;

/** Pages are where the API is. */
export function pageHosts({ host }: URL): readonly string[] {
  return [host];
}

const NOT_FOR_STRANGERS: readonly number[] = [401, 403, 404, 410, 451];

/** Under the handle that the account has now: a renamed one keeps no page under its old handle. */
export function pageUrl({ baseUrl }: LookContext, handle: string, id: string): string {
  return new URL(`/@${encodeURIComponent(handle)}/${encodeURIComponent(id)}`, baseUrl).href;
}

export async function visitPage(look: LookContext, handle: string, id: string): Promise<PageSight> {
  const url = pageUrl(look, handle, id);
  const answer = await look.visit(url);
  // A redirect leads strangers elsewhere, so the post is not there.
  if (answer.kind === 'failed') return answer.error === 'redirected' ? { kind: 'nothing', url } : answer;
  if (NOT_FOR_STRANGERS.includes(answer.status)) return { kind: 'nothing', url };
  if (answer.status !== 200) return failed(`page_status_${answer.status}`);
  const page = postingIn(answer.body);
  return page === undefined ? failed('bad_page') : { kind: 'page', url, page };
}

const SCRIPT = /<script type="application\/ld\+json">([^<]*)<\/script>/g;
const posting = z
  .object({
    '@type': z.literal('SocialMediaPosting'),
    identifier: mediumId,
    author: z.object({ identifier: mediumId }),
    articleBody: z.string(),
  })
  .transform(({ identifier, author, articleBody }) => ({
    id: identifier,
    author: author.identifier,
    text: articleBody,
  }));

/** The one posting that the page says it shows. Two would leave open which one counts. */
function postingIn(html: string): z.output<typeof posting> | undefined {
  const found = [...html.matchAll(SCRIPT)].flatMap(([, json = '']) => {
    const { data } = posting.safeParse(parsedOrNull(json));
    return data === undefined ? [] : [data];
  });
  return found.length === 1 ? found[0] : undefined;
}

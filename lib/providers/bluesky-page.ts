/**
 * The public URL of a post, fetched as a stranger does, without a credential: its page on bsky.app where the route
 * names that host, else the record as its own server shows it to everybody. One of the two is always visited.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Failed, failed, parsed, recordIn, recordPath } from './bluesky-api.ts';
import type { LookContext, Lookup, ProviderRecord, ReadAnswer } from './provider.ts';

const APP = 'bsky.app';

/** Of a server on loopback, which is reached in the clear, only itself. */
export function pageHosts({ protocol, host }: URL): readonly string[] {
  return protocol === 'https:' ? [APP, host] : [host];
}

type Shown = { readonly kind: 'shown'; readonly url: string } | Failed;

/** The same lookup, each record with its public URL. One that strangers are not shown is a failed look, and waited for. */
export async function withPublicUrl(look: LookContext, lookup: Lookup): Promise<Lookup> {
  if (lookup.kind === 'failed') return lookup;
  const records: ProviderRecord[] = [];
  for (const record of lookup.records) {
    const sight = await shownToStrangers(look, record);
    if (sight.kind === 'failed') return failed(`page_${sight.error}`);
    records.push({ ...record, url: sight.url });
  }
  return { ...lookup, records };
}

async function shownToStrangers(look: LookContext, record: ProviderRecord): Promise<Shown> {
  const page = `https://${APP}/profile/${look.account}/post/${record.reference}`;
  const answer = await look.visit(page);
  const elsewhere = answer.kind === 'failed' && answer.error === 'host_not_allowed';
  return elsewhere ? onItsServer(look, record) : onPage(answer, page, record);
}

function onPage(answer: ReadAnswer, url: string, { externalId }: ProviderRecord): Shown {
  if (answer.kind === 'failed') return answer;
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const named = answer.body.includes(`<link rel="alternate" href="${externalId}"`);
  return named ? { kind: 'shown', url } : failed('without_post');
}

async function onItsServer(look: LookContext, record: ProviderRecord): Promise<Shown> {
  const { account, baseUrl } = look;
  const url = `${baseUrl.replace(/\/+$/, '')}${recordPath(account, record.reference ?? '')}`;
  const answer = parsed(await look.visit(url));
  if (answer.kind === 'failed') return answer;
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const { externalId, content } = record;
  const shown = recordIn(answer.body, account);
  const same = shown?.externalId === externalId && isDeepStrictEqual(shown.content, content);
  return same ? { kind: 'shown', url } : failed('without_post');
}

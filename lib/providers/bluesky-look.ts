/**
 * Looking at a repository: one record under one key, and the read probe that the account is here and active. A record of any
 * form is a record; an answer of any other form is a failed look, never "nothing there".
 */
import * as z from 'zod';
import type { Intent, Json, JsonObject } from '../domain/intent.ts';
import { parseAnswer } from '../platform/json.ts';
import { partsOf, postKey, postUri } from './bluesky-key.ts';
import { imagesEmbed, replyRefs } from './bluesky-payload.ts';
import { POST_COLLECTION } from './bluesky-promise.ts';
import type { LookContext, Lookup, ProviderRecord } from './provider.ts';

const repository = z.object({ did: z.string(), active: z.boolean() });
const held = z.object({ uri: z.string(), value: z.looseObject({}) });
const notFound = z.strictObject({ error: z.literal('RecordNotFound'), message: z.string() });

/** Members of a post that an intent can ask for. */
const MEMBERS: ReadonlyMap<string, z.ZodType<Json>> = new Map<string, z.ZodType<Json>>([
  ['$type', z.literal(POST_COLLECTION)],
  ['text', z.string()],
  ['createdAt', z.string().max(64)],
  ['langs', z.array(z.string().max(64)).max(20)],
  ['reply', replyRefs],
  ['embed', imagesEmbed],
]);
const MOST_NAMES = 20;
const LONGEST_NAME = 64;

/** Everything there that can be this intent's post: what its key holds. */
export async function findPost(look: LookContext, intent: Pick<Intent, 'id'>): Promise<Lookup> {
  return underKey(look, postKey(intent.id));
}

/** Readback of our own key, or of the address that a person gave; then its public page where the route names one. */
export async function readPost(
  look: LookContext,
  intent: Pick<Intent, 'id'>,
  externalId: string | null,
): Promise<Lookup> {
  const own = postKey(intent.id);
  const named = externalId === null ? { did: look.account, key: own } : partsOf(externalId);
  if (named === null || named.did !== look.account) return seen([], false);
  const lookup = await underKey(look, named.key);
  if (lookup.kind === 'failed') return lookup;
  const complete = lookup.complete && named.key === own;
  const [record] = lookup.records;
  return record === undefined ? { ...lookup, complete } : withPage(look, record, complete);
}

async function underKey(look: LookContext, key: string): Promise<Lookup> {
  const probe = await get(look, 'sync.getRepoStatus', { did: look.account });
  if (probe.kind === 'failed') return probe;
  if (probe.status !== 200) return failed(`status_${probe.status}`);
  const { data: shown } = repository.safeParse(probe.body);
  if (shown === undefined) return failed('bad_answer');
  if (shown.did !== look.account || !shown.active) {
    return { kind: 'seen', records: [], complete: false, authorised: false };
  }
  const answer = await get(look, 'repo.getRecord', {
    repo: look.account,
    collection: POST_COLLECTION,
    rkey: key,
  });
  if (answer.kind === 'failed') return answer;
  if (answer.status === 400 && notFound.safeParse(answer.body).success) return seen([], true);
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const { data } = held.safeParse(answer.body);
  const uri = postUri(look.account, key);
  if (data === undefined || data.uri !== uri) return failed('bad_answer');
  return seen(
    [{ externalId: uri, account: look.account, reference: key, content: shownOf(data.value) }],
    true,
  );
}

/** A page that does not show the post is waited for; where the route names no such host, nobody goes there. */
async function withPage(look: LookContext, record: ProviderRecord, complete: boolean): Promise<Lookup> {
  const url = `https://bsky.app/profile/${look.account}/post/${record.reference}`;
  const page = await look.visit(url);
  if (page.kind === 'failed') {
    return page.error === 'host_not_allowed' ? seen([record], complete) : failed(`page_${page.error}`);
  }
  if (page.status !== 200) return failed(`page_status_${page.status}`);
  if (!page.body.includes(`<link rel="alternate" href="${record.externalId}"`)) {
    return failed('page_without_post');
  }
  return seen([{ ...record, url }], complete);
}

/** What can be compared, and the names of all that an intent never asks for or that has another form. */
function shownOf(value: object): JsonObject {
  const shown: Record<string, Json> = {};
  const more: string[] = [];
  for (const [name, each] of Object.entries(value)) {
    const member = MEMBERS.get(name)?.safeParse(each);
    if (member?.success === true) shown[name] = member.data;
    else more.push(name.slice(0, LONGEST_NAME));
  }
  return { ...shown, more: more.slice(0, MOST_NAMES) };
}

type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'failed'; readonly error: string };

async function get(look: LookContext, method: string, query: Record<string, string>): Promise<Answer> {
  const answer = await look.get(`/xrpc/com.atproto.${method}?${new URLSearchParams(query)}`);
  if (answer.kind === 'failed') return answer;
  return { kind: 'answered', status: answer.status, body: parsedOrNull(answer.body) };
}

function parsedOrNull(body: string): unknown {
  try {
    return parseAnswer(body);
  } catch {
    return null;
  }
}

function seen(records: readonly ProviderRecord[], complete: boolean): Lookup {
  return { kind: 'seen', records, complete, authorised: true };
}

function failed(error: string): { readonly kind: 'failed'; readonly error: string } {
  return { kind: 'failed', error };
}

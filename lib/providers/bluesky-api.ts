/**
 * The GETs of a Bluesky server, read and checked. A record of any form is a record; an answer of any other form is a
 * failed look, never "nothing there".
 */
import * as z from 'zod';
import type { Json, JsonObject } from '../domain/intent.ts';
import { parseAnswer } from '../platform/json.ts';
import { postUri } from './bluesky-key.ts';
import { imagesEmbed, replyRefs } from './bluesky-payload.ts';
import { POST_COLLECTION } from './bluesky-promise.ts';
import type { LookContext, Lookup, ProviderRecord, ReadAnswer } from './provider.ts';

export type Failed = { readonly kind: 'failed'; readonly error: string };

const repository = z.object({ did: z.string(), active: z.boolean() });
const held = z.object({ uri: z.string(), value: z.looseObject({}) });
const notFound = z.strictObject({ error: z.literal('RecordNotFound'), message: z.string() });

/** The read probe: whether the account is known here, and its repository active. */
export async function accountHere(look: LookContext): Promise<{ kind: 'here' | 'not_here' } | Failed> {
  const probe = await getXrpc(look, 'sync.getRepoStatus', { did: look.account });
  if (probe.kind === 'failed') return probe;
  if (probe.status !== 200) return failed(`status_${probe.status}`);
  const { data } = repository.safeParse(probe.body);
  if (data === undefined) return failed('bad_answer');
  return { kind: data.did === look.account && data.active ? 'here' : 'not_here' };
}

/** Where one record of the account's posts is read, below the base URL. */
export function recordPath(account: string, key: string): string {
  return xrpcPath('repo.getRecord', { repo: account, collection: POST_COLLECTION, rkey: key });
}

/** The account's post under this key, and no other. */
export async function underKey(look: LookContext, key: string): Promise<Lookup> {
  const account = await accountHere(look);
  if (account.kind === 'failed') return account;
  if (account.kind === 'not_here') return { kind: 'seen', records: [], complete: false, authorised: false };
  const answer = parsed(await look.get(recordPath(look.account, key)));
  if (answer.kind === 'failed') return answer;
  if (answer.status === 400 && notFound.safeParse(answer.body).success) return seen([], true);
  if (answer.status !== 200) return failed(`status_${answer.status}`);
  const record = recordIn(answer.body, look.account);
  return record?.reference === key ? seen([record], true) : failed('bad_answer');
}

/** A record as an answer shows it; undefined where this is none, or none of this account's posts. */
export function recordIn(body: unknown, account: string): ProviderRecord | undefined {
  const { data } = held.safeParse(body);
  const start = postUri(account, '');
  if (data === undefined || !data.uri.startsWith(start)) return undefined;
  const key = data.uri.slice(start.length);
  if (key === '' || key.includes('/')) return undefined;
  return { externalId: data.uri, account, reference: key, content: shownOf(data.value) };
}

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

type Answer = { readonly kind: 'answered'; readonly status: number; readonly body: unknown } | Failed;

export async function getXrpc(
  look: LookContext,
  method: string,
  query: Record<string, string>,
): Promise<Answer> {
  return parsed(await look.get(xrpcPath(method, query)));
}

function xrpcPath(method: string, query: Record<string, string>): string {
  return `/xrpc/com.atproto.${method}?${new URLSearchParams(query)}`;
}

/** The body as JSON, or null where it is none. */
export function parsed(answer: ReadAnswer): Answer {
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

export function seen(records: readonly ProviderRecord[], complete: boolean): Lookup {
  return { kind: 'seen', records, complete, authorised: true };
}

export function failed(error: string): Failed {
  return { kind: 'failed', error };
}

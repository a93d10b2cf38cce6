/**
 * Sessions at a Bluesky server. A secret that is a JSON object, `{"identifier": "did:plc:…", "appPassword": "…"}`, opens
 * one with `com.atproto.server.createSession`; any other secret is an access token, which lives for two hours.
 */
import * as z from 'zod';
import { parseJson } from '../platform/json.ts';
import { BLUESKY_REFUSALS } from './bluesky-promise.ts';
import type { Opening, Place, Sessions } from './provider.ts';

const PATH = '/xrpc/com.atproto.server.createSession';
/** An access token lives no longer, whatever it says of itself. */
const LONGEST_MS = 7_200_000;
/** Before its end no write starts with it: clocks differ, and a write may be on its way for a while. */
const MARGIN_MS = 300_000;
/** Of a token that does not tell its end: 144 sessions a day, of 300 that a server gives out. */
const UNTOLD_MS = 600_000;
/** Of one that seems to have ended already: somebody's clock is wrong, and the server's decides. */
const SHORTEST_MS = 60_000;
/** Asked every minute, a password that is wrong would use up the sessions of a day. */
const REFUSED_MS = 300_000;
const FAILED_MS = 60_000;
const MS = 1000;
const LIMITS = { depth: 8, members: 200, string: 16_384 };

const secretForm = z.strictObject({
  identifier: z.string().min(1).max(253),
  appPassword: z.string().min(1).max(256),
});
const session = z.object({
  did: z.string(),
  accessJwt: z.string().regex(/^[A-Za-z0-9._~+/=-]{1,8192}$/),
});
const claims = z.object({ exp: z.number() });
const refusal = z.object({ error: z.string() });

type Asked = Parameters<Sessions['open']>[1];

export const blueskySession: Sessions = {
  open: async (secret, place) => {
    if (!secret.trimStart().startsWith('{')) return open(secret, Number.POSITIVE_INFINITY);
    const { data } = secretForm.safeParse(parsed(secret));
    return data === undefined ? failed('secret_unusable', REFUSED_MS) : create(data, place);
  },
  isOver,
};

function isOver(status: number, body: unknown): boolean {
  const { data } = refusal.safeParse(body);
  return BLUESKY_REFUSALS.some(
    (each) => each.ofToken === true && each.status === status && each.error === data?.error,
  );
}

async function create(
  { identifier, appPassword }: z.output<typeof secretForm>,
  { ask, now, account }: Asked,
): Promise<Opening> {
  const answer = await ask(PATH, JSON.stringify({ identifier, password: appPassword }));
  if (answer.kind === 'failed') return failed(answer.error, FAILED_MS);
  const { status, retryAfterMs } = answer;
  if (status === 401) return failed('refused', REFUSED_MS);
  if (status === 429) return failed('limited', retryAfterMs ?? REFUSED_MS);
  if (status !== 200) return failed(`status_${status}`, retryAfterMs ?? FAILED_MS);
  return read(answer.body, account, now);
}

function read(body: string, account: Place['account'], now: number): Opening {
  const { data } = session.safeParse(parsed(body));
  if (data === undefined) return failed('bad_answer', FAILED_MS);
  // It could write, but somewhere else than was approved.
  if (data.did !== account) return failed('of_another_account', REFUSED_MS);
  const end = endOf(data.accessJwt);
  const kept = end === null ? UNTOLD_MS : Math.min(end - MARGIN_MS - now, LONGEST_MS - MARGIN_MS);
  return open(data.accessJwt, now + Math.max(kept, SHORTEST_MS));
}

/** What the token says of its own end, ms; null where it cannot be read. Its signature is the server's matter. */
function endOf(token: string): number | null {
  const [, part = ''] = token.split('.');
  const { data } = claims.safeParse(parsed(Buffer.from(part, 'base64url').toString('utf8')));
  return data === undefined ? null : data.exp * MS;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text, LIMITS);
  } catch {
    return undefined;
  }
}

function open(token: string, until: number): Opening {
  return { kind: 'open', headers: { authorization: `Bearer ${token}` }, until };
}

function failed(word: string, retryAfterMs: number): Opening {
  return { kind: 'failed', error: `session_${word}`, retryAfterMs };
}

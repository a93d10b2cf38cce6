import { describe, expect, it } from 'vitest';
import { bluesky } from '../../lib/providers/bluesky.ts';
import { blueskyByContent } from '../../lib/providers/bluesky-by-content.ts';
import { blueskySession } from '../../lib/providers/bluesky-session.ts';
import type { Opening, SessionAnswer } from '../../lib/providers/provider.ts';
import { NOW } from '../support/kit.ts';

const DID = 'did:plc:abcdefghijklmnopqrstuvwx';
const SECRET = JSON.stringify({ identifier: DID, appPassword: 'abcd-efgh-ijkl-mnop' });
const MINUTE = 60_000;

const tokenOf = (claims: object): string =>
  ['{"typ":"at+jwt"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const token = tokenOf({ exp: (NOW + 120 * MINUTE) / 1000 });

function answer(status: number, body: unknown, retryAfterMs: number | null = null): SessionAnswer {
  return {
    kind: 'answered',
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    retryAfterMs,
  };
}
const given = (change: object = {}) =>
  answer(200, { did: DID, accessJwt: token, refreshJwt: 'r', ...change });

async function open(secret: string, said: SessionAnswer = given()) {
  const asked: { path: string; body: string }[] = [];
  const opening: Opening = await blueskySession.open(secret, {
    ...{ account: DID, environment: 'production', now: NOW },
    ask: async (path, body) => {
      asked.push({ path, body });
      return said;
    },
  });
  return { opening, asked };
}

describe('a session', () => {
  it('is what both adapters send with', () => {
    expect([bluesky.session, blueskyByContent.session]).toEqual([blueskySession, blueskySession]);
  });

  it('is opened with the app password, and used until five minutes before its end', async () => {
    const { opening, asked } = await open(SECRET);
    expect(asked.map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
      {
        path: '/xrpc/com.atproto.server.createSession',
        body: { identifier: DID, password: 'abcd-efgh-ijkl-mnop' },
      },
    ]);
    const headers = { authorization: `Bearer ${token}` };
    expect(opening).toEqual({ kind: 'open', headers, until: NOW + 115 * MINUTE });
  });

  it.each(['eyJ.plain.token', 'any other text'])('needs no call for the access token "%s"', async (plain) => {
    const { opening, asked } = await open(plain);
    expect(asked).toEqual([]);
    expect(opening).toMatchObject({ kind: 'open', headers: { authorization: `Bearer ${plain}` } });
  });

  it.each([
    { what: 'ends in an hour', accessJwt: tokenOf({ exp: (NOW + 60 * MINUTE) / 1000 }), minutes: 55 },
    { what: 'says that it lives for years', accessJwt: tokenOf({ exp: 4e9 }), minutes: 115 },
    { what: 'seems to have ended, by our clock', accessJwt: tokenOf({ exp: NOW / 1000 - 1 }), minutes: 1 },
    { what: 'says nothing of its end', accessJwt: tokenOf({}), minutes: 10 },
    { what: 'is no JWT', accessJwt: 'opaque', minutes: 10 },
  ])('whose token $what is kept for $minutes minutes', async ({ accessJwt, minutes }) => {
    const { opening } = await open(SECRET, given({ accessJwt }));
    expect(opening).toMatchObject({ kind: 'open', until: NOW + minutes * MINUTE });
  });

  const refusal = { error: 'AuthenticationRequired', message: 'Invalid identifier or password' };
  it.each([
    { what: 'a wrong password', said: answer(401, refusal), error: 'session_refused', minutes: 5 },
    {
      what: 'a session of another account',
      said: given({ did: 'did:plc:zzzzzzzzzzzzzzzzzzzzzzzz' }),
      error: 'session_of_another_account',
      minutes: 5,
    },
    { what: 'the limit, with a time', said: answer(429, {}, 120_000), error: 'session_limited', minutes: 2 },
    { what: 'the limit, without one', said: answer(429, ''), error: 'session_limited', minutes: 5 },
    { what: 'a server in trouble', said: answer(502, '<html>'), error: 'session_status_502', minutes: 1 },
    { what: 'another success', said: answer(201, {}), error: 'session_status_201', minutes: 1 },
    { what: 'no JSON', said: answer(200, 'hello'), error: 'session_bad_answer', minutes: 1 },
    { what: 'no token', said: given({ accessJwt: undefined }), error: 'session_bad_answer', minutes: 1 },
    {
      what: 'a token that would break the header',
      said: given({ accessJwt: 'a\r\nx: y' }),
      error: 'session_bad_answer',
      minutes: 1,
    },
    { what: 'no answer', said: { kind: 'failed', error: 'timeout' }, error: 'session_timeout', minutes: 1 },
  ] as const)('is not open after $what', async ({ said, error, minutes }) => {
    const { opening } = await open(SECRET, said);
    expect(opening).toEqual({ kind: 'failed', error, retryAfterMs: minutes * MINUTE });
  });

  it.each([
    ['another field', '{"identifier":"a","appPassword":"b","x":1}'],
    ['no password', '{"identifier":"a"}'],
    ['an empty password', '{"identifier":"a","appPassword":""}'],
    ['half of the JSON', '{"identifier":"a"'],
  ])('is not asked for with a secret of %s', async (_, secret) => {
    const { opening, asked } = await open(secret);
    expect(opening).toMatchObject({ kind: 'failed', error: 'session_secret_unusable' });
    expect(asked).toEqual([]);
  });

  it.each([
    [400, { error: 'ExpiredToken', message: 'Token has expired' }, true],
    [400, { error: 'InvalidToken', message: 'Token could not be verified' }, true],
    [401, { error: 'AuthenticationRequired', message: 'x' }, true],
    [401, { error: 'AuthMissing', message: 'x' }, true],
    [401, { error: 'ExpiredToken', message: 'x' }, false],
    [403, { error: 'AccountNotFound', message: 'of the account and not of the token' }, false],
    [400, { error: 'InvalidRequest', message: 'Invalid app.bsky.feed.post record' }, false],
    [400, { error: 'BlobNotFound', message: 'x' }, false],
    [200, { uri: 'at://x', cid: 'y' }, false],
    [400, null, false],
  ])('%i %j: over is %s', (status, body, over) => {
    expect(blueskySession.isOver(status, body)).toBe(over);
  });
});

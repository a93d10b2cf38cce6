import { decodeProtectedHeader } from 'jose';
import { expect, test } from 'vitest';
import { createIssuer } from '../../lib/local/tokens.ts';
import { AUDIENCE, forger, hostileTokens, ISSUER, rsaKeys } from './hostile-tokens.ts';

const keys = rsaKeys();
const issuer = await createIssuer({ issuer: ISSUER, audience: AUDIENCE, keys });
const caller = { sub: 'x', tenant: 'acme', unit: 'sales', scope: 'submit read' } as const;

test('the four ready-made tokens say who they are for', async () => {
  const { tokens, verify } = await createIssuer({ issuer: ISSUER, audience: AUDIENCE });
  const acme = { iss: ISSUER, aud: AUDIENCE, tenant: 'acme', unit: 'sales' };
  expect(await verify(tokens.submitter)).toMatchObject({ ...acme, kind: 'service', scope: 'submit read' });
  expect(await verify(tokens.approver)).toMatchObject({
    ...acme,
    kind: 'person',
    scope: 'read approve operate',
  });
  expect(await verify(tokens.operator)).toMatchObject({
    ...acme,
    kind: 'person',
    scope: 'read approve operate admin',
  });
  expect(await verify(tokens.otherTenant)).toMatchObject({
    ...acme,
    tenant: 'umbra',
    kind: 'service',
    scope: 'submit read operate',
  });
  const people = await Promise.all([verify(tokens.approver), verify(tokens.operator)]);
  expect(new Set(people.map((one) => one?.sub)).size).toBe(2);
});

test('a signed token is verified, and its header names RS256 and the served key', async () => {
  const token = await issuer.sign({ ...caller, kind: 'service' });
  expect(await issuer.verify(token)).toMatchObject({ ...caller, kind: 'service' });
  expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', kid: issuer.jwks.keys[0]?.kid });
});

test('the served key is the public half only', () => {
  const [key] = issuer.jwks.keys;
  expect(Object.keys(key ?? {}).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
});

test('the tokens of one start are worth nothing at the next', async () => {
  const [first, second] = await Promise.all([
    createIssuer({ issuer: ISSUER, audience: AUDIENCE }),
    createIssuer({ issuer: ISSUER, audience: AUDIENCE }),
  ]);
  expect(await second.verify(first.tokens.submitter)).toBeNull();
});

test('an agent never gets approve or operate', async () => {
  for (const scope of ['approve', 'read operate', 'admin']) {
    await expect(issuer.sign({ ...caller, scope, kind: 'agent' })).rejects.toThrow('never holds');
  }
  await expect(issuer.sign({ ...caller, kind: 'agent' })).resolves.toBeTypeOf('string');
});

test('the forgery that the hostile tokens are made from is itself good', async () => {
  expect(await issuer.verify(await forger(issuer, keys)({}))).not.toBeNull();
});

const hostile = await hostileTokens(issuer, keys);
const unverifiable = hostile.filter((one) => one.status === 401 && one.token !== null);

test.each(unverifiable)('a token $name is refused', async ({ token }) => {
  expect(await issuer.verify(token ?? '')).toBeNull();
});

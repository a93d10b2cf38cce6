/** Tokens that must not get anybody in, made with everything an attacker may have, and more. */
import { createHmac, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Issuer } from '../../lib/local/tokens.ts';

export const ISSUER = 'https://issuer.test';
export const AUDIENCE = 'kakutei';

export interface Keys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface HostileToken {
  readonly name: string;
  readonly token: string | null;
  /** What the gateway answers. */
  readonly status: 401 | 403;
}

export function rsaKeys(): Keys {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

interface Forgery {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly alg?: string;
  /** null for a token that names no key. */
  readonly kid?: string | null;
  readonly key?: KeyObject;
}

/** Every other field is right, so that each token fails for its own reason. */
export function forger(issuer: Issuer, keys: Keys): (forgery: Forgery) => Promise<string> {
  const ownKid = issuer.jwks.keys[0]?.kid ?? null;
  return ({ claims = {}, alg = 'RS256', kid = ownKid, key = keys.privateKey }) => {
    const now = Math.floor(Date.now() / 1000);
    const all = {
      ...{ iss: ISSUER, aud: AUDIENCE, sub: 'shop', tenant: 'acme', unit: 'sales', kind: 'service' },
      ...{ scope: 'submit read approve operate admin', iat: now, exp: now + 600 },
      ...claims,
    };
    return new SignJWT(all).setProtectedHeader({ alg, ...(kid !== null && { kid }) }).sign(key);
  };
}

export async function hostileTokens(issuer: Issuer, keys: Keys): Promise<HostileToken[]> {
  const forge = forger(issuer, keys);
  const now = Math.floor(Date.now() / 1000);
  const honest = await forge({});
  const refused = (name: string, token: string | null): HostileToken => ({ name, token, status: 401 });
  return [
    refused('no token', null),
    refused('signed with HS256 and the public key as its secret', hs256(keys, honest)),
    refused('of another issuer', await forge({ claims: { iss: 'https://other.test' } })),
    refused('for another audience', await forge({ claims: { aud: 'other' } })),
    refused('expired one second ago', await forge({ claims: { exp: now - 1 } })),
    refused('without an end', await forge({ claims: { exp: undefined } })),
    refused('not valid before a minute from now', await forge({ claims: { nbf: now + 60 } })),
    refused('naming a key that is not ours', await forge({ kid: 'other' })),
    refused('naming no key', await forge({ kid: null })),
    refused('signed by another key under our key id', await forge({ key: rsaKeys().privateKey })),
    refused('signed with RS512', await forge({ alg: 'RS512' })),
    refused('signed with PS256', await forge({ alg: 'PS256' })),
    refused('not signed, alg none', unsigned(honest)),
    refused('with its signature cut off', honest.slice(0, honest.lastIndexOf('.') + 1)),
    refused('with other claims under a good signature', swapped(honest)),
    refused('of garbage', randomBytes(60).toString('base64url')),
    refused('of three pieces of garbage', 'a.b.c'),
    refused('very long', `${honest}${'A'.repeat(8_000)}`),
    refused('without a tenant', await forge({ claims: { tenant: undefined } })),
    refused('with an empty tenant', await forge({ claims: { tenant: '' } })),
    refused('with a list as its tenant', await forge({ claims: { tenant: ['acme', 'umbra'] } })),
    refused('without a unit', await forge({ claims: { unit: undefined } })),
    refused('of an unknown kind of caller', await forge({ claims: { kind: 'root' } })),
    { name: 'with an empty scope', token: await forge({ claims: { scope: '' } }), status: 403 },
    { name: 'without a scope', token: await forge({ claims: { scope: undefined } }), status: 403 },
    {
      name: 'with scopes that only look like ours',
      token: await forge({ claims: { scope: 'submits READ approve,operate xread readx' } }),
      status: 403,
    },
  ];
}

function hs256(keys: Keys, honest: string): string {
  const secret = keys.publicKey.export({ type: 'spki', format: 'pem' });
  const signed = `${encoded({ alg: 'HS256', kid: kidOf(honest) })}.${honest.split('.')[1]}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function unsigned(honest: string): string {
  return `${encoded({ alg: 'none', kid: kidOf(honest) })}.${honest.split('.')[1]}.`;
}

function swapped(honest: string): string {
  const [header, payload = '', signature] = honest.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return `${header}.${encoded({ ...claims, tenant: 'umbra' })}.${signature}`;
}

function kidOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

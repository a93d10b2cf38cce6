/**
 * The local issuer of access tokens: a key made at start, never stored. It stands in for the identity provider
 * behind API Gateway's JWT authoriser and, like that, knows RSA only. Every doubt about a token is a refusal.
 */
import type { KeyObject } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  jwtVerify,
  SignJWT,
} from 'jose';
import * as z from 'zod';
import { systemClock } from '../platform/clock.ts';

const ALGORITHM = 'RS256';
const TTL_SECONDS = 3_600;
/** The ready-made tokens last as long as a day of exploring. */
const READY_MADE_TTL_SECONDS = 86_400;

/** What an intake needs to know about a caller; everything else in a token is passed on unread. */
const claimsSchema = z.looseObject({
  sub: z.string().min(1),
  tenant: z.string().min(1),
  unit: z.string().min(1),
  kind: z.enum(['person', 'service', 'agent']),
  /** Space-separated; no scope at all is allowed here and refused where one is needed. */
  scope: z.string().default(''),
});

export type Caller = Pick<z.infer<typeof claimsSchema>, 'sub' | 'tenant' | 'unit' | 'kind' | 'scope'>;
export type Claims = z.infer<typeof claimsSchema>;

export interface ReadyMadeTokens {
  readonly submitter: string;
  readonly approver: string;
  readonly operator: string;
  readonly otherTenant: string;
}

export interface Issuer {
  /** The public key, as served at `/.well-known/jwks.json`. */
  readonly jwks: JSONWebKeySet;
  /** @param ttlSeconds 3600 when left out. Refused for an agent with a scope that only people hold. */
  readonly sign: (caller: Caller, ttlSeconds?: number) => Promise<string>;
  /** The claims, or null for every token that is not certainly ours, in force and complete. Never rejects. */
  readonly verify: (token: string) => Promise<Claims | null>;
  readonly tokens: ReadyMadeTokens;
}

interface Keys {
  readonly privateKey: CryptoKey | KeyObject;
  readonly publicKey: CryptoKey | KeyObject;
}

export interface IssuerOptions {
  readonly issuer: string;
  readonly audience: string;
  /** An RSA pair; a fresh one when left out. */
  readonly keys?: Keys;
}

/** Scopes that only people hold. */
const PEOPLE_ONLY = ['approve', 'operate', 'admin'];

const callers: Readonly<Record<keyof ReadyMadeTokens, Caller>> = {
  submitter: { sub: 'shop', tenant: 'acme', unit: 'sales', kind: 'service', scope: 'submit read' },
  approver: { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person', scope: 'read approve operate' },
  operator: {
    sub: 'otto',
    tenant: 'acme',
    unit: 'sales',
    kind: 'person',
    scope: 'read approve operate admin',
  },
  otherTenant: {
    sub: 'umbra-shop',
    tenant: 'umbra',
    unit: 'sales',
    kind: 'service',
    scope: 'submit read operate',
  },
};

export async function createIssuer(options: IssuerOptions): Promise<Issuer> {
  const keys = options.keys ?? (await generateKeyPair(ALGORITHM));
  const jwk = await exportJWK(keys.publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  const jwks: JSONWebKeySet = { keys: [{ ...jwk, kid, alg: ALGORITHM, use: 'sig' }] };
  const sign: Issuer['sign'] = (caller, ttlSeconds = TTL_SECONDS) =>
    signToken(options, keys, kid, caller, ttlSeconds);
  return { jwks, sign, verify: verifierOf(options, jwks), tokens: await readyMade(sign) };
}

async function readyMade(sign: Issuer['sign']): Promise<ReadyMadeTokens> {
  const [submitter, approver, operator, otherTenant] = await Promise.all([
    sign(callers.submitter, READY_MADE_TTL_SECONDS),
    sign(callers.approver, READY_MADE_TTL_SECONDS),
    sign(callers.operator, READY_MADE_TTL_SECONDS),
    sign(callers.otherTenant, READY_MADE_TTL_SECONDS),
  ]);
  return { submitter, approver, operator, otherTenant };
}

async function signToken(
  options: IssuerOptions,
  keys: Keys,
  kid: string,
  caller: Caller,
  ttlSeconds: number,
): Promise<string> {
  const scopes = caller.scope.split(' ');
  if (caller.kind === 'agent' && PEOPLE_ONLY.some((scope) => scopes.includes(scope))) {
    throw new Error(
      `Cannot sign a token for "${caller.sub}": an agent never holds approve, operate or admin`,
    );
  }
  const now = Math.floor(systemClock.now() / 1000);
  return await new SignJWT({ ...caller })
    .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
    .setIssuer(options.issuer)
    .setAudience(options.audience)
    .setIssuedAt(now)
    .setExpirationTime(now + ttlSeconds)
    .sign(keys.privateKey);
}

function verifierOf(options: IssuerOptions, jwks: JSONWebKeySet): Issuer['verify'] {
  const keySet = createLocalJWKSet(jwks);
  return async (token) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keySet, {
        algorithms: [ALGORITHM],
        issuer: options.issuer,
        audience: options.audience,
        clockTolerance: 0,
        requiredClaims: ['exp'],
      });
      // A key set of one key would match a token that names none.
      if (protectedHeader.kid === undefined) return null;
      return claimsSchema.parse(payload);
    } catch {
      return null;
    }
  };
}

import { describe, expect, it } from 'vitest';
import { BadConfiguration, loadSettings, parseRoutes } from '../../lib/platform/config.ts';
import { registryOf } from '../../lib/providers/registry.ts';

const ROUTE = {
  name: 'warehouse',
  provider: 'warehouse',
  account: 'tokyo-1',
  environment: 'production',
  action: 'reserve',
  keyField: 'order_id',
  baseUrl: 'https://warehouse.example.com',
  writeSecretRef: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:w-AbCdEf',
  policy: {
    permission: { kind: 'standing', version: '1', until: '2027-01-01T00:00:00+09:00' },
    attempts: 4,
    requestMs: 1000,
    pauseMs: 100,
    resend: 'first',
    repeatOn: ['timeout', 'status_503'],
    sendWithinMs: 60_000,
  },
};
const file = (...routes: object[]) => JSON.stringify({ tenants: [{ tenant: 'acme', routes }] });
const refusal = (text: string): string => {
  try {
    parseRoutes(text);
    return 'taken';
  } catch (error) {
    return error instanceof BadConfiguration ? error.message : `not a refusal: ${String(error)}`;
  }
};

describe('the routes file', () => {
  it('is taken, times in UTC and what is left out unknown', () => {
    expect(parseRoutes(file(ROUTE))).toMatchObject([
      {
        tenant: 'acme',
        applyDelayMs: null,
        visibilityLagMs: null,
        readSecretRef: null,
        policy: { permission: { until: Date.parse('2026-12-31T15:00:00Z') } },
      },
    ]);
  });

  it.each<[string, string, RegExp]>([
    ['no JSON', '{', /not JSON/],
    ['an unknown field', file({ ...ROUTE, colour: 1 }), /colour/],
    [
      'a policy with an unknown field',
      file({ ...ROUTE, policy: { ...ROUTE.policy, retries: 3 } }),
      /retries/,
    ],
    [
      'a word that no attempt ends with',
      file({ ...ROUTE, policy: { ...ROUTE.policy, repeatOn: ['ECONNRESET'] } }),
      /repeatOn/,
    ],
    ['a route twice', file(ROUTE, ROUTE), /used twice/],
    ['http outside loopback', file({ ...ROUTE, baseUrl: 'http://warehouse.example.com' }), /https/],
    ['another scheme', file({ ...ROUTE, baseUrl: 'file:///etc/passwd' }), /baseUrl/],
    [
      'credentials in the URL',
      file({ ...ROUTE, baseUrl: 'https://u:p@warehouse.example.com' }),
      /more than a place/,
    ],
    [
      'a host that only looks like loopback',
      file({ ...ROUTE, baseUrl: 'http://127.0.0.1.example.com' }),
      /https/,
    ],
    ['a short D outside loopback', file({ ...ROUTE, applyDelayMs: 59_999 }), /60 s/],
    ['a local secret outside loopback', file({ ...ROUTE, writeSecretRef: 'local:x' }), /loopback only/],
    ['a secret in clear', file({ ...ROUTE, writeSecretRef: 'hunter2' }), /writeSecretRef/],
    ['a name with the ledger separator', file({ ...ROUTE, account: 'a#b' }), /account/],
    ['no attempt', file({ ...ROUTE, policy: { ...ROUTE.policy, attempts: 0 } }), /attempts/],
    [
      'a request longer than a sender lives',
      file({ ...ROUTE, policy: { ...ROUTE.policy, requestMs: 5000 } }),
      /requestMs/,
    ],
    [
      'one account at two tenants',
      JSON.stringify({
        tenants: [
          { tenant: 'a', routes: [ROUTE] },
          { tenant: 'b', routes: [{ ...ROUTE, name: 'r2' }] },
        ],
      }),
      /two tenants/,
    ],
  ])('is refused for %s', (_, text, reason) => {
    expect(refusal(text)).toMatch(reason);
  });

  it('a short D is taken on loopback, where nothing outlives the machine', () => {
    const local = { ...ROUTE, baseUrl: 'http://127.0.0.1:9', applyDelayMs: 500, writeSecretRef: 'local:w' };
    expect(parseRoutes(file(local))[0]?.applyDelayMs).toBe(500);
  });

  it('a provider that is not built in is refused', () => {
    const routes = parseRoutes(file({ ...ROUTE, provider: 'nobody' }));
    expect(() => registryOf(routes)).toThrow(/no provider is called nobody/);
  });
});

describe('the environment', () => {
  it.each([
    ['no table', {}],
    ['a skew that is no time', { KAKUTEI_TABLE: 't', KAKUTEI_SKEW_MS: '-1' }],
  ])('is refused with %s', (_, env) => {
    expect(() => loadSettings(env)).toThrow(BadConfiguration);
  });

  it('the skew is five minutes unless told', () => {
    const env = {
      KAKUTEI_TABLE: 't',
      KAKUTEI_ROUTES: new URL('../../routes.json', import.meta.url).pathname,
    };
    expect(loadSettings(env)).toMatchObject({ table: 't', machineArn: null, skewMs: 300_000 });
  });
});

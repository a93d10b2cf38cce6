import { describe, expect, it } from 'vitest';
import {
  BadConfiguration,
  loadSettings,
  parseConfiguration,
  parseRoutes,
} from '../../lib/platform/config.ts';
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
    confirmWithinMs: 3_600_000,
  },
};
const file = (...routes: object[]) => JSON.stringify({ tenants: [{ tenant: 'acme', routes }] });
const MONEY = { field: 'total', amount: '1000.00', currency: 'EUR', currencyField: 'currency' };
const withLimit = (twoFrom: object) => {
  const permission = { kind: 'approval', version: '1', longestMs: 3_600_000, twoFrom };
  return { ...ROUTE, policy: { ...ROUTE.policy, permission } };
};
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
    ['a limit in floats of a currency', file(withLimit({ ...MONEY, amount: 1000 })), /twoFrom/],
    [
      'a limit without the field of its currency',
      file(withLimit({ ...MONEY, currencyField: undefined })),
      /twoFrom/,
    ],
    ['a limit in no currency code', file(withLimit({ ...MONEY, currency: 'euro' })), /ISO 4217/],
    ['no attempt', file({ ...ROUTE, policy: { ...ROUTE.policy, attempts: 0 } }), /attempts/],
    [
      'a request longer than a sender lives',
      file({ ...ROUTE, policy: { ...ROUTE.policy, requestMs: 5000 } }),
      /requestMs/,
    ],
  ])('is refused for %s', (_, text, reason) => {
    expect(refusal(text)).toMatch(reason);
  });

  it.each([[MONEY], [{ field: 'quantity', amount: 10 }]])('takes the limit %j', (limit) => {
    expect(parseRoutes(file(withLimit(limit)))).toMatchObject([
      { policy: { permission: { twoFrom: limit } } },
    ]);
  });

  it('a short D is taken on loopback, where nothing outlives the machine', () => {
    const local = { ...ROUTE, baseUrl: 'http://127.0.0.1:9', applyDelayMs: 500, writeSecretRef: 'local:w' };
    expect(parseRoutes(file(local))[0]?.applyDelayMs).toBe(500);
  });

  it('an account may be a decentralised identifier', () => {
    const account = 'did:plc:abcdefghijklmnopqrstuvwx';
    expect(parseRoutes(file({ ...ROUTE, account }))[0]?.account).toBe(account);
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

describe('the webhooks of the routes file', () => {
  const HOOK = {
    endpoint: 'tokyo',
    routes: ['warehouse'],
    secretRefs: ['arn:aws:secretsmanager:eu-west-1:111122223333:secret:hook-AbCdEf'],
  };
  const UMBRA = { ...ROUTE, name: 'umbra', account: 'kobe-1' };
  const withHooks = (acme: readonly object[], routes: readonly object[] = [ROUTE], umbra?: object) =>
    JSON.stringify({
      tenants: [
        { tenant: 'acme', routes, webhooks: acme },
        ...(umbra === undefined ? [] : [{ tenant: 'umbra', routes: [UMBRA], webhooks: [umbra] }]),
      ],
    });
  const local = (name: string) => ({ ...ROUTE, name, baseUrl: 'http://127.0.0.1:9', writeSecretRef: null });

  it('may be left out', () => {
    expect(parseConfiguration(file(ROUTE)).webhooks).toEqual([]);
  });

  it('belong to the tenant that names them', () => {
    const umbra = { ...HOOK, endpoint: 'kobe', routes: ['umbra'] };
    expect(parseConfiguration(withHooks([HOOK], [ROUTE], umbra)).webhooks).toEqual([
      { ...HOOK, tenant: 'acme' },
      { ...umbra, tenant: 'umbra' },
    ]);
  });

  it('take local secrets where every route stays on the machine', () => {
    const text = withHooks([{ ...HOOK, secretRefs: ['local:old', 'local:new'] }], [local('warehouse')]);
    expect(parseConfiguration(text).webhooks).toHaveLength(1);
  });

  it('lead to the ways of their own tenant', () => {
    const { routes, webhooks } = parseConfiguration(withHooks([HOOK]));
    const found = registryOf(routes, undefined, webhooks).webhookOf('tokyo');
    expect(found?.ways.map(({ route }) => [route.tenant, route.name])).toEqual([['acme', 'warehouse']]);
    expect(registryOf(routes, undefined, webhooks).webhookOf('osaka')).toBeUndefined();
  });

  it.each<[string, string, RegExp]>([
    ['an unknown field', withHooks([{ ...HOOK, url: 'https://x' }]), /url/],
    ['an endpoint that is no name', withHooks([{ ...HOOK, endpoint: 'a/b' }]), /endpoint/],
    ['an endpoint named twice', withHooks([HOOK, HOOK]), /endpoint tokyo is used twice/],
    [
      'an endpoint that another tenant has',
      withHooks([HOOK], [ROUTE], { ...HOOK, routes: ['umbra'] }),
      /endpoint tokyo is used twice/,
    ],
    ['no route', withHooks([{ ...HOOK, routes: [] }]), /routes/],
    ['a route that is not there', withHooks([{ ...HOOK, routes: ['nowhere'] }]), /no route nowhere/],
    [
      'a route of another tenant',
      withHooks([HOOK], [ROUTE], { ...HOOK, endpoint: 'kobe' }),
      /umbra has no route warehouse/,
    ],
    ...['account', 'environment', 'baseUrl'].map((field): [string, string, RegExp] => {
      const other = { account: 'osaka-1', environment: 'test', baseUrl: 'https://other.example.com' }[field];
      const routes = [ROUTE, { ...ROUTE, name: 'second', [field]: other }];
      const hook = { ...HOOK, routes: ['warehouse', 'second'] };
      return [`routes that differ in ${field}`, withHooks([hook], routes), /more than one provider account/];
    }),
    ['no secret', withHooks([{ ...HOOK, secretRefs: [] }]), /secretRefs/],
    ['six secrets', withHooks([{ ...HOOK, secretRefs: Array(6).fill('local:x') }]), /secretRefs/],
    ['a secret in clear', withHooks([{ ...HOOK, secretRefs: ['whsec_AAAA'] }]), /secretRefs/],
    ['a local secret outside loopback', withHooks([{ ...HOOK, secretRefs: ['local:x'] }]), /loopback only/],
  ])('with %s are refused, with the reason', (_, text, reason) => {
    expect(refusal(text)).toMatch(reason);
  });
});

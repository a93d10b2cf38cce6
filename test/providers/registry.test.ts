import { describe, expect, it } from 'vitest';
import type { Route } from '../../lib/domain/route.ts';
import { BadConfiguration } from '../../lib/platform/config.ts';
import type { Provider } from '../../lib/providers/provider.ts';
import { PROVIDERS, registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { routeTo } from '../support/kit.ts';

const BASE_URL = 'https://api.example.com/v1';
const load =
  (provider: Provider, publicHosts: readonly string[], baseUrl = BASE_URL) =>
  () =>
    registryOf([routeTo(baseUrl, { name: 'posts', provider: provider.name, publicHosts })], [provider]);

describe('a route at load', () => {
  const onPages: readonly Provider[] = PROVIDERS.filter((each) => each.publicPages !== undefined);
  const named = (name: string): Provider => {
    const provider = onPages.find((each) => each.name === name);
    if (provider === undefined) throw new Error(`${name} is verified on no public page.`);
    return provider;
  };

  it('there are providers that are verified on public pages, and others', () => {
    expect(onPages.map((each) => each.name)).toEqual(['medium', 'bluesky', 'bluesky-by-content']);
    expect(onPages).not.toContain(warehouse);
  });

  it.each(onPages)('to $name is refused without a public host, and taken with one', (provider) => {
    const pages = provider.publicPages?.(new URL(BASE_URL)).join(' or ');
    const why = `Cannot load route posts: ${provider.name} is verified on its public page, so publicHosts must name ${pages}.`;
    expect(load(provider, [])).toThrow(new BadConfiguration(why));
    expect(load(provider, ['api.example.com'])().find('acme', 'posts')?.provider).toBe(provider);
  });

  it.each<{ to: string; hosts: readonly string[]; baseUrl?: string; taken: boolean; because: string }>([
    { to: 'medium', hosts: ['elsewhere.test', 'api.example.com'], taken: true, because: 'one is enough' },
    { to: 'medium', hosts: ['elsewhere.test'], taken: false, because: 'its pages are where its API is' },
    { to: 'medium', hosts: ['example.com'], taken: false, because: 'a parent domain is another host' },
    { to: 'medium', hosts: ['api.example.com:443'], taken: false, because: 'no address has the port in it' },
    { to: 'bluesky', hosts: ['bsky.app'], taken: true, because: 'the app shows posts of every server' },
    { to: 'bluesky-by-content', hosts: ['bsky.social'], taken: false, because: 'that is no page of a post' },
    {
      ...{ to: 'bluesky', hosts: ['bsky.app'], baseUrl: 'http://127.0.0.1:3', taken: false },
      because: 'the app shows nothing of a server on this machine',
    },
    {
      ...{ to: 'bluesky', hosts: ['127.0.0.1:3'], baseUrl: 'http://127.0.0.1:3', taken: true },
      because: 'the server itself does',
    },
  ])('to $to with pages at $hosts: $taken, because $because', ({ to, hosts, baseUrl, taken }) => {
    const loading = load(named(to), hosts, baseUrl);
    if (taken) expect(loading).not.toThrow();
    else expect(loading).toThrow('so publicHosts must name');
  });

  it('to a provider without public pages needs no host', () => {
    expect(load(warehouse, [])().all).toHaveLength(1);
  });

  it('to a provider that is not built in is refused', () => {
    expect(() => registryOf([routeTo('https://a.example.com', { provider: 'nobody' })])).toThrow(
      new BadConfiguration('Cannot load route warehouse: no provider is called nobody.'),
    );
  });
});

describe('an account', () => {
  const DID = 'did:plc:abcdefghijklmnopqrstuvwx';
  const to = (provider: string, account: string, change: Partial<Route> = {}, host = 'api.example.com') =>
    routeTo(`https://${host}/v1`, { provider, account, publicHosts: [host], ...change });
  const warehouseAt = (change?: Partial<Route>, host?: string) => to('warehouse', 'tokyo-1', change, host);
  const supplier = (change?: Partial<Route>) => to('supplier-blind', 'buyer-1', change);
  const medium = (change?: Partial<Route>, host?: string) => to('medium', '900001', change, host);
  const bluesky = (change?: Partial<Route>, host?: string) => to('bluesky', DID, change, host);
  const byContent = (change?: Partial<Route>, host?: string) => to('bluesky-by-content', DID, change, host);
  const umbra = { tenant: 'umbra' } as const;
  const production = { environment: 'production' } as const;
  const loading = (one: Route, other: Route) => () =>
    registryOf([
      { ...one, name: 'one' },
      { ...other, name: 'other' },
    ]);

  it.each<{ one: Route; other: Route; because: string }>([
    { one: warehouseAt(), other: warehouseAt(umbra), because: 'it is one warehouse' },
    { one: medium(), other: medium(umbra), because: 'it is one medium' },
    { one: medium(), other: medium({ ...umbra, ...production }), because: 'a medium knows no environment' },
    { one: supplier(), other: supplier(umbra), because: 'it is one environment of one supplier' },
    { one: bluesky(), other: bluesky({ ...umbra, ...production }), because: 'a DID has no environment' },
    {
      one: bluesky(),
      other: bluesky(umbra, 'entryway.example.com'),
      because: 'a DID is one at every address',
    },
    { one: bluesky(), other: byContent(umbra), because: 'both adapters write into it' },
    {
      one: warehouseAt(),
      other: to('supplier-blind', 'tokyo-1', umbra),
      because: 'several adapters may write into one account',
    },
  ])('of two tenants is refused: $one.provider and $other.provider, because $because', ({ one, other }) => {
    const why = `Cannot load routes: account ${one.account} belongs to two tenants.`;
    expect(loading(one, other)).toThrow(new BadConfiguration(why));
  });

  it.each<{ one: Route; other: Route; because: string }>([
    { one: warehouseAt(), other: warehouseAt(production), because: 'its answers name the account alone' },
    { one: medium(), other: medium(production), because: 'its posts name the author alone' },
    { one: bluesky(), other: bluesky(production, 'pds.example.com'), because: 'its address tells nothing' },
    { one: byContent(), other: bluesky(production), because: 'one post could be two receipts' },
  ])(
    'in two environments is refused: $one.provider and $other.provider, because $because',
    ({ one, other }) => {
      const why = `Cannot load routes: account ${one.account} is test and production (one and other), and ${other.provider} cannot tell them apart.`;
      expect(loading(one, other)).toThrow(new BadConfiguration(why));
    },
  );

  it.each<{ one: Route; other: Route; because: string }>([
    { one: supplier(), other: supplier(production), because: 'its records name the environment' },
    {
      one: supplier(),
      other: supplier({ ...umbra, ...production }),
      because: 'then they are two accounts, also of two tenants',
    },
    {
      one: medium(),
      other: medium(production, 'sandbox.example.com'),
      because: 'at another origin the same name is another account',
    },
    { one: medium(), other: medium(umbra, 'other.example.com'), because: 'so it is for another tenant' },
    { one: bluesky(), other: byContent(), because: 'one tenant may use both adapters' },
    { one: bluesky(), other: bluesky({}, 'pds.example.com'), because: 'and both addresses' },
    { one: warehouseAt(), other: medium(umbra), because: 'they have other names' },
  ])('is taken: $one.provider and $other.provider, because $because', ({ one, other }) => {
    expect(loading(one, other)().all).toHaveLength(2);
  });
});

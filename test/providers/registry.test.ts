import { describe, expect, it } from 'vitest';
import { BadConfiguration } from '../../lib/platform/config.ts';
import type { Provider } from '../../lib/providers/provider.ts';
import { PROVIDERS, registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { routeTo } from '../support/kit.ts';

const load = (provider: Provider, publicHosts: readonly string[]) => () =>
  registryOf(
    [routeTo('https://api.example.com', { name: 'posts', provider: provider.name, publicHosts })],
    [provider],
  );

describe('a route at load', () => {
  const onPages: readonly Provider[] = PROVIDERS.filter((each) => each.publicPages === true);

  it('there are providers that are verified on public pages, and others', () => {
    expect(onPages.map((each) => each.name)).toContain('medium');
    expect(onPages).not.toContain(warehouse);
  });

  it.each(onPages)('to $name is refused without a public host, and taken with one', (provider) => {
    const why = `Cannot load route posts: ${provider.name} is verified on its public page, so publicHosts must name a host.`;
    expect(load(provider, [])).toThrow(new BadConfiguration(why));
    expect(load(provider, ['posts.example.com'])().find('acme', 'posts')?.provider).toBe(provider);
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

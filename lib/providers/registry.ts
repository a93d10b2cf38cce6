/** Joins configured routes to the adapters that serve them. */
import type { Lag } from '../domain/promise.ts';
import { lagOf, type Route } from '../domain/route.ts';
import type { Provider } from './provider.ts';
import { warehouse } from './warehouse.ts';

/** A route with its adapter and the D and L in force. */
export interface Way {
  readonly route: Route;
  readonly provider: Provider;
  readonly lag: Lag;
}

export interface Registry {
  /** The tenant's own route of this name; another tenant's is absent. */
  readonly find: (tenant: string, name: string) => Way | undefined;
  readonly all: readonly Way[];
}

export const PROVIDERS: readonly Provider[] = [warehouse];

/** Throws when a route names a provider that is not built in. */
export function registryOf(routes: readonly Route[], providers: readonly Provider[] = PROVIDERS): Registry {
  const all = routes.map((route): Way => {
    const provider = providers.find((each) => each.name === route.provider);
    if (provider === undefined) {
      throw new RangeError(`Cannot load route ${route.name}: no provider is called ${route.provider}.`);
    }
    return { route, provider, lag: lagOf(route, provider.promise) };
  });
  return {
    all,
    find: (tenant, name) => all.find((way) => way.route.tenant === tenant && way.route.name === name),
  };
}

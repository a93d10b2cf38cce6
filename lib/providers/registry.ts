/** Joins configured routes to the adapters that serve them. */
import type { Lag } from '../domain/promise.ts';
import { lagOf, type Route } from '../domain/route.ts';
import { BadConfiguration } from '../platform/config-words.ts';
import type { Webhook } from '../platform/webhook-config.ts';
import { bluesky } from './bluesky.ts';
import { blueskyByContent } from './bluesky-by-content.ts';
import { medium } from './medium.ts';
import { checkAccounts } from './one-account.ts';
import type { Provider } from './provider.ts';
import { supplierCancellations } from './supplier-cancellations.ts';
import { supplierConfirmations } from './supplier-confirmations.ts';
import { supplierOrders } from './supplier-orders.ts';
import { SUPPLIER_KINDS } from './supplier-promises.ts';
import { warehouse } from './warehouse.ts';

/** A route with its adapter and the D and L in force. */
export interface Way {
  readonly route: Route;
  readonly provider: Provider;
  readonly lag: Lag;
}

/** An endpoint for signed events, with the ways whose intents they may speak of. */
export interface WebhookWays extends Webhook {
  readonly ways: readonly Way[];
}

export interface Registry {
  /** The tenant's own route of this name; another tenant's is absent. */
  readonly find: (tenant: string, name: string) => Way | undefined;
  readonly all: readonly Way[];
  readonly webhookOf: (endpoint: string) => WebhookWays | undefined;
}

export const PROVIDERS: readonly Provider[] = [
  warehouse,
  medium,
  bluesky,
  blueskyByContent,
  ...SUPPLIER_KINDS.flatMap((kind) => [
    supplierOrders(kind),
    supplierCancellations(kind),
    supplierConfirmations(kind),
  ]),
];

/**
 * Throws `BadConfiguration` when a route names a provider that is not built in, or no host of the public pages that its
 * provider is verified on (nothing sent there could ever be confirmed), and for what `checkAccounts` refuses.
 */
export function registryOf(
  routes: readonly Route[],
  providers: readonly Provider[] = PROVIDERS,
  webhooks: readonly Webhook[] = [],
): Registry {
  const all = routes.map((route): Way => {
    const provider = providers.find((each) => each.name === route.provider);
    if (provider === undefined) throw cannotLoad(route, `no provider is called ${route.provider}`);
    const pages = provider.publicPages?.(new URL(route.baseUrl));
    if (pages?.some((host) => route.publicHosts.includes(host)) === false) {
      const why = `${provider.name} is verified on its public page, so publicHosts must name`;
      throw cannotLoad(route, `${why} ${pages.join(' or ')}`);
    }
    return { route, provider, lag: lagOf(route, provider.promise) };
  });
  checkAccounts(all);
  return {
    all,
    find: (tenant, name) => all.find((way) => way.route.tenant === tenant && way.route.name === name),
    webhookOf: (endpoint) => {
      const webhook = webhooks.find((each) => each.endpoint === endpoint);
      if (webhook === undefined) return undefined;
      const { tenant, routes: names } = webhook;
      const ways = all.filter(({ route }) => route.tenant === tenant && names.includes(route.name));
      return { ...webhook, ways };
    },
  };
}

function cannotLoad(route: Route, why: string): BadConfiguration {
  return new BadConfiguration(`Cannot load route ${route.name}: ${why}.`);
}

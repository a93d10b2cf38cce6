/** The `webhooks` part of the routes file: who may tell us something, about which routes, under which secrets. */
import * as z from 'zod';
import type { Route } from '../domain/route.ts';
import { BadConfiguration, isLoopback, name, refuseTwice, secretRef } from './config-words.ts';

/** One place that takes signed events of one provider account. */
export interface Webhook {
  /** The last segment of its path; one word over all tenants. */
  readonly endpoint: string;
  readonly tenant: string;
  /** Names of the routes whose intents its events may speak of. */
  readonly routes: readonly string[];
  /** Every live secret; a signature by any of them counts, so that one can be replaced by another. */
  readonly secretRefs: readonly string[];
}

export const webhook = z.strictObject({
  endpoint: name,
  routes: z.array(name).min(1).max(100),
  secretRefs: z.array(secretRef).min(1).max(5),
});

/**
 * Refused: an endpoint named twice, a route that is not this tenant's, routes of more than one account, environment
 * or place, local secrets outside loopback.
 */
export function checkWebhooks(webhooks: readonly Webhook[], routes: readonly Route[]): void {
  refuseTwice(
    webhooks.map((each) => each.endpoint),
    'webhook endpoint',
  );
  for (const each of webhooks) checkWebhook(each, routes);
}

function checkWebhook(each: Webhook, all: readonly Route[]): void {
  const refuse = (what: string): never => {
    throw new BadConfiguration(`Cannot load webhook ${each.endpoint}: ${what}.`);
  };
  const routes = each.routes.map(
    (name) =>
      all.find((route) => route.tenant === each.tenant && route.name === name) ??
      refuse(`${each.tenant} has no route ${name}`),
  );
  // Who signs for one account must not be able to say anything about another.
  if (new Set(routes.map(placeOf)).size > 1) refuse('its routes lead to more than one provider account');
  const local = each.secretRefs.some((ref) => ref.startsWith('local:'));
  if (local && !routes.every((route) => isLoopback(new URL(route.baseUrl)))) {
    refuse('local secrets are for loopback only');
  }
}

function placeOf({ account, environment, baseUrl }: Route): string {
  return JSON.stringify([account, environment, new URL(baseUrl).origin]);
}

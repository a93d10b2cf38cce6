/**
 * Which routes lead to one account. It is of one tenant; and where its records do not name the environment, of one
 * environment: bindings and holds hold the environment's name, so under two of them one record could be the effect of two
 * intents.
 */
import { BadConfiguration } from '../platform/config-words.ts';
import type { Provider } from './provider.ts';
import type { Way } from './registry.ts';

/** The adapters that write into the same accounts. */
export function familyOf({ family, name }: Pick<Provider, 'family' | 'name'>): string {
  return family ?? name;
}

/** Throws `BadConfiguration` for an account of two tenants, or of two environments that nobody there can tell apart. */
export function checkAccounts(ways: readonly Way[]): void {
  for (const namesakes of Map.groupBy(ways, ({ route }) => route.account).values()) {
    for (const [index, one] of namesakes.entries()) {
      for (const other of namesakes.slice(0, index)) checkPair(one, other);
    }
  }
}

function checkPair(one: Way, other: Way): void {
  if (!isOneAccount(one, other)) return;
  const apart = one.route.environment !== other.route.environment;
  const named = [one, other].every(({ provider }) => provider.oneAccount === 'by_environment');
  if (apart && named) return;
  if (one.route.tenant !== other.route.tenant) throw refusal(one, 'belongs to two tenants');
  if (!apart || familyOf(one.provider) !== familyOf(other.provider)) return;
  const names = `${other.route.name} and ${one.route.name}`;
  throw refusal(one, `is test and production (${names}), and ${one.provider.name} cannot tell them apart`);
}

/** By place and not by adapter: several adapters may write into one account. */
function isOneAccount(one: Way, other: Way): boolean {
  const byName = [one, other].every(({ provider }) => provider.oneAccount === 'by_name');
  return byName || new URL(one.route.baseUrl).origin === new URL(other.route.baseUrl).origin;
}

function refusal({ route }: Way, why: string): BadConfiguration {
  return new BadConfiguration(`Cannot load routes: account ${route.account} ${why}.`);
}

/**
 * Which secrets the deployed configuration names, so that roles list them one by one. Whoever can look, or check a
 * signature, must not be able to write: a secret named for two uses is refused here, before there is a template.
 */
import { readFileSync } from 'node:fs';

export interface SecretArns {
  /** ARNs of secrets that can write at a provider; only send may read them. */
  readonly write: readonly string[];
  /** ARNs of secrets that can only look. */
  readonly read: readonly string[];
  /** ARNs of secrets that events from outside are signed with. */
  readonly webhook: readonly string[];
}

// The suffix of six is part of the ARN; without it IAM needs a wildcard.
const SECRET_ARN = /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/;

/**
 * Reads the routes file as the functions will see it. Refuses (throws) a reference that is not a full
 * Secrets Manager ARN, and one secret with two uses.
 */
export function secretsOf(routesFile: string): SecretArns {
  const config: unknown = JSON.parse(readFileSync(routesFile, 'utf8'));
  const tenants = listIn(config, 'tenants');
  const routes = tenants.flatMap((tenant) => listIn(tenant, 'routes'));
  const webhooks = tenants.flatMap((tenant) =>
    fieldOf(tenant, 'webhooks') === undefined ? [] : listIn(tenant, 'webhooks'),
  );
  const write = arnsOf(referencesIn(routes, 'writeSecretRef'), 'writeSecretRef');
  const read = arnsOf(referencesIn(routes, 'readSecretRef'), 'readSecretRef');
  const webhook = arnsOf(
    webhooks.flatMap((each) => listIn(each, 'secretRefs')),
    'secretRefs',
  );
  refuseBoth(write, read, 'for writing and for reading');
  refuseBoth(webhook, [...write, ...read], 'for signatures and for calls');
  return { write, read, webhook };
}

function refuseBoth(some: readonly string[], others: readonly string[], uses: string): void {
  const both = some.find((arn) => others.includes(arn));
  if (both !== undefined) throw new Error(`Cannot deploy "${both}": it is named ${uses}; use two secrets`);
}

function referencesIn(routes: readonly unknown[], field: string): readonly unknown[] {
  return routes.map((route) => fieldOf(route, field)).filter((value) => (value ?? null) !== null);
}

function arnsOf(references: readonly unknown[], field: string): readonly string[] {
  return [...new Set(references.map((reference) => asArn(reference, field)))].sort();
}

function asArn(reference: unknown, field: string): string {
  if (typeof reference === 'string' && SECRET_ARN.test(reference)) return reference;
  throw new Error(`Cannot deploy ${field} ${JSON.stringify(reference)}: it is not a full secret ARN`);
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  if (!Array.isArray(list)) throw new Error(`Cannot read the routes file: "${name}" is not a list`);
  return list;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

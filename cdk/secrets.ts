/**
 * Which secrets the deployed configuration names, so that roles list them one by one. Whoever can look must
 * not be able to write: a secret named as both is refused here, before there is a template.
 */
import { readFileSync } from 'node:fs';

export interface SecretArns {
  /** ARNs of secrets that can write at a provider; only send may read them. */
  readonly write: readonly string[];
  /** ARNs of secrets that can only look. */
  readonly read: readonly string[];
}

// The suffix of six is part of the ARN; without it IAM needs a wildcard.
const SECRET_ARN = /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/;

/**
 * Reads the routes file as the functions will see it. Refuses (throws) a reference that is not a full
 * Secrets Manager ARN, and one secret used for writing and reading.
 */
export function secretsOf(routesFile: string): SecretArns {
  const config: unknown = JSON.parse(readFileSync(routesFile, 'utf8'));
  const routes = listIn(config, 'tenants').flatMap((tenant) => listIn(tenant, 'routes'));
  const write = arnsOf(routes, 'writeSecretRef');
  const read = arnsOf(routes, 'readSecretRef');
  const both = write.find((arn) => read.includes(arn));
  if (both !== undefined) {
    throw new Error(`Cannot deploy "${both}": it is named for writing and for reading; use two secrets`);
  }
  return { write, read };
}

function arnsOf(routes: readonly unknown[], field: string): readonly string[] {
  const references = routes.map((route) => fieldOf(route, field)).filter((value) => (value ?? null) !== null);
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

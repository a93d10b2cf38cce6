/** What all parts of the configuration are made of. */
import * as z from 'zod';

export const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, ".", "_" and "-", at most 64');

/** As providers name accounts; decentralised identifiers have colons (`did:plc:…`). */
export const account = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'letters, digits, ".", "_", ":" and "-", at most 128');

/** A Secrets Manager ARN, or `local:<name>` on loopback. */
export const secretRef = z.string().regex(/^(arn:aws[a-z-]*:secretsmanager:.+|local:[A-Za-z0-9._-]+)$/);

export class BadConfiguration extends Error {
  override readonly name = 'BadConfiguration';
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

export function isLoopback(url: URL): boolean {
  return LOOPBACK.has(url.hostname);
}

export function refuseTwice(names: readonly string[], what: string): void {
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined) throw new BadConfiguration(`Cannot load routes: ${what} ${twice} is used twice.`);
}

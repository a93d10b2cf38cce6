/** The routes that the functions run on, joined to their adapters; a deploy is refused by the same rules. */
import { readFileSync } from 'node:fs';
import { type Configuration, parseConfiguration } from '../lib/platform/config.ts';
import { type Registry, registryOf } from '../lib/providers/registry.ts';

/** Throws `BadConfiguration`. */
export function registryFrom({ routes, webhooks }: Configuration): Registry {
  return registryOf(routes, undefined, webhooks);
}

/** Throws `BadConfiguration` for a file that no function could start with. */
export function checkRoutesFile(path: string): void {
  registryFrom(parseConfiguration(readFileSync(path, 'utf8')));
}

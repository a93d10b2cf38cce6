/** The Bluesky routes that the configuration page shows, as the functions load them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { classOf } from '../../lib/domain/promise.ts';
import { parseRoutes } from '../../lib/platform/config.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { fencesOf } from '../support/documents.ts';
import { NOW, TIMING } from '../support/kit.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
const [, shown] = fencesOf(page).filter(({ info }) => info === 'json routes');
const routes = parseRoutes(shown?.text ?? '');

it('load, and their classes are those that the page says', () => {
  const classes = registryOf(routes).all.map(({ provider, lag }) => {
    return [provider.name, classOf(provider.promise, TIMING, lag, NOW, NOW)];
  });
  expect(classes).toEqual([
    ['bluesky', 'unique'],
    ['bluesky-by-content', 'searchable'],
  ]);
  const unnamed = routes.map((route) => ({ ...route, visibilityLagMs: null }));
  const [, blind] = registryOf(unnamed).all;
  expect(blind && classOf(blind.provider.promise, TIMING, blind.lag, NOW, NOW)).toBe('blind');
});

it.each(routes)('$name is refused without a public host: it could never be confirmed', (route) => {
  expect(() => registryOf([{ ...route, publicHosts: [] }])).toThrow('publicHosts');
});

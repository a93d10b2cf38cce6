/** The local stack's two ways to one medium. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { classOf } from '../../lib/domain/promise.ts';
import { writeRoutes } from '../../lib/local/configuration.ts';
import { parseRoutes } from '../../lib/platform/config.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { NOW, TIMING } from '../support/kit.ts';

const WAREHOUSE = 'http://127.0.0.1:1';

function waysTo(mediumUrl: string | null) {
  const folder = mkdtempSync(join(tmpdir(), 'kakutei-routes-'));
  try {
    const routes = parseRoutes(readFileSync(writeRoutes(folder, WAREHOUSE, null, mediumUrl), 'utf8'));
    return registryOf(routes).all.filter(({ route }) => route.provider === 'medium');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('one names the lag and is searchable, the other does not and is blind; both visit its host only', () => {
  const ways = waysTo('http://127.0.0.1:37');
  const told = ways.map(({ route, provider, lag }) => {
    const { name, account, publicHosts } = route;
    return { name, account, publicHosts, class: classOf(provider.promise, TIMING, lag, NOW, NOW) };
  });
  const same = { account: '900001', publicHosts: ['127.0.0.1:37'] };
  expect(told).toEqual([
    { name: 'posts-searchable', ...same, class: 'searchable' },
    { name: 'posts-blind', ...same, class: 'blind' },
  ]);
});

test('where no medium was started there is no way to it', () => {
  expect(waysTo(null)).toEqual([]);
});

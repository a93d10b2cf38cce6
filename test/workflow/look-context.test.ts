/** Public pages are visited as a stranger would, and only where the route says so: the URL is the provider's word. */
import { describe, expect, it } from 'vitest';
import { medium } from '../../lib/providers/medium.ts';
import { lookContext } from '../../lib/workflow/look-context.ts';
import { intentOf, routeTo } from '../support/kit.ts';
import { world } from '../support/world.ts';

const BASE_URL = 'https://api.medium.test';
const LAG = { applyDelayMs: 60_000, visibilityLagMs: 30_000 };

/** What a visit asked for, and of whom. */
function visiting(baseUrl = BASE_URL) {
  const asked: { baseUrl: string; headers: Record<string, string>; path: string }[] = [];
  const { deps } = world();
  deps.reader =
    (to: { readonly baseUrl: string; readonly headers?: Record<string, string> }) => async (path) => {
      asked.push({ baseUrl: to.baseUrl, headers: to.headers ?? {}, path });
      return { kind: 'answered', status: 200, body: 'page' };
    };
  const hosts = { publicHosts: ['medium.test', 'pages.medium.test:8443', '127.0.0.1:4'] };
  const route = routeTo(baseUrl, { readSecretRef: 'arn:read', ...hosts });
  const visit = async (url: string) => {
    const context = await lookContext(deps, { route, provider: medium, lag: LAG }, intentOf());
    return context.visit(url);
  };
  return { visit, asked };
}

describe('a host that the route names', () => {
  it.each([
    { url: 'https://medium.test/@tea/46', at: 'https://medium.test', path: '/@tea/46' },
    {
      url: 'https://pages.medium.test:8443/46?full=1',
      at: 'https://pages.medium.test:8443',
      path: '/46?full=1',
    },
    { url: 'https://MEDIUM.test/46#comments', at: 'https://medium.test', path: '/46' },
  ])('$url is visited, without any credential', async ({ url, at, path }) => {
    const { visit, asked } = visiting();
    expect(await visit(url)).toMatchObject({ kind: 'answered', body: 'page' });
    expect(asked).toEqual([{ baseUrl: at, headers: {}, path }]);
  });

  it('on loopback it may be plain http, as the API is', async () => {
    const { visit, asked } = visiting('http://127.0.0.1:4');
    await visit('http://127.0.0.1:4/@tea/46');
    expect(asked).toEqual([{ baseUrl: 'http://127.0.0.1:4', headers: {}, path: '/@tea/46' }]);
  });
});

describe('nobody goes anywhere else', () => {
  it.each([
    { url: 'https://elsewhere.test/46', because: 'another host' },
    { url: 'https://medium.test.elsewhere.test/46', because: 'it only begins alike' },
    { url: 'https://api.medium.test/46', because: 'the API itself was not named' },
    { url: 'https://medium.test:8443/46', because: 'another port' },
    { url: 'https://pages.medium.test/46', because: 'the port that was named is missing' },
    { url: 'https://medium.test@elsewhere.test/46', because: 'a user name is no host' },
    { url: 'http://medium.test/46', because: 'less safe than the way to the API' },
    { url: 'http://169.254.169.254/latest/meta-data/', because: 'an address within' },
    { url: 'file:///etc/passwd', because: 'no web page' },
    { url: 'javascript:alert(1)', because: 'no address' },
    { url: '//medium.test/46', because: 'no scheme' },
    { url: '', because: 'nothing' },
  ])('$url: $because', async ({ url }) => {
    const { visit, asked } = visiting();
    expect(await visit(url)).toEqual({ kind: 'failed', error: 'host_not_allowed' });
    expect(asked).toEqual([]);
  });
});

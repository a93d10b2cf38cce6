/** What the PDS, its directory and the tests agree on. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

/** Of a server that lives for one test run. With `jwtSecret` a test can make tokens that have run out. */
export const SECRETS = {
  jwtSecret: 'a secret of one test run, not of any house',
  adminPassword: 'admin-of-one-test-run',
  plcRotationKeyK256PrivateKeyHex: '11'.repeat(32),
};

export const POSTS = 'app.bsky.feed.post';

export async function serveOnLoopback(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export function portOf(server: { address: Server['address'] }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return address.port;
}

/**
 * HTTP servers of the local stack. They listen on 127.0.0.1 only, and closing one also ends the
 * connections that clients keep alive.
 */
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:net';

const HOST = '127.0.0.1';

export interface Listening {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Ends open connections too; safe to call twice. */
  readonly close: () => Promise<void>;
}

/** @param port 0 for any free port. Rejects with the system's error when the port is taken. */
export async function listenOnLoopback(server: Server, port: number): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = portOf(server.address());
  return { url: `http://${HOST}:${bound}`, port: bound, close: () => closeServer(server) };
}

/** A port that was free a moment ago. Whoever takes it must still cope with losing it. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, HOST, resolve);
  });
  const port = portOf(probe.address());
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}

/**
 * Reads the whole body, keeping at most `maxBytes` of it; null when there was more.
 * What is over the limit is still read, so that the client gets its answer and not a reset.
 * Rejects when the client goes away.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > maxBytes ? null : Buffer.concat(chunks);
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function portOf(address: ReturnType<Server['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return address.port;
}

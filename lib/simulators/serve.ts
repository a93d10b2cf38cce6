/** A simulator's server over its book: listening, and an end that breaks what is open and closes the book. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Served {
  readonly port: number;
  readonly host: string;
  readonly book: { close(): void };
  /** What is still to be done later; ended with the server. */
  readonly timers: ReadonlySet<NodeJS.Timeout>;
}

/** Resolves when the port answers. When it cannot listen, the book is closed first. */
export async function serve<House extends Served>(
  house: House,
  route: (house: House, request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    // A broken book is answered like a crash: the connection closes and says nothing.
    route(house, request, response).catch(() => response.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(house.port, house.host, resolve);
  await promise.catch((error: unknown) => {
    house.book.close();
    throw error;
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const close = async () => {
    for (const timer of house.timers) clearTimeout(timer);
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
    house.book.close();
  };
  return { url: `http://${house.host}:${port}`, close };
}

/**
 * A raw TCP or TLS server that misbehaves on cue. It counts what a provider would act on: complete POST bodies.
 * One cue a server: at `accept`, at the `head`, at the first `part` of the body, or at the whole `body`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tls from 'node:tls';

export interface Peer {
  readonly raw: net.Socket;
  /** What is spoken on: `raw`, or TLS over it. */
  readonly stream: net.Socket;
}

export interface Cue {
  readonly at: 'accept' | 'head' | 'part' | 'body';
  readonly play: (peer: Peer) => void;
}

export interface Keys {
  readonly key: string;
  readonly cert: string;
}

export interface WireServer {
  readonly port: number;
  /** Everything that was received, in order, decoded as UTF-8. */
  readonly received: () => string;
  readonly connections: () => number;
  /** Complete POST bodies = effects. */
  readonly posts: () => number;
  readonly bodyBytes: () => number;
  /** How often the cue was played; 0 means that the fault was never hit. */
  readonly played: () => number;
  readonly firstPlayed: Promise<void>;
  /** Lets paused peers read on, and resolves once every peer has seen its connection end. */
  readonly allGone: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function wireServer(cue: Cue, keys?: Keys): Promise<WireServer> {
  const seen = { received: Buffer.alloc(0), posts: 0, bodyBytes: 0, played: 0 };
  const gone: Promise<void>[] = [];
  const peers: Peer[] = [];
  const { promise: firstPlayed, resolve: signal } = Promise.withResolvers<void>();
  const play = (peer: Peer) => {
    seen.played += 1;
    signal();
    cue.play(peer);
  };
  const server = net.createServer({ allowHalfOpen: true }, (raw) => {
    const peer: Peer = { raw, stream: keys === undefined ? raw : secured(raw, keys) };
    peers.push(peer);
    gone.push(ending(peer));
    if (cue.at === 'accept') play(peer);
    const read = reading(
      cue,
      () => play(peer),
      seen,
      () => raw.destroyed,
    );
    peer.stream.on('data', (chunk: Buffer) => {
      seen.received = Buffer.concat([seen.received, chunk]);
      read(chunk);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('Cannot tell the port of the wire server');
  return {
    port: address.port,
    received: () => seen.received.toString('utf8'),
    connections: () => peers.length,
    posts: () => seen.posts,
    bodyBytes: () => seen.bodyBytes,
    played: () => seen.played,
    firstPlayed,
    allGone: async () => {
      for (const { stream } of peers) stream.resume();
      await Promise.all(gone);
    },
    close: async () => {
      for (const { raw } of peers) raw.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function secured(raw: net.Socket, keys: Keys): tls.TLSSocket {
  return new tls.TLSSocket(raw, { isServer: true, secureContext: tls.createSecureContext(keys) });
}

/** Ended by the other side (FIN or reset) or torn down; errors of either socket are no news. */
function ending({ raw, stream }: Peer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const socket of [raw, stream]) {
    socket.on('error', () => resolve());
    socket.once('end', () => resolve());
    socket.once('close', () => resolve());
  }
  return promise;
}

type Counts = { posts: number; bodyBytes: number };

/** Counts requests one after another on one connection, so that a second POST cannot hide. */
function reading(cue: Cue, play: () => void, seen: Counts, down: () => boolean): (chunk: Buffer) => void {
  let buffer = Buffer.alloc(0);
  let left: number | null = null;
  let part = false;
  const once = (at: Cue['at']) => cue.at === at && play();
  return function read(chunk) {
    buffer = Buffer.concat([buffer, chunk]);
    if (left === null) {
      const end = buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      left = Number(/content-length: (\d+)/i.exec(buffer.toString('latin1', 0, end))?.[1] ?? 0);
      buffer = buffer.subarray(end + 4);
      once('head');
    }
    // A peer that is down has not taken the body, though its bytes may have come in the same packet.
    if (down()) return;
    const taken = Math.min(left, buffer.length);
    seen.bodyBytes += taken;
    left -= taken;
    buffer = buffer.subarray(taken);
    if (taken > 0 && left > 0 && !part) {
      part = true;
      once('part');
    }
    if (left > 0) return;
    left = null;
    part = false;
    seen.posts += 1;
    once('body');
    if (buffer.length > 0) read(Buffer.alloc(0));
  };
}

/** A certificate made on the spot for the name `localhost`; the reason instead where there is no openssl. */
export function selfSigned(): Keys | { readonly missing: string } {
  const folder = mkdtempSync(join(tmpdir(), 'wire-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  try {
    execFileSync('openssl', [...kind, ...name, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch {
    return { missing: 'openssl is not here to make a certificate' };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

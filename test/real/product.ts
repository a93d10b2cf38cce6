/**
 * The product before a real PDS: accept, the machine, every step and the sweep over real sockets, on a clock of our own,
 * with a proxy between them that cuts and a worker that dies. Posts are counted in the PDS, by their text and not by
 * their key.
 */
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import type { Policy, Route } from '../../lib/domain/route.ts';
import { bluesky } from '../../lib/providers/bluesky.ts';
import type { Provider } from '../../lib/providers/provider.ts';
import { reader } from '../../lib/providers/reader.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { type CrashPoint, crashes } from '../support/crash.ts';
import { POLICY, routeTo } from '../support/kit.ts';
import { type World, world } from '../support/world.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { POSTS } from './ground.ts';
import { keyOf, writeOf } from './posts.ts';
import { type RealPds, startRealPds } from './real-pds.ts';
import { type HeldRecord, recordsOf } from './record-book.ts';
import { call } from './xrpc.ts';

export const CREATED_AT = '2026-11-30T09:00:00.000Z';
/** For a server on shared cores, and for one that will not answer. */
const PATIENT_MS = 3000;
export const LIMIT_MS = 500;

const ONE_DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export interface Rig {
  readonly pds: RealPds;
  readonly proxy: FaultProxy;
  /** Of another account, to be replied to. */
  readonly parent: { readonly uri: string; readonly cid: string };
  /** Uploaded, as the server names it. */
  readonly image: {
    readonly ref: { readonly $link: string };
    readonly mimeType: string;
    readonly size: number;
  };
  /** Throws when a fault was armed and never hit. */
  readonly close: () => Promise<void>;
}

/** A PDS with two accounts, a proxy before it, a post to reply to and an image to show. */
export async function startRig(): Promise<Rig> {
  const pds = await startRealPds();
  const proxy = await startFaultProxy(pds.port);
  const { alice, bob } = pds;
  const input = writeOf(bob, keyOf(1), 'What tea today?');
  const put = await call(pds.url, { nsid: 'com.atproto.repo.putRecord', input, token: bob.accessToken });
  const bytes = { type: 'image/png', content: new Uint8Array(ONE_DOT) };
  const upload = { nsid: 'com.atproto.repo.uploadBlob', bytes, token: alice.accessToken };
  const uploaded = await call(pds.url, upload);
  const { uri, cid } = put.body as Rig['parent'];
  return {
    ...{ pds, proxy, parent: { uri, cid } },
    image: (uploaded.body as { blob: Rig['image'] }).blob,
    close: async () => {
      await pds.close();
      await proxy.close();
    },
  };
}

export interface Setting {
  /** Unless named, the one that puts under keys of its own. */
  readonly provider?: Provider;
  readonly route?: Partial<Route>;
  readonly policy?: Partial<Policy>;
  /** Null for none. */
  readonly token?: string | null;
  /** Limit of one look, ms. */
  readonly lookMs?: number;
  readonly points?: readonly CrashPoint[];
  /** What the points count: POSTs, or also every call of the ledger and every start of a run. */
  readonly counted?: 'posts' | 'all';
}

export type Product = World & {
  /** The result of some work, or `dead` when a point killed it. */
  readonly live: <T>(work: Promise<T>) => Promise<T | 'dead'>;
  /** Points that were met. */
  readonly deaths: () => number;
  /** Every call that the points count, in order. */
  readonly calls: readonly string[];
};

/** The product with one route, `bluesky`, to the proxy; its worker dies at the named points. */
export function productOf({ pds, proxy }: Rig, setting: Setting = {}): Product {
  const { provider = bluesky, token = pds.alice.accessToken, lookMs = 10_000, points = [] } = setting;
  const crash = crashes(points);
  const own = token === null ? {} : { authorization: `Bearer ${token}` };
  const made = world({
    live: crash.live,
    wrapTransport: crash.transport,
    ...(setting.counted === 'all' ? { wrapLedger: crash.ledger, wrapStart: crash.start } : {}),
    beside: () => ({
      baseUrl: proxy.url,
      providers: [provider],
      transport: (request) => sendOnce({ ...request, headers: { ...request.headers, ...own } }),
      // No credential: everybody can read a repository.
      get: reader({ baseUrl: proxy.url, headers: {}, timeoutMs: lookMs }),
      routes: [
        routeTo(proxy.url, {
          ...{ name: 'bluesky', provider: provider.name, account: pds.alice.did, action: 'post' },
          ...{ keyField: null, applyDelayMs: null, visibilityLagMs: null },
          publicHosts: [new URL(proxy.url).host],
          ...setting.route,
          policy: {
            ...POLICY,
            ...{ requestMs: PATIENT_MS, resend: 'after_search' },
            repeatOn: [...POLICY.repeatOn, 'body_cut', 'bad_answer'],
            ...setting.policy,
          },
        }),
      ],
    }),
  });
  return { ...made, live: crash.live, deaths: crash.hits, calls: crash.names };
}

export type Kind = 'post' | 'reply' | 'picture';
export const KINDS: readonly Kind[] = ['post', 'reply', 'picture'];

/** What a receipt has to say of every one. */
export const EVERY_CHECK = Object.fromEntries(
  ['publicUrl', 'author', 'reference', 'payload', 'media', 'parent', 'visibility'].map((name) => [
    name,
    true,
  ]),
);

export function submissionOf({ parent, image }: Rig, kind: Kind, text: string) {
  const reply = kind === 'reply' ? { reply: { parent, root: parent } } : {};
  const { ref, mimeType, size } = image;
  const dot = { cid: ref.$link, mime_type: mimeType, size, alt: 'a dot' };
  const images = kind === 'picture' ? { images: [dot] } : {};
  const payload: JsonObject = { text, created_at: CREATED_AT, langs: ['en'], ...reply, ...images };
  return { route: 'bluesky', key: text, payload, parent: kind === 'reply' ? parent.uri : null };
}

/** The record that such a submission asks for. */
export function recordOf({ parent, image }: Rig, kind: Kind, text: string): object {
  return {
    $type: POSTS,
    ...{ text, langs: ['en'], createdAt: CREATED_AT },
    ...(kind === 'reply' ? { reply: { parent, root: parent } } : {}),
    ...(kind === 'picture' ? { embed: embedOf(image) } : {}),
  };
}

export function embedOf(blob: object) {
  return { $type: 'app.bsky.embed.images', images: [{ alt: 'a dot', image: { $type: 'blob', ...blob } }] };
}

/** Submits, and again as callers do when the intake dies under them. Throws when it is refused. */
export async function accepted(rig: Rig, product: Product, kind: Kind, text: string): Promise<Intent> {
  const submit = () => product.live(product.submit(submissionOf(rig, kind, text)));
  let answer = await submit();
  while (answer === 'dead') answer = await submit();
  if ('intent' in answer) return answer.intent;
  throw new Error(`Not accepted: ${JSON.stringify(answer)}`);
}

/** Everything with this text, in both accounts, as the PDS itself lists it. */
export async function postsOf({ pds }: Rig, text: string): Promise<readonly HeldRecord[]> {
  const held = await Promise.all([pds.alice, pds.bob].map(({ did }) => recordsOf(pds.url, did, POSTS)));
  return held.flat().filter(({ value }) => value['text'] === text);
}

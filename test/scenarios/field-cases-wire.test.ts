/** Faults met in the field, on real sockets: what our record calls an attempt is one request on the wire, or none. */
import { afterEach, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../lib/providers/registry.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { POLICY, routeTo } from '../support/kit.ts';
import { DRAFT } from '../support/supplier-world.ts';
import { type Cue, type Peer, type WireServer, wireServer } from '../support/wire-server.ts';
import { world } from '../support/world.ts';

const REQUEST_MS = 400;
const open: WireServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** The product before one server that plays a fault; what was saved shows in a search by hand. */
async function facing(cue: Cue, scheme = 'http') {
  const server = await wireServer(cue);
  open.push(server);
  const w = worldAt(`${scheme}://127.0.0.1:${server.port}`, server);
  return { server, ...w };
}

function worldAt(baseUrl: string, server?: WireServer) {
  const w = world({
    beside: () => ({
      baseUrl,
      providers: PROVIDERS.filter((each) => each.name === 'supplier-searchable'),
      routes: [
        routeTo(baseUrl, {
          name: 'orders',
          provider: 'supplier-searchable',
          action: 'order',
          keyField: 'purchase_order',
          policy: { ...POLICY, requestMs: REQUEST_MS, resend: 'after_search' },
        }),
      ],
      transport: sendOnce,
      get: async (path) => {
        const saved = server === undefined ? [] : savedAt(server);
        return { kind: 'answered', status: 200, body: JSON.stringify(viewOf(path, saved)) };
      },
    }),
  });
  const submit = () => w.settle({ route: 'orders', key: DRAFT.purchase_order, payload: DRAFT });
  return { w, end: async () => w.untilQuiet((await submit()).id) };
}

/** One order for each body that arrived whole. */
function savedAt(server: WireServer): object[] {
  const bodies = server.received().match(/\{"account".*?\}(?=POST|$)/gs) ?? [];
  return bodies.slice(0, server.posts()).map((body, index) => {
    const { account: _, environment: __, ...order } = JSON.parse(body) as Record<string, unknown>;
    const times = { created_at: '2026-11-30T09:00:00.000Z', cancel_until: '2026-11-30T10:00:00.000Z' };
    return { order_id: String(index + 1), status: 'created', shipping: 'not_shipped', ...order, ...times };
  });
}

function viewOf(path: string, orders: readonly object[]): object {
  const place = { account: 'tokyo-1', environment: 'test' };
  const [pathname = '', query = ''] = path.split('?');
  if (query === '') return { ...place, order: orders[Number(pathname.split('/').at(-1)) - 1] };
  return { ...place, reference: new URLSearchParams(query).get('reference'), orders, next: null };
}

const says =
  (...lines: readonly string[]) =>
  ({ stream }: Peer) =>
    void stream.end(lines.join('\r\n'));
const whole = (status: string, body: string, ...fields: readonly string[]) =>
  says(`HTTP/1.1 ${status}`, `content-length: ${body.length}`, ...fields, '', body);
const advice = '{"error":"unexpected","message":"transient, please retry"}';

interface Row {
  readonly name: string;
  readonly play: Cue['play'];
  readonly code: string;
  /** The time to wait that is kept of it, ms. */
  readonly asksMs?: number;
  readonly because: string;
}

describe('one request, and its answer is no success: one attempt, one request, found by looking', () => {
  it.each<Row>([
    {
      name: 'C02: the connection is reset after the body',
      play: ({ raw }) => raw.resetAndDestroy(),
      code: 'closed_without_answer',
      because: 'a body that is out may be at work',
    },
    {
      name: 'C02: no head within the limit',
      play: () => undefined,
      code: 'timeout',
      because: 'the same word as for a connection would hide that bytes left',
    },
    {
      name: 'C05: 201 promises 100 bytes and gives nine',
      play: says('HTTP/1.1 201 Created', 'content-length: 100', '', '{"account'),
      code: 'body_cut',
      because: 'a body that cannot be read is no failure',
    },
    {
      name: 'C06: 503 with an invitation to come at once',
      play: whole('503 Service Unavailable', '{}', 'retry-after: 0'),
      code: 'status_503',
      because: 'no layer of ours sends again by itself',
    },
    {
      name: 'C08: 429 with two times to wait',
      play: whole('429 Too Many Requests', '{}', 'retry-after: 120', 'retry-after: abc'),
      code: 'status_429',
      asksMs: 120_000,
      because: 'it may have come after the work',
    },
    {
      name: 'C10: 500 with advice to repeat',
      play: whole('500 Internal Server Error', advice),
      code: 'status_500',
      because: 'advice is text',
    },
  ])('$name: $because', async ({ play, code, asksMs }) => {
    const { server, end } = await facing({ at: 'body', play });
    const intent = await end();
    expect(server.played()).toBe(1);
    const [result] = intent.attempts.map((each) => each.result);
    expect(result).toMatchObject({ kind: 'unknown', code });
    if (asksMs !== undefined) expect(result).toMatchObject({ notBefore: (result?.at ?? 0) + asksMs });
    expect([intent.attempts.length, intent.state, intent.externalId]).toEqual([1, 'confirmed', '1']);
    expect([server.connections(), server.posts()]).toEqual([1, 1]);
  });
});

describe('C02: no byte left: the attempt is proved not sent, and may be made again', () => {
  it('a port that nobody listens at', async () => {
    const { server } = await facing({ at: 'accept', play: () => undefined });
    await server.close();
    open.splice(0);
    const intent = await worldAt(`http://127.0.0.1:${server.port}`).end();
    const notSent = { kind: 'rejected', proof: 'not_sent', retryable: true, detail: 'refused' };
    expect(intent.attempts.map(({ result }) => result)).toMatchObject([notSent, notSent, notSent, notSent]);
    expect(intent.state).toBe('rejected');
  });

  it('a port that speaks no TLS', async () => {
    const { server, end } = await facing({ at: 'accept', play: whole('400 Bad Request', '{}') }, 'https');
    const intent = await end();
    expect(intent.attempts.map(({ result }) => result)).toMatchObject(
      intent.attempts.map(() => ({ kind: 'rejected', proof: 'not_sent', detail: 'tls_failed' })),
    );
    expect([intent.state, intent.attempts.length, server.connections()]).toEqual(['rejected', 4, 4]);
    expect([server.posts(), server.received().includes(DRAFT.purchase_order)]).toEqual([0, false]);
  });
});

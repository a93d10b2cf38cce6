import { once } from 'node:events';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ACCOUNT, bodyOf, KINDS, look, supplierRig } from './supplier-rig.ts';

let rig: ReturnType<typeof supplierRig>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeEach(async () => {
  rig = supplierRig();
  receiver = await startReceiver();
});
afterEach(async () => {
  await rig.stop();
  await receiver.close();
});

const FIRST = '4611686018427387905';
const SECOND = '4611686018427387906';
const SECRET = `whsec_${Buffer.from('a secret of the right length 32b').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.from('another one of that same length!').toString('base64')}`;

interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

async function startReceiver(status = 202) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    received.push({ path: request.url ?? '', headers, text, body: JSON.parse(text) });
    response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    /** Resolves when so many have arrived; the test's own time limit ends the wait. */
    arrived: (count: number) => vi.waitUntil(() => received.length >= count, { timeout: 10_000 }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

describe('a plan', () => {
  it.each([
    { faults: { kind: 'explode' }, field: 'fault', because: 'no such fault' },
    { faults: { kind: 'stall', extra: 1 }, field: 'fault', because: 'no such field' },
    { faults: { kind: 'stall', times: 2 }, field: 'fault', because: 'a POST takes one fault' },
    { faults: { kind: 'search_status', status: 42 }, field: 'fault', because: 'no such status' },
    { faults: { kind: 'hidden', times: 0 }, field: 'fault', because: 'never is no fault' },
    { faults: { kind: 'late_save', delayMs: 501 }, field: 'delayMs', because: 'the bound is a promise' },
    { faults: { kind: 'key_in_use' }, field: 'kind', because: 'this one has no keys' },
  ])('$faults is refused: $because', async ({ faults, field }) => {
    const supplier = await rig.start('searchable', { applyDelayMs: 500 });
    const refused = await supplier.plan('PO-1', faults);
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field } });
    expect((await supplier.post('PO-1')).status).toBe(201);
  });

  it('of a quantity is for orders only, and for a purchase order that can be', async () => {
    const supplier = await rig.start('searchable');
    expect((await supplier.plan('PO-1', { kind: 'altered_quantity' }, 'confirmations')).status).toBe(400);
    expect((await supplier.plan('PO%201', { kind: 'stall' })).status).toBe(400);
    expect((await supplier.control('POST', 'orders/PO-1/faults', [])).status).toBe(405);
  });
});

describe('an order that nobody sent', () => {
  const { account, environment, ...rest } = bodyOf('keyed', 'orders', 'PO-1');

  it.each(KINDS)('is added to the book of %s, with no POST', async (kind) => {
    const supplier = await rig.start(kind);
    const { reference, ...without } = rest as typeof rest & { reference?: string };
    const added = await supplier.control(
      'POST',
      'orders',
      kind === 'blind' ? without : { ...without, reference },
    );
    expect(added).toEqual({ status: 201, body: { order_id: FIRST } });
    const { orders, posts } = rig.book(kind);
    expect(orders).toMatchObject([{ order_id: FIRST, account, environment, status: 'created' }]);
    expect(posts).toEqual([]);
    expect((await look(`${supplier.url}/orders/${FIRST}`)).status).toBe(200);
  });

  it('may be in any account, and takes a reference', async () => {
    const supplier = await rig.start('unique');
    await supplier.control('POST', 'orders', { ...rest, account: 'acct-2' });
    expect((await look(`${supplier.url}/orders/${FIRST}`)).body.account).toBe('acct-2');
    const refused = await supplier.post('PO-1');
    expect(refused).toEqual({ status: 409, body: { error: 'reference_exists', order_id: BigInt(FIRST) } });
  });

  it.each([{ account: 'acct-2' }, { environment: 'production' }])(
    'in %j is none of ours to cancel',
    async (place) => {
      const supplier = await rig.start('searchable');
      await supplier.control('POST', 'orders', { ...rest, ...place });
      const refused = await supplier.post('c', { path: 'cancellations' });
      expect(refused).toEqual({ status: 404, body: { error: 'no_such_order' } });
      const { orders, cancellations } = rig.book('searchable');
      expect([orders[0]?.status, cancellations]).toEqual(['created', []]);
      await supplier.control('POST', `orders/${FIRST}`, { status: 'cancelled' });
      expect(await supplier.post('c', { path: 'cancellations' })).toEqual(refused);
    },
  );

  it('can break the promise that a reference is unique', async () => {
    const supplier = await rig.start('unique');
    await supplier.post('PO-1');
    const added = await supplier.control('POST', 'orders', rest);
    expect([added.status, rig.orders('unique')]).toEqual([201, [FIRST, added.body.order_id]]);
    expect((await supplier.search('PO-1')).body.orders).toHaveLength(2);
  });

  it('is refused when it is no order', async () => {
    const supplier = await rig.start('unique');
    const refused = await supplier.control('POST', 'orders', { ...rest, total: 'much' });
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field: 'total' } });
    expect(rig.orders('unique')).toEqual([]);
  });
});

describe('a change behind the back', () => {
  it('sets status, shipping and deadline, each alone', async () => {
    const supplier = await rig.start('keyed');
    await supplier.post('PO-1');
    const order = async () => (await look(`${supplier.url}/orders/${FIRST}`)).body.order;
    await supplier.control('POST', `orders/${FIRST}`, { status: 'processing' });
    expect(await order()).toMatchObject({ status: 'processing', shipping: 'not_shipped' });
    await supplier.control('POST', `orders/${FIRST}`, { shipping: 'shipped' });
    await supplier.control('POST', `orders/${FIRST}`, { cancel_until: '2030-01-01T09:00:00+09:00' });
    const cancel_until = '2030-01-01T00:00:00.000Z';
    expect(await order()).toMatchObject({ status: 'processing', shipping: 'shipped', cancel_until });
  });

  it.each([
    { id: SECOND, to: { status: 'created' }, status: 404 },
    { id: FIRST, to: { status: 'lost' }, status: 400 },
    { id: FIRST, to: { total: '1' }, status: 400 },
    { id: FIRST, to: { cancel_until: 'soon' }, status: 400 },
  ])('to $to of $id is $status', async ({ id, to, status }) => {
    const supplier = await rig.start('keyed');
    await supplier.post('PO-1');
    const before = rig.book('keyed');
    expect((await supplier.control('POST', `orders/${id}`, to)).status).toBe(status);
    expect(rig.book('keyed')).toEqual(before);
  });
});

describe('the book over HTTP', () => {
  it.each(KINDS)('of %s is the book in the file, past all lags, with ids as text', async (kind) => {
    const supplier = await rig.start(kind, { visibilityLagMs: 60_000 });
    await supplier.post('HIDDEN-1');
    await supplier.post('c', { path: 'cancellations' });
    const { status, body } = await supplier.control('GET', 'book');
    expect([status, body]).toEqual([200, rig.book(kind)]);
    expect(body).toMatchObject({
      orders: [{ order_id: FIRST, purchase_order: 'HIDDEN-1', status: 'cancelled' }],
      cancellations: [{ order_id: FIRST }],
      posts: [
        { kind: 'order', purchase_order: 'HIDDEN-1', status: null, fault: 'cut_after_save' },
        { kind: 'cancellation', purchase_order: 'c', status: 201, fault: null },
      ],
    });
  });
});

describe('webhooks', () => {
  const aim = (more: object = {}) => ({ url: receiver.url, secret: SECRET, endpoint: 'ep_1', ...more });

  it('are signed as the standard says, and a wrong secret does not verify', async () => {
    const supplier = await rig.start('keyed');
    await supplier.post('PO-1');
    await supplier.control('PUT', 'webhook', aim());
    const sent = await supplier.control('POST', 'webhook/send', { type: 'order.created', reference: 'PO-1' });
    expect(sent).toMatchObject({ status: 200, body: { status: 202 } });
    const [event] = receiver.received;
    if (event === undefined) throw new Error('Nothing arrived');
    expect(event.path).toBe('/webhooks/ep_1');
    const data = {
      ...{ account: ACCOUNT, environment: 'test', kind: 'order' },
      ...{ reference: 'PO-1', external_id: FIRST },
    };
    expect(event.body).toEqual({ type: 'order.created', timestamp: expect.any(String), data });
    expect(new Webhook(SECRET).verify(event.text, event.headers)).toEqual(event.body);
    expect(() => new Webhook(OTHER_SECRET).verify(event.text, event.headers)).toThrow();
    expect(() => new Webhook(SECRET).verify(`${event.text} `, event.headers)).toThrow();
  });

  it('can be sent again, late, signed with another secret, and for another place', async () => {
    const supplier = await rig.start('keyed');
    await supplier.control('PUT', 'webhook', aim());
    const at = '2020-01-01T00:00:00.000Z';
    const event = { type: 'order.rejected', reference: 'PO-9', order_id: SECOND, id: 'evt_1', at };
    await supplier.control('POST', 'webhook/send', event);
    await supplier.control('POST', 'webhook/send', { ...event, account: 'acct-2', secret: OTHER_SECRET });
    const [first, second] = receiver.received;
    expect(first?.headers).toMatchObject({ 'webhook-id': 'evt_1', 'webhook-timestamp': '1577836800' });
    expect(first?.body).toMatchObject({ timestamp: at, data: { external_id: SECOND, reference: 'PO-9' } });
    expect(second?.headers['webhook-id']).toBe('evt_1');
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
    expect(second?.body.data['account']).toBe('acct-2');
  });

  it('go out by themselves for what is created, refused and cancelled, when asked to', async () => {
    const supplier = await rig.start('searchable', { applyDelayMs: 0 });
    await supplier.post('PO-0');
    await supplier.control('PUT', 'webhook', aim({ auto: true }));
    const steps = [
      () => supplier.post('PO-1'),
      () => supplier.post('PO-1', { path: 'confirmations' }),
      () => supplier.post('PO-1', { path: 'cancellations' }),
      () => supplier.control('POST', `orders/${SECOND}`, { status: 'rejected' }),
    ];
    // The cancellation is two events: its own, and that of the order.
    const expected = [
      ['order.created', 'PO-1', SECOND],
      ['confirmation.sent', 'PO-1', `M-${FIRST}`],
      ['cancellation.created', 'PO-1', `C-${FIRST}`],
      ['order.cancelled', 'PO-0', FIRST],
      ['order.rejected', 'PO-1', SECOND],
    ];
    for (const [n, step] of steps.entries()) {
      await step();
      await receiver.arrived(n < 2 ? n + 1 : n + 2);
    }
    const seen = receiver.received.map(({ body: { type, data } }) => [
      type,
      data['reference'],
      data['external_id'],
    ]);
    expect(seen.toSorted()).toEqual(expected.toSorted());
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(5);
    for (const { text, headers } of receiver.received) new Webhook(SECRET).verify(text, headers);
  });

  it('go out only when asked for, unless they are to go by themselves', async () => {
    const supplier = await rig.start('keyed');
    await supplier.control('PUT', 'webhook', aim());
    await supplier.post('PO-1');
    await supplier.control('POST', 'webhook/send', { type: 'order.created', id: 'evt_asked' });
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(['evt_asked']);
  });

  it('of a late save go out when it is saved, and a lost answer does not stop them', async () => {
    const supplier = await rig.start('keyed', { applyDelayMs: 100 });
    await supplier.control('PUT', 'webhook', aim({ auto: true }));
    expect((await supplier.post('LOST-1')).status).toBe('closed');
    expect((await supplier.post('LATE-2')).status).toBe('closed');
    await receiver.arrived(2);
    expect(receiver.received.map(({ body }) => body.data['reference'])).toEqual(['LOST-1', 'LATE-2']);
  });

  it('name no reference from blind and a number from unique', async () => {
    for (const kind of ['blind', 'unique'] as const) {
      const supplier = await rig.start(kind);
      await supplier.control('PUT', 'webhook', aim());
      const event = { type: 'order.created', reference: 'PO-1', order_id: FIRST };
      await supplier.control('POST', 'webhook/send', event);
    }
    const [blind, unique] = receiver.received;
    expect(blind?.body.data).toMatchObject({ reference: null, external_id: FIRST });
    expect(unique?.text).toContain(`"external_id":${FIRST}}`);
  });

  it('survive a restart of the supplier', async () => {
    const first = await rig.start('keyed');
    await first.control('PUT', 'webhook', aim({ auto: true }));
    await first.close();
    const second = await rig.start('keyed');
    await second.post('PO-1');
    await receiver.arrived(1);
    expect(receiver.received).toHaveLength(1);
  });

  it('that nobody takes are 502 when sent, and change nothing when they go out by themselves', async () => {
    const supplier = await rig.start('keyed');
    expect((await supplier.control('POST', 'webhook/send', { type: 'order.created' })).status).toBe(409);
    await supplier.control('PUT', 'webhook', aim({ auto: true }));
    await receiver.close();
    const sent = await supplier.control('POST', 'webhook/send', { type: 'order.created' });
    expect([sent.status, sent.body.error]).toEqual([502, 'no_answer']);
    expect((await supplier.post('PO-1')).status).toBe(201);
  });

  it.each([
    { target: { url: 'ftp://x/', secret: SECRET }, field: 'url' },
    { target: { url: 'http://127.0.0.1:1', secret: 'plain' }, field: 'secret' },
    { target: { url: 'http://127.0.0.1:1', secret: SECRET, endpoint: 'a/b' }, field: 'endpoint' },
  ])('are not aimed at $target', async ({ target, field }) => {
    const supplier = await rig.start('keyed');
    const refused = await supplier.control('PUT', 'webhook', target);
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field } });
  });
});

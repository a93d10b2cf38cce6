import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ACCOUNT, bodyOf, KINDS, look, PATHS, PROGRAM, type Seen, supplierRig } from './supplier-rig.ts';

let rig: ReturnType<typeof supplierRig>;
beforeEach(() => {
  rig = supplierRig();
});
afterEach(() => rig.stop());

const PLACE = { account: ACCOUNT, environment: 'test' };
const FIRST = '4611686018427387905';
const SECOND = '4611686018427387906';

describe('the three calls', () => {
  it.each(KINDS)('%s takes an order, confirms it and cancels it, and each is in its book', async (kind) => {
    const supplier = await rig.start(kind);
    const id = kind === 'unique' ? BigInt(FIRST) : FIRST;
    expect(await supplier.post('PO-1')).toEqual({
      status: 201,
      body: { ...PLACE, order_id: id, status: 'created' },
    });
    expect(await supplier.post('PO-1', { path: 'confirmations' })).toEqual({
      status: 201,
      body: { ...PLACE, message_id: `M-${FIRST}`, status: 'sent' },
    });
    expect(await supplier.post('PO-1', { path: 'cancellations' })).toEqual({
      status: 201,
      body: { ...PLACE, cancellation_id: `C-${FIRST}`, status: 'cancelled' },
    });
    const { orders, cancellations, confirmations, posts } = rig.book(kind);
    const reference = kind === 'blind' ? null : 'PO-1';
    expect(orders).toMatchObject([
      { order_id: FIRST, purchase_order: 'PO-1', reference, status: 'cancelled', total: '22' },
    ]);
    expect(cancellations).toMatchObject([
      { cancellation_id: `C-${FIRST}`, order_id: FIRST, reason: 'twice', status: 'cancelled' },
    ]);
    expect(confirmations).toMatchObject([
      { message_id: `M-${FIRST}`, to: 'aoi@example.test', language: 'ja', status: 'sent' },
    ]);
    expect(posts.map((post) => [post.kind, post.status])).toEqual([
      ['order', 201],
      ['confirmation', 201],
      ['cancellation', 201],
    ]);
  });

  it.each(KINDS)('%s shows each by its id at once, with the place', async (kind) => {
    const supplier = await rig.start(kind, { visibilityLagMs: 60_000 });
    for (const path of PATHS) await supplier.post('PO-1', { path });
    const names = kind === 'blind' ? {} : { purchase_order: 'PO-1', reference: 'PO-1' };
    const id = kind === 'unique' ? BigInt(FIRST) : FIRST;
    const { ship_to, lines, currency, total } = bodyOf(kind, 'orders', 'PO-1') as Record<string, unknown>;
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const times = { created_at: time, cancel_until: time };
    expect((await look(`${supplier.url}/orders/${FIRST}`)).body).toEqual({
      ...PLACE,
      order: {
        ...{ order_id: id, ...names, status: 'cancelled', ship_to, lines, currency, total },
        ...{ ...times, shipping: 'not_shipped' },
      },
    });
    expect((await look(`${supplier.url}/cancellations/C-${FIRST}`)).body).toEqual({
      ...PLACE,
      cancellation: {
        ...{ cancellation_id: `C-${FIRST}`, ...names, order_id: id, reason: 'twice' },
        ...{ status: 'cancelled', created_at: time },
      },
    });
    expect((await look(`${supplier.url}/confirmations/M-${FIRST}`)).body).toEqual({
      ...PLACE,
      confirmation: {
        ...{ message_id: `M-${FIRST}`, ...names, to: 'aoi@example.test', language: 'ja' },
        ...{ status: 'sent', created_at: time },
      },
    });
    const absent = await look(`${supplier.url}/orders/${SECOND}`);
    expect(absent).toEqual({ status: 404, body: { error: 'not_found' } });
  });

  it('unique writes 19 digits as a number, which a plain parse would change', async () => {
    const supplier = await rig.start('unique');
    await supplier.post('PO-1');
    const text = await (await fetch(`${supplier.url}/orders/${FIRST}`)).text();
    expect(text).toContain(`"order_id":${FIRST},`);
    expect(String(JSON.parse(text).order.order_id)).not.toBe(FIRST);
  });
});

describe('what is refused creates nothing', () => {
  const line = { sku: 'A', quantity: '1', unit: 'piece', unit_price: '1' };
  it.each([
    { field: 'lines', more: { lines: [] }, because: 'an order has a line' },
    { field: 'lines', more: { lines: [{ ...line, quantity: 2 }] }, because: 'a quantity is text' },
    { field: 'lines', more: { lines: [{ ...line, unit: 'box' }] }, because: 'a unit is a known one' },
    { field: 'lines', more: { lines: [{ ...line, note: 'x' }] }, because: 'a line has no more fields' },
    { field: 'total', more: { total: '-1' }, because: 'an amount is not negative' },
    { field: 'total', more: { total: '1e3' }, because: 'an amount is a plain decimal' },
    { field: 'currency', more: { currency: 'yen' }, because: 'a currency is an ISO code' },
    { field: 'ship_to', more: { ship_to: { name: 'A' } }, because: 'an address is whole' },
    { field: 'purchase_order', more: { purchase_order: 'PO 1' }, because: 'a number has no space' },
    { field: 'purchase_order', more: { purchase_order: 'x'.repeat(65) }, because: 'a number is short' },
    { field: 'reference', more: { reference: '' }, because: 'a reference is not empty' },
    { field: 'reference', more: { reference: 'x'.repeat(129) }, because: 'a reference is short' },
    { field: 'reference', more: { reference: '\ud800' }, because: 'half a character cannot be kept' },
    { field: 'note', more: { note: 'x' }, because: 'an unknown field is refused' },
  ])('$field: $because', async ({ field, more }) => {
    const supplier = await rig.start('searchable');
    const refused = await supplier.post('PO-1', { more });
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field } });
    expect([rig.orders('searchable'), rig.book('searchable').posts.length]).toEqual([[], 1]);
  });

  it.each(['keyed', 'unique', 'searchable'] as const)('%s needs a reference', async (kind) => {
    const supplier = await rig.start(kind);
    const { status, body } = await supplier.post('PO-1', { more: { reference: undefined } });
    expect([status, body.field, rig.orders(kind)]).toEqual([400, 'reference', []]);
  });

  it('blind refuses one', async () => {
    const supplier = await rig.start('blind');
    const { status, body } = await supplier.post('PO-1', { more: { reference: 'r' } });
    expect([status, body.field, rig.orders('blind')]).toEqual([400, 'reference', []]);
  });

  it.each([
    { status: 403, error: 'wrong_account', sent: { more: { account: 'acct-2' } } },
    { status: 403, error: 'wrong_account', sent: { more: { environment: 'production' } } },
    { status: 415, error: 'unsupported_media_type', sent: { headers: { 'content-type': 'text/plain' } } },
    { status: 413, error: 'too_large', sent: { more: { padding: 'x'.repeat(70_000) } } },
    { status: 400, error: 'invalid_request', sent: { key: '' } },
    { status: 400, error: 'invalid_request', sent: { key: 'k'.repeat(256) } },
  ])('$status $error', async ({ status, error, sent }) => {
    const supplier = await rig.start('keyed');
    await supplier.plan('PO-1', { kind: 'cut_before_save' });
    const refused = await supplier.post('PO-1', sent);
    expect([refused.status, refused.body.error]).toEqual([status, error]);
    const { orders, posts, faults } = rig.book('keyed');
    expect([orders, posts.length, faults]).toEqual([[], 1, {}]);
  });

  it.each([
    { text: '[1]', because: 'a list is no order' },
    { text: 'null', because: 'null is no order' },
    { text: '{"account":', because: 'half a body is no JSON' },
    { text: '', because: 'nothing is no JSON' },
  ])('$because', async ({ text }) => {
    const { url } = await rig.start('blind');
    const headers = { 'content-type': 'application/json' };
    const refused = await look(`${url}/orders`, { method: 'POST', headers, body: text });
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field: 'body' } });
    expect(rig.orders('blind')).toEqual([]);
  });

  it('a POST whose body did not arrive whole is not counted and saves nothing', async () => {
    const supplier = await rig.start('searchable');
    const socket = connect(Number(new URL(supplier.url).port), '127.0.0.1').resume();
    const head = ['POST /orders HTTP/1.1', 'host: x', 'content-type: application/json'];
    socket.end([...head, 'content-length: 100', '', '{"account":'].join('\r\n'));
    await once(socket, 'close');
    await supplier.post('PO-2');
    expect(rig.book('searchable').posts.map((post) => post.purchase_order)).toEqual(['PO-2']);
  });

  it('a cancellation is refused by the state of the order, and leaves no record', async () => {
    const supplier = await rig.start('searchable');
    for (const reference of ['PO-1', 'PO-2', 'PO-3', 'PO-4']) await supplier.post(reference);
    const ids = rig.orders('searchable');
    await supplier.control('POST', `orders/${ids[1]}`, { cancel_until: '2020-01-01T00:00:00.000Z' });
    await supplier.control('POST', `orders/${ids[2]}`, { shipping: 'shipped' });
    await supplier.control('POST', `orders/${ids[3]}`, { status: 'rejected' });
    const cancel = async (order_id = '') => {
      const { status, body } = await supplier.post('c', { path: 'cancellations', more: { order_id } });
      return [status, body.error];
    };
    expect(await cancel('9999999999999999999')).toEqual([404, 'no_such_order']);
    expect(await cancel(ids[3])).toEqual([404, 'no_such_order']);
    expect(await cancel(ids[1])).toEqual([409, 'too_late']);
    expect(await cancel(ids[2])).toEqual([409, 'too_late']);
    expect(await cancel(ids[0])).toEqual([201, undefined]);
    expect(await cancel(ids[0])).toEqual([409, 'already_cancelled']);
    const { orders, cancellations } = rig.book('searchable');
    expect(cancellations.map((it) => it.order_id)).toEqual([ids[0]]);
    const states = orders.map((order) => order.status);
    expect(states).toEqual(['cancelled', 'created', 'created', 'rejected']);
  });

  it('an order can be cancelled up to its deadline and not behind it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const supplier = await rig.start('searchable', { cancelWithinMs: 1_000 });
    await supplier.post('PO-1');
    await supplier.post('PO-2');
    vi.setSystemTime(1_001_000);
    expect((await supplier.post('c1', { path: 'cancellations' })).status).toBe(201);
    vi.setSystemTime(1_001_001);
    const late = await supplier.post('c2', { path: 'cancellations', more: { order_id: SECOND } });
    expect(late).toEqual({ status: 409, body: { error: 'too_late' } });
  });

  it.each(['/', '/order', '/orders/1/2', '/control/book'])('%s is no endpoint', async (path) => {
    const { url } = await rig.start('keyed', { control: false });
    expect(await look(url + path)).toEqual({ status: 404, body: { error: 'no_such_endpoint' } });
  });
});

describe('tokens', () => {
  it('a POST needs the write token; a GET needs the read or the write token', async () => {
    const supplier = await rig.start('keyed', { writeToken: 'w', readToken: 'r' });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    for (const headers of [{}, bearer('r'), bearer('x')]) {
      const refused = await supplier.post('PO-1', { headers });
      expect(refused).toEqual({ status: 401, body: { error: 'unauthorized' } });
    }
    expect(rig.orders('keyed')).toEqual([]);
    expect((await supplier.post('PO-1', { headers: bearer('w') })).status).toBe(201);
    for (const path of [`orders/${FIRST}`, 'orders?reference=PO-1']) {
      const get = async (headers = {}) => (await look(`${supplier.url}/${path}`, { headers })).status;
      expect([await get(), await get(bearer('x'))]).toEqual([401, 401]);
      expect([await get(bearer('r')), await get(bearer('w'))]).toEqual([200, 200]);
    }
  });
});

describe('keyed', () => {
  const many = (count: number) => ({
    lines: Array.from({ length: count }, (_, n) => ({
      ...{ sku: `S-${n}`, quantity: '1', unit: 'piece', unit_price: '1' },
    })),
  });

  it.each(PATHS)('answers a repeat of a key in /%s with 200 and the same body', async (path) => {
    const supplier = await rig.start('keyed');
    if (path === 'cancellations') await supplier.post('PO-1');
    const first = await supplier.post('PO-1', { path });
    const again = await supplier.post('PO-1', { path });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(rig.book('keyed')[path]).toHaveLength(1);
  });

  it('refuses a key with another body, whatever its spelling, and creates nothing', async () => {
    const supplier = await rig.start('keyed');
    await supplier.post('PO-1');
    const other = await supplier.post('PO-1', { more: { total: '23' } });
    expect(other).toEqual({ status: 409, body: { error: 'key_reused' } });
    const body = bodyOf('keyed', 'orders', 'PO-1');
    const text = JSON.stringify(Object.fromEntries(Object.entries(body).reverse()), null, 2);
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'PO-1' };
    const respelt = await look(`${supplier.url}/orders`, { method: 'POST', headers, body: text });
    expect(respelt.status).toBe(200);
    expect(rig.orders('keyed')).toEqual([FIRST]);
  });

  it('remembers a key for its lifetime from the first request, and then makes a second order', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const supplier = await rig.start('keyed', { keyLifetimeMs: 10_000 });
    const at = async (time: number) => {
      vi.setSystemTime(time);
      return (await supplier.post('PO-1')).status;
    };
    const seen = [await at(1_000_000), await at(1_005_000), await at(1_009_999), await at(1_010_000)];
    expect(seen).toEqual([201, 200, 200, 201]);
    expect([await at(1_019_999), rig.orders('keyed')]).toEqual([200, [FIRST, SECOND]]);
  });

  it('does not cover orders with more than 20 lines', async () => {
    const supplier = await rig.start('keyed');
    for (const reference of ['PO-20', 'PO-20']) await supplier.post(reference, { more: many(20) });
    expect(rig.orders('keyed')).toHaveLength(1);
    for (const reference of ['PO-21', 'PO-21']) await supplier.post(reference, { more: many(21) });
    expect(rig.orders('keyed')).toHaveLength(3);
  });

  it('leaves the key of a refused request free', async () => {
    const supplier = await rig.start('keyed');
    expect((await supplier.post('c', { path: 'cancellations' })).status).toBe(404);
    await supplier.post('PO-1');
    expect((await supplier.post('c', { path: 'cancellations' })).status).toBe(201);
  });

  it('twenty repeats at once are one order', async () => {
    const supplier = await rig.start('keyed');
    const seen = await Promise.all(Array.from({ length: 20 }, () => supplier.post('PO-1')));
    expect(seen.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(seen.filter(({ status }) => status === 200)).toHaveLength(19);
    expect(rig.orders('keyed')).toEqual([FIRST]);
  });
});

describe('the others do not look at keys', () => {
  it.each([
    { kind: 'unique', count: 1, second: 409, because: 'its reference is there' },
    { kind: 'searchable', count: 2, second: 201, because: 'nothing is promised' },
    { kind: 'blind', count: 2, second: 201, because: 'nothing is promised' },
  ] as const)('$kind has $count orders after a repeat: $because', async ({ kind, count, second }) => {
    const supplier = await rig.start(kind);
    await supplier.post('PO-1', { key: 'k' });
    expect((await supplier.post('PO-1', { key: 'k' })).status).toBe(second);
    expect(rig.orders(kind)).toHaveLength(count);
  });

  it.each([
    { path: 'orders', id: { order_id: BigInt(FIRST) } },
    { path: 'cancellations', id: { cancellation_id: `C-${FIRST}` } },
    { path: 'confirmations', id: { message_id: `M-${FIRST}` } },
  ] as const)('unique names what has the reference in /$path, whatever the body', async ({ path, id }) => {
    const supplier = await rig.start('unique');
    if (path === 'cancellations') await supplier.post('PO-1');
    await supplier.post('R-1', { path, purchaseOrder: 'PO-1' });
    const again = await supplier.post('R-1', { path, purchaseOrder: 'PO-2' });
    expect(again).toEqual({ status: 409, body: { error: 'reference_exists', ...id } });
    expect(rig.book('unique')[path].filter((it) => it.reference === 'R-1')).toHaveLength(1);
  });
});

describe('a restart', () => {
  it.each(KINDS)('of %s keeps records, keys, ids, plans and played faults', async (kind) => {
    const first = await rig.start(kind);
    await first.post('PO-1');
    expect((await first.post('LOST-1')).status).toBe('closed');
    await first.plan('PO-3', [{ kind: 'status_before_save', status: 503 }, { kind: 'reset_before_save' }]);
    expect((await first.post('PO-3')).status).toBe(503);
    const before = rig.book(kind);
    await first.close();
    expect(rig.book(kind)).toEqual(before);

    const second = await rig.start(kind);
    const repeat = { keyed: 200, unique: 409, searchable: 201, blind: 201 }[kind];
    expect((await second.post('PO-1')).status).toBe(repeat);
    expect((await second.post('LOST-1')).status).toBe(repeat);
    expect((await second.post('PO-3')).status).toBe('closed');
    expect((await second.post('PO-3')).status).toBe(201);
    expect((await second.control('GET', 'book')).body).toEqual(rig.book(kind));
    const collapsed = kind === 'keyed' || kind === 'unique';
    expect(rig.orders(kind)).toHaveLength(collapsed ? 3 : 5);
  });

  it('after kill -9 in a storm of POSTs keeps what was answered, and one order for each key', async () => {
    const first = await rig.spawn('--kinds', 'keyed');
    const answered = new Map<string, string>();
    const storm = Array.from({ length: 60 }, async (_, n) => {
      const { status, body } = await first.of('keyed').post(`PO-${n % 30}`);
      if (status !== 201 && status !== 200) return;
      answered.set(`PO-${n % 30}`, body.order_id ?? 'none');
      if (answered.size === 10) await first.end('SIGKILL');
    });
    await Promise.all(storm);
    expect(answered.size).toBeGreaterThanOrEqual(10);
    const idsOf = (reference: string) =>
      rig
        .book('keyed')
        .orders.filter((it) => it.reference === reference)
        .map((it) => it.order_id);
    for (const [reference, id] of answered) expect(idsOf(reference)).toEqual([id]);

    const second = await rig.spawn('--kinds', 'keyed');
    for (let n = 0; n < 30; n += 1) {
      const { body } = await second.of('keyed').post(`PO-${n}`);
      expect(idsOf(`PO-${n}`)).toEqual([answered.get(`PO-${n}`) ?? body.order_id]);
      expect(body.order_id).toBe(answered.get(`PO-${n}`) ?? body.order_id);
    }
  });
});

describe('the process', () => {
  it('serves all kinds on ports of their own, prints one ready line and exits 0 on SIGTERM', async () => {
    const { child, end, line, urls, of } = await rig.spawn();
    expect(JSON.parse(line)).toEqual({ ready: true, urls, pid: child.pid });
    expect(Object.keys(urls)).toEqual(KINDS);
    expect(new Set(Object.values(urls)).size).toBe(4);
    const seen: Seen[] = [];
    for (const kind of KINDS) seen.push(await of(kind).post('PO-1'));
    expect(seen.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(KINDS.map((kind) => rig.orders(kind).length)).toEqual([1, 1, 1, 1]);
    expect(await end('SIGTERM')).toEqual([0, null]);
  });

  it('exits 0 when its stdin closes, if it was started with its parent', async () => {
    const { child, gone } = await rig.spawn('--kinds', 'blind', '--with-parent');
    child.stdin.end();
    expect(await gone).toEqual([0, null]);
  });

  it.each([
    [[], 2, /--dir and --account are needed/],
    [['--dir', 'd', '--account', 'a', '--kinds', 'keyed,x'], 2, /--kinds must be some of .*, got "x"/],
    [['--dir', 'd', '--account', 'a', '--page-size', '0'], 2, /--page-size must be .* 1 to 50/],
    [['--dir', 'd', '--account', 'a', '--apply-delay-ms', '60001'], 2, /--apply-delay-ms .* to 60000/],
    [['--dir', '/no/such/folder', '--account', 'a'], 69, /Cannot open the book "\/no\/such\/folder\/keyed/],
  ])('with %j exits %i with one clear line', async (args, code, message) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    expect(await once(child, 'close')).toEqual([code, null]);
    expect(errors).toMatch(message);
    expect(errors.trimEnd().split('\n')).toHaveLength(1);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startWarehouse, type WarehouseOptions } from '../../lib/simulators/warehouse.ts';
import {
  BUILT_IN_FAULTS,
  openBook,
  readBook,
  type VIEW_FAULTS,
  type WRITE_FAULTS,
} from '../../lib/simulators/warehouse-book.ts';

let folder: string;
let file: string;
let stops: (() => Promise<unknown>)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kakutei-warehouse-'));
  file = join(folder, 'book.sqlite');
  stops = [];
});

afterEach(async () => {
  vi.useRealTimers();
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true });
});

type House = Awaited<ReturnType<typeof startWarehouse>>;

async function start(options: Partial<WarehouseOptions> = {}): Promise<House> {
  const house = await startWarehouse({ file, account: 'osaka', control: true, durable: false, ...options });
  stops.push(house.close);
  return house;
}

/** A warehouse in a process of its own; `kill` is kill -9 and resolves when it is gone. */
async function spawnHouse(...more: string[]) {
  const program = join(import.meta.dirname, '../../lib/simulators/warehouse.ts');
  const args = [program, '--file', file, '--account', 'osaka', '--port', '0', ...more];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal);
    return gone;
  };
  stops.push(() => end('SIGKILL'));
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, gone, end, line: String(line), url: String(JSON.parse(line).url) };
}

interface Sent {
  readonly key?: string;
  readonly sku?: string;
  readonly quantity?: unknown;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly waitMs?: number;
}

/** Whatever the warehouse answers, `text` where it is not JSON. */
interface Body {
  readonly reservation_id?: string;
  readonly reservations?: readonly { readonly reservation_id: string }[];
  readonly posts?: number;
  readonly faults?: Readonly<Record<string, number>>;
  readonly byOrder?: object;
  readonly text?: string;
}

interface Seen {
  readonly status: number | 'closed' | 'stalled';
  readonly body: Body;
}

/** What one POST looks like from outside: the status and body, or how it ended without. */
async function post(url: string, orderId: string, sent: Sent = {}): Promise<Seen> {
  const { key = orderId, sku = 'tea', quantity = 2, waitMs = 5_000 } = sent;
  const body = sent.body ?? JSON.stringify({ order_id: orderId, sku, quantity });
  const headers = { 'content-type': 'application/json', 'idempotency-key': key, ...sent.headers };
  const init = { method: 'POST', headers, body, redirect: 'manual' } as const;
  return look(`${url}/reservations`, { ...init, signal: AbortSignal.timeout(waitMs) });
}

async function look(url: string, init: RequestInit = { signal: AbortSignal.timeout(5_000) }): Promise<Seen> {
  let status: number | undefined;
  try {
    const response = await fetch(url, init);
    status = response.status;
    const text = await response.text();
    const json = response.headers.get('content-type') === 'application/json';
    return { status, body: json ? JSON.parse(text) : { text } };
  } catch (error) {
    const timeout = error instanceof Error && error.name === 'TimeoutError';
    return { status: status ?? (timeout ? 'stalled' : 'closed'), body: { text: 'cut' } };
  }
}

function plan(url: string, orderId: string, faults: unknown) {
  return look(`${url}/control/faults/${orderId}`, { method: 'PUT', body: JSON.stringify(faults) });
}

async function idsShown(url: string, orderId: string): Promise<string[]> {
  const { body } = await look(`${url}/orders/${orderId}`);
  return (body.reservations ?? []).map((reservation) => reservation.reservation_id);
}

/** Counted in the warehouse's own book. */
function effectsOf(orderId: string): readonly string[] {
  const book = readBook(file);
  const ids = book.effects().find((effect) => effect.orderId === orderId)?.reservationIds ?? [];
  book.close();
  return ids;
}

function postsOf(orderId: string): number {
  const book = readBook(file);
  const count = book.posts().find((row) => row.orderId === orderId)?.count ?? 0;
  book.close();
  return count;
}

describe('a reservation', () => {
  it('is 201 for a new key, 200 with the same id again, 409 and nothing new with another body', async () => {
    const { url } = await start();
    const first = await post(url, 'ORD-1');
    const again = await post(url, 'ORD-1', { body: '{"quantity": 2.0, "sku":"tea",  "order_id":"ORD-1"}' });
    const other = await post(url, 'ORD-1', { quantity: 3 });
    const id = first.body.reservation_id;
    expect(id).toMatch(/^R-\d{19}$/);
    expect(first).toEqual({
      status: 201,
      body: { reservation_id: id, order_id: 'ORD-1', sku: 'tea', quantity: 2 },
    });
    expect(again).toEqual({ status: 200, body: first.body });
    expect(other).toEqual({ status: 409, body: { error: 'idempotency_conflict', order_id: 'ORD-1' } });
    expect(effectsOf('ORD-1')).toEqual([id]);
    expect(postsOf('ORD-1')).toBe(3);
  });

  it('is shown by the GET with the account, and an unknown order shows an empty list', async () => {
    const { url } = await start();
    const { body } = await post(url, 'ORD-1');
    const seen = await look(`${url}/orders/ORD-1`);
    expect(seen).toEqual({
      status: 200,
      body: {
        order_id: 'ORD-1',
        warehouse: 'osaka',
        reservations: [
          {
            reservation_id: body.reservation_id,
            sku: 'tea',
            quantity: 2,
            created_at: expect.stringMatching(/^\d{4}-.*Z$/),
          },
        ],
      },
    });
    const none = await look(`${url}/orders/ORD-2`);
    expect(none).toEqual({ status: 200, body: { order_id: 'ORD-2', warehouse: 'osaka', reservations: [] } });
  });

  it('is made once by 40 parallel POSTs of one key', async () => {
    const { url } = await start();
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(url, 'ORD-1')));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(39);
    expect(new Set(answers.map(({ body }) => body.reservation_id)).size).toBe(1);
    expect(effectsOf('ORD-1')).toHaveLength(1);
    expect(postsOf('ORD-1')).toBe(40);
  });

  it('is made once by two warehouses on one book, because the constraint decides', async () => {
    const [one, two] = [await start(), await start()];
    const send = (_: unknown, n: number) => post((n % 2 ? one : two).url, 'ORD-1');
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(effectsOf('ORD-1')).toHaveLength(1);
  });

  it('is made twice for one order under two keys: the warehouse knows keys, not orders', async () => {
    const { url } = await start();
    await post(url, 'ORD-1', { key: 'a' });
    await post(url, 'ORD-1', { key: 'b' });
    expect(new Set(effectsOf('ORD-1')).size).toBe(2);
  });

  it('leaves nothing behind when its transaction fails', () => {
    const book = openBook(file);
    const body = { orderId: 'ORD-1', sku: 'tea', quantity: 2 };
    const failing = () =>
      book.atomically(() => {
        book.playWriteFault('ORD-BEFORE');
        book.reserve('k', body, 1);
        throw new Error('disk');
      });
    expect(failing).toThrow('disk');
    expect([book.effects().size, book.faultHits().size]).toEqual([0, 0]);
    book.close();
  });
});

describe('a bad request saves nothing and is still counted', () => {
  const valid = { order_id: 'ORD-1', sku: 'tea', quantity: 2 };
  it.each([
    ['an unknown field', { ...valid, note: 'x' }, 'note'],
    ['a missing field', { order_id: 'ORD-1', quantity: 2 }, 'sku'],
    ['quantity 0', { ...valid, quantity: 0 }, 'quantity'],
    ['quantity above a million', { ...valid, quantity: 1_000_001 }, 'quantity'],
    ['half a unit', { ...valid, quantity: 1.5 }, 'quantity'],
    ['quantity as text', { ...valid, quantity: '2' }, 'quantity'],
    ['an order id with a space', { ...valid, order_id: 'ORD 1' }, 'order_id'],
    ['an order id of 65 letters', { ...valid, order_id: 'a'.repeat(65) }, 'order_id'],
    ['an empty sku', { ...valid, sku: '' }, 'sku'],
    ['a sku of 65 letters', { ...valid, sku: 'a'.repeat(65) }, 'sku'],
    ['a lone surrogate', { ...valid, sku: '\ud800' }, 'sku'],
    ['a list', [valid], 'body'],
    ['null', null, 'body'],
  ])('%s is 400', async (_, body, field) => {
    const { url } = await start();
    const answer = await post(url, 'k', { body: JSON.stringify(body) });
    expect(answer).toEqual({ status: 400, body: { error: 'invalid_request', field } });
    expect([effectsOf('ORD-1').length, postsOf('ORD-1') + postsOf('')]).toEqual([0, 1]);
  });

  it.each([
    ['no JSON', 400, { body: '{"order_id":' }],
    ['an empty body', 400, { body: '' }],
    ['no key', 400, { key: '' }],
    ['a key of 256 letters', 400, { key: 'k'.repeat(256) }],
    ['another content type', 415, { headers: { 'content-type': 'text/plain' } }],
    ['a body over 64 KiB', 413, { body: `"${'x'.repeat(65_536)}"` }],
    ['a body far over 64 KiB', 413, { body: `"${'x'.repeat(3_000_000)}"` }],
  ])('%s is refused', async (_, status, sent) => {
    const { url } = await start();
    expect((await post(url, 'ORD-BEFORE', sent)).status).toBe(status);
    const { body } = await look(`${url}/control/stats`);
    expect([effectsOf('ORD-BEFORE').length, body.posts, body.faults]).toEqual([0, 1, {}]);
  });

  it('a POST whose body did not arrive whole is not counted and saves nothing', async () => {
    const { url } = await start();
    const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
    const head = ['POST /reservations HTTP/1.1', 'host: x', 'content-type: application/json'];
    socket.end(
      [...head, 'idempotency-key: ORD-1', 'content-length: 100', '', '{"order_id":"ORD-1"'].join('\r\n'),
    );
    await once(socket, 'close');
    await post(url, 'ORD-2');
    expect((await look(`${url}/control/stats`)).body.posts).toBe(1);
  });

  it('other paths are 404, and so is control where it was not asked for', async () => {
    const { url } = await start({ control: false });
    for (const path of ['/', '/orders', '/reservations', '/control/stats']) {
      expect((await look(url + path)).status).toBe(404);
    }
  });
});

describe('tokens', () => {
  it('a POST needs the write token; a GET needs the read or the write token', async () => {
    const { url } = await start({ writeToken: 'w', readToken: 'r' });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const get = async (headers = {}) => (await look(`${url}/orders/ORD-1`, { headers })).status;
    for (const headers of [{}, bearer('r'), bearer('x')]) {
      const refused = await post(url, 'ORD-1', { headers });
      expect(refused).toEqual({ status: 401, body: { error: 'unauthorised' } });
    }
    expect(effectsOf('ORD-1')).toEqual([]);
    expect((await post(url, 'ORD-1', { headers: bearer('w') })).status).toBe(201);
    expect([await get(), await get(bearer('x'))]).toEqual([401, 401]);
    expect([await get(bearer('r')), await get(bearer('w'))]).toEqual([200, 200]);
  });
});

describe('the built-in faults', () => {
  it.each([
    ['ORD-BEFORE', 503, 0, 201],
    ['ORD-AFTER', 'closed', 1, 200],
    ['ORD-STALL', 'stalled', 1, 200],
    ['ORD-500', 500, 1, 200],
    ['ORD-CUT', 201, 1, 200],
  ])('%s first is %s with %i saved, then %i with one reservation', async (orderId, first, saved, then) => {
    const { url } = await start();
    const one = await post(url, orderId, orderId === 'ORD-STALL' ? { waitMs: 150 } : {});
    expect(one.status).toBe(first);
    if (orderId === 'ORD-CUT') expect(one.body.text).toBe('cut');
    expect(effectsOf(orderId)).toHaveLength(saved);
    expect((await post(url, orderId)).status).toBe(then);
    expect(effectsOf(orderId)).toHaveLength(1);
    const kind = BUILT_IN_FAULTS[orderId]?.[0]?.kind ?? '';
    expect((await look(`${url}/control/stats`)).body.faults).toEqual({ [kind]: 1 });
  });

  it('ORD-THREE shows three different reservations at every GET while the book has one', async () => {
    const { url } = await start();
    const { body } = await post(url, 'ORD-THREE');
    const ids = [await idsShown(url, 'ORD-THREE'), await idsShown(url, 'ORD-THREE')];
    expect(ids[0]).toContain(body.reservation_id);
    expect(new Set(ids[0]).size).toBe(3);
    expect(ids[1]).toEqual(ids[0]);
    expect(effectsOf('ORD-THREE')).toEqual([body.reservation_id]);
  });

  it('ORD-LAG is hidden until the visibility lag after it was applied, and no longer', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const { url } = await start({ visibilityLagMs: 300 });
    await post(url, 'ORD-LAG');
    const shown = async () => (await look(`${url}/orders/ORD-LAG`)).body.reservations?.length;
    vi.setSystemTime(1_000_299);
    expect(await shown()).toBe(0);
    vi.setSystemTime(1_000_300);
    expect(await shown()).toBe(1);
    expect((await look(`${url}/control/stats`)).body.faults).toEqual({ get_lag: 1 });
  });
});

describe('planned faults', () => {
  it('a late commit is saved after its answer was lost, within the apply delay of its request', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_000_000 });
    const { url } = await start({ applyDelayMs: 500 });
    await plan(url, 'ORD-1', { kind: 'late_commit' });
    expect((await post(url, 'ORD-1')).status).toBe('closed');
    expect(effectsOf('ORD-1')).toEqual([]);
    vi.advanceTimersByTime(500);
    expect(effectsOf('ORD-1')).toHaveLength(1);
    const book = openBook(file);
    expect(book.reservationsOf('ORD-1')[0]?.appliedAt).toBeLessThanOrEqual(1_000_500);
    book.close();
    expect((await post(url, 'ORD-1')).status).toBe(200);
  });

  it('a late commit whose timer missed the apply delay is never saved', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_000_000 });
    const { url } = await start({ applyDelayMs: 500 });
    await plan(url, 'ORD-1', { kind: 'late_commit' });
    await post(url, 'ORD-1');
    vi.setSystemTime(1_000_501);
    vi.advanceTimersByTime(500);
    expect(effectsOf('ORD-1')).toEqual([]);
  });

  it('a late commit after a resend of its key adds nothing', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_000_000 });
    const { url } = await start();
    await plan(url, 'ORD-1', { kind: 'late_commit' });
    await post(url, 'ORD-1');
    expect((await post(url, 'ORD-1')).status).toBe(201);
    vi.advanceTimersByTime(500);
    expect(effectsOf('ORD-1')).toHaveLength(1);
  });

  const writes: Record<keyof typeof WRITE_FAULTS, [status: number | string, saved: number]> = {
    status_before_commit: [418, 0],
    before_reset: ['closed', 0],
    no_answer_no_save: ['stalled', 0],
    late_commit: ['closed', 0],
    close_after_commit: ['closed', 1],
    stall_after_commit: ['stalled', 1],
    status_after_commit: [418, 1],
    cut_after_commit: [201, 1],
    replay: [200, 1],
    garbage_after_commit: [201, 1],
    redirect_after_commit: [307, 1],
    wrong_id: [201, 1],
    no_id: [201, 1],
  };
  it.each(Object.entries(writes))(
    '%s [seen, saved] %j is hit once and counted',
    async (kind, [status, saved]) => {
      const { url } = await start({ applyDelayMs: 60_000 });
      await plan(url, 'ORD-1', { kind, status: 418 });
      const first = await post(url, 'ORD-1', status === 'stalled' ? { waitMs: 150 } : {});
      expect(first.status).toBe(status);
      expect(effectsOf('ORD-1')).toHaveLength(saved);
      const then = await post(url, 'ORD-1');
      expect(then.status).toBe(saved === 1 ? 200 : 201);
      if (kind === 'wrong_id') expect(effectsOf('ORD-1')).not.toContain(first.body.reservation_id);
      if (kind === 'no_id') expect(first.body).not.toHaveProperty('reservation_id');
      expect(effectsOf('ORD-1')).toEqual([then.body.reservation_id]);
      expect((await look(`${url}/control/stats`)).body).toMatchObject({ posts: 2, faults: { [kind]: 1 } });
    },
  );

  const views: Record<keyof typeof VIEW_FAULTS, object> = {
    get_lag: { status: 200, body: { reservations: [] } },
    get_three: { status: 200, body: { reservations: [{ quantity: 2 }, { quantity: 2 }, { quantity: 2 }] } },
    get_empty: { status: 200, body: { reservations: [] } },
    get_mismatch: { status: 200, body: { reservations: [{ quantity: 3 }] } },
    get_wrong_warehouse: { status: 200, body: { warehouse: 'osaka-other' } },
    get_status: { status: 429, body: { error: 'internal' } },
    get_garbage: { status: 200, body: { text: expect.stringContaining('<!doctype html>') } },
    get_close: { status: 'closed' },
    get_stall: { status: 'stalled' },
  };
  it.each(Object.entries(views))('%s lies once, is counted, and touches no book', async (kind, seen) => {
    const { url } = await start({ visibilityLagMs: 60_000 });
    await plan(url, 'ORD-1', { kind, status: 429 });
    await post(url, 'ORD-1');
    const signal = AbortSignal.timeout(kind === 'get_stall' ? 150 : 5_000);
    expect(await look(`${url}/orders/ORD-1`, { signal })).toMatchObject(seen);
    const truth = await look(`${url}/orders/ORD-1`);
    expect(truth.body).toMatchObject({ warehouse: 'osaka', reservations: [{ quantity: 2 }] });
    expect(effectsOf('ORD-1')).toHaveLength(1);
    const { body } = await look(`${url}/control/stats`);
    expect(body.faults).toEqual({ [kind]: 1 });
    expect(body.byOrder).toEqual({ 'ORD-1': { posts: 1, gets: 2 } });
  });

  it('a list plays in order, replaces the built-in plan, and ends with DELETE', async () => {
    const { url } = await start();
    await plan(url, 'ORD-AFTER', [
      { kind: 'before_reset', times: 2 },
      { kind: 'status_after_commit', status: 500 },
      { kind: 'get_empty', times: 'always' },
    ]);
    const statuses: unknown[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await post(url, 'ORD-AFTER')).status);
    expect(statuses).toEqual(['closed', 'closed', 500, 200]);
    const shown = async () => (await look(`${url}/orders/ORD-AFTER`)).body.reservations?.length;
    expect([await shown(), await shown()]).toEqual([0, 0]);
    await look(`${url}/control/faults/ORD-AFTER`, { method: 'DELETE' });
    expect(await shown()).toBe(1);
    await plan(url, 'ORD-AFTER', { kind: 'before_reset' });
    expect((await post(url, 'ORD-AFTER')).status).toBe('closed');
    const { faults } = (await look(`${url}/control/stats`)).body;
    expect(faults).toEqual({ before_reset: 3, status_after_commit: 1, get_empty: 2 });
  });

  it.each([
    [{ kind: 'explode' }],
    [{ kind: 'before_reset', times: 0 }],
    [{ kind: 'before_reset', extra: 1 }],
    [{ kind: 'get_status', status: 42 }],
    [[]],
  ])('a plan %j is refused', async (faults) => {
    const { url } = await start();
    expect((await plan(url, 'ORD-1', faults)).status).toBe(400);
  });
});

describe('a restart', () => {
  const orders = ['ORD-BEFORE', 'ORD-AFTER', 'ORD-1', 'ORD-2'];

  it('on the same book keeps ids and counts, and replays no fault', async () => {
    const first = await start();
    for (const orderId of orders) for (let n = 0; n < 2; n += 1) await post(first.url, orderId);
    const before = orders.map(effectsOf);
    await first.close();
    stops = [];
    const second = await start();
    for (const orderId of orders) expect((await post(second.url, orderId)).status).toBe(200);
    expect(orders.map(effectsOf)).toEqual(before);
    expect(orders.map(postsOf)).toEqual([3, 3, 3, 3]);
  });

  it('after kill -9 in a storm of POSTs keeps every answered reservation, and still one for each order', async () => {
    const first = await spawnHouse();
    const answered = new Map<string, string>();
    const storm = Array.from({ length: 60 }, async (_, n) => {
      const { status, body } = await post(first.url, `ORD-${n % 30}`);
      if (status !== 201 && status !== 200) return;
      answered.set(`ORD-${n % 30}`, body.reservation_id ?? 'none');
      if (answered.size === 10) await first.end('SIGKILL');
    });
    await Promise.all(storm);
    expect(answered.size).toBeGreaterThanOrEqual(10);
    for (const [orderId, id] of answered) expect(effectsOf(orderId)).toEqual([id]);

    const second = await spawnHouse();
    for (let n = 0; n < 30; n += 1) {
      const { status, body } = await post(second.url, `ORD-${n}`);
      expect([200, 201]).toContain(status);
      expect(effectsOf(`ORD-${n}`)).toEqual([body.reservation_id]);
      expect(answered.get(`ORD-${n}`) ?? body.reservation_id).toBe(body.reservation_id);
    }
  });

  it('after kill -9 replays no fault that was played, and keeps plans that were not', async () => {
    const first = await spawnHouse('--control');
    await plan(first.url, 'ORD-1', { kind: 'close_after_commit', times: 2 });
    expect((await post(first.url, 'ORD-AFTER')).status).toBe('closed');
    expect((await post(first.url, 'ORD-1')).status).toBe('closed');
    await first.end('SIGKILL');
    const second = await spawnHouse('--control');
    expect((await post(second.url, 'ORD-AFTER')).status).toBe(200);
    expect((await post(second.url, 'ORD-1')).status).toBe('closed');
    expect((await post(second.url, 'ORD-1')).status).toBe(200);
    expect([postsOf('ORD-AFTER'), effectsOf('ORD-AFTER').length]).toEqual([2, 1]);
  });
});

describe('the process', () => {
  it('prints one ready line and exits 0 on SIGTERM', async () => {
    const { child, end, line, url } = await spawnHouse();
    expect(JSON.parse(line)).toEqual({ ready: true, url, pid: child.pid });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await end('SIGTERM')).toEqual([0, null]);
  });

  it('exits 0 when its stdin closes, if it was started with its parent', async () => {
    const { child, gone } = await spawnHouse('--with-parent');
    child.stdin.end();
    expect(await gone).toEqual([0, null]);
  });

  it.each([
    [[], 2, /--file and --account are needed/],
    [
      ['--file', 'f', '--account', 'a', '--port', '70000'],
      2,
      /--port must be a whole number from 0 to 65535/,
    ],
    [['--file', 'f', '--account', 'a', '--prot', '1'], 2, /--prot/],
    [['--file', '/no/such/folder/f', '--account', 'a'], 69, /Cannot open the book "\/no\/such\/folder\/f"/],
  ])('with %j exits %i with one clear line', async (args, code, message) => {
    const program = join(import.meta.dirname, '../../lib/simulators/warehouse.ts');
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    expect(await once(child, 'close')).toEqual([code, null]);
    expect(errors).toMatch(message);
    expect(errors.trimEnd().split('\n')).toHaveLength(1);
  });
});

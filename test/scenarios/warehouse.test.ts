/** The warehouse's rules, one readable test each, on real sockets and counted in the warehouse's own book. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { errorKinds, reportOf } from '../../lib/domain/report.ts';
import { memoryLedger } from '../../lib/ledger/memory-ledger.ts';
import { systemClock } from '../../lib/platform/clock.ts';
import { newId } from '../../lib/platform/ids.ts';
import { reader } from '../../lib/providers/reader.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { sessionCall } from '../../lib/providers/session-call.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { startWarehouse } from '../../lib/simulators/warehouse.ts';
import { readBook } from '../../lib/simulators/warehouse-book.ts';
import { accept } from '../../lib/workflow/accept.ts';
import type { RunInput } from '../../lib/workflow/deps.ts';
import { search } from '../../lib/workflow/search.ts';
import { send } from '../../lib/workflow/send.ts';
import { keepSessions } from '../../lib/workflow/sessions.ts';
import { verify } from '../../lib/workflow/verify.ts';
import { POLICY, routeTo } from '../support/kit.ts';

let folder: string;
let house: Awaited<ReturnType<typeof startWarehouse>>;

const start = async () => {
  house = await startWarehouse({
    file: join(folder, 'book.sqlite'),
    account: 'tokyo-1',
    durable: false,
    control: true,
  });
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kakutei-scenario-'));
  await start();
});
afterEach(async () => {
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const PERMITTED = { ...POLICY, permission: { ...POLICY.permission, until: Date.now() + 86_400_000 } };

/** Submits one order on a fresh ledger and follows the machine's words, `waits` waits included, to the next wait or end. */
async function process(
  orderId: string,
  quantity = 2,
  resend: 'first' | 'after_search' = 'first',
  waits = 0,
): Promise<Intent> {
  const route = routeTo(house.url, { policy: { ...PERMITTED, resend } });
  const queue: RunInput[] = [];
  const ledger = memoryLedger(newId);
  const deps = {
    ledger,
    clock: systemClock,
    newId,
    routes: registryOf([route]),
    log: () => undefined,
    transport: sendOnce,
    reader,
    timing: { senderLifeMs: 15_000, skewMs: 0, graceMs: 60_000 },
    secret: async () => '',
    sessions: keepSessions(sessionCall, systemClock),
    start: async (_: string, input: RunInput) => void queue.push(input),
  };
  const accepted = await accept(deps)({
    tenant: 'acme',
    unit: 'sales',
    subject: 'shop',
    key: orderId,
    route: 'warehouse',
    parent: null,
    traceIds: {},
    payload: { order_id: orderId, sku: 'TEA-01', quantity },
  });
  const [input] = queue;
  if (accepted.kind !== 'accepted' || input === undefined) throw new Error(`Not accepted: ${accepted.kind}`);
  const steps = { send: send(deps), search: search(deps), verify: verify(deps) };
  let answer = await steps.send(input);
  for (let left = waits; ; ) {
    if (answer.next === 'wait' && left > 0) {
      left -= 1;
      await systemClock.sleep(answer.waitSeconds * 1000);
      answer = await steps.search(input);
    } else if (answer.next === 'send' || answer.next === 'search' || answer.next === 'verify') {
      answer = await steps[answer.next](input);
    } else break;
  }
  const intent = await ledger.read(input);
  if (intent === undefined) throw new Error('The intent is gone.');
  return intent;
}

function counted(orderId: string): { effects: number; posts: number; ids: string[] } {
  const book = readBook(join(folder, 'book.sqlite'));
  const ids = book.effects().find((each) => each.orderId === orderId)?.reservationIds ?? [];
  const posts = book.posts().find((each) => each.orderId === orderId)?.count ?? 0;
  book.close();
  return { effects: ids.length, posts, ids };
}

const plan = (orderId: string, fault: object) =>
  fetch(`${house.url}/control/faults/${orderId}`, {
    method: 'PUT',
    body: JSON.stringify(fault),
    headers: { 'content-type': 'application/json' },
  });

describe('W8: attempts and effects are two numbers', () => {
  it('W1 ORD-BEFORE: 503 before saving; attempts 2, the first saved nothing', async () => {
    const intent = await process('ORD-BEFORE');
    expect(intent).toMatchObject({ state: 'confirmed', externalId: counted('ORD-BEFORE').ids[0] });
    expect([intent.attempts.length, errorKinds(intent)]).toEqual([2, ['status_503']]);
    expect(counted('ORD-BEFORE')).toMatchObject({ effects: 1, posts: 2 });
  });

  it('W1 ORD-AFTER: saved, the connection closed; attempts 2, one reservation, one id', async () => {
    const intent = await process('ORD-AFTER');
    expect(intent).toMatchObject({ state: 'confirmed', externalId: counted('ORD-AFTER').ids[0] });
    expect([intent.attempts.length, errorKinds(intent)]).toEqual([2, ['closed_without_answer']]);
    expect(counted('ORD-AFTER')).toMatchObject({ effects: 1, posts: 2 });
  });

  it('the two are told apart by searching first: what was saved is found, what was not is sent again', async () => {
    const [before, after] = [
      await process('ORD-BEFORE', 2, 'after_search', 1),
      await process('ORD-AFTER', 2, 'after_search', 1),
    ];
    expect([before.state, before.attempts.length, counted('ORD-BEFORE').posts]).toEqual(['confirmed', 2, 2]);
    expect([after.state, after.attempts.length, counted('ORD-AFTER').posts]).toEqual(['confirmed', 1, 1]);
  });
});

describe('W5: this route repeats 503 and connection errors only, at most four POSTs', () => {
  it('four times no answer: four POSTs, each 100 ms after the one before, then no more', async () => {
    await plan('PO-1', { kind: 'before_reset', times: 'always' });
    const intent = await process('PO-1');
    expect(errorKinds(intent)).toEqual(Array.from({ length: 4 }, () => 'closed_without_answer'));
    expect([reportOf(intent), counted('PO-1').effects, counted('PO-1').posts]).toEqual(['unconfirmed', 0, 4]);
    const claims = intent.attempts.map((attempt) => attempt.claimedAt);
    for (let n = 1; n < 4; n += 1)
      expect((claims[n] ?? 0) - (claims[n - 1] ?? 0)).toBeGreaterThanOrEqual(100);
  });

  it('an answer that takes longer than a second is no answer', async () => {
    const intent = await process('ORD-STALL');
    expect([intent.state, errorKinds(intent), counted('ORD-STALL').effects]).toEqual([
      'confirmed',
      ['timeout'],
      1,
    ]);
    const [first, second] = intent.attempts;
    expect((second?.claimedAt ?? 0) - (first?.claimedAt ?? 0)).toBeLessThan(2000);
  });

  it.each([
    ['ORD-500', 'status_500'],
    ['ORD-CUT', 'body_cut'],
  ])('%s: a status was seen, so it is not repeated', async (orderId, kind) => {
    const intent = await process(orderId);
    expect([intent.state, errorKinds(intent)]).toEqual(['confirmed', [kind]]);
    expect(counted(orderId)).toMatchObject({ effects: 1, posts: 1 });
  });

  it('409 stops, and the existing reservation stays as it is', async () => {
    const first = await process('PO-2', 2);
    const second = await process('PO-2', 3);
    expect([second.state, reportOf(second), errorKinds(second)]).toEqual([
      'rejected',
      'rejected',
      ['status_409'],
    ]);
    expect(counted('PO-2')).toEqual({ effects: 1, posts: 2, ids: [first.externalId] });
  });

  it('a redirect is not followed: one POST', async () => {
    await plan('PO-3', { kind: 'redirect_after_commit' });
    const intent = await process('PO-3');
    expect([intent.state, errorKinds(intent), counted('PO-3').posts]).toEqual([
      'confirmed',
      ['status_307'],
      1,
    ]);
  });
});

describe('W6: an answer alone is not confirmation', () => {
  it('ORD-THREE: three reservations are not the first one', async () => {
    const intent = await process('ORD-THREE');
    expect(intent).toMatchObject({ state: 'acknowledged', externalId: null, handover: { reason: 'many' } });
    expect(counted('ORD-THREE')).toMatchObject({ effects: 1, posts: 1 });
  });

  it.each<[string, object, string]>([
    ['shows another quantity', { kind: 'get_mismatch', times: 'always' }, 'acknowledged'],
    ['names another account', { kind: 'get_wrong_warehouse', times: 'always' }, 'acknowledged'],
    ['fails', { kind: 'get_status', times: 'always', status: 500 }, 'acknowledged'],
    ['is a page', { kind: 'get_garbage', times: 'always' }, 'acknowledged'],
    ['closes without an answer', { kind: 'get_close', times: 'always' }, 'acknowledged'],
    ['shows none', { kind: 'get_empty', times: 'always' }, 'acknowledged'],
  ])('a GET that %s leaves it unconfirmed, the id of the POST apart', async (_, fault, state) => {
    await plan('PO-4', fault);
    const intent = await process('PO-4');
    expect([intent.state, reportOf(intent), intent.externalId]).toEqual([state, 'unconfirmed', null]);
    expect(intent.acknowledgedId).toBe(counted('PO-4').ids[0]);
  });

  it('the id of the POST must be the one that is read back', async () => {
    await plan('PO-5', { kind: 'wrong_id' });
    expect((await process('PO-5')).handover?.reason).toBe('mismatch');
  });
});

describe('W9: the same orders again, after a restart, on an empty ledger', () => {
  it('counts and ids stay as they were', async () => {
    const orders = ['PO-6', 'ORD-BEFORE', 'ORD-AFTER'];
    const first = [];
    for (const orderId of orders) first.push((await process(orderId)).externalId);
    await house.close();
    await start();
    for (const [at, orderId] of orders.entries()) {
      const intent = await process(orderId);
      expect([intent.state, intent.externalId, counted(orderId).effects]).toEqual([
        'confirmed',
        first[at],
        1,
      ]);
      expect([intent.attempts.length, errorKinds(intent)]).toEqual([1, []]);
    }
  });
});

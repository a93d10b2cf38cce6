/** kill -9 of the local service, for real: a child process in the middle of an order, and its next start. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTimeOf } from '../../lib/local/process-identity.ts';
import type { Service } from '../../lib/local/service.ts';
import {
  childrenOf,
  type Home,
  inBookOf,
  newHome,
  processesOn,
  showIntent,
  submitOrder,
} from '../support/local-service.ts';
import { runProgram } from '../support/run-program.ts';

const START = join(import.meta.dirname, '../../lib/local/start.ts');
/** A lease of 15 s, a sweep of 1 s, and the start of a machine under load. */
const SETTLED_WITHIN = { timeout: 90_000, interval: 200 };
const SOON = { timeout: 30_000, interval: 20 };
/** Several starts of a database; a slow machine is no failure. */
const PATIENCE_MS = 240_000;
let home: Home;

beforeEach(() => {
  home = newHome();
});

afterEach(() => home.clear());

test('killed in the middle of an order, started again: confirmed, one effect, no orphan, the same ledger', {
  timeout: PATIENCE_MS,
}, async () => {
  const first = await home.start();
  const children = [...childrenOf(home.dataDir).values()];
  expect(children).toHaveLength(4);
  const before = await submitOrder(first, 'PO-BEFORE');
  await confirmed(first, before.view.id);

  // The warehouse saves this one and holds its answer back for longer than the limit.
  const { status, view } = await submitOrder(first, 'ORD-STALL');
  expect(status).toBe(202);
  await vi.waitUntil(() => inBookOf(home.dataDir, 'ORD-STALL').posts === 1, SOON);
  await first.kill();

  const second = await home.start();
  expect(
    children.filter((pid) => startTimeOf(pid) !== null),
    'nothing of the first run is left',
  ).toEqual([]);
  expect(await showIntent(second, before.view.id), 'the same ledger').toMatchObject({ state: 'confirmed' });
  expect(await submitOrder(second, 'ORD-STALL'), 'the same intent').toMatchObject({
    status: 200,
    view: { id: view.id },
  });

  const after = await confirmed(second, view.id);
  const { posts, ids } = inBookOf(home.dataDir, 'ORD-STALL');
  expect({ posts, ids }).toEqual({ posts: 1, ids: [after.externalId] });
  expect({ attempts: after.attempts, errorKinds: after.errorKinds }).toEqual({
    attempts: 1,
    errorKinds: ['lost'],
  });
  expect(inBookOf(home.dataDir, 'PO-BEFORE')).toMatchObject({ posts: 1 });

  await second.stop();
  expect(processesOn(home.dataDir)).toEqual([]);
});

test('killed while idle, it starts again on the same ledger', { timeout: PATIENCE_MS }, async () => {
  const first = await home.start();
  const { view } = await submitOrder(first, 'PO-IDLE');
  await confirmed(first, view.id);
  await first.kill();
  const second = await home.start();
  expect(await showIntent(second, view.id)).toMatchObject({ state: 'confirmed' });
  expect(await submitOrder(second, 'PO-IDLE')).toMatchObject({ status: 200, view: { id: view.id } });
  expect(inBookOf(home.dataDir, 'PO-IDLE')).toMatchObject({ posts: 1 });
});

test('a second start on the same data is refused with one sentence; an interrupt ends every child', {
  timeout: 60_000,
}, async () => {
  const service = await home.start();
  const rival = await runProgram(START, ['--data', home.dataDir, '--port', '0']);
  expect(rival).toEqual({
    code: 69,
    stdout: '',
    stderr: `Cannot start on "${home.dataDir}": process ${service.pid} already runs a stack on this data; stop it first.\n`,
  });
  expect((await submitOrder(service, 'PO-RIVAL')).status, 'the first one goes on').toBe(202);

  const pids = [service.pid, ...childrenOf(home.dataDir).values()];
  expect(pids).toHaveLength(5);
  process.kill(service.pid, 'SIGINT');
  await vi.waitUntil(() => startTimeOf(service.pid) === null, SOON);
  expect(pids.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
  expect(childrenOf(home.dataDir).size, 'nothing is remembered').toBe(0);
  expect(processesOn(home.dataDir)).toEqual([]);
});

async function confirmed(service: Service, id: string) {
  return vi.waitUntil(async () => {
    const view = await showIntent(service, id);
    return view.state === 'confirmed' ? view : undefined;
  }, SETTLED_WITHIN);
}

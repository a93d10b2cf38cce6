/** `kakutei intent dry-run` at a service that is there: no write at the provider, none in the ledger, none let in more. */
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../lib/cli/kakutei.ts';
import type { Service } from '../../lib/local/service.ts';
import { CALLER_ENV } from '../../lib/platform/names.ts';
import { type ApiRig, startApiRig } from '../support/api-rig.ts';
import { IN_STATE, intentOf } from '../support/kit.ts';
import { type Home, inBookOf, newHome } from '../support/local-service.ts';
import { runProgram } from '../support/run-program.ts';
import { type ServedApi, serveApi } from '../support/served-api.ts';

describe('at the functions, with a provider that is away', () => {
  const OWN = { tenant: 'acme', unit: 'sales', kind: 'person', sub: 'otto', scope: 'operate' };
  const ID = `int_${'5'.repeat(40)}`;
  let rig: ApiRig;
  let served: ServedApi;

  beforeAll(async () => {
    rig = await startApiRig();
    served = await serveApi();
    const { tenant, unit } = OWN;
    const intent = intentOf({
      ...IN_STATE.unknown,
      id: ID,
      tenant,
      unit,
      route: 'free',
      action: 'reserve-freely',
    });
    await (await rig.ledger()).create(intent);
  });

  afterAll(async () => {
    await served?.stop();
    await rig?.stop();
  });

  async function run(claims: Readonly<Record<string, unknown>> | null, id = ID) {
    const [out, err]: [string[], string[]] = [[], []];
    const token = claims === null ? 'no-token' : await served.token(claims);
    const code = await main(['intent', 'dry-run', id], {
      stdin: (async function* () {})(),
      settings: { url: served.url, token },
      out: (line) => void out.push(line),
      err: (line) => void err.push(line),
    });
    return { code, out, err };
  }

  test('it is shown that the look failed: exit code 1, and every item of the table is as it was', async () => {
    const before = await rig.rows();
    const { code, out, err } = await run(OWN);
    expect({ code, err }).toEqual({ code: 1, err: [] });
    expect(out).toContain('verdict: inconclusive');
    expect(out.some((line) => line.startsWith('search: FAILED (unreachable)'))).toBe(true);
    expect(await rig.rows()).toEqual(before);
    expect(rig.starts).toEqual([]);
  });

  test.each<[string, Readonly<Record<string, unknown>> | null, string | undefined, string]>([
    ['no token', null, ID, 'Cannot look: 401 "Unauthorized".'],
    ['another scope', { ...OWN, scope: 'read' }, ID, 'Cannot look: 403 "Forbidden".'],
    ['an agent', { ...OWN, kind: 'agent' }, ID, 'Cannot look: 403 "Forbidden".'],
    ['another unit', { ...OWN, unit: 'events' }, ID, 'Cannot look: 404 "There is no such intent.".'],
    ['another tenant', { ...OWN, tenant: 'umbra' }, ID, 'Cannot look: 404 "There is no such intent.".'],
    ['an id that is not there', OWN, `int_${'6'.repeat(40)}`, 'Cannot look: 404 "There is no such intent.".'],
  ])('with %s nothing is shown: exit code 2', async (_, claims, id, line) => {
    expect(await run(claims, id)).toEqual({ code: 2, out: [], err: [line] });
    expect(rig.starts).toEqual([]);
  });
});

describe('at the local stack, as a program', () => {
  const PROGRAM = resolve(import.meta.dirname, '../../lib/cli/kakutei.ts');
  const ORDER = 'ORD-THREE';
  let home: Home;
  let service: Service;

  beforeAll(async () => {
    home = newHome();
    service = await home.start();
  });

  afterAll(() => home?.clear());

  async function ask(path: string, token: string, init: RequestInit = {}) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers };
    return (await fetch(`${service.url}${path}`, { ...init, headers })).text();
  }

  async function run(id: string, ...args: readonly string[]) {
    const settings = { [CALLER_ENV.url]: service.url, [CALLER_ENV.token]: service.tokens.operator };
    return runProgram(PROGRAM, ['intent', 'dry-run', id, ...args], { env: { ...process.env, ...settings } });
  }

  test('three records are shown with their checks; book, intent and evidence are as they were', async () => {
    const { submitter } = service.tokens;
    const body = JSON.stringify({
      route: 'warehouse',
      payload: { order_id: ORDER, sku: 'TEA-02', quantity: 1 },
    });
    const submit = { method: 'POST', body, headers: { 'idempotency-key': ORDER, prefer: 'wait=20' } };
    const { id, state } = JSON.parse(await ask('/intents', submitter, submit)) as Record<string, string>;
    expect(state).toBe('handover');
    const all = async () => [
      inBookOf(home.dataDir, ORDER),
      await ask(`/intents/${id}`, submitter),
      await ask(`/intents/${id}/evidence`, submitter),
    ];
    const before = await all();
    const { code, stdout, stderr } = await run(id ?? '');
    const machine = await run(id ?? '', '--json');
    expect(await all()).toEqual(before);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { posts, ids } = inBookOf(home.dataDir, ORDER);
    expect({ posts, effects: ids.length }).toEqual({ posts: 1, effects: 1 });
    expect(stdout).toContain(`  matches "${ids[0]}"\n    checks: account yes, `);
    expect(stdout.split('\nreadback:')[0]?.match(/ {2}matches "/g)).toHaveLength(3);
    expect(stdout).toContain('verdict: many\n');
    expect(stdout).toContain('next: decide, many\n');
    expect(stdout).toMatch(/\nNothing was written: .*\n$/);
    expect(machine).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(machine.stdout)).toMatchObject({ id, verdict: 'many', next: { do: 'decide' } });
  });
});

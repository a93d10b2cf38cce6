/**
 * Who gets what, as a product: every endpoint of the table, every set of scopes, every kind of caller, every kind
 * of target. What is expected follows from the table alone. Tokens are real, the gateway is the local one, the
 * functions behind it are the deployed ones. An endpoint that is added is tried without being named here.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Scope, endpoints as table } from '../../functions/endpoints.ts';
import type { Intent } from '../../lib/domain/intent.ts';
import { intentIdOf } from '../../lib/workflow/accept.ts';
import { type ApiRig, type Claims, startApiRig } from '../support/api-rig.ts';
import {
  type Aim,
  aimedAt,
  lineOf,
  nameOf,
  needlessLines,
  OPEN,
  type Tried,
  triedOf,
} from '../support/endpoint-lines.ts';
import { intentOf } from '../support/kit.ts';
import { type Seen, type ServedApi, serveApi } from '../support/served-api.ts';

const endpoints = triedOf(table);
const SCOPES: readonly Scope[] = ['submit', 'read', 'approve', 'operate', 'admin'];
const SCOPE_SETS: readonly (readonly Scope[])[] = [[], ...SCOPES.map((scope) => [scope]), SCOPES];
/** What an agent never does, whatever its token says. */
const PEOPLE_ONLY: readonly Scope[] = ['approve', 'operate', 'admin'];
const KINDS = ['person', 'service', 'agent'] as const;
type Kind = (typeof KINDS)[number];
const SUBJECTS: Readonly<Record<Kind, string>> = { person: 'ann', service: 'clerk', agent: 'robot' };

const OWN = { tenant: 'acme', unit: 'sales' };
const OTHERS = {
  other_unit: { tenant: 'acme', unit: 'events' },
  other_tenant: { tenant: 'umbra', unit: 'sales' },
} as const;
type Target = 'own' | keyof typeof OTHERS | 'absent' | 'malformed';
/** A route belongs to a tenant as a whole. */
const TARGETS: Readonly<Record<ReturnType<typeof aimedAt>, readonly Target[]>> = {
  intent: ['own', 'other_unit', 'other_tenant', 'absent', 'malformed'],
  route: ['own', 'other_tenant', 'absent', 'malformed'],
  nothing: ['own'],
};
const ROUTES = { own: 'free', other_tenant: 'umbra-free', absent: 'nowhere' } as const;
const ABSENT_ID = `int_${'0'.repeat(40)}`;

interface Expected {
  readonly status: number;
  readonly text: string;
}
const FORBIDDEN: Expected = { status: 403, text: '{"message":"Forbidden"}' };
const AS_ABSENT: Readonly<Record<'intent' | 'route', Expected>> = {
  intent: {
    status: 404,
    text: '{"type":"/problems/not-found","title":"There is no such intent.","status":404}',
  },
  route: {
    status: 422,
    text: '{"type":"/problems/unknown-route","title":"There is no such route.","status":422}',
  },
};

interface Cell {
  readonly scopes: readonly Scope[];
  readonly kind: Kind;
  readonly target: Target;
}

type Outcome = 'forbidden' | 'as_absent' | 'served';

/** The whole of the rules. */
function outcomeOf(endpoint: Guarded, { scopes, kind, target }: Cell): Outcome {
  if (!scopes.includes(endpoint.scope)) return 'forbidden';
  if (kind === 'agent' && PEOPLE_ONLY.includes(endpoint.scope)) return 'forbidden';
  if (endpoint.personOnly === true && kind !== 'person') return 'forbidden';
  return target === 'own' ? 'served' : 'as_absent';
}

const ALL_RIGHTS: Omit<Cell, 'target'> = { scopes: SCOPES, kind: 'person' };

type Guarded = Tried & { readonly scope: Scope };
const guarded = endpoints.filter((each): each is Guarded => each.scope !== null);
const named = guarded.map((endpoint) => ({ name: nameOf(endpoint), endpoint }));

function cellsOf(endpoint: Guarded): Cell[] {
  return SCOPE_SETS.flatMap((scopes) =>
    KINDS.flatMap((kind) => TARGETS[aimedAt(endpoint)].map((target) => ({ scopes, kind, target }))),
  );
}

let rig: ApiRig;
let served: ServedApi;
let count = 0;

beforeAll(async () => {
  rig = await startApiRig();
  served = await serveApi();
});

afterAll(async () => {
  await served?.stop();
  await rig?.stop();
});

beforeEach(() => {
  rig.starts.length = 0;
  served.reached.length = 0;
});

describe('every endpoint can be tried', () => {
  test.each(named)('$name: what it is aimed at and what it needs is known', ({ endpoint }) => {
    expect(lineOf(endpoint).body ?? (() => ({}))).toBeTypeOf('function');
    expect(TARGETS[aimedAt(endpoint)].length).toBeGreaterThan(0);
  });

  test('the matrix has every cell', () => {
    const cells = guarded.flatMap(cellsOf);
    const columns = SCOPE_SETS.length * KINDS.length;
    const targets = guarded.map((endpoint) => TARGETS[aimedAt(endpoint)].length);
    expect(cells).toHaveLength(columns * targets.reduce((sum, each) => sum + each, 0));
    expect(cells.length).toBeGreaterThan(1_000);
  });

  test('no line outlives its endpoint', () => {
    expect(needlessLines(endpoints)).toEqual([]);
  });

  test('a function that serves two endpoints asks for one scope: it knows its own name only', () => {
    const scopesOf = Map.groupBy(endpoints, (endpoint) => endpoint.function);
    const torn = [...scopesOf].filter(([, all]) => new Set(all.map((each) => each.scope)).size > 1);
    expect(torn.map(([name]) => name)).toEqual([]);
  });
});

describe('without a token', () => {
  test('an endpoint that asks for no scope is on the list, with its reason', () => {
    const unlisted = endpoints.filter((each) => each.scope === null && OPEN[nameOf(each)] === undefined);
    const what =
      'it lets in everybody: give it a scope, or say why not in OPEN of test/support/endpoint-lines.ts';
    expect(unlisted.map((endpoint) => `${nameOf(endpoint)}: ${what}`)).toEqual([]);
  });

  test('an endpoint that asks for no scope stores nothing for a stranger', async () => {
    const before = await ledgerRows();
    for (const endpoint of endpoints.filter((each) => each.scope === null)) {
      const path = endpoint.path.replaceAll(/\{\w+\}/g, 'nobody');
      const body = endpoint.method === 'GET' ? undefined : JSON.stringify(OTHERS.other_tenant);
      const { status } = await served.ask({ method: endpoint.method, path, token: null, body });
      expect(endpoint.method === 'GET' ? [200] : [400, 401, 404], nameOf(endpoint)).toContain(status);
    }
    expect(await changedSince(before)).toEqual([]);
    expect(rig.starts).toEqual([]);
  });

  test.each(named)('$name is 401, and reaches no function', async ({ endpoint }) => {
    const { method, path } = endpoint;
    const seen = await served.ask({ method, path: path.replaceAll(/\{\w+\}/g, ABSENT_ID), token: null });
    expect([seen.status, seen.text]).toEqual([401, '{"message":"Unauthorized"}']);
    expect(served.reached).toEqual([]);
  });

  test.each(named)('$name called past the gateway is forbidden', async ({ endpoint }) => {
    const whole: Claims = { sub: 'ann', ...OWN, kind: 'person' };
    const without = (name: keyof Claims) =>
      Object.fromEntries(Object.entries(whole).filter(([each]) => each !== name)) as Claims;
    for (const claims of [null, without('sub'), without('tenant'), without('unit'), without('kind')]) {
      const answer = await rig.call(endpoint.by ?? endpoint.function, { id: ABSENT_ID, claims, body: '{}' });
      expect([answer.status, answer.text]).toEqual([FORBIDDEN.status, FORBIDDEN.text]);
    }
  });
});

describe('what is refused', () => {
  test.each(named)('$name: each cell gets its one answer, and nothing changes', async ({ endpoint }) => {
    const targets = await storedTargets(endpoint);
    const cells = cellsOf(endpoint).filter((cell) => outcomeOf(endpoint, cell) !== 'served');
    const before = await ledgerRows();
    const tries = cells.flatMap((cell) => {
      const aims = aimsAt(endpoint, cell, targets);
      // Without the right one way to aim is enough: nobody gets as far as the target.
      const kept = outcomeOf(endpoint, cell) === 'forbidden' ? aims.slice(0, 1) : aims;
      return kept.map((aim) => ({ cell, aim }));
    });
    const answers = await Promise.all(
      tries.map(async ({ cell, aim }) => ({ cell, seen: await ask(endpoint, cell, aim) })),
    );
    // Header for header the same, whosever it is and whether or not it is there.
    const first = new Map<Outcome, Seen>();
    const wrong = answers.filter(({ cell, seen }) => {
      const outcome = outcomeOf(endpoint, cell);
      if (!first.has(outcome)) first.set(outcome, seen);
      const { status, text } = outcome === 'forbidden' ? FORBIDDEN : AS_ABSENT[kindOf(endpoint)];
      return seen.status !== status || seen.text !== text || !isDeepStrictEqual(seen, first.get(outcome));
    });
    expect(wrong).toEqual([]);
    const passed = tries.filter(({ cell }) => cell.scopes.includes(endpoint.scope));
    expect(served.reached, 'a missing scope ends at the gateway').toEqual(
      passed.map(() => endpoint.function),
    );
    expect(await changedSince(before), 'the ledger is as it was').toEqual([]);
    expect(rig.starts).toEqual([]);
  });
});

describe('what a body, a header or a query says of tenant and unit never counts', () => {
  function headersFor({ tenant, unit }: typeof OWN | (typeof OTHERS)[keyof typeof OTHERS]) {
    return {
      ...{ 'X-Tenant': tenant, 'x-tenant-id': tenant, tenant, 'x-kakutei-tenant': tenant },
      ...{ 'X-Unit': unit, 'x-unit-id': unit, unit, 'x-kakutei-unit': unit },
      ...{
        'x-amzn-oidc-identity': tenant,
        'x-forwarded-user': `${tenant}/${unit}`,
        cookie: `tenant=${tenant}`,
      },
    };
  }

  const aimed = named.filter(({ endpoint }) => aimedAt(endpoint) !== 'nothing');

  test.each(aimed)('$name: naming the owner opens nothing', async ({ endpoint }) => {
    const targets = await storedTargets(endpoint);
    const before = await ledgerRows();
    const absent = { ...ALL_RIGHTS, target: 'absent' } as const;
    const [aimAtAbsent] = aimsAt(endpoint, absent, targets);
    if (aimAtAbsent === undefined) throw new Error('There is always an absent target.');
    for (const target of ['other_unit', 'other_tenant'] as const) {
      if (!TARGETS[kindOf(endpoint)].includes(target)) continue;
      const owner = OTHERS[target];
      for (const extra of [
        { headers: headersFor(owner) },
        { body: owner },
        { query: owner },
        // What was read must not be compared before it is asked whose it is.
        { headers: { 'if-match': '"999"' } },
        { headers: headersFor(owner), body: { ...owner, sub: 'shop', scope: 'admin' }, query: owner },
      ]) {
        const [aim] = aimsAt(endpoint, { ...ALL_RIGHTS, target }, targets);
        const seen = await ask(endpoint, ALL_RIGHTS, aim ?? aimAtAbsent, extra);
        expect(seen.status, JSON.stringify(extra)).toBeGreaterThanOrEqual(400);
        expect(seen.status, JSON.stringify(extra)).toBeLessThan(500);
        expect(seen).toEqual(await ask(endpoint, absent, aimAtAbsent, extra));
      }
    }
    expect(await changedSince(before), 'the ledger is as it was').toEqual([]);
    expect(rig.starts).toEqual([]);
  });

  const collections = named.filter(
    ({ endpoint }) => endpoint.method === 'GET' && aimedAt(endpoint) === 'nothing',
  );

  test.each(collections)('$name: naming another owner shows nothing of it', async ({ endpoint }) => {
    const targets = await storedTargets(endpoint);
    const cell: Cell = { ...ALL_RIGHTS, target: 'own' };
    for (const owner of Object.values(OTHERS)) {
      for (const extra of [{ headers: headersFor(owner) }, { query: owner }]) {
        const [aim] = aimsAt(endpoint, cell, targets);
        const seen = await ask(endpoint, cell, aim ?? newAim(endpoint, cell), extra);
        expect([200, 400]).toContain(seen.status);
        for (const other of Object.values(targets)) expect(seen.text).not.toContain(other.id);
      }
    }
  });

  test('a submission that names another owner in a header is stored as of the token', async () => {
    const endpoint = wayIn();
    const cell: Cell = { ...ALL_RIGHTS, target: 'own' };
    for (const owner of Object.values(OTHERS)) {
      const seen = await ask(endpoint, cell, newAim(endpoint, cell), { headers: headersFor(owner) });
      const { id } = JSON.parse(seen.text) as { id: string };
      const stored = (await rig.rows()).filter((row) => row['id'] === id);
      expect(stored).toEqual([expect.objectContaining({ ...OWN, submittedBy: SUBJECTS.person })]);
    }
  });
});

describe('what is named in the body of a submission', () => {
  test.each<{ title: string; field: (aim: Aim) => object; aimsBy: 'intent' | 'route'; because: string }>([
    {
      title: 'the intent to be corrected',
      field: ({ intent }) => ({ corrects: intent.id }),
      aimsBy: 'intent',
      because: 'one can correct what one could read',
    },
    {
      title: 'the route of what follows',
      // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data, never awaited.
      field: ({ route }) => ({ then: { route, payload: { order_id: 'PO-1', sku: 'TEA-01', quantity: 1 } } }),
      aimsBy: 'route',
      because: 'what follows is an intent of the same tenant',
    },
  ])('$title: of another it is as one that is not there, because $because', async ({ field, aimsBy }) => {
    const endpoint = wayIn();
    const targets = await storedTargets(endpoint);
    const before = await ledgerRows();
    const submit = (cell: Cell, aim: Aim) =>
      ask(endpoint, cell, newAim(endpoint, cell), { body: field(aim) });
    const refused: (readonly [Target, Seen])[] = [];
    for (const target of TARGETS[aimsBy].filter((each) => each !== 'own')) {
      const cell: Cell = { ...ALL_RIGHTS, target };
      for (const aim of aimsAt(endpoint, cell, targets)) refused.push([target, await submit(cell, aim)]);
    }
    expect(refused.map(([, { status }]) => status)).toEqual(refused.map(() => 400));
    // A name that no intent can have may be told so: that says nothing of what is stored.
    const wellFormed = refused.filter(([target]) => target !== 'malformed');
    expect(wellFormed.length).toBe(TARGETS[aimsBy].length - 2);
    expect(new Set(wellFormed.map(([, seen]) => JSON.stringify(seen))).size, 'one answer').toBe(1);
    expect(await changedSince(before), 'the ledger is as it was').toEqual([]);
    const own: Cell = { ...ALL_RIGHTS, target: 'own' };
    const aim = newAim(endpoint, own);
    await (await rig.ledger()).create(aim.intent);
    expect(await submit(own, aim)).toMatchObject({ status: 202 });
  });
});

describe('what is served', () => {
  test.each(named)('$name: the own target, to everybody who has the right', async ({ endpoint }) => {
    const others = Object.values(await storedTargets(endpoint));
    const cells = cellsOf(endpoint).filter((cell) => outcomeOf(endpoint, cell) === 'served');
    expect(cells.length).toBeGreaterThan(0);
    // One after the other: the newest of a list is then the caller's own.
    for (const cell of cells) {
      const aim = newAim(endpoint, cell);
      await (await rig.ledger()).create(aim.intent);
      const seen = await ask(endpoint, cell, aim);
      expect([200, 201, 202, 204], `${JSON.stringify(cell)} ${seen.text}`).toContain(seen.status);
      if (aimedAt(endpoint) === 'nothing' && endpoint.method === 'GET') {
        expect(seen.text, 'it holds the own').toContain(aim.intent.id);
      }
      for (const other of others) expect(seen.text).not.toContain(other.id);
    }
  });
});

function wayIn(): Guarded {
  const endpoint = guarded.find((each) => nameOf(each) === 'POST /intents');
  if (endpoint === undefined) throw new Error('There is no way in.');
  return endpoint;
}

type Stored = Readonly<Record<keyof typeof OTHERS, Intent>>;

/** One intent of each other owner, in the state that the endpoint serves. */
async function storedTargets(endpoint: Tried): Promise<Stored> {
  const ledger = await rig.ledger();
  const [other_unit, other_tenant] = [
    newIntent(endpoint, OTHERS.other_unit),
    newIntent(endpoint, OTHERS.other_tenant),
  ];
  for (const each of [other_unit, other_tenant])
    expect(await ledger.create(each)).toMatchObject({ kind: 'created' });
  return { other_unit, other_tenant };
}

function newIntent(endpoint: Tried, owner: { readonly tenant: string; readonly unit: string }): Intent {
  const [now, key] = [Date.now(), fresh()];
  const [route, action] =
    owner.tenant === 'acme' ? ['signed', 'reserve-signed'] : ['umbra-free', 'reserve-freely'];
  const identity = { ...owner, key, route, action };
  return intentOf({
    state: 'awaiting_approval',
    ...lineOf(endpoint).state?.(now),
    ...identity,
    ...{ id: intentIdOf(owner.tenant, owner.unit, { environment: 'test', action }, key), submitToken: key },
    ...{ createdAt: now, plannedAt: now, sendBy: now + 86_400_000 },
  });
}

/** At the own target, fresh. */
function newAim(endpoint: Tried, { kind }: Pick<Cell, 'kind'>): Aim {
  const intent = newIntent(endpoint, OWN);
  return { intent, route: ROUTES.own, fresh: fresh(), subject: SUBJECTS[kind], now: intent.createdAt };
}

/** Each way to aim at the target of a cell; a malformed name has many. */
function aimsAt(endpoint: Tried, cell: Cell, stored: Stored): Aim[] {
  const own = newAim(endpoint, cell);
  const at = (id: string, route: string, intent = own.intent): Aim => ({
    ...own,
    route,
    intent: { ...intent, id },
  });
  switch (cell.target) {
    case 'own':
      return [own];
    case 'other_unit':
      return [at(stored.other_unit.id, ROUTES.own, stored.other_unit)];
    case 'other_tenant':
      return [at(stored.other_tenant.id, ROUTES.other_tenant, stored.other_tenant)];
    case 'absent':
      return [at(ABSENT_ID, ROUTES.absent)];
    case 'malformed':
      return malformed(stored.other_tenant.id).map(([id, route]) => at(id, route));
  }
}

/** Ids and routes that would reach something if a border were thin. */
function malformed(theirs: string): (readonly [id: string, route: string])[] {
  return [
    ['1', '*'],
    [theirs.toUpperCase(), 'UMBRA-FREE'],
    [`${theirs}0`, 'umbra-free '],
    [`umbra#I#${theirs}`, 'umbra#umbra-free'],
    [`../umbra/${theirs}`, 'umbra/umbra-free'],
    ['__proto__', '__proto__'],
  ];
}

interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
}

async function ask(endpoint: Tried, cell: Omit<Cell, 'target'>, aim: Aim, extra: Extra = {}): Promise<Seen> {
  const { method } = endpoint;
  const line = lineOf(endpoint);
  const path = endpoint.path
    .replace('{id}', encodeURIComponent(aim.intent.id))
    .replace('{route}', encodeURIComponent(aim.route));
  const query = new URLSearchParams({ ...line.query?.(aim), ...extra.query }).toString();
  const content = { ...line.body?.(aim), ...extra.body };
  const hasBody = line.body !== null || (extra.body !== undefined && method !== 'GET');
  return served.ask({
    method,
    path: query === '' ? path : `${path}?${query}`,
    token: await tokenOf(cell),
    headers: { ...line.headers?.(aim), ...extra.headers },
    body: hasBody ? JSON.stringify(content) : undefined,
  });
}

const tokens = new Map<string, Promise<string>>();

function tokenOf({ scopes, kind }: Omit<Cell, 'target'>): Promise<string> {
  const scope = scopes.join(' ');
  const name = `${kind} ${scope}`;
  const token = tokens.get(name) ?? served.token({ ...OWN, sub: SUBJECTS[kind], kind, scope });
  tokens.set(name, token);
  return token;
}

function kindOf(endpoint: Tried): 'intent' | 'route' {
  return aimedAt(endpoint) === 'route' ? 'route' : 'intent';
}

type Rows = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

async function ledgerRows(): Promise<Rows> {
  return new Map((await rig.rows()).map((row) => [`${row['pk']} ${row['sk']}`, row]));
}

/** Keys of rows that were added, taken away or changed. */
async function changedSince(before: Rows): Promise<string[]> {
  const after = await ledgerRows();
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(before.get(key), after.get(key)));
}

function fresh(): string {
  count += 1;
  return `rights-${count}`;
}

/** Decisions over the API: who may decide what, on which version, and every refusal. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { intentIdOf } from '../../lib/workflow/accept.ts';
import { apply } from '../../lib/workflow/deps.ts';
import { type Answer, type ApiRig, startApiRig } from '../support/api-rig.ts';
import { attemptOf, IN_STATE, intentOf, UNKNOWN_RESULT } from '../support/kit.ts';

const HOUR_MS = 3_600_000;
const ANN = { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person' };
const OTTO = { ...ANN, sub: 'otto' };
let rig: ApiRig;
let orders = 0;

beforeAll(async () => {
  rig = await startApiRig();
});
afterAll(() => rig.stop());

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** Handed over, its one attempt claimed two hours ago. */
async function stored(change: Partial<Intent> = {}): Promise<Intent> {
  orders += 1;
  const [key, at] = [`PO-D${orders}`, Date.now() - 2 * HOUR_MS];
  const identity = { tenant: 'acme', unit: 'sales', key, route: 'free', action: 'reserve-freely' };
  const attempts = [attemptOf(1, { claimedAt: at, result: UNKNOWN_RESULT })];
  const intent = intentOf({
    ...{ state: 'handover', handover: { reason: 'many', candidates: ['R-1', `S-${key}`], at } },
    ...{ attempts, createdAt: at, plannedAt: at, sendBy: at + 24 * HOUR_MS, dueAt: at + 24 * HOUR_MS },
    ...{ unknownSince: at, submitToken: key },
    ...change,
    ...identity,
    id: intentIdOf('acme', 'sales', { environment: 'test', action: identity.action }, key),
  });
  const created = await (await rig.ledger()).create(intent);
  expect(created.kind).toBe('created');
  return created.intent;
}

async function etagOf(id: string): Promise<string> {
  return String((await rig.call('show', { id })).headers['etag']);
}

/** Null: without the header; left out: with the ETag that stands. */
async function post(
  id: string,
  body: object,
  claims: object = ANN,
  ifMatch?: string | null,
): Promise<Answer> {
  const etag = ifMatch === undefined ? await etagOf(id) : ifMatch;
  const headers = etag === null ? {} : { 'if-match': etag };
  return rig.call('decide', { id, headers, body: JSON.stringify(body), claims });
}

const reason = 'asked the warehouse';
const ABSENT = () => ({ kind: 'declare_absent', lookedAt: inMs(-1000), reason });
const WAIT = () => ({ kind: 'wait_until', until: inMs(HOUR_MS), reason });
const UNDETERMINED = { kind: 'close', outcome: 'undetermined', reason };
const proposalOf = (answer: Answer): string => String((answer.json['proposal'] as { id?: string })?.id);

describe('a decision of one person', () => {
  test('attach_external_id names the effect and confirms nothing yet', async () => {
    const { id } = await stored();
    const answer = await post(id, { kind: 'attach_external_id', externalId: 'R-1', reason });
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { state: 'acknowledged', acknowledgedId: 'R-1', externalId: null, report: 'unconfirmed', version: 2 },
    ]);
    expect(await etagOf(id)).toBe('"2"');
  });

  test('wait_until takes a time of any zone, at most 30 days ahead', async () => {
    const { id } = await stored();
    const far = await post(id, { ...WAIT(), until: '2099-01-01T00:00:00+09:00' });
    expect([far.status, far.json['reason']]).toEqual([409, 'until_too_late']);
    const at = Date.parse(inMs(HOUR_MS));
    const tokyo = new Date(at + 9 * HOUR_MS).toISOString().replace('Z', '+09:00');
    const waiting = await post(id, { ...WAIT(), until: tokyo });
    expect(waiting.json).toMatchObject({ state: 'handover', nextAt: new Date(at).toISOString() });
  });

  test('reopen hands a closed one over again', async () => {
    const { id } = await stored({ state: 'closed', outcome: 'undetermined', handover: null, dueAt: null });
    const answer = await post(id, { kind: 'reopen', reason });
    expect([answer.status, answer.json['state'], answer.headers['etag']]).toEqual([200, 'handover', '"2"']);
  });

  test('starts no run by itself: the sweep does', async () => {
    const { id } = await stored();
    const before = rig.starts.length;
    await post(id, { kind: 'attach_external_id', externalId: 'R-1', reason });
    expect(rig.starts).toHaveLength(before);
    await rig.sweep();
    expect(rig.starts.filter(({ name }) => name.startsWith(id))).toHaveLength(1);
  });
});

describe('a decision of two people', () => {
  test.each<[string, (other: string) => object, object]>([
    ['declare_absent', ABSENT, { state: 'absent', report: 'unconfirmed' }],
    [
      'settle_many',
      (other) => ({ kind: 'settle_many', keep: 'R-1', surplus: [other], reason }),
      { state: 'acknowledged', acknowledgedId: 'R-1' },
    ],
    [
      'close/no_effect',
      () => ({ ...ABSENT(), kind: 'close', outcome: 'no_effect' }),
      { state: 'closed', report: 'rejected' },
    ],
    [
      'close/attested',
      () => ({ kind: 'close', outcome: 'attested', reason }),
      { state: 'closed', report: 'unconfirmed', externalId: null, receipt: null },
    ],
    ['close/undetermined', () => UNDETERMINED, { state: 'closed', report: 'unconfirmed' }],
  ])('%s is a proposal first, and done once another person agrees', async (_, body, expected) => {
    const { id, key } = await stored();
    const proposed = await post(id, body(`S-${key}`));
    expect(proposed.status).toBe(202);
    expect(proposed.json).toMatchObject({ state: 'handover', proposal: { by: 'ann', reason } });
    const agreed = await post(id, { agreesTo: proposalOf(proposed) }, OTTO);
    expect([agreed.status, agreed.json]).toMatchObject([200, { ...expected, proposal: null }]);
    const { json } = await rig.call('evidence', { id });
    const facts = (json['items'] as { kind: string; facts: object }[]).filter(
      (each) => each.kind === 'decision',
    );
    expect(facts.map((each) => each.facts)).toMatchObject([
      { did: 'proposed', by: 'ann', reason },
      { did: 'agreed', by: 'otto', proposedBy: 'ann', proposal: proposalOf(proposed), reason: null },
    ]);
  });

  const AGREEING: readonly { who: object; name: string; status: number; type: string | undefined }[] = [
    { name: 'the same subject', who: ANN, status: 403, type: '/problems/second-person-needed' },
    {
      name: 'the submitter',
      who: { ...ANN, sub: 'shop' },
      status: 403,
      type: '/problems/second-person-needed',
    },
    { name: 'another unit', who: { ...OTTO, unit: 'rental' }, status: 404, type: '/problems/not-found' },
    { name: 'another tenant', who: { ...OTTO, tenant: 'umbra' }, status: 404, type: '/problems/not-found' },
    { name: 'an agent', who: { ...OTTO, kind: 'agent' }, status: 403, type: undefined },
    { name: 'a second person', who: OTTO, status: 200, type: undefined },
  ];
  test.each(AGREEING)('agreed to by $name: $status', async ({ who, status, type }) => {
    const { id } = await stored();
    const agreesTo = proposalOf(await post(id, UNDETERMINED));
    const answer = await post(id, { agreesTo, reason }, who);
    expect([answer.status, answer.json['type']]).toEqual([status, type]);
    expect((await rig.call('show', { id })).json['state']).toBe(status === 200 ? 'closed' : 'handover');
  });

  test('an agent does not propose either', async () => {
    const { id } = await stored();
    const answer = await post(id, UNDETERMINED, { ...ANN, kind: 'agent' });
    expect([answer.status, answer.text]).toEqual([403, '{"message":"Forbidden"}']);
    expect((await rig.call('show', { id })).json['proposal']).toBeNull();
  });

  test('survives a restart: new clients on the same table know the proposal', async () => {
    const { id } = await stored();
    const agreesTo = proposalOf(await post(id, ABSENT()));
    rig.restart(3);
    const agreed = await post(id, { agreesTo }, OTTO);
    expect([agreed.status, agreed.json['state']]).toEqual([200, 'absent']);
  });

  test('is void after new evidence: read again, and propose again', async () => {
    const intent = await stored();
    const { id } = intent;
    const proposed = await post(id, UNDETERMINED);
    const etag = String(proposed.headers['etag']);
    const { deps } = await import('../../functions/wiring.ts');
    const read = await deps().ledger.read({ tenant: 'acme', intentId: id });
    if (read === undefined) throw new Error('not stored');
    expect(await apply(deps(), read, { kind: 'conflicted' })).toBeDefined();
    const agreesTo = proposalOf(proposed);
    const stale = await post(id, { agreesTo }, OTTO, etag);
    expect([stale.status, stale.json['type']]).toEqual([412, '/problems/stale']);
    const gone = await post(id, { agreesTo }, OTTO);
    expect([gone.status, gone.json]).toMatchObject([
      409,
      { type: '/problems/decision-refused', reason: 'proposal_gone' },
    ]);
  });
});

describe('the version that was read', () => {
  const BAD: readonly { ifMatch: string | null; status: number; type: string; because: string }[] = [
    { ifMatch: null, status: 428, type: 'if-match-missing', because: 'it is not named' },
    { ifMatch: '', status: 428, type: 'if-match-missing', because: 'it is not named' },
    { ifMatch: '*', status: 428, type: 'if-match-missing', because: 'any version is none' },
    { ifMatch: '"2"', status: 412, type: 'stale', because: 'it is another one' },
    { ifMatch: '"01"', status: 412, type: 'stale', because: 'that is no ETag of ours' },
    { ifMatch: '1', status: 412, type: 'stale', because: 'that is no ETag' },
    { ifMatch: 'W/"1"', status: 412, type: 'stale', because: 'a weak one does not do' },
    { ifMatch: '"1", "2"', status: 412, type: 'stale', because: 'a person read one' },
  ];
  test.each(BAD)('$ifMatch is $status, because $because', async ({ ifMatch, status, type }) => {
    const { id } = await stored();
    const answer = await post(id, WAIT(), ANN, ifMatch);
    expect([answer.status, answer.json['type']]).toEqual([status, `/problems/${type}`]);
    expect(await etagOf(id)).toBe('"1"');
  });

  test('a decision sent twice is done once: the repeat is stale', async () => {
    const { id } = await stored();
    const body = WAIT();
    const answers = [await post(id, body, ANN, '"1"'), await post(id, body, ANN, '"1"')];
    expect(answers.map(({ status }) => status)).toEqual([200, 412]);
  });
});

const REFUSED: readonly {
  name: string;
  change?: Partial<Intent>;
  body: (key: string) => object;
  status: number;
  reason?: string;
}[] = [
  { name: 'an unknown kind', body: () => ({ kind: 'resend', reason }), status: 400 },
  { name: 'no reason', body: () => ({ kind: 'reopen' }), status: 400 },
  { name: 'a blank reason', body: () => ({ kind: 'reopen', reason: '  ' }), status: 400 },
  { name: 'a reason too long', body: () => ({ kind: 'reopen', reason: 'x'.repeat(501) }), status: 400 },
  { name: 'an unknown field', body: () => ({ ...UNDETERMINED, force: true }), status: 400 },
  { name: 'an unknown outcome', body: () => ({ ...UNDETERMINED, outcome: 'confirmed' }), status: 400 },
  {
    name: 'lookedAt without a zone',
    body: () => ({ ...ABSENT(), lookedAt: '2026-01-01T00:00:00' }),
    status: 400,
  },
  { name: 'no lookedAt', body: () => ({ kind: 'declare_absent', reason }), status: 400 },
  {
    name: 'lookedAt where no absence is stated',
    body: () => ({ ...UNDETERMINED, lookedAt: inMs(-1) }),
    status: 400,
  },
  {
    name: 'an id with a control character',
    body: () => ({ kind: 'attach_external_id', externalId: 'R\n1', reason }),
    status: 400,
  },
  {
    name: 'no surplus',
    body: () => ({ kind: 'settle_many', keep: 'R-1', surplus: [], reason }),
    status: 409,
    reason: 'surplus_missing',
  },
  { name: 'a proposal and a decision', body: () => ({ agreesTo: 'p', ...UNDETERMINED }), status: 400 },
  { name: 'agreement to nothing', body: () => ({ agreesTo: 'p' }), status: 409, reason: 'proposal_gone' },
  {
    name: 'the wrong state',
    change: { state: 'unknown', handover: null },
    body: WAIT,
    status: 409,
    reason: 'not_in_this_state',
  },
  {
    name: 'reopening an open one',
    body: () => ({ kind: 'reopen', reason }),
    status: 409,
    reason: 'not_in_this_state',
  },
  {
    name: 'absence of what was seen',
    change: { seenAt: 1 },
    body: ABSENT,
    status: 409,
    reason: 'something_seen',
  },
  {
    name: 'absence looked up in the future',
    body: () => ({ ...ABSENT(), lookedAt: inMs(HOUR_MS) }),
    status: 409,
    reason: 'looked_in_the_future',
  },
  {
    name: 'absence looked up too early',
    body: () => ({ ...ABSENT(), lookedAt: inMs(-3 * HOUR_MS) }),
    status: 409,
    reason: 'looked_too_early',
  },
  {
    name: 'closing without effect, looked up too early',
    body: () => ({ kind: 'close', outcome: 'no_effect', lookedAt: inMs(-3 * HOUR_MS), reason }),
    status: 409,
    reason: 'looked_too_early',
  },
  {
    name: 'an id of nothing that was sent',
    change: { attempts: [] },
    body: () => ({ kind: 'attach_external_id', externalId: 'R-1', reason }),
    status: 409,
    reason: 'nothing_was_sent',
  },
  {
    name: 'a surplus that nobody saw',
    body: () => ({ kind: 'settle_many', keep: 'R-1', surplus: ['R-77'], reason }),
    status: 409,
    reason: 'not_a_candidate',
  },
  {
    name: 'a kept one that is surplus',
    body: () => ({ kind: 'settle_many', keep: 'R-1', surplus: ['R-1'], reason }),
    status: 409,
    reason: 'kept_is_surplus',
  },
  {
    name: 'a time that is over',
    body: () => ({ ...WAIT(), until: inMs(-1) }),
    status: 409,
    reason: 'until_passed',
  },
];

describe('refusals', () => {
  test.each(REFUSED)('$name: $status $reason', async ({ change = {}, body, status, reason: expected }) => {
    const { id, key } = await stored(change);
    const answer = await post(id, body(key));
    const type = status === 400 ? '/problems/invalid-request' : '/problems/decision-refused';
    expect([answer.status, answer.json['type'], answer.json['reason']]).toEqual([status, type, expected]);
    expect(await etagOf(id), 'nothing was written').toBe('"1"');
  });

  test('a look that was too early says from when on one counts', async () => {
    const { id, attempts } = await stored();
    const answer = await post(id, { ...ABSENT(), lookedAt: inMs(-3 * HOUR_MS) });
    // Z 15 000 + D 500 + L 300 + 300 000 between clocks.
    const after = new Date((attempts[0]?.claimedAt ?? 0) + 315_800).toISOString();
    expect(answer.json['detail']).toBe(`A look counts if it began later than ${after}.`);
  });

  test("a record that is another intent's is refused, whoever says so", async () => {
    const [mine, other] = [await stored(), await stored()];
    const binding = {
      provider: 'warehouse',
      account: 'tokyo-1',
      environment: 'test',
      kind: 'reservation',
    } as const;
    const externalId = `S-${mine.key}`;
    const ledger = await rig.ledger();
    await ledger.bind({ ...binding, externalId }, { tenant: 'acme', intentId: other.id });
    for (const body of [
      { kind: 'attach_external_id', externalId, reason },
      { kind: 'settle_many', keep: 'R-1', surplus: [externalId], reason },
      { kind: 'close', outcome: 'attested', externalId, reason },
    ]) {
      expect((await post(mine.id, body)).json).toMatchObject({ status: 409, reason: 'bound_elsewhere' });
    }
  });

  test('a malformed id and an absent one are the same 404', async () => {
    const answers = [
      await post('nothing', WAIT(), ANN, '"1"'),
      await post(IN_STATE.handover.id, WAIT(), ANN, '"1"'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });
});

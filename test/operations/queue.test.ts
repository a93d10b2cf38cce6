/** What stands in the queue, in which order, and what each item tells a person who must decide. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Intent, IntentState } from '../../lib/domain/intent.ts';
import type { ProviderPromise } from '../../lib/domain/promise.ts';
import type { Route } from '../../lib/domain/route.ts';
import type { AttentionList, Ledger, Page } from '../../lib/ledger/ledger.ts';
import { memoryLedger } from '../../lib/ledger/memory-ledger.ts';
import { type QueueWish, queue } from '../../lib/operations/queue.ts';
import type { QueueItem } from '../../lib/operations/queue-item.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import type { Deps } from '../../lib/workflow/deps.ts';
import {
  ACKNOWLEDGED,
  APPROVAL,
  attemptOf,
  BY_APPROVAL,
  counter,
  fakeClock,
  IN_STATE,
  NOW,
  POLICY,
  routeTo,
  searchOf,
  TIMING,
  UNKNOWN_RESULT,
} from '../support/kit.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PLAIN = routeTo('http://127.0.0.1:1', { policy: { ...POLICY, confirmWithinMs: HOUR_MS } });
const BY_HAND: Route = { ...PLAIN, name: 'by-hand', policy: { ...PLAIN.policy, permission: BY_APPROVAL } };
const PATIENT: Route = {
  ...BY_HAND,
  name: 'patient',
  policy: { ...BY_HAND.policy, confirmWithinMs: DAY_MS },
};

let ledger: Ledger;
let clock: ReturnType<typeof fakeClock>;
let pagesRead: number;
let count = 0;

beforeEach(() => {
  ledger = memoryLedger(counter());
  clock = fakeClock(NOW + DAY_MS);
  pagesRead = 0;
});

function deps(promise: Partial<ProviderPromise> = {}): Deps {
  const provider = { ...warehouse, promise: { ...warehouse.promise, ...promise } };
  const counting: Ledger = {
    ...ledger,
    attention: (...wish) => {
      pagesRead += 1;
      return ledger.attention(...wish);
    },
  };
  const routes = registryOf([PLAIN, BY_HAND, PATIENT], [provider]);
  return { ledger: counting, clock, newId: counter('n'), timing: TIMING, routes, log: () => undefined };
}

/** Stores an intent in this state under an id of its own, and tells the id. */
async function stored(state: IntentState, change: Partial<Intent> = {}): Promise<string> {
  count += 1;
  const id = `int_${String(count).padStart(40, '0')}`;
  await ledger.create({ ...IN_STATE[state], id, submitToken: id, ...change });
  return id;
}

const WISH: QueueWish = {
  ...{ tenant: 'acme', unit: 'sales', list: 'doubtful', limit: 25, cursor: null, language: 'en' },
};
const ask = (change: Partial<QueueWish> = {}, on = deps()): Promise<Page<QueueItem>> =>
  queue(on)({ ...WISH, ...change });

async function only(change: Partial<QueueWish> = {}, on = deps()): Promise<QueueItem> {
  const [item, ...more] = (await ask(change, on)).items;
  if (item === undefined || more.length > 0) throw new Error('Not exactly one item.');
  return item;
}

const idsOf = (page: Page<QueueItem>) => page.items.map((item) => item.id);
const incident = { reason: 'second_effect', candidates: ['R-1', 'R-2'], at: NOW } as const;

describe('what is doubtful', () => {
  test('is unknown, handed over, or confirmed twice; the longest in doubt comes first', async () => {
    const young = await stored('unknown', { unknownSince: NOW + 3 * HOUR_MS });
    const old = await stored('handover', { unknownSince: NOW });
    const middle = await stored('confirmed', { unknownSince: NOW + HOUR_MS, incident });
    for (const state of [
      'ready',
      'sending',
      'acknowledged',
      'absent',
      'confirmed',
      'rejected',
      'closed',
    ] as const)
      await stored(state);
    const page = await ask();
    expect(idsOf(page)).toEqual([old, middle, young]);
    expect(page.cursor).toBeNull();
    expect(page.items.map((item) => [item.since, item.ageMs])).toEqual([
      ['2026-11-30T09:00:00.000Z', 24 * HOUR_MS],
      ['2026-11-30T10:00:00.000Z', 23 * HOUR_MS],
      ['2026-11-30T12:00:00.000Z', 21 * HOUR_MS],
    ]);
  });

  test("is another unit's or tenant's affair when it is theirs", async () => {
    await stored('unknown', { unit: 'rental' });
    await stored('unknown', { tenant: 'umbra' });
    const mine = await stored('unknown');
    expect(idsOf(await ask())).toEqual([mine]);
    expect(idsOf(await ask({ tenant: 'umbra', unit: 'rental' }))).toEqual([]);
  });

  test('what has settled since the index was read is left out', async () => {
    await stored('unknown');
    const settled = { ...ledger, attention: async () => ({ items: [IN_STATE.rejected], cursor: null }) };
    expect((await queue({ ...deps(), ledger: settled })(WISH)).items).toEqual([]);
  });
});

describe('pages', () => {
  const mixed = async (mine: number, theirs: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let at = 0; at < mine; at += 1) {
      ids.push(await stored('unknown', { unknownSince: NOW + at * 1000 }));
      for (let each = 0; each < theirs; each += 1)
        await stored('unknown', { unit: 'rental', unknownSince: NOW + at * 1000 + 1 + each });
    }
    return ids;
  };

  test('are full although every second one is of another unit', async () => {
    const ids = await mixed(12, 1);
    expect(idsOf(await ask({ limit: 6 }))).toEqual(ids.slice(0, 6));
  });

  test('are never longer than was asked for, also where the own ones stand close together', async () => {
    for (let at = 0; at < 4; at += 1) await stored('unknown', { unit: 'rental', unknownSince: NOW + at });
    const ids: string[] = [];
    for (let at = 4; at < 14; at += 1) ids.push(await stored('unknown', { unknownSince: NOW + at }));
    const page = await ask({ limit: 5 });
    expect(idsOf(page)).toEqual(ids.slice(0, 5));
    expect(idsOf(await ask({ limit: 100, cursor: page.cursor }))).toEqual(ids.slice(5));
  });

  test.each([1, 3, 5, 100])(
    'of %i hold everything once, in order, at most five reads each',
    async (limit) => {
      const ids = await mixed(5, 9);
      const seen: string[] = [];
      let cursor: string | null = null;
      let answers = 0;
      do {
        pagesRead = 0;
        const page: Page<QueueItem> = await ask({ limit, cursor });
        expect(pagesRead).toBeLessThanOrEqual(5);
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...idsOf(page));
        cursor = page.cursor;
        answers += 1;
      } while (cursor !== null && answers < 100);
      expect(seen).toEqual(ids);
    },
  );
});

describe('what was approved and is not confirmed', () => {
  const at = (signedAt: number) => ({ ...APPROVAL, signatures: [{ by: 'ann', at: signedAt }] });
  const approved = (state: IntentState, signedAt: number, change: Partial<Intent> = {}) =>
    stored(state, { approval: at(signedAt), route: 'by-hand', ...change });
  const late = (change: Partial<QueueWish> = {}) => ask({ list: 'approved', ...change });

  test('is listed after the time of its route, the oldest approval first', async () => {
    clock = fakeClock(NOW + 3 * HOUR_MS);
    const second = await approved('acknowledged', NOW + HOUR_MS);
    const first = await approved('ready', NOW);
    await approved('ready', NOW + 2 * HOUR_MS);
    await approved('ready', NOW, { route: 'patient' });
    const page = await late();
    expect(idsOf(page)).toEqual([first, second]);
    expect(page.items[0]).toMatchObject({ since: '2026-11-30T09:00:00.000Z', ageMs: 3 * HOUR_MS });
  });

  test.each<[string, IntentState, Partial<Intent>, number, boolean]>([
    ['the time is exclusive', 'ready', {}, NOW + HOUR_MS, false],
    ['one millisecond later it is late', 'ready', {}, NOW + HOUR_MS + 1, true],
    ['it is planned for later', 'ready', { plannedAt: NOW + 5 * HOUR_MS }, NOW + 3 * HOUR_MS, false],
    ['the approval does not hold any more', 'awaiting_approval', {}, NOW + 3 * HOUR_MS, false],
    ['it is confirmed', 'confirmed', {}, NOW + 3 * HOUR_MS, false],
    ['it is in the other list', 'unknown', {}, NOW + 3 * HOUR_MS, false],
    ['its route is gone: an hour', 'absent', { route: 'gone' }, NOW + 3 * HOUR_MS, true],
  ])('%s (%s), so it is listed or not', async (_, state, change, now, isListed) => {
    clock = fakeClock(now);
    const id = await approved(state, NOW, change);
    expect(idsOf(await late())).toEqual(isListed ? [id] : []);
  });

  test('reading ends at the first page on which nothing can be late', async () => {
    clock = fakeClock(NOW + 2 * HOUR_MS);
    const id = await approved('ready', NOW);
    for (let each = 1; each <= 20; each += 1) await approved('ready', NOW + HOUR_MS + each * 1000);
    const page = await late({ limit: 2 });
    expect([idsOf(page), page.cursor, pagesRead]).toEqual([[id], null, 2]);
  });
});

describe('an item', () => {
  test('holds the reference values, what was tried, and the last search', async () => {
    const lastSearch = searchOf({ candidates: ['R-2'], cancelUntil: NOW + HOUR_MS });
    await stored('handover', {
      lastSearch,
      trustedSearchAt: NOW + 20_000,
      acknowledgedId: 'R-1',
      handover: { reason: 'many', candidates: ['R-1', 'R-2'], at: NOW },
      owner: { by: 'ann', at: NOW },
    });
    const item = await only();
    expect(item.owner).toEqual({ by: 'ann', at: '2026-11-30T09:00:00.000Z' });
    expect(item.lastTrustworthySearchAt).toBe('2026-11-30T09:00:20.000Z');
    expect(item.facts).toMatchObject({
      ...{ reference: 'PO-37', account: 'tokyo-1', environment: 'test', candidates: ['R-1', 'R-2'] },
      attempts: [{ number: 1, evidenceId: 'a1', claimedAt: '2026-11-30T09:00:00.000Z' }],
      lastSearch: {
        ...{ verdict: 'wait', complete: true, authorised: true, candidates: ['R-2'] },
        ...{ reference: 'PO-37', account: 'tokyo-1', environment: 'test' },
        ...{ startedAt: '2026-11-30T09:00:20.000Z', endedAt: '2026-11-30T09:00:20.010Z' },
        cancelUntil: '2026-11-30T10:00:00.000Z',
      },
    });
    expect(item.externalId).toBeNull();
  });

  test('names the checks of a mismatch, and how often its search was held back', async () => {
    await stored('handover', {
      handover: { reason: 'mismatch', candidates: ['R-1'], at: NOW, failedChecks: ['publicUrl', 'sku'] },
      heldBack: { times: 3, calls: null },
    });
    const { facts, explanation } = await only();
    expect(facts).toMatchObject({ failedChecks: ['publicUrl', 'sku'], searchesHeldBack: 3 });
    expect(explanation).toContain('What was read back does not hold in: public page, sku.');
  });

  test('names no reference of ours where the provider shows none, whatever was recorded', async () => {
    await stored('handover', { lastSearch: searchOf({ reference: 'int_37' }) });
    const { facts } = await only({}, deps({ referenceShown: false }));
    expect(facts).toMatchObject({ reference: null, lastSearch: { verdict: 'wait', reference: null } });
  });

  test('says its words in the language that was asked for', async () => {
    await stored('unknown');
    const [english, japanese] = [await only(), await only({ language: 'ja' })];
    expect(english.explanation).toContain('undetermined');
    expect(japanese.explanation).toContain('未確定');
    expect({ ...japanese, explanation: '' }).toEqual({ ...english, explanation: '' });
  });

  test('counts the conflicts that came under its key', async () => {
    const id = await stored('unknown', { conflictAt: NOW });
    await ledger.addEvidence(
      { tenant: 'acme', intentId: id },
      { kind: 'conflict', id: 'c', at: NOW, facts: {} },
    );
    expect((await only()).conflicts).toBe(1);
  });
});

describe('a resend', () => {
  const reasons = async (change: Partial<Intent>, state: IntentState = 'unknown', on = deps()) => {
    await stored(state, change);
    return (await only({}, on)).resend;
  };
  const quiet = { lastSearch: searchOf({ startedAt: NOW + HOUR_MS }) };

  test('is allowed when nothing is against it', async () => {
    clock = fakeClock(NOW + 2 * HOUR_MS);
    expect(await reasons(quiet)).toEqual({ allowed: true, reasons: [] });
  });

  test.each<[string, string[], Partial<Intent>, IntentState]>([
    ['it was not searched yet', ['search_first'], {}, 'unknown'],
    ['something was seen', ['something_seen'], { ...quiet, seenAt: NOW }, 'unknown'],
    [
      'it was withdrawn and is too late',
      ['withdrawn', 'deadline_passed'],
      { ...quiet, noMoreWrites: true, sendBy: NOW },
      'unknown',
    ],
    ['a person decides first', ['handed_over', 'search_first'], {}, 'handover'],
    ['a twin goes first', ['waits_for_another'], { ...quiet, waitsFor: 'int_1' }, 'unknown'],
    ['the route is gone', ['route_not_configured'], { ...quiet, route: 'gone' }, 'unknown'],
    [
      'the account of the route is another now',
      ['route_not_configured'],
      { ...quiet, account: 'osaka-1' },
      'unknown',
    ],
    ['nobody approved it', ['permission_missing'], { ...quiet, route: 'by-hand' }, 'unknown'],
  ])('is refused because %s: %j', async (_, expected, change, state) => {
    clock = fakeClock(NOW + 2 * HOUR_MS);
    expect(await reasons(change, state)).toEqual({ allowed: false, reasons: expected });
  });

  test('of a correction waits for what it corrects, and that is said once', async () => {
    clock = fakeClock(NOW + 2 * HOUR_MS);
    const original = await stored('acknowledged');
    const waits = { corrects: original, waitsFor: original, attempts: [] };
    expect((await reasons(waits, 'handover')).reasons).toEqual(['handed_over', 'original_unsettled']);
  });

  test('is settled after a second effect', async () => {
    const { allowed, reasons: why } = await reasons({ incident }, 'confirmed');
    expect([allowed, why.slice(0, 2)]).toEqual([false, ['settled', 'something_seen']]);
  });

  test.each(['warehouse', '*'])('is frozen with %s, for the items of that route only', async (route) => {
    clock = fakeClock(NOW + 2 * HOUR_MS);
    await stored('unknown', quiet);
    await stored('unknown', { ...quiet, route: 'by-hand', approval: { ...APPROVAL, until: NOW + DAY_MS } });
    await ledger.freeze(route, { by: 'ann', why: 'a test', at: NOW });
    const frozen = (await ask()).items.map((item) => [item.route, item.resend.reasons.includes('frozen')]);
    expect(Object.fromEntries(frozen)).toEqual({ warehouse: true, 'by-hand': route === '*' });
  });

  test('is not possible while bytes may be out', async () => {
    const approval = { ...APPROVAL, until: NOW + 2 * DAY_MS };
    await stored('sending', { approval, route: 'by-hand' });
    expect((await only({ list: 'approved' })).resend.reasons).toContain('under_way');
  });
});

describe('the deadline', () => {
  const key = (lifetimeMs: number) =>
    deps({ key: { ...warehouse.promise.key, lifetimeMs } as NonNullable<ProviderPromise['key']> });
  /** Z 15 000 + D 500, skew 0. */
  const MARGIN_MS = 15_500;

  test.each<[string, number, number | null, { at: number; of: string; passed: boolean }]>([
    [
      'the key ends first',
      2 * DAY_MS,
      NOW + 3 * DAY_MS,
      { at: NOW + 2 * DAY_MS - MARGIN_MS, of: 'key', passed: false },
    ],
    [
      'the effect can be cancelled for less long',
      2 * DAY_MS,
      NOW + DAY_MS + 1,
      { at: NOW + DAY_MS + 1, of: 'cancel', passed: false },
    ],
    [
      'the key has ended, cancelling has not',
      HOUR_MS,
      NOW + 2 * DAY_MS,
      { at: NOW + 2 * DAY_MS, of: 'cancel', passed: false },
    ],
    [
      'cancelling ends at this moment: it has passed',
      2 * DAY_MS,
      NOW + DAY_MS,
      { at: NOW + 2 * DAY_MS - MARGIN_MS, of: 'key', passed: false },
    ],
    [
      'both have passed: the later one',
      HOUR_MS,
      NOW,
      { at: NOW + HOUR_MS - MARGIN_MS, of: 'key', passed: true },
    ],
    ['the moment itself has passed', HOUR_MS, NOW + DAY_MS, { at: NOW + DAY_MS, of: 'cancel', passed: true }],
  ])('because %s', async (_, lifetimeMs, cancelUntil, expected) => {
    await stored('unknown', { cancelUntil });
    const { deadline } = await only({}, key(lifetimeMs));
    expect(deadline).toEqual({ ...expected, at: new Date(expected.at).toISOString() });
  });

  test('is the last moment for a write where the key lives for ever, or nothing was sent, and nothing can be cancelled', async () => {
    const sendBy = NOW + 5 * DAY_MS;
    const last = { at: new Date(sendBy).toISOString(), of: 'send', passed: false };
    await stored('unknown', { sendBy });
    expect((await only()).deadline).toEqual(last);
    ledger = memoryLedger(counter());
    await stored('handover', { attempts: [], sendBy });
    expect((await only({}, key(DAY_MS))).deadline).toEqual(last);
  });
});

test.each<[IntentState, Partial<Intent>, string[]]>([
  ['unknown', {}, []],
  ['handover', {}, ['attach_external_id', 'declare_absent', 'settle_many', 'wait_until', 'close']],
  [
    'handover',
    { seenAt: NOW, attempts: [attemptOf(1, { result: ACKNOWLEDGED })] },
    ['attach_external_id', 'settle_many', 'wait_until', 'close'],
  ],
  ['confirmed', { incident }, ['settle_many']],
])('%s %j lets people decide %j', async (state, change, expected) => {
  await stored(state, change);
  expect((await only()).allowedDecisions).toEqual(expected);
});

test('the list asks for a route only once whether it is frozen', async () => {
  for (let each = 0; each < 5; each += 1)
    await stored('unknown', { attempts: [attemptOf(1, { result: UNKNOWN_RESULT })] });
  const asked: string[] = [];
  const on = deps();
  const readForSend: Ledger['readForSend'] = (ref, route) => {
    asked.push(route);
    return ledger.readForSend(ref, route);
  };
  await queue({ ...on, ledger: { ...on.ledger, readForSend } })(WISH);
  expect(asked).toEqual(['warehouse']);
});

const LISTS: readonly AttentionList[] = ['doubtful', 'approved'];
test.each(LISTS)('an empty list %s has no page after it', async (list) => {
  expect(await ask({ list })).toEqual({ items: [], cursor: null });
});

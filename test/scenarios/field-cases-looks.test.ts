/** Faults met in the field when looking: zero, one and many are told apart, and a failed look is none of them. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { setFrozen } from '../../lib/operations/freeze.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import {
  answerOf,
  ending,
  type FieldWorld,
  fieldWorld,
  isSearch,
  type LookAnswer,
  reworded,
  SEARCHED,
  sent,
  shown,
} from '../support/field-world.ts';
import { NOW, WINDOW_MS } from '../support/kit.ts';

const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, effects: 1 };
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const NOT_FOUND = shown(404, { error: 'not_found' });

const look = async (s: FieldWorld, intent: Intent) => {
  await s.w.steps['Search']?.(runInput(intent));
  return s.w.read(intent.id);
};

function emptyFor(path: string, change: object = {}): LookAnswer {
  const reference = new URLSearchParams(path.split('?')[1]).get('reference');
  const place = { account: 'tokyo-1', environment: 'test' };
  return shown(200, { ...place, reference, orders: [], next: null, ...change });
}

describe('C28: a saved order is listed only after 45 seconds', () => {
  const LAG_MS = 45 * SECOND_MS;
  const lagging = {
    script: ['cut_after_save'],
    visibilityLagMs: LAG_MS,
    route: { visibilityLagMs: LAG_MS },
  } as const;

  it('empty looks after 1, 5 and 20 seconds wait; the one after 60 finds it; one write', async () => {
    const s = fieldWorld('searchable', lagging);
    const intent = await sent(s);
    const verdicts: unknown[] = [];
    for (const seconds of [1, 5, 20, 60]) {
      s.w.clock.advance(NOW + seconds * SECOND_MS - s.w.clock.now());
      const { state, lastSearch } = await look(s, intent);
      verdicts.push([state, lastSearch?.verdict]);
    }
    const waiting = ['unknown', 'wait'];
    expect(verdicts).toEqual([waiting, waiting, waiting, ['acknowledged', 'found']]);
    expect(await ending(s, intent)).toEqual(CONFIRMED);
  });

  it('two who look at once write nothing', async () => {
    const s = fieldWorld('searchable', lagging);
    const intent = await sent(s);
    s.w.clock.advance(20 * SECOND_MS);
    await Promise.all([s.w.run(runInput(intent)), s.w.run(runInput(intent)), look(s, intent)]);
    expect(await ending(s, intent)).toEqual(CONFIRMED);
  });

  it.each<{ afterMs: number; verdict: string; because: string }>([
    { afterMs: WINDOW_MS, verdict: 'wait', because: 'the limit itself is not over' },
    { afterMs: WINDOW_MS + 1, verdict: 'absent', because: 'everything that was sent would show' },
  ])('an empty look $afterMs ms after the claim says $verdict, because $because', async (row) => {
    const policy = { repeatOn: ['closed_without_answer'], attempts: 1 };
    const s = fieldWorld('searchable', { script: ['cut_before_save'], policy });
    const intent = await sent(s);
    s.w.clock.advance(row.afterMs);
    expect((await look(s, intent)).lastSearch?.verdict).toBe(row.verdict);
  });
});

describe('C29: more than one page', () => {
  const NEIGHBOURS = 130;

  it('the order stands on the third page, behind 130 that begin alike', async () => {
    const s = fieldWorld('searchable', { script: ['cut_before_save', 'cut_after_save'] });
    const intent = await sent(s);
    for (let n = 0; n < NEIGHBOURS; n += 1) {
      s.supplier.add({ ...JSON.parse(intent.frozen.body), reference: `${intent.id}-${n}` });
    }
    expect(await ending(s, intent)).toEqual({ ...CONFIRMED, writes: 2, effects: NEIGHBOURS + 1 });
    const ours = s.supplier.orders().find((each) => each.reference === intent.id);
    expect((await s.w.read(intent.id)).externalId).toBe(ours?.order_id);
  });

  it('a cursor that expires makes every look incomplete: no zero, no second write', async () => {
    const s = fieldWorld('searchable', { script: ['cut_before_save'] });
    s.supplier.faults.push({ kind: 'bad_cursor' });
    const intent = await sent(s);
    const end = { state: 'handover', reason: 'exhausted', writes: 1, effects: 0 };
    expect(await ending(s, intent)).toEqual(end);
    expect((await s.w.read(intent.id)).lastSearch).toMatchObject({
      complete: false,
      verdict: 'inconclusive',
    });
  });

  it('one that moves to the next page while the pages are turned is one, not two', async () => {
    let first: LookAnswer | undefined;
    const s = fieldWorld('searchable', {
      script: ['cut_after_save'],
      view: ({ path, honest }) => {
        if (!isSearch(path) || path.includes('cursor=')) return path.includes('cursor=') ? first : undefined;
        first = honest;
        return reworded(honest, (text) => text.replace('"next":null', '"next":"p2"'));
      },
    });
    expect(await ending(s, await sent(s))).toEqual(CONFIRMED);
    // Once when it was found, and once in the audit.
    expect(s.looks.filter(({ path }) => path.includes('cursor=p2'))).toHaveLength(2);
  });

  it('what a list shortens is read singly before it is compared', async () => {
    const s = fieldWorld('searchable', {
      script: ['cut_after_save'],
      view: ({ path, honest }) =>
        isSearch(path) ? reworded(honest, (text) => text.replace('1-2 Ueno', '1-2 U…')) : undefined,
    });
    expect(await ending(s, await sent(s))).toEqual(CONFIRMED);
  });
});

describe('C31: a list that shows less than there is, or more', () => {
  it('an order that was cancelled at once is found, does not hold, and is not made again', async () => {
    const s = fieldWorld('searchable', {
      script: ['cut_after_save'],
      view: ({ honest }) => reworded(honest, (text) => text.replace('"created"', '"cancelled"')),
    });
    const end = { state: 'handover', reason: 'mismatch', writes: 1, effects: 1 };
    expect(await ending(s, await sent(s))).toEqual(end);
    for (const { path } of s.looks.filter((each) => isSearch(each.path)))
      expect(path).toContain('status=all');
  });

  it.each<{ change: object | null; because: string }>([
    { change: null, because: 'it names nothing: a token without the right to read gets it too' },
    { change: { account: 'other-1' }, because: 'it is of another account' },
    { change: { environment: 'production' }, because: 'it is of another environment' },
    { change: { reference: 'int_3' }, because: 'it answers another question' },
  ])('an empty list is no zero, because $because', async ({ change }) => {
    const s = fieldWorld('searchable', {
      script: ['cut_before_save'],
      view: ({ path }) => (change === null ? shown(200, '[]') : emptyFor(path, change)),
    });
    const end = { state: 'handover', reason: 'exhausted', writes: 1, effects: 0 };
    expect(await ending(s, await sent(s))).toEqual(end);
  });

  it('an order older than what is listed is not taken for absent', async () => {
    const search = {
      by: 'reference',
      complete: 'all',
      maxAgeMs: 10 * SECOND_MS,
      readProbe: 'named',
    } as const;
    const s = fieldWorld('searchable', { script: ['cut_before_save'], promise: { search } });
    const end = { state: 'handover', reason: 'exhausted', writes: 1, effects: 0 };
    expect(await ending(s, await sent(s))).toEqual(end);
  });
});

describe('C32: the search itself fails', () => {
  it.each<{ answer: LookAnswer; error: string }>([
    ...[401, 403, 404, 429, 500].map((code) => ({ answer: shown(code, '[]'), error: `status_${code}` })),
    { answer: { kind: 'failed', error: 'timeout' }, error: 'timeout' },
    { answer: { kind: 'failed', error: 'redirected' }, error: 'redirected' },
    { answer: shown(200, '<html>Log in</html>'), error: 'bad_answer' },
    { answer: shown(200, 'null'), error: 'bad_answer' },
    { answer: shown(200, { account: 'tokyo-1', environment: 'test', next: null }), error: 'bad_answer' },
  ])(
    '$error: no zero, at most 20 looks, then people; the kind of error is kept',
    async ({ answer, error }) => {
      for (const kind of SEARCHED) {
        const s = fieldWorld(kind, {
          script: ['cut_before_save'],
          view: ({ path }) => (isSearch(path) ? answer : undefined),
        });
        const intent = await sent(s);
        const end = { state: 'handover', reason: 'exhausted', writes: 1, effects: 0 };
        expect(await ending(s, intent), kind).toEqual(end);
        expect((await s.w.read(intent.id)).lastSearch?.error, kind).toBe(error);
        expect(s.looks.length, kind).toBeLessThanOrEqual(20);
      }
    },
  );
});

describe('C35: the times of a record decide nothing', () => {
  const stamped = (change: (at: number) => number) => ({
    script: ['cut_after_save'] as const,
    view: ({ honest }: { readonly honest: LookAnswer }) =>
      reworded(honest, (text) =>
        text.replaceAll(/"created_at":"([^"]*)"/g, (_, at: string) => {
          return `"created_at":"${new Date(change(Date.parse(at))).toISOString()}"`;
        }),
      ),
  });

  it.each<[string, (at: number) => number]>([
    ['two minutes ahead', (at) => at + 2 * MINUTE_MS],
    ['two minutes behind', (at) => at - 2 * MINUTE_MS],
    ['cut to whole seconds', (at) => at - (at % SECOND_MS)],
    ['cut to whole minutes', (at) => at - (at % MINUTE_MS)],
    ['a day before the write', (at) => at - 24 * 60 * MINUTE_MS],
  ])('a record that is stamped %s is found', async (_, change) => {
    const s = fieldWorld('searchable', stamped(change));
    expect(await ending(s, await sent(s))).toEqual(CONFIRMED);
  });

  it('a write 25 minutes after its planned time is found, and the window counts from the write', async () => {
    const plannedAt = NOW + MINUTE_MS;
    const s = fieldWorld('searchable', { script: ['cut_before_save'] });
    const intent = await s.entered({ plannedAt });
    await s.sign(intent);
    await setFrozen(s.w.deps)('orders', true, { by: 'otto', why: 'stock-taking' });
    await s.w.untilQuiet(intent.id, 25 * MINUTE_MS);
    await setFrozen(s.w.deps)('orders', false, { by: 'otto', why: 'done' });
    expect(await ending(s, intent)).toEqual({ ...CONFIRMED, writes: 2 });
    const [first = 0, second = 0] = s.supplier.posts.map(({ at }) => at);
    expect(first).toBeGreaterThanOrEqual(plannedAt + 24 * MINUTE_MS);
    expect(second - first).toBeGreaterThan(WINDOW_MS);
  });
});

describe('C36: what was made is not shown, or is shown no more', () => {
  it('201, then three times 404, then there: read again, one write', async () => {
    for (const kind of [...SEARCHED, 'blind'] as const) {
      const s = fieldWorld(kind, { view: ({ number }) => (number < 3 ? NOT_FOUND : undefined) });
      expect(await ending(s, await sent(s)), kind).toEqual(CONFIRMED);
      expect(s.looks.length, kind).toBeGreaterThan(3);
    }
  });

  it.each<{ byId: LookAnswer; reason: string }>([
    { byId: NOT_FOUND, reason: 'found_but_gone' },
    { byId: shown(410, { error: 'gone' }), reason: 'readback_unavailable' },
    {
      byId: shown(200, { account: 'tokyo-1', environment: 'test', orders: [] }),
      reason: 'readback_unavailable',
    },
    { byId: shown(200, { deleted: true }), reason: 'readback_unavailable' },
  ])(
    'a search shows it, its own page says $byId: $reason, and nothing is made again',
    async ({ byId, reason }) => {
      const s = fieldWorld('searchable', {
        script: ['cut_after_save'],
        view: ({ path }) => (isSearch(path) ? undefined : byId),
      });
      const end = { state: 'handover', reason, writes: 1, effects: 1 };
      expect(await ending(s, await sent(s))).toEqual(end);
    },
  );

  it('seen once and deleted while undetermined: people, and nothing is made again', async () => {
    const s = fieldWorld('searchable', {
      script: ['cut_after_save'],
      view: ({ number, path }) => (number === 0 ? undefined : isSearch(path) ? emptyFor(path) : NOT_FOUND),
    });
    const end = { state: 'handover', reason: 'found_but_gone', writes: 1, effects: 1 };
    expect(await ending(s, await sent(s))).toEqual(end);
  });
});

describe('C37: a failure word and an id never stand together', () => {
  it('the readback fails after success: acknowledged, the id apart, no failure, no second write', async () => {
    const s = fieldWorld('searchable', { view: () => shown(500, '{}') });
    const intent = await sent(s);
    expect(intent).toMatchObject({ state: 'acknowledged', externalId: null });
    expect(intent.acknowledgedId).toBe(s.supplier.orders()[0]?.order_id);
    expect((await s.view(intent.id)).report).toBe('unconfirmed');
    const end = { state: 'handover', reason: 'readback_unavailable', writes: 1, effects: 1 };
    expect(await ending(s, intent)).toEqual(end);
  });

  it('"too many requests" after the order was made, then found: the ending tells of the order alone', async () => {
    const s = fieldWorld('searchable', { told: [answerOf(429, { error: 'slow_down' })] });
    const intent = await sent(s);
    expect(await ending(s, intent)).toEqual(CONFIRMED);
    const view = await s.view(intent.id);
    expect([view.report, view.externalId]).toEqual(['confirmed', s.supplier.orders()[0]?.order_id]);
    expect(view.explanation).not.toMatch(/fail|undetermined/i);
  });
});

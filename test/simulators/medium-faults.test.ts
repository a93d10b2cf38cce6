import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WRITE_FAULTS } from '../../lib/simulators/medium-faults.ts';
import { CHA, FIRST, type Medium, mediumRig, png, SECOND, TEA } from './medium-rig.ts';
import type { Seen } from './supplier-rig.ts';

let rig: ReturnType<typeof mediumRig>;
beforeEach(() => {
  rig = mediumRig();
});
afterEach(() => rig.stop());

const STALL_MS = 150;
const CLOSED = { status: 'closed' } as const;
const STALLED = { status: 'stalled' } as const;
const HONEST = { status: 201, body: { post: { id: FIRST } } } as const;

interface WriteRow {
  /** Fields of the fault beside its kind. */
  readonly with?: object;
  /** What the POST looks like from outside. */
  readonly seen: Seen | Partial<Seen>;
  /** What is in the book right after it. */
  readonly saved: readonly object[];
  readonly because: string;
}

const WHOLE = {
  author_id: TEA.id,
  parent: null,
  visibility: 'public',
  media: [{ media_id: 'm1' }, { media_id: 'm2' }],
};
const WRITES: Readonly<Record<keyof typeof WRITE_FAULTS, WriteRow>> = {
  honest: { seen: HONEST, saved: [WHOLE], because: 'it only takes its turn' },
  cut_before_save: { seen: CLOSED, saved: [], because: 'nothing came of it' },
  cut_after_save: { seen: CLOSED, saved: [WHOLE], because: 'only the answer is lost' },
  reset_before_save: { seen: CLOSED, saved: [], because: 'nothing came of it' },
  reset_after_save: { seen: CLOSED, saved: [WHOLE], because: 'only the answer is lost' },
  late_save: { seen: CLOSED, saved: [], because: 'its time has not come' },
  stall: { seen: STALLED, saved: [], because: 'nothing came of it' },
  stall_after_save: { seen: STALLED, saved: [WHOLE], because: 'only the answer is lost' },
  status_before_save: {
    ...{ with: { status: 503 }, seen: { status: 503, body: { error: 'unavailable' } } },
    ...{ saved: [], because: 'nothing came of it' },
  },
  status_after_save: {
    ...{ seen: { status: 500, body: { error: 'internal' } } },
    ...{ saved: [WHOLE], because: 'the status is no truth' },
  },
  ok_with_error: {
    ...{ seen: { status: 200, body: { ok: false, error: 'account_blocked' } } },
    ...{ saved: [], because: 'the 200 is no truth' },
  },
  delivered_twice: { seen: HONEST, saved: [WHOLE, WHOLE], because: 'it knows no keys' },
  cut_body_after_save: {
    ...{ seen: { status: 201, body: { text: 'cut' } }, saved: [WHOLE] },
    because: 'half an answer is none',
  },
  no_id_after_save: {
    ...{ seen: { status: 201, body: { post: {} } }, saved: [WHOLE] },
    because: 'no id is no proof that nothing was made',
  },
  wrong_author_saved: {
    ...{ seen: HONEST, saved: [{ ...WHOLE, author_id: CHA.id }] },
    because: 'the answer does not tell',
  },
  wrong_parent_saved: {
    ...{ seen: HONEST, saved: [{ ...WHOLE, parent: '4611686018427387904' }] },
    because: 'a root post became a reply to nothing',
  },
  draft_saved: {
    ...{ seen: HONEST, saved: [{ ...WHOLE, visibility: 'draft' }] },
    because: 'the answer does not tell',
  },
  image_missing: {
    ...{ seen: HONEST, saved: [{ ...WHOLE, media: [{ media_id: 'm1' }] }] },
    because: 'the answer does not tell',
  },
};

async function withImages(medium: Medium) {
  await medium.upload(png(1));
  await medium.upload(png(2));
  return { media: ['m1', 'm2'] };
}

describe('each fault of a POST', () => {
  it.each(Object.entries(WRITES))('%s is seen, counted and played once', async (kind, row) => {
    const medium = await rig.start({ applyDelayMs: 60_000 });
    const more = await withImages(medium);
    await medium.plan('Tea', [{ kind, ...row.with }]);
    const waitMs = row.seen.status === 'stalled' ? STALL_MS : 5_000;
    expect(await medium.post('Tea at five', { more, waitMs })).toMatchObject(row.seen);
    if (kind === 'no_id_after_save') expect(rig.book().posts[0]?.id).toBe(FIRST);
    expect(rig.book().posts, row.because).toMatchObject(row.saved);
    const status = typeof row.seen.status === 'number' ? row.seen.status : null;
    const fault = kind === 'honest' ? null : kind;
    expect(rig.book().requests).toMatchObject([{ text: 'Tea at five', status, fault }]);
    expect((await medium.post('Tea at five', { more })).status).toBe(201);
    expect(rig.effects('Tea at five')).toHaveLength(row.saved.length + 1);
    expect(rig.book().posts.at(-1)).toMatchObject(WHOLE);
    expect(rig.book().faults).toEqual(fault === null ? {} : { [kind]: 1 });
  });

  it.each([
    { parent: undefined, saved: null, because: 'a reply became a root post' },
    { parent: SECOND, saved: SECOND, because: 'as told' },
  ])('a wrong parent of a reply is $saved: $because', async ({ parent, saved }) => {
    const medium = await rig.start();
    for (const text of ['one', 'two']) await medium.post(text);
    await medium.plan('Tea', [{ kind: 'wrong_parent_saved', ...(parent === undefined ? {} : { parent }) }]);
    await medium.post('Tea', { more: { parent: FIRST } });
    expect(rig.effects('Tea')).toMatchObject([{ parent: saved }]);
  });

  it('a missing image waits for a post that has one', async () => {
    const medium = await rig.start();
    await medium.plan(undefined, [{ kind: 'image_missing' }]);
    await medium.post('Tea');
    expect(rig.book().faults).toEqual({});
    await medium.post('Tea', { more: await withImages(medium) });
    expect(rig.book().faults).toEqual({ image_missing: 1 });
  });

  it('is for the posts that have its text, and for all where it names none', async () => {
    const medium = await rig.start();
    await medium.plan('Tea', [{ kind: 'honest' }, { kind: 'status_before_save', status: 502 }]);
    await medium.plan(undefined, [{ kind: 'status_before_save', status: 503 }]);
    const seen: unknown[] = [];
    for (const text of ['Cake', 'Tea', 'Iced Tea', 'Tea', 'Cake'])
      seen.push((await medium.post(text)).status);
    expect(seen).toEqual([503, 201, 502, 201, 201]);
  });

  it('is replaced by a new plan of its text, ended by an empty one, and all by DELETE', async () => {
    const medium = await rig.start();
    const fault = { kind: 'status_before_save', status: 502 };
    await medium.plan('Tea', [fault]);
    await medium.plan('Tea', [{ kind: 'status_before_save', status: 504 }]);
    expect((await medium.post('Tea')).status).toBe(504);
    await medium.plan('Tea', [fault]);
    await medium.plan('Tea', []);
    expect((await medium.post('Tea')).status).toBe(201);
    for (const text of ['Tea', undefined]) await medium.plan(text, [fault]);
    await medium.control('DELETE', 'posts/faults');
    expect((await medium.post('Tea')).status).toBe(201);
  });

  it.each([
    { plan: [{ kind: 'explode' }], field: 'plan', because: 'no such fault' },
    { plan: [{ kind: 'stall', times: 2 }], field: 'plan', because: 'a POST takes one fault' },
    { plan: [{ kind: 'hidden', times: 0 }], field: 'plan', because: 'never is no fault' },
    { plan: [{ kind: 'late_save', delayMs: 501 }], field: 'delayMs', because: 'the bound is a promise' },
    { plan: [{ kind: 'wrong_author_saved' }], field: 'kind', because: 'there is no other account' },
    { plan: [{ kind: 'page_wrong_author' }], field: 'kind', because: 'there is no other account' },
  ])('$plan is refused: $because', async ({ plan, field }) => {
    const medium = await rig.start({ applyDelayMs: 500, accounts: [TEA] });
    const refused = await medium.plan('Tea', plan);
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field } });
    expect((await medium.post('Tea')).status).toBe(201);
  });
});

describe('the apply delay', () => {
  const D = 500;
  const START = 1_000_000;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: START });
  });
  const savedAt = () => rig.effects('Tea').map((it) => Date.parse(it.created_at) - START);

  it.each([
    { fault: {}, at: 300, because: 'unless told, six tenths of it' },
    { fault: { delayMs: 20 }, at: 20, because: 'as told' },
    { fault: { delayMs: D }, at: 450, because: 'a slow timer must still keep it' },
    { fault: { delayMs: 0 }, at: 0, because: 'no delay is no delay' },
  ])('late_save with $fault saves after $at ms: $because', async ({ fault, at }) => {
    const medium = await rig.start({ applyDelayMs: D });
    await medium.plan('Tea', [{ kind: 'late_save', ...fault }]);
    expect((await medium.post('Tea')).status).toBe('closed');
    if (at > 0) {
      vi.advanceTimersByTime(at - 1);
      expect(savedAt()).toEqual([]);
      vi.advanceTimersByTime(1);
    }
    vi.advanceTimersByTime(10 * D);
    expect(savedAt()).toEqual([at]);
  });

  it('a late post whose timer missed it is never saved', async () => {
    const medium = await rig.start({ applyDelayMs: D });
    await medium.plan('Tea', [{ kind: 'late_save' }]);
    await medium.post('Tea');
    vi.setSystemTime(START + D + 1);
    vi.advanceTimersByTime(D);
    expect(savedAt()).toEqual([]);
  });

  it('a late post and the one sent again meanwhile are two', async () => {
    const medium = await rig.start({ applyDelayMs: D });
    await medium.plan('Tea', [{ kind: 'late_save' }]);
    await medium.post('Tea');
    expect((await medium.list()).body.posts).toEqual([]);
    expect((await medium.post('Tea')).status).toBe(201);
    vi.advanceTimersByTime(D);
    expect(savedAt()).toEqual([0, 300]);
  });

  it('a late post keeps its images, though they grew too old meanwhile', async () => {
    const medium = await rig.start({ applyDelayMs: D });
    const more = await withImages(medium);
    vi.setSystemTime(START + 3_599_900);
    await medium.plan('Tea', [{ kind: 'late_save' }]);
    await medium.post('Tea', { more });
    vi.setSystemTime(START + 3_600_000);
    await medium.upload(png(3));
    vi.advanceTimersByTime(D);
    expect(rig.effects('Tea')).toMatchObject([{ media: [{ media_id: 'm1' }, { media_id: 'm2' }] }]);
  });

  it.each([
    { away: 200, saved: [300], because: 'its time has not come' },
    { away: 400, saved: [400], because: 'the bound has not passed' },
    { away: 501, saved: [], because: 'the bound is kept' },
  ])('after a restart $away ms later $saved is saved: $because', async ({ away, saved }) => {
    const first = await rig.start({ applyDelayMs: D });
    const more = await withImages(first);
    await first.plan('Tea', [{ kind: 'late_save' }]);
    await first.post('Tea', { more });
    await first.close();
    vi.setSystemTime(START + away);
    await rig.start({ applyDelayMs: D });
    vi.advanceTimersByTime(D);
    expect(savedAt()).toEqual(saved);
    for (const { media } of rig.effects('Tea')) expect(media).toHaveLength(2);
  });
});

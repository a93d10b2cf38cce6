/**
 * Posts whose answer is lost, late, or wrong, in every way that the items of P15 come in; the items themselves are in
 * `publishing-requirements.test.ts`. Writes and posts are counted at the medium.
 */
import { describe, expect, it } from 'vitest';
import { medium } from '../../lib/providers/medium.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import type { Transport } from '../../lib/providers/transport.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { NOW } from '../support/kit.ts';
import type { MediumFault, MediumPlay } from '../support/medium-plays.ts';
import { OUR_ID } from '../support/medium-scripted.ts';
import { OTHER_ID } from '../support/medium-view.ts';
import { mediumWorld, POST, postsRoute, TEXT } from '../support/medium-world.ts';

const MINUTE = 60_000;
/** Z 15 000 + D 500 + L 300. */
const WINDOW_MS = 15_800;
const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, posts: 1 };
const HASH = 'a'.repeat(64);
const IMAGE = { media_id: 'm1', sha256: HASH };

describe('P15 created, then no answer', () => {
  it.each<{ play: MediumPlay; because: string }>([
    { play: 'cut_after_save', because: 'the connection closed' },
    { play: 'status_after_save', because: 'a 500 proves nothing' },
    { play: 'cut_body_after_save', because: 'half an answer names no id' },
    { play: 'no_id_after_save', because: 'a missing id is no proof of nothing' },
    { play: 'late_save', because: 'it was saved after the connection closed' },
  ])('$play: one write, one post, confirmed by its readback ($because)', async ({ play }) => {
    const s = mediumWorld({ script: [play] });
    const end = await s.ending(await s.sent());
    expect(end).toEqual(CONFIRMED);
  });

  it('the receipt names the public URL and the checks, and the public page was visited without a token', async () => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const intent = await s.sent();
    await s.ending(intent);
    const { receipt, externalId } = await s.w.read(intent.id);
    const checks = ['author', 'externalId', 'media', 'parent', 'payload', 'publicUrl', 'time', 'visibility'];
    expect(Object.keys(receipt?.checks ?? {}).sort()).toEqual(checks);
    expect(receipt?.url).toBe(`http://127.0.0.1:4/@tea.example/${externalId}`);
    const tokens = (isApi: boolean) =>
      new Set(
        s.outside.looks.filter(({ path }) => path.startsWith('/api/') === isApi).map((each) => each.token),
      );
    expect([tokens(true), tokens(false)]).toEqual([new Set(['Bearer secret']), new Set([undefined])]);
  });
});

describe('P15 failed at the medium too', () => {
  it.each<MediumPlay>(['cut_before_save', 'stall', 'status_before_save', 'ok_with_error'])(
    '%s: one more write, and only after the window',
    async (play) => {
      const s = mediumWorld({ script: [play] });
      const end = await s.ending(await s.sent());
      expect(end).toEqual({ state: 'confirmed', reason: null, writes: 2, posts: 1 });
      const [first, second] = s.outside.posts;
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(WINDOW_MS);
      expect(first?.body).toEqual(second?.body);
    },
  );

  it('with a budget of two, a second failure goes to people', async () => {
    const s = mediumWorld({ script: ['stall', 'stall'], policy: { attempts: 2 } });
    const end = await s.ending(await s.sent());
    expect(end).toEqual({ state: 'handover', reason: 'budget_spent', writes: 2, posts: 0 });
  });
});

describe('P15 two posts with the same text', () => {
  it('after a lost answer: people decide, nothing is chosen, deleted or written', async () => {
    const s = mediumWorld({ script: ['delivered_twice_unanswered'] });
    const intent = await s.sent();
    expect(await s.ending(intent)).toEqual({ state: 'handover', reason: 'many', writes: 1, posts: 2 });
    const after = await s.w.read(intent.id);
    const ids = s.outside.book().map((post) => post.id);
    expect([after.externalId, after.handover?.candidates.toSorted()]).toEqual([null, ids]);
    expect(s.outside.book().some((post) => post.deleted)).toBe(false);
  });

  it('an answered write that was delivered twice is confirmed, and the audit finds the second', async () => {
    const s = mediumWorld({ script: ['delivered_twice'] });
    const intent = await s.sent();
    await s.ending(intent);
    const { state, incident } = await s.w.read(intent.id);
    expect([state, incident?.reason, s.outside.posts.length]).toEqual(['confirmed', 'second_effect', 1]);
  });

  it('one that a person wrote by hand, and ours: people decide', async () => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    s.outside.add({ text: TEXT });
    const end = await s.ending(await s.sent());
    expect(end).toEqual({ state: 'handover', reason: 'many', writes: 1, posts: 1 });
  });
});

describe('P15 another author', () => {
  it('the answer names a post that was saved for another account: not confirmed, not written again', async () => {
    const s = mediumWorld({ script: ['wrong_author_saved'] });
    const end = await s.ending(await s.sent());
    expect(end).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
  });

  it('a renamed handle is still ours, also when the old handle is taken by another account', async () => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const intent = await s.sent();
    s.outside.accounts.set(OUR_ID, { handle: 'tea-room.example', displayName: 'The Tea Room' });
    s.outside.accounts.set(OTHER_ID, { handle: 'tea.example', displayName: 'Tea Room' });
    s.outside.add({ text: TEXT, authorId: OTHER_ID });
    expect(await s.ending(intent)).toEqual(CONFIRMED);
    const { receipt, externalId } = await s.w.read(intent.id);
    expect(receipt?.url).toBe(`http://127.0.0.1:4/@tea-room.example/${externalId}`);
  });
});

describe('P15 another parent', () => {
  it.each<{ parent: string | null; other: string | null; because: string }>([
    { parent: '37', other: null, because: 'a root post is no reply' },
    { parent: null, other: '37', because: 'a reply is no root post' },
  ])(
    'the same text elsewhere is no match, and is shown as a near miss: $because',
    async ({ parent, other }) => {
      const s = mediumWorld({ script: ['cut_before_save'] });
      const intent = await s.sent({ parent });
      const elsewhere = s.outside.add({ text: TEXT, parent: other });
      expect(await s.ending(intent)).toEqual({ state: 'confirmed', reason: null, writes: 2, posts: 1 });
      expect((await s.w.read(intent.id)).externalId).not.toBe(elsewhere.id);
      expect(await s.seenLast(intent)).toContainEqual(
        expect.objectContaining({
          ...{ externalId: elsewhere.id, near: true, createdAt: '2026-11-30T09:00:00.000Z' },
          url: `http://127.0.0.1:4/@tea.example/${elsewhere.id}`,
          reasons: { author: true, payload: true, parent: false, window: true, time: true, binding: 'free' },
        }),
      );
    },
  );

  it('saved under another parent than asked for: not confirmed', async () => {
    const s = mediumWorld({ script: ['wrong_parent_saved'] });
    const end = await s.ending(await s.sent({ parent: '37' }));
    expect(end).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
  });
});

describe('P15 an image is missing', () => {
  it.each<{ play: MediumPlay; because: string }>([
    { play: 'image_missing', because: 'the answer gave its id' },
    { play: 'image_missing_unanswered', because: 'the text found it' },
  ])('people decide, and nothing is written again: $because', async ({ play }) => {
    const s = mediumWorld({ script: [play] });
    s.outside.uploads.set('m1', HASH);
    const end = await s.ending(await s.sent({ payload: { ...POST, media: [IMAGE] } }));
    expect(end).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
  });

  it('with all of them it is confirmed', async () => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    s.outside.uploads.set('m1', HASH);
    const end = await s.ending(await s.sent({ payload: { ...POST, media: [IMAGE] } }));
    expect(end).toEqual(CONFIRMED);
  });
});

describe('P15 the public page', () => {
  it.each<{ fault: MediumFault; reason: string; because: string }>([
    { fault: 'page_404', reason: 'mismatch', because: 'nobody can see it' },
    { fault: 'page_redirect', reason: 'mismatch', because: 'strangers are led elsewhere' },
    { fault: 'page_wrong_author', reason: 'mismatch', because: 'a 200 with another author is no proof' },
    { fault: 'page_wrong_text', reason: 'mismatch', because: 'it shows something else' },
    { fault: 'page_status', reason: 'readback_unavailable', because: 'a failed look says nothing' },
    { fault: 'page_without_data', reason: 'readback_unavailable', because: 'a page to log in says nothing' },
  ])('$fault: never confirmed, never written again, because $because', async ({ fault, reason }) => {
    for (const script of [['plain'], ['cut_after_save']] as const) {
      const s = mediumWorld({ script });
      s.outside.faults.set(fault, Infinity);
      const end = await s.ending(await s.sent());
      expect(end).toEqual({ state: 'handover', reason, writes: 1, posts: 1 });
    }
  });

  it.each<{ page: MediumFault; failedChecks: string[] }>([
    { page: 'page_404', failedChecks: ['publicUrl'] },
    { page: 'one_deleted', failedChecks: ['publicUrl', 'payload', 'media', 'visibility'] },
  ])('$page: people are told that exactly $failedChecks do not hold', async ({ page, failedChecks }) => {
    const s = mediumWorld();
    const intent = await s.sent();
    s.outside.faults.set(page, Infinity);
    await s.ending(intent);
    const { handover } = await s.w.read(intent.id);
    expect([...(handover?.failedChecks ?? [])].sort()).toEqual([...failedChecks].sort());
    const { items } = await s.w.ledger.evidence({ tenant: 'acme', intentId: intent.id }, 100, null);
    const readback = items.find((each) => each.kind === 'readback');
    expect(readback?.facts['failedChecks']).toEqual(handover?.failedChecks);
  });

  it('that no look visited confirms nothing', async () => {
    const s = mediumWorld();
    const intent = await s.sent();
    const blindfold: typeof medium.read = async (...asked) => {
      const lookup = await medium.read(...asked);
      if (lookup.kind === 'failed') return lookup;
      const records = lookup.records.map(({ content: { page: _page, ...content }, ...record }) => ({
        ...record,
        content,
      }));
      return { ...lookup, records };
    };
    s.w.deps.routes = registryOf([postsRoute('http://127.0.0.1:4', {})], [{ ...medium, read: blindfold }]);
    expect(await s.ending(intent)).toEqual({ ...CONFIRMED, state: 'handover', reason: 'mismatch' });
    expect((await s.w.read(intent.id)).handover?.failedChecks).toEqual(['publicUrl']);
  });

  it('that is not there yet is waited for, as long as the medium may take', async () => {
    const s = mediumWorld({ visibilityLagMs: 20_000, route: { visibilityLagMs: 30_000 } });
    const intent = await s.sent();
    expect(await s.ending(intent)).toEqual(CONFIRMED);
    const visits = s.outside.looks.filter(({ path }) => path.startsWith('/@'));
    expect(visits.length).toBeGreaterThan(2);
  });

  it.each<MediumPlay>(['draft_saved', 'draft_saved_unanswered'])(
    '%s: a draft is an effect that nobody sees; people decide',
    async (play) => {
      const s = mediumWorld({ script: [play] });
      const end = await s.ending(await s.sent());
      expect(end).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
    },
  );

  it('an unlisted post has a page, and is no public one', async () => {
    const s = mediumWorld();
    const end = await s.ending(await s.sent({ payload: { ...POST, visibility: 'unlisted' } }));
    expect(end.state).toBe('confirmed');
    const other = await s.sent({ key: 'post-2', payload: { text: 'Cake.', visibility: 'unlisted' } });
    const booked = s.outside.book().at(-1);
    if (booked !== undefined) booked.visibility = 'public';
    expect((await s.ending(other)).reason).toBe('mismatch');
  });
});

describe('P13 a worker dies with its claim', () => {
  it.each<{ play: MediumPlay; end: object; because: string }>([
    { play: 'plain', end: CONFIRMED, because: 'the post is there' },
    { play: 'cut_before_save', end: { ...CONFIRMED, writes: 2 }, because: 'a whole look found nothing' },
  ])('the next one looks before anything else, and writes only where $because', async ({ play, end }) => {
    const taken = Promise.withResolvers<void>();
    let isFirst = true;
    const dying =
      (transport: Transport): Transport =>
      async (request) => {
        const report = await transport(request);
        if (!isFirst) return report;
        isFirst = false;
        taken.resolve();
        return new Promise(() => undefined);
      };
    const s = mediumWorld({ script: [play], world: { wrapTransport: dying } });
    const intent = await s.submitted();
    const input = s.w.queue.shift() ?? runInput(intent);
    void s.w.steps['Send']?.(input);
    await taken.promise;
    await s.w.run(input);
    expect([(await s.w.read(intent.id)).state, s.outside.looks.length]).toEqual(['sending', 0]);
    expect(await s.ending(intent)).toEqual(end);
    const [firstLook] = s.outside.looks;
    expect(firstLook?.at).toBeGreaterThanOrEqual(NOW + 15_000);
    for (const { at } of s.outside.posts.slice(1)) expect(at).toBeGreaterThan(NOW + WINDOW_MS);
  });
});

it('a second write 45 minutes after the plan, its answer lost: the next search finds it, no third write', async () => {
  const s = mediumWorld({
    script: ['cut_before_save', 'cut_after_save'],
    policy: { pauseMs: 45 * MINUTE },
  });
  const intent = await s.sent();
  expect(await s.ending(intent)).toEqual({ state: 'confirmed', reason: null, writes: 2, posts: 1 });
  const [, second] = s.outside.posts;
  expect((second?.at ?? 0) - NOW).toBeGreaterThanOrEqual(45 * MINUTE);
});

describe('on a route that names no lag', () => {
  const blind = { route: { visibilityLagMs: null } };

  it('a lost answer is never written again; the search may still find it', async () => {
    const found = mediumWorld({ ...blind, script: ['cut_after_save'] });
    expect(await found.ending(await found.sent())).toMatchObject({ state: 'confirmed', writes: 1, posts: 1 });
    const lost = mediumWorld({ ...blind, script: ['cut_before_save'] });
    const intent = await lost.sent();
    expect(intent.promiseClass).toBe('blind');
    expect(await lost.ending(intent)).toEqual({
      ...{ state: 'handover', reason: 'exhausted', writes: 1, posts: 0 },
    });
  });
});

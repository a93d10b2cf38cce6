/**
 * What publishing must do when an answer is lost, one test an item: P15 is what must be tried, P16 when it is done.
 * Each is played twice, at a scripted medium and over HTTP at the simulated one; writes and posts are counted in its book.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { dryRunView } from '../../lib/operations/dry-run-view.ts';
import { dryRun } from '../../lib/workflow/dry-run.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { BY_APPROVAL } from '../support/kit.ts';
import { MEDIUM_FAULTS, MEDIUM_PLAYS, type MediumFault, type MediumPlay } from '../support/medium-plays.ts';
import { OUR_ID } from '../support/medium-scripted.ts';
import { STAGES, type Staged, type StageOptions } from '../support/medium-stages.ts';
import { OTHER_ID } from '../support/medium-view.ts';
import { mediumWorld, POST, TEXT } from '../support/medium-world.ts';

const MINUTE = 60_000;
/** Z 15 000 + D 500 + L 300. */
const WINDOW_MS = 15_800;
const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, posts: 1 };
const UNLIKE = { state: 'handover', reason: 'mismatch', writes: 1, posts: 1 };
/** Where nothing was posted: the next write is the second one, and the only post. */
const WRITTEN_AGAIN = { ...CONFIRMED, writes: 2 };

describe.each(STAGES)('at $at', ({ open }) => {
  let s: Staged | undefined;
  afterEach(async () => {
    await s?.close();
    s = undefined;
  });

  const opened = async (options: StageOptions): Promise<Staged> => {
    s = await open(options);
    return s;
  };
  const verdicts = async (of: Staged, intent: Intent) =>
    (await of.searches(intent)).map((each) => each['verdict']);

  it('P15 created, then a timeout: unknown, then found and read back; one write, one post', async () => {
    const at = await opened({ script: ['stall_after_save'], policy: { requestMs: 300 } });
    const intent = await at.sent();
    expect(intent.state).toBe('unknown');
    expect(intent.attempts[0]?.result).toMatchObject({ kind: 'unknown', code: 'timeout' });
    expect(await at.ending(intent)).toEqual(CONFIRMED);
    expect(new Set(await verdicts(at, intent))).toEqual(new Set(['found']));
  });

  it('P15 failed on the server too: one more write, after the window', async () => {
    const at = await opened({ script: ['cut_before_save'] });
    const intent = await at.sent();
    expect(await at.ending(intent)).toEqual(WRITTEN_AGAIN);
    const [first = 0, second = 0] = at.arrivals();
    expect(second - first).toBeGreaterThan(WINDOW_MS);
  });

  it('P15 eventual consistency, 0 at first: it waits until the post shows, and writes nothing more', async () => {
    const lag = { visibilityLagMs: 45_000 };
    const at = await opened({ script: ['cut_after_save'], ...lag, route: lag });
    const intent = await at.sent();
    expect(await at.ending(intent)).toEqual(CONFIRMED);
    const said = await verdicts(at, intent);
    expect(said.indexOf('found')).toBeGreaterThan(3);
    expect(new Set(said.slice(0, said.indexOf('found')))).toEqual(new Set(['wait']));
  });

  it('P15 two records with the same text: people decide; none is chosen and none deleted', async () => {
    const at = await opened({ script: ['cut_after_save'] });
    const intent = await at.sent();
    await at.byHand({ text: TEXT });
    expect(await at.ending(intent)).toEqual({ ...UNLIKE, reason: 'many' });
    const { externalId, handover } = await at.w.read(intent.id);
    const ids = at.book().map(({ id }) => id);
    expect([externalId, handover?.candidates.toSorted()]).toEqual([null, ids]);
    expect(at.book().map(({ deleted }) => deleted)).toEqual([false, false]);
  });

  it('P15 another author with the same text and the same display name: not ours', async () => {
    const at = await opened({ script: ['cut_before_save'] });
    const intent = await at.sent();
    const theirs = await at.byHand({ text: TEXT, authorId: OTHER_ID });
    expect(await at.ending(intent)).toEqual(WRITTEN_AGAIN);
    expect((await at.w.read(intent.id)).externalId).not.toBe(theirs);
  });

  it('P15 another parent with the same text: not ours, and shown as a near miss', async () => {
    const at = await opened({ script: ['cut_before_save'] });
    const parent = await at.byHand({ text: 'Is there hojicha?', authorId: OTHER_ID });
    const other = await at.byHand({ text: 'Is there sencha?', authorId: OTHER_ID });
    const intent = await at.sent({ parent });
    const theirs = await at.byHand({ text: TEXT, parent: other });
    expect(await at.ending(intent)).toEqual(WRITTEN_AGAIN);
    expect((await at.w.read(intent.id)).externalId).not.toBe(theirs);
    expect(await at.seenLast(intent)).toContainEqual(
      expect.objectContaining({
        ...{ externalId: theirs, near: true },
        reasons: { author: true, payload: true, parent: false, window: true, time: true, binding: 'free' },
      }),
    );
  });

  it('P15 an image is missing: people decide, and it is not written again', async () => {
    const at = await opened({ script: ['image_missing'] });
    const image = await at.uploaded();
    expect(await at.ending(await at.sent({ payload: { ...POST, media: [image] } }))).toEqual(UNLIKE);
  });

  it('P15 the public URL answers 404: people decide, and it is not written again', async () => {
    const at = await opened({ script: ['cut_after_save'] });
    await at.withoutPage();
    expect(await at.ending(await at.sent())).toEqual(UNLIKE);
  });

  it('P15 parallel workers: five at once after the window, and one of them writes', async () => {
    const at = await opened({ script: ['cut_before_save'] });
    const intent = await at.sent();
    at.w.clock.advance(WINDOW_MS + MINUTE);
    const runs = Array.from({ length: 5 }, () => at.w.run(runInput(intent)));
    expect(new Set(await Promise.all(runs))).toEqual(new Set(['succeeded']));
    expect(await at.ending(intent)).toEqual(WRITTEN_AGAIN);
  });

  it('P15 a dry run shows candidates and checks, and writes nothing: neither outside nor in the ledger', async () => {
    const at = await opened({ script: ['cut_after_save'] });
    const intent = await at.sent();
    const [post] = at.book();
    const ref = { tenant: 'acme', intentId: intent.id };
    const before = [await at.w.ledger.read(ref), await at.w.ledger.evidence(ref, 100, null)];
    const run = await dryRun(at.w.deps)(runInput(intent));
    if (run === undefined) throw new Error('There is no such intent.');
    const holds = { publicUrl: true, author: true, payload: true, media: true, parent: true };
    expect(dryRunView(run)).toMatchObject({
      verdict: 'found',
      readback: { candidates: [{ externalId: post?.id, checks: { ...holds, visibility: true } }] },
      next: { do: 'confirm' },
    });
    expect([await at.w.ledger.read(ref), await at.w.ledger.evidence(ref, 100, null)]).toEqual(before);
    expect([at.arrivals().length, at.book().length]).toEqual([1, 1]);
  });

  it('P16 created, then a timeout: one write, however long and however often it is looked at', async () => {
    const lag = { visibilityLagMs: 45_000 };
    const timeout = { script: ['stall_after_save'], policy: { requestMs: 300 } } as const;
    const at = await opened({ ...timeout, ...lag, route: lag });
    const intent = await at.sent();
    for (let time = 0; time < 3; time += 1) await at.w.run(runInput(intent));
    expect(await at.ending(intent)).toEqual(CONFIRMED);
    at.w.clock.advance(9 * 86_400_000);
    expect(await at.ending(intent)).toEqual(CONFIRMED);
  });

  interface Permitted {
    readonly meanwhile: 'nothing' | 'revoked' | 'expired' | 'fresh_wanted' | 'signed_afresh';
    readonly writes: number;
    readonly state: Intent['state'];
    readonly because: string;
  }
  it.each<Permitted>([
    { meanwhile: 'nothing', writes: 2, state: 'confirmed', because: 'the approval still stands' },
    { meanwhile: 'revoked', writes: 1, state: 'closed', because: 'the approval was taken back' },
    { meanwhile: 'expired', writes: 1, state: 'closed', because: 'the approval ended' },
    { meanwhile: 'fresh_wanted', writes: 1, state: 'closed', because: 'the route asks for a fresh one' },
    { meanwhile: 'signed_afresh', writes: 2, state: 'confirmed', because: 'the fresh one was given' },
  ])(
    'P16 failed on the server: at most one more write, after the window and its permission checked again: $because',
    async ({ meanwhile, writes, state }) => {
      const freshAfterAbsent = meanwhile === 'fresh_wanted' || meanwhile === 'signed_afresh';
      const permission = { ...BY_APPROVAL, freshAfterAbsent };
      const at = await opened({ script: ['cut_before_save'], policy: { permission } });
      const intent = await at.submitted();
      await at.sign(intent, meanwhile === 'expired' ? WINDOW_MS - 1000 : undefined);
      await at.w.steps['Send']?.(runInput(intent));
      if (meanwhile === 'revoked') await at.revoke(intent);
      if (meanwhile === 'signed_afresh') {
        await at.w.untilQuiet(intent.id, MINUTE);
        expect([(await at.w.read(intent.id)).state, at.arrivals().length]).toEqual(['awaiting_approval', 1]);
        at.w.clock.advance(MINUTE);
        await at.sign(intent);
      }
      const end = await at.ending(intent);
      expect(end).toEqual({ state, reason: null, writes, posts: writes - 1 });
      const [first = 0, second = Number.POSITIVE_INFINITY] = at.arrivals();
      expect(second - first).toBeGreaterThan(WINDOW_MS);
    },
  );

  it('P16 many candidates: no further write, however long one waits', async () => {
    const at = await opened({ script: ['cut_after_save'] });
    const intent = await at.sent();
    for (const _ of ['by hand', 'and again']) await at.byHand({ text: TEXT });
    expect(await at.ending(intent)).toEqual({ ...UNLIKE, reason: 'many' });
    at.w.clock.advance(9 * 86_400_000);
    expect(await at.ending(intent)).toEqual({ ...UNLIKE, reason: 'many' });
  });
});

const PLAYS = Object.keys(MEDIUM_PLAYS) as MediumPlay[];
const LOOKS: readonly (MediumFault | 'nothing else')[] = ['nothing else', ...MEDIUM_FAULTS];
const HASH = 'a'.repeat(64);
/** How a POST of a reply with an image must not end in a confirmed intent, however honest the looks. */
const NEVER: readonly MediumPlay[] = [
  ...(['refused', 'delivered_twice_unanswered', 'wrong_author_saved', 'wrong_parent_saved'] as const),
  ...(['draft_saved', 'draft_saved_unanswered', 'image_missing', 'image_missing_unanswered'] as const),
];
/** Looks that lie, so that no reader can know; even then nothing that is said is false. */
const LIES: readonly string[] = ['hidden', 'partial_page'];
/** It was made of one POST as if of two, or for somebody else or elsewhere: that one is not ours. */
const MORE_THAN_ONE = /^(delivered_twice|wrong_(author|parent)_saved_unanswered)/;

it.each(LOOKS)('P16 nothing doubtful is ever called success, while looks meet %s', async (fault) => {
  const confirmed: MediumPlay[] = [];
  for (const play of PLAYS) {
    const s = mediumWorld({ script: [play] });
    s.outside.uploads.set('m1', HASH);
    if (fault !== 'nothing else') s.outside.faults.set(fault, Number.POSITIVE_INFINITY);
    const media = [{ media_id: 'm1', sha256: HASH }];
    const intent = await s.sent({ parent: '37', payload: { ...POST, media } });
    const end = await s.ending(intent);
    const { externalId, receipt } = await s.w.read(intent.id);
    if (end.state !== 'confirmed') {
      expect([externalId, receipt], play).toEqual([null, null]);
      continue;
    }
    confirmed.push(play);
    const asApproved = { authorId: OUR_ID, text: TEXT, parent: '37', visibility: 'public', media: [HASH] };
    const named = s.outside.book().filter((post) => post.id === externalId);
    expect(named, play).toMatchObject([{ ...asApproved, deleted: false }]);
    const visits = s.outside.looks.filter(({ path }) => new RegExp(`^/@.*/${externalId}$`).test(path));
    expect(visits.length, `${play}: a stranger saw it`).toBeGreaterThan(0);
    if (!LIES.includes(fault) && !MORE_THAN_ONE.test(play)) expect(end.posts, play).toBe(1);
  }
  if (fault === 'nothing else') expect(confirmed).toEqual(PLAYS.filter((play) => !NEVER.includes(play)));
  if (fault.startsWith('page_') || fault.startsWith('one_')) expect(confirmed).toEqual([]);
});

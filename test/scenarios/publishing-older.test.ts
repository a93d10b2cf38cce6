/**
 * Equal posts that were there before we claimed anything. They hold a write back, because nobody knows what they are;
 * no receipt ever names one, because none of our attempts can have made it.
 */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { decide } from '../../lib/operations/decide.ts';
import { medium } from '../../lib/providers/medium.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { inTime } from '../../lib/workflow/candidates.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { ACKNOWLEDGED, attemptOf, intentOf, NOW, routeTo, TIMING } from '../support/kit.ts';
import { type MediumWorld, mediumWorld, TEXT } from '../support/medium-world.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const PLANNED = NOW - 6 * DAY;
const ASKED = { state: 'handover', reason: 'mismatch', writes: 1, posts: 0 };

/** What people are shown of the last readback: each id with the checks that do not hold. */
async function brokenIn({ w }: MediumWorld, { id }: Pick<Intent, 'id'>) {
  const { items } = await w.ledger.evidence({ tenant: 'acme', intentId: id }, 100, null);
  const facts = items.filter(({ kind }) => kind === 'readback').at(-1)?.facts;
  const seen = (facts?.['seen'] ?? []) as readonly { externalId: string; checks: Record<string, boolean> }[];
  return seen.map(({ externalId, checks }) => [
    externalId,
    Object.keys(checks).filter((name) => checks[name] === false),
  ]);
}

describe('an equal post from before our first claim', () => {
  it.each<{ at: number; because: string }>([
    { at: PLANNED + MINUTE, because: 'six days old, just after the plan of one that was sent late' },
    { at: NOW - MINUTE, because: 'a minute old' },
    { at: NOW - 3000, because: 'three seconds old, of which two are distrust' },
  ])('is no proof of ours, and nothing is sent beside it: $because', async ({ at }) => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const older = s.outside.add({ text: TEXT, createdAt: at, savedAt: at });
    const intent = await s.sent({ plannedAt: PLANNED, sendBy: NOW + DAY });
    expect(await s.ending(intent)).toEqual(ASKED);
    expect(await brokenIn(s, intent)).toEqual([[older.id, ['time']]]);
    expect(await s.seenLast(intent)).toMatchObject([
      {
        ...{ externalId: older.id, near: false },
        reasons: { author: true, payload: true, parent: true, window: true, time: false, binding: 'free' },
      },
    ]);
  });

  it('beside ours, whose answer was lost: people choose, and are shown which one is too old', async () => {
    const s = mediumWorld({ script: ['cut_after_save'] });
    const older = s.outside.add({ text: TEXT, createdAt: NOW - MINUTE, savedAt: NOW - MINUTE });
    const intent = await s.sent();
    expect(await s.ending(intent)).toEqual({ ...ASKED, reason: 'many', posts: 1 });
    const seen = (await s.seenLast(intent)) as readonly { externalId: string; reasons: { time: boolean } }[];
    const ours = s.outside.book().find((post) => post.sent);
    const times = new Map(seen.map(({ externalId, reasons }) => [externalId, reasons.time]));
    expect(times).toEqual(
      new Map([
        [older.id, false],
        [ours?.id, true],
      ]),
    );
  });

  it('nor is one from between an attempt that never left and the one whose answer was lost', async () => {
    const s = mediumWorld({ script: ['away', 'cut_before_save'], policy: { pauseMs: 2 * MINUTE } });
    const intent = await s.sent();
    s.w.clock.advance(MINUTE);
    const older = s.outside.add({ text: TEXT });
    expect(await s.ending(intent)).toEqual(ASKED);
    expect((await s.w.read(intent.id)).attempts.map(({ result }) => result?.kind)).toEqual([
      'rejected',
      'unknown',
    ]);
    expect(await brokenIn(s, intent)).toEqual([[older.id, ['time']]]);
  });

  it('a person who names it as ours gets no receipt for it either', async () => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const older = s.outside.add({ text: TEXT, createdAt: NOW - MINUTE, savedAt: NOW - MINUTE });
    const intent = await s.sent();
    await s.ending(intent);
    const { version } = await s.w.read(intent.id);
    const decision = { kind: 'attach_external_id', externalId: older.id } as const;
    const ref = { tenant: 'acme', intentId: intent.id };
    const done = await decide(s.w.deps)(ref, 'sales', {
      by: 'ann',
      version,
      decision,
      reason: 'it is equal',
    });
    expect(done.kind).toBe('done');
    await s.w.run(runInput(intent));
    expect(await s.ending(intent)).toEqual(ASKED);
  });

  it('where clocks are trusted less, one from within that distrust counts as ours', async () => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    s.w.deps.timing = { ...TIMING, skewMs: 5 * MINUTE };
    s.outside.add({ text: TEXT, createdAt: NOW - MINUTE, savedAt: NOW - MINUTE });
    expect(await s.ending(await s.sent())).toEqual({ ...ASKED, state: 'confirmed', reason: null });
  });
});

describe('a record that tells no time', () => {
  const lag = { applyDelayMs: 500, visibilityLagMs: 300 };
  const route = routeTo('http://127.0.0.1:4');
  const undated = { externalId: 'R-9', account: '900001', reference: null, content: {} };
  const answered = ACKNOWLEDGED.kind === 'acknowledged' ? ACKNOWLEDGED.externalId : null;

  it.each([
    { provider: medium, id: 'R-9', ours: false, because: 'found by its content it may be of any time' },
    { provider: medium, id: answered ?? '', ours: true, because: 'an answer of ours named it' },
    {
      provider: warehouse,
      id: 'R-9',
      ours: undefined,
      because: 'our reference shows, and no time is needed',
    },
  ])('$ours: $because', ({ provider, id, ours }) => {
    const intent = intentOf({ attempts: [attemptOf(1, { result: ACKNOWLEDGED })] });
    const record = { ...undated, externalId: id };
    expect(inTime({ timing: TIMING }, { route, provider, lag }, intent, record)).toBe(ours);
  });
});

/** What a look means at an intent outside which nothing more was believed to exist. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { type AuditEnd, type AuditLook, isAuditOutOfTime, judgeAudit } from '../../lib/domain/judge-audit.ts';
import { attemptOf, IN_STATE, NOW, TIMING, UNKNOWN_RESULT } from '../support/kit.ts';

const DAY = 86_400_000;
const LAG = { applyDelayMs: 1000, visibilityLagMs: 2000 };
/** Z + D + L. */
const WINDOW = 18_000;
const SEEN = {
  ...{ startedAt: NOW, failed: false, complete: true, authorised: true },
  matched: [{ externalId: 'R-1' }],
};
const other = { matched: [{ externalId: 'R-1' }, { externalId: 'R-2' }] };
const blurred = { complete: false };
const disputed = { contraryAt: NOW - DAY - 1 };

interface Row {
  readonly of: keyof typeof IN_STATE;
  readonly change?: Partial<Intent>;
  readonly look?: Partial<AuditLook>;
  readonly end: AuditEnd['kind'];
  readonly because: string;
}

describe('an audit', () => {
  it.each<Row>([
    { of: 'confirmed', end: 'over', because: 'only what is on record shows' },
    { of: 'confirmed', look: other, end: 'contradicted', because: 'another one shows' },
    { of: 'rejected', end: 'contradicted', because: 'nothing was believed to exist' },
    {
      of: 'confirmed',
      look: { ...other, ...blurred },
      end: 'contradicted',
      because: 'what was seen was seen',
    },
    {
      of: 'confirmed',
      look: { ...other, doubtful: ['R-2'] },
      end: 'incomplete',
      because: 'it may be another’s',
    },
    {
      of: 'confirmed',
      look: { matched: [...other.matched, { externalId: 'R-3' }], doubtful: ['R-2'] },
      end: 'contradicted',
      because: 'one of the two is certain',
    },
    { of: 'confirmed', look: { doubtful: ['R-1'] }, end: 'over', because: 'its own record was read back' },
    {
      of: 'absent',
      look: { doubtful: ['R-1'] },
      end: 'unsupported',
      because: 'nothing may be sent beside it',
    },
    {
      of: 'confirmed',
      change: { incident: { reason: 'second_effect', candidates: ['R-2'], at: NOW } },
      look: other,
      end: 'over',
      because: 'people were told of that one',
    },
    { of: 'confirmed', look: blurred, end: 'later', because: 'there are looks left' },
    {
      of: 'confirmed',
      look: { failed: true },
      change: { searches: 18 },
      end: 'later',
      because: 'one is left',
    },
    {
      of: 'confirmed',
      look: { failed: true },
      change: { searches: 19 },
      end: 'incomplete',
      because: 'it was the last one',
    },
    {
      of: 'confirmed',
      look: { authorised: false },
      change: { searches: 19 },
      end: 'incomplete',
      because: 'somebody else’s account was seen',
    },
    { of: 'closed', change: disputed, look: { matched: [] }, end: 'over', because: 'nothing is there' },
    {
      of: 'closed',
      change: disputed,
      look: { matched: [], ...blurred },
      end: 'incomplete',
      because: 'nobody could see whether anything is there',
    },
    {
      of: 'closed',
      change: { contraryAt: NOW - WINDOW },
      look: { matched: [] },
      end: 'later',
      because: 'it may still show',
    },
    {
      of: 'absent',
      change: disputed,
      look: { matched: [] },
      end: 'unsupported',
      because: 'the evidence stands',
    },
    {
      of: 'absent',
      change: disputed,
      look: { matched: [], ...blurred },
      end: 'unsupported',
      because: 'it forbids a write',
    },
  ])('of $of is $end, because $because', ({ of, change = {}, look = {}, end }) => {
    const intent = { ...IN_STATE[of], ...change };
    const externalId = of === 'confirmed' ? 'R-1' : null;
    const seen = { ...SEEN, ...look };
    expect(judgeAudit({ ...intent, externalId }, seen, TIMING, LAG, NOW).kind).toBe(end);
  });
});

describe('an audit that is held back', () => {
  const claimedAt = NOW - 7 * DAY - WINDOW;
  const attempts = [attemptOf(1, { claimedAt, result: UNKNOWN_RESULT })];
  const heldBack = { times: 19, calls: null };
  const intent = { ...IN_STATE.confirmed, attempts, searchingSince: null, contraryAt: null, heldBack };

  it.each<[string, Partial<Intent>, number, boolean]>([
    ['seven days after everything must show', {}, 0, true],
    ['before', {}, -1, false],
    ['less than twenty times', { heldBack: { times: 18, calls: null } }, DAY, false],
    ['for the first time, after a twin was waited for', { heldBack: null }, DAY, false],
    ['when evidence came later', { contraryAt: NOW - DAY }, 0, false],
    ['when people asked for a look later', { searchingSince: NOW - DAY }, 0, false],
    ['seven days after people asked', { searchingSince: NOW - 7 * DAY }, 0, true],
  ])('%s: %j at %i ms is out of time: %j', (_, change, inMs, isOut) => {
    expect(isAuditOutOfTime({ ...intent, ...change }, TIMING, LAG, NOW + inMs)).toBe(isOut);
  });
});

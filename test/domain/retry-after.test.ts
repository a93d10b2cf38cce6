import { describe, expect, it } from 'vitest';
import {
  LONGEST_RETRY_AFTER_MS,
  laterOf,
  leftAloneUntil,
  notBeforeOf,
  retryAfterOf,
} from '../../lib/domain/retry-after.ts';
import { ACKNOWLEDGED, attemptOf, NOT_SENT, NOW, UNKNOWN_RESULT } from '../support/kit.ts';

/** `NOW` is Monday, 30 November 2026, 09:00:00 GMT. */
const AHEAD = 'Mon, 30 Nov 2026 09:01:30 GMT';

describe('the moment that the field names, from its arrival, ms', () => {
  it.each<{ value: string; waitMs: number | null; because: string }>([
    { value: '120', waitMs: 120_000, because: 'seconds' },
    { value: '1', waitMs: 1000, because: 'the shortest wait there is' },
    { value: '0', waitMs: null, because: 'at once: our own pause stands' },
    { value: '00120', waitMs: 120_000, because: 'digits only, however many' },
    { value: ' 120\t', waitMs: 120_000, because: 'blanks around a field are no part of it' },
    { value: '899', waitMs: 899_000, because: 'one second below the greatest wait' },
    { value: '900', waitMs: LONGEST_RETRY_AFTER_MS, because: 'the greatest wait' },
    { value: '901', waitMs: LONGEST_RETRY_AFTER_MS, because: 'one second over it' },
    { value: '999999999', waitMs: LONGEST_RETRY_AFTER_MS, because: 'thirty years are cut' },
    {
      value: '9'.repeat(400),
      waitMs: LONGEST_RETRY_AFTER_MS,
      because: 'what is no finite number is cut too',
    },
    { value: AHEAD, waitMs: 90_000, because: 'a date that is ahead' },
    { value: 'Mon, 30 Nov 2026 09:00:01 GMT', waitMs: 1000, because: 'the next second' },
    { value: 'Mon, 30 Nov 2026 09:00:00 GMT', waitMs: null, because: 'now is not ahead' },
    { value: 'Mon, 30 Nov 2026 08:58:30 GMT', waitMs: null, because: 'a date that is past' },
    { value: 'Fri, 31 Dec 9999 23:59:59 GMT', waitMs: LONGEST_RETRY_AFTER_MS, because: 'a far date is cut' },
    { value: 'Tue, 30 Nov 2026 09:01:30 GMT', waitMs: null, because: 'it is a Monday' },
    { value: 'Tue, 31 Nov 2026 09:01:30 GMT', waitMs: null, because: 'November has no such day' },
    { value: 'Mon, 30 Nov 2026 24:01:30 GMT', waitMs: null, because: 'no day has such an hour' },
    { value: 'Mon, 30 Nov 2026 09:01:30 UTC', waitMs: null, because: 'the form says GMT' },
    { value: 'mon, 30 nov 2026 09:01:30 gmt', waitMs: null, because: 'case matters in it' },
    { value: 'Mon, 30 Nov 2026 18:01:30 +0900', waitMs: null, because: 'the form has no offset' },
    { value: 'Monday, 30-Nov-26 09:01:30 GMT', waitMs: null, because: 'obsolete: the century is a guess' },
    { value: 'Mon Nov 30 09:01:30 2026', waitMs: null, because: 'obsolete: it names no zone' },
    { value: '2026-11-30T09:01:30Z', waitMs: null, because: 'another standard' },
    { value: '', waitMs: null, because: 'it says nothing' },
    { value: 'abc', waitMs: null, because: 'no number' },
    { value: '-1', waitMs: null, because: 'a sign is no digit' },
    { value: '+120', waitMs: null, because: 'a sign is no digit' },
    { value: '1.5', waitMs: null, because: 'a point is no digit' },
    { value: '1e3', waitMs: null, because: 'digits only' },
    { value: '0x78', waitMs: null, because: 'digits only' },
    { value: '120s', waitMs: null, because: 'the unit is not written' },
    { value: '１２０', waitMs: null, because: 'digits of ASCII only' },
    { value: 'NaN', waitMs: null, because: 'no number, and none comes of it' },
    { value: '1, 2', waitMs: 2000, because: 'sent twice: the later one' },
    { value: '2,1', waitMs: 2000, because: 'in whatever order' },
    { value: '120, abc', waitMs: 120_000, because: 'sent twice: the one that can be read' },
    { value: 'abc, -1', waitMs: null, because: 'none can be read' },
    { value: `${AHEAD}, 30`, waitMs: 90_000, because: 'the comma of a date parts nothing' },
    { value: `120, ${AHEAD}`, waitMs: 120_000, because: 'a date and seconds are compared' },
    { value: `${AHEAD}, ${AHEAD}`, waitMs: 90_000, because: 'the same date twice' },
    { value: '120,', waitMs: 120_000, because: 'an empty part names nothing' },
  ])('"$value": $waitMs, because $because', ({ value, waitMs }) => {
    expect(retryAfterOf(value, NOW)).toBe(waitMs === null ? null : NOW + waitMs);
  });

  it.each([
    [429, NOW + 120_000],
    [503, NOW + 120_000],
    [500, null],
    [409, null],
    [202, null],
    [200, null],
    [301, null],
  ])('with %i it is %s', (status, expected) => {
    expect(notBeforeOf({ status, retryAfter: '120' }, NOW)).toBe(expected);
    expect(notBeforeOf({ status, retryAfter: undefined }, NOW)).toBeNull();
  });
});

describe('the latest of several', () => {
  it.each([
    [null, null, null],
    [1, null, 1],
    [null, 2, 2],
    [3, 2, 3],
    [2, 3, 3],
  ])('of %s and %s it is %s', (one, other, expected) => {
    expect(laterOf(one, other)).toBe(expected);
  });

  it('of an intent is that of any attempt, also where a later one asked for less', () => {
    const told = (notBefore: number) => ({ ...UNKNOWN_RESULT, notBefore }) as const;
    const [first, second] = [
      attemptOf(1, { result: told(NOW + 9000) }),
      attemptOf(2, { result: told(NOW + 5) }),
    ];
    expect(leftAloneUntil({ attempts: [first, second] })).toBe(NOW + 9000);
    const silent = [NOT_SENT, ACKNOWLEDGED, UNKNOWN_RESULT].map((result, at) =>
      attemptOf(at + 1, { result }),
    );
    expect(leftAloneUntil({ attempts: [...silent, second, attemptOf(5)] })).toBe(NOW + 5);
    expect(leftAloneUntil({ attempts: silent })).toBe(Number.NEGATIVE_INFINITY);
    expect(leftAloneUntil({ attempts: [] })).toBe(Number.NEGATIVE_INFINITY);
  });
});

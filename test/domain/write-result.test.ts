import { describe, expect, it } from 'vitest';
import { judgeWrite, tellsOfEffect, type WireReport } from '../../lib/domain/write-result.ts';
import { parseAnswer } from '../../lib/platform/json.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';

const judged = { token: 'a1', startedAt: 1, at: 2 };
const judge = (report: WireReport) =>
  judgeWrite(report, warehouse.readAnswer, judged, parseAnswer, () => 'digest');
const answered = (status: number, body: string, complete = true): WireReport => ({
  kind: 'answered',
  status,
  headers: {},
  body,
  complete,
});

const ID = '{"reservation_id":"R-1"}';

it('an answer that says that something exists is unknown, and evidence of an effect', () => {
  const exists = (code: number) =>
    judgeWrite(
      answered(code, '{}'),
      () => ({ kind: 'exists' }),
      judged,
      parseAnswer,
      () => 'digest',
    );
  expect(exists(409)).toMatchObject({ kind: 'unknown', code: 'status_409', exists: true });
  expect(tellsOfEffect(exists(409))).toBe(true);
  expect(tellsOfEffect(judge(answered(500, '{}')))).toBe(false);
  expect(tellsOfEffect(judge(answered(201, ID)))).toBe(true);
});

describe('an answer that asks to be left alone', () => {
  const asking = (status: number, body: string, complete = true): WireReport => ({
    ...(answered(status, body, complete) as Extract<WireReport, { kind: 'answered' }>),
    headers: { 'retry-after': '120' },
  });

  it.each<{ name: string; report: WireReport; notBefore: number | undefined; because: string }>([
    { name: '429', report: asking(429, '{}'), notBefore: 120_002, because: 'from when its answer was there' },
    { name: '503', report: asking(503, '{}'), notBefore: 120_002, because: 'out of service likewise' },
    {
      name: '429 that was cut',
      report: asking(429, '', false),
      notBefore: 120_002,
      because: 'the head came whole',
    },
    { name: '500', report: asking(500, '{}'), notBefore: undefined, because: 'the field is not its own' },
    {
      name: '201 without an id',
      report: asking(201, '{}'),
      notBefore: undefined,
      because: 'a success asks for nothing',
    },
    {
      name: '429 without it',
      report: answered(429, '{}'),
      notBefore: undefined,
      because: 'nothing was asked',
    },
  ])('$name is still unknown: $because', ({ report, notBefore }) => {
    const result = judge(report);
    expect(result.kind === 'unknown' && { notBefore: result.notBefore }).toEqual({ notBefore });
    expect(Object.hasOwn(result, 'notBefore')).toBe(notBefore !== undefined);
  });

  it('is a refusal all the same where the promise lists it', () => {
    const listed = judgeWrite(
      asking(429, '{}'),
      () => ({ kind: 'not_executed' }),
      judged,
      parseAnswer,
      () => 'digest',
    );
    expect(listed).toMatchObject({ kind: 'rejected', proof: 'refused' });
  });
});

describe('one attempt, judged', () => {
  it.each([
    [
      'the connection never stood',
      { kind: 'not_connected', detail: 'refused' } as const,
      'rejected not_sent not_sent',
    ],
    [
      'bytes left, the connection closed',
      { kind: 'sent_no_answer', how: 'closed' } as const,
      'unknown closed_without_answer',
    ],
    [
      'bytes left, no status line in time',
      { kind: 'sent_no_answer', how: 'timeout' } as const,
      'unknown timeout',
    ],
    ['created', answered(201, ID), 'acknowledged R-1'],
    ['the same again', answered(200, ID), 'acknowledged R-1'],
    ['C05: created, the body cut', answered(201, '', false), 'unknown body_cut'],
    ['C05: created, the body cut but called complete', answered(201, '{"reservation_'), 'unknown body_cut'],
    ['C05: created, an empty body', answered(201, ''), 'unknown body_cut'],
    ['C05: created, a page', answered(201, '<html>'), 'unknown body_cut'],
    ['C05: created, no id', answered(201, '{}'), 'unknown bad_answer'],
    ['C05: created, the id is null', answered(201, '{"reservation_id":null}'), 'unknown bad_answer'],
    [
      'C09: an error inside a 200',
      answered(200, '{"ok":false,"error":"invalid_account"}'),
      'unknown bad_answer',
    ],
    ['a 202 that nobody promised', answered(202, ID), 'unknown bad_answer'],
    [
      'C10: a 500, whatever it advises',
      answered(500, '{"error":"transient, please retry"}'),
      'unknown status_500',
    ],
    ['a 503', answered(503, '{"error":"unavailable"}'), 'unknown status_503'],
    [
      'a 409 of the promised shape',
      answered(409, '{"error":"idempotency_conflict"}'),
      'rejected refused status_409',
    ],
    ['a 409 of another shape', answered(409, '{"error":"in_progress"}'), 'unknown status_409'],
    ['a 409 that was cut', answered(409, '', false), 'unknown status_409'],
    [
      'a 400 of the promised shape',
      answered(400, '{"error":"invalid_request"}'),
      'rejected refused status_400',
    ],
    ['a 400 page of some proxy', answered(400, '<html>'), 'unknown status_400'],
    ['401', answered(401, '{"error":"unauthorised"}'), 'unknown status_401'],
    ['a redirect is not followed and proves nothing', answered(307, ''), 'unknown status_307'],
    ['429', answered(429, '{}'), 'unknown status_429'],
    ['an id under an error status', answered(500, ID), 'unknown status_500'],
    [
      'duplicate members',
      answered(201, '{"reservation_id":"R-1","reservation_id":"R-2"}'),
      'unknown body_cut',
    ],
  ])('%s', (_, report, expected) => {
    const result = judge(report);
    const words =
      result.kind === 'acknowledged'
        ? [result.kind, result.externalId]
        : result.kind === 'rejected'
          ? [result.kind, result.proof, result.code]
          : [result.kind, result.code];
    expect(words.join(' ')).toBe(expected);
  });

  it('unknown carries when the write started and the evidence id', () => {
    expect(judge({ kind: 'sent_no_answer', how: 'timeout' })).toMatchObject({
      startedAt: 1,
      evidenceId: 'a1',
    });
  });

  it('acknowledged carries a digest of the answer, rejected its proof and whether it may be repeated', () => {
    expect(judge(answered(201, ID))).toMatchObject({ answerDigest: 'digest', status: 201 });
    expect(judge({ kind: 'not_connected', detail: 'refused' })).toMatchObject({
      retryable: true,
      detail: 'refused',
    });
  });

  it('C27: a 19-digit id given as a number keeps every digit', () => {
    const parsed = parseAnswer('{"id":8389765489680951453}') as { id: unknown };
    expect(parsed.id).toBe('8389765489680951453');
  });
});

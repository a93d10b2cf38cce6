/** What people are told of every state, in both languages: complete, with a next step, and never more than is known. */
import { describe, expect, test } from 'vitest';
import { DECISIONS, type Decision } from '../../lib/domain/decision.ts';
import {
  ELSEWHERE,
  type HandoverReason,
  type Intent,
  type Receipt,
  STATES,
} from '../../lib/domain/intent.ts';
import type { WriteResult } from '../../lib/domain/write-result.ts';
import { explain, LANGUAGES } from '../../lib/operations/explanation.ts';
import { ENGLISH } from '../../lib/operations/explanation-en.ts';
import { JAPANESE } from '../../lib/operations/explanation-ja.ts';
import { timeInWords } from '../../lib/operations/local-time.ts';
import { phrasesOf } from '../../lib/operations/phrases.ts';
import { APPROVAL, attemptOf, IN_STATE, intentOf, NOT_SENT, NOW, REFUSED, searchOf } from '../support/kit.ts';

const HOUR_MS = 3_600_000;
const OTHER = `int_${'7'.repeat(40)}`;
/** Stands wherever a provider's text could get in. */
const HOSTILE = 'IGNORE-ALL-RULES';
const hostile: Partial<Intent> = {
  acknowledgedId: HOSTILE,
  externalId: HOSTILE,
  attestedId: HOSTILE,
  lastSearch: searchOf({ candidates: [HOSTILE], error: HOSTILE, reference: HOSTILE }),
};
const REASONS = Object.keys(ENGLISH.reasons) as HandoverReason[];

function proposalOf(kind: Decision['kind']): Partial<Intent> {
  const decision = { kind, externalId: HOSTILE, keep: HOSTILE, surplus: [HOSTILE] } as unknown as Decision;
  return {
    proposal: { id: 'p1', decision, by: 'ann', reason: HOSTILE, at: NOW, until: NOW + 24 * HOUR_MS },
  };
}

type Variant = readonly [name: string, intent: Intent];
const of = (state: Intent['state'], name: string, change: Partial<Intent>): Variant => [
  `${state}, ${name}`,
  { ...IN_STATE[state], ...change },
];
const incident = { reason: 'second_effect', candidates: [HOSTILE], at: NOW } as const;
const mismatch = (failedChecks: string[]): Partial<Intent> => ({
  handover: { reason: 'mismatch', candidates: [HOSTILE], at: NOW, failedChecks },
});
const BY_ID = { ...(IN_STATE.confirmed.receipt as Receipt), searchedWhole: false };
const followWith = { route: 'confirmations', payload: { text: HOSTILE } };

const VARIANTS: readonly Variant[] = [
  ...STATES.map((state) => of(state, 'plain', {})),
  of('awaiting_approval', 'never approved', { dueAt: NOW + 24 * HOUR_MS }),
  of('awaiting_approval', 'revoked', { approval: { ...APPROVAL, revoked: { by: 'ann', at: NOW } } }),
  of('awaiting_approval', 'lapsed', { approval: APPROVAL, dueAt: NOW + 24 * HOUR_MS }),
  of('awaiting_approval', 'just approved', { approval: APPROVAL, dueAt: NOW }),
  of('ready', 'planned', { plannedAt: NOW + HOUR_MS, dueAt: NOW + HOUR_MS }),
  of('ready', 'not sent once', { attempts: [attemptOf(1, { result: NOT_SENT })] }),
  of('ready', 'not sent twice', { attempts: [1, 2].map((n) => attemptOf(n, { result: NOT_SENT })) }),
  of('ready', 'behind a twin', { waitsFor: OTHER }),
  of('ready', "behind another unit's", { waitsFor: ELSEWHERE }),
  of('ready', 'behind the original', { corrects: OTHER, waitsFor: OTHER }),
  of('ready', 'correcting', { corrects: OTHER }),
  of('ready', 'contradicted', { attempts: [attemptOf(1, { result: NOT_SENT })], contraryAt: NOW }),
  of('ready', 'withdrawn', { noMoreWrites: true, contraryAt: NOW }),
  of('unknown', 'seen before', { seenAt: NOW }),
  of('unknown', 'withdrawn', { noMoreWrites: true }),
  of('unknown', 'searched', { trustedSearchAt: NOW }),
  of('unknown', 'conflicted', { conflictAt: NOW }),
  of('unknown', 'owned', { owner: { by: 'ann', at: NOW } }),
  of('unknown', 'with a follow-up', { followWith }),
  of('absent', 'declared', { declaredAbsentAt: NOW }),
  of('absent', 'contradicted', { contraryAt: NOW }),
  of('absent', 'withdrawn', { noMoreWrites: true }),
  ...REASONS.map((reason) =>
    of('handover', reason, { handover: { reason, candidates: [HOSTILE], at: NOW } }),
  ),
  ...REASONS.map((reason) =>
    of('unknown', `to be handed over, ${reason}`, { handover: { reason, candidates: [], at: NOW } }),
  ),
  ...DECISIONS.map((kind) => of('handover', `proposed: ${kind}`, proposalOf(kind))),
  of('handover', 'without its page', mismatch(['publicUrl'])),
  of('handover', 'unlike in two ways', mismatch(['publicUrl', 'visibility'])),
  of('unknown', 'held back', { heldBack: { times: 1, calls: null } }),
  of('confirmed', 'read back by its id', { receipt: BY_ID }),
  of('confirmed', 'searched since', { receipt: BY_ID, trustedSearchAt: NOW + 1 }),
  of('handover', 'waiting', { waitUntil: NOW + 2 * HOUR_MS }),
  of('handover', 'cancellable', { cancelUntil: NOW + HOUR_MS }),
  of('confirmed', 'to be audited', { dueAt: NOW + HOUR_MS }),
  of('confirmed', 'with surplus', { surplus: [HOSTILE, `${HOSTILE}-2`] }),
  of('confirmed', 'audit incomplete', { incident: { ...incident, reason: 'audit_incomplete' } }),
  of('rejected', 'audit incomplete', {
    ...{ incident: { ...incident, reason: 'audit_incomplete' }, contraryAt: NOW, dueAt: null },
  }),
  of('confirmed', 'audited again', {
    ...{ incident: { ...incident, reason: 'audit_incomplete' }, dueAt: NOW + HOUR_MS },
  }),
  of('confirmed', 'second effect', { incident, cancelUntil: NOW + HOUR_MS }),
  of('confirmed', 'withdrawn too late', { noMoreWrites: true }),
  of('confirmed', 'follow-up due', { followWith, dueAt: NOW + HOUR_MS }),
  of('confirmed', 'follow-up created', { followWith, followUp: OTHER }),
  of('rejected', 'refused', { attempts: [attemptOf(1, { result: REFUSED })] }),
  of('rejected', 'never sent', {
    attempts: [attemptOf(1, { result: { ...NOT_SENT, detail: HOSTILE } as WriteResult })],
  }),
  of('rejected', 'contradicted', { contraryAt: NOW, dueAt: NOW }),
  of('rejected', 'with a follow-up', { followWith }),
  ...(['no_effect', 'attested', 'undetermined', null] as const).map((outcome) =>
    of('closed', `outcome ${outcome}`, { outcome, followWith }),
  ),
  // Everything at once, in every state.
  ...STATES.map((state) =>
    of(state, 'everything', {
      ...hostile,
      ...proposalOf('close'),
      ...{ followWith, corrects: OTHER, waitsFor: OTHER, contraryAt: NOW, seenAt: NOW, conflictAt: NOW },
      ...{ noMoreWrites: true, owner: { by: 'ann', at: NOW }, cancelUntil: NOW, waitUntil: NOW },
      ...{ trustedSearchAt: NOW, declaredAbsentAt: NOW, surplus: [HOSTILE], approval: APPROVAL },
    }),
  ),
];

describe.each(LANGUAGES)('in %s', (language) => {
  const words = language === 'en' ? ENGLISH : JAPANESE;

  test.each(VARIANTS)('%s: is said, with one next step or that there is none', (_, intent) => {
    const said = explain({ ...intent, ...hostile }, language);
    expect(said).not.toMatch(/[{}]|undefined|null|NaN|Invalid/);
    expect(said).not.toContain(HOSTILE);
    expect(said).not.toMatch(/fail|error|失敗|エラー/i);
    const steps =
      language === 'en' ? /(Next step|No further step is)/g : /(次は|次に|次の処理|予定された処理)/g;
    expect(said.match(steps)?.length ?? 0).toBeGreaterThanOrEqual(1);
    expect(phrasesOf(intent).filter((phrase) => phrase.say.startsWith('next_'))).toHaveLength(1);
  });

  test('every sentence, reason and decision is there, and is another one than the others', () => {
    for (const part of [words.sayings, words.reasons, words.decisions]) {
      const all = Object.values(part);
      expect(all.every((text) => text.trim() === text && text.length >= 2)).toBe(true);
      expect(new Set(all).size).toBe(all.length);
    }
  });

  test.each(
    VARIANTS.filter(
      ([, intent]) => ['unknown', 'sending'].includes(intent.state) && intent.handover === null,
    ),
  )('%s: is never said to be without an effect', (_, intent) => {
    const said = explain(intent, language);
    expect(said).not.toMatch(/no effect|did not|rejected|refused|反映されていない|拒否/);
    expect(said).toMatch(language === 'en' ? /undetermined|not known yet/ : /未確定|まだ分かりません/);
  });
});

test.each(VARIANTS)('%s: reads otherwise in the other language', (_, intent) => {
  expect(explain(intent, 'en')).toMatch(/^[\x20-\x7e]+$/);
  expect(explain(intent, 'ja')).toMatch(/[\u3040-\u30ff\u4e00-\u9fff]/);
  expect(explain(intent, 'ja')).not.toMatch(/[a-z]{4,} [a-z]{2,} /);
});

test('no sentence is without a state that says it, and no reason or decision without its case', () => {
  const phrases = VARIANTS.flatMap(([, intent]) => phrasesOf(intent));
  expect(new Set(phrases.map((phrase) => phrase.say))).toEqual(new Set(Object.keys(ENGLISH.sayings)));
  expect(new Set(phrases.flatMap(({ reason }) => reason ?? []))).toEqual(new Set(REASONS));
  expect(new Set(phrases.flatMap(({ decision }) => decision ?? []))).toEqual(new Set(DECISIONS));
});

test('both languages tell the same facts in each sentence', () => {
  const facts = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  const says = Object.keys(ENGLISH.sayings) as (keyof typeof ENGLISH.sayings)[];
  const differing = says.filter(
    (say) => String(facts(ENGLISH.sayings[say])) !== String(facts(JAPANESE.sayings[say])),
  );
  expect(differing).toEqual([]);
});

test('every fact that a sentence names is given with it', () => {
  for (const [name, intent] of VARIANTS) {
    for (const phrase of phrasesOf(intent)) {
      const named = [...ENGLISH.sayings[phrase.say].matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
      expect(
        named.filter((fact) => !(fact in phrase)),
        `${name}: ${phrase.say}`,
      ).toEqual([]);
    }
  }
});

describe('what is said in full', () => {
  test('of what was just accepted', () => {
    expect(explain(intentOf())).toBe(
      'Accepted and stored. Nothing was sent yet. Next step by 2026-11-30T09:00:00.000Z.',
    );
  });

  test('of a lost answer, in both languages and both times', () => {
    const intent = { ...IN_STATE.unknown, owner: { by: 'ann', at: NOW } };
    expect(explain(intent)).toBe(
      'The effect outside is undetermined and is being reconciled. Nothing is sent while it is looked for. ' +
        'No search was complete and authorised yet. ann has worked on it since 2026-11-30T09:00:00.000Z. ' +
        'Next step by 2026-11-30T09:00:00.000Z.',
    );
    expect(explain(intent, 'ja')).toBe(
      '相手先に反映されたかどうかは未確定で、照合しています。その間は何も送信しません。' +
        '完全で権限の確かな検索は、まだ行えていません。' +
        'ann が 2026-11-30T09:00:00.000Z (2026-11-30 18:00:00 Asia/Tokyo) から担当しています。' +
        '次の処理は 2026-11-30T09:00:00.000Z (2026-11-30 18:00:00 Asia/Tokyo) までに行います。',
    );
  });

  test('of a mismatch: the checks that do not hold, and what helps where that is the page alone', () => {
    const of = (failedChecks: string[]) => ({ ...IN_STATE.handover, seenAt: NOW, ...mismatch(failedChecks) });
    expect(explain(of(['publicUrl', 'visibility']))).toContain(
      'A person must decide: the record at the provider does not pass every check. ' +
        'What was read back does not hold in: public page, visibility. ' +
        'No search was',
    );
    expect(explain(of(['publicUrl']))).toContain(
      'does not hold in: public page. All else agrees. If the page is only late, another look can confirm it. ',
    );
    expect(explain(of(['publicUrl', 'visibility']), 'ja')).toContain(
      '満たさない項目: 公開ページ、公開範囲。',
    );
  });

  test('of a receipt: that there is one effect only where a complete search was part of it', () => {
    const confirmed = { ...IN_STATE.confirmed, receipt: BY_ID };
    expect(explain(IN_STATE.confirmed)).toContain('exactly one matching effect');
    expect(explain(confirmed)).toBe(
      'Confirmed by readback: the effect passes every check. ' +
        'Whether there is another one was not part of the proof. No further step is due.',
    );
    expect(explain({ ...confirmed, trustedSearchAt: NOW - 1 })).toBe(explain(confirmed));
    expect(explain({ ...confirmed, trustedSearchAt: NOW })).toContain(
      'A complete search since then shows no other one.',
    );
  });

  test('a withdrawal of what may be outside says that it is still looked for', () => {
    const intent = { ...IN_STATE.unknown, noMoreWrites: true };
    expect(explain(intent)).toContain('What may be outside is still looked for.');
    expect(explain({ ...IN_STATE.absent, noMoreWrites: true })).not.toContain('may be sent again');
  });

  test('a handed-over intent is undetermined unless its absence was proved or something was seen', () => {
    const sentence = 'Whether there is an effect outside is undetermined.';
    expect(explain(IN_STATE.handover)).toContain(sentence);
    for (const change of [{ absentSince: NOW }, { seenAt: NOW }, { attempts: [] }])
      expect(explain({ ...IN_STATE.handover, ...change })).not.toContain(sentence);
  });

  test('nobody is asked to approve what was withdrawn', () => {
    const waiting = { ...IN_STATE.awaiting_approval, dueAt: NOW + 24 * HOUR_MS };
    expect(explain(waiting)).toContain('a person approves it');
    expect(explain({ ...waiting, noMoreWrites: true })).not.toContain('a person approves it');
  });

  test("a person's name in braces is a name and no sentence", () => {
    const intent = { ...IN_STATE.unknown, owner: { by: '{reason}{at}$&', at: NOW } };
    expect(explain(intent)).toContain('{reason}{at}$& has worked on it');
  });
});

describe('a moment', () => {
  test.each([
    [NOW, 'UTC', '2026-11-30T09:00:00.000Z', 'once is enough'],
    [NOW, 'Asia/Tokyo', '2026-11-30T09:00:00.000Z (2026-11-30 18:00:00 Asia/Tokyo)', 'nine hours ahead'],
    [
      Date.parse('2026-12-31T15:00:00.999Z'),
      'Asia/Tokyo',
      '2026-12-31T15:00:00.999Z (2027-01-01 00:00:00 Asia/Tokyo)',
      'midnight is 00 of the next day, and here of the next year',
    ],
    [
      Date.parse('2026-11-01T05:30:00Z'),
      'America/New_York',
      '2026-11-01T05:30:00.000Z (2026-11-01 01:30:00 America/New_York)',
      'this local time comes twice; UTC tells which one it is',
    ],
    [
      Date.parse('2026-11-01T06:30:00Z'),
      'America/New_York',
      '2026-11-01T06:30:00.000Z (2026-11-01 01:30:00 America/New_York)',
      'this is the second one',
    ],
  ])('%i in %s is %s, because %s', (ms, zone, expected) => {
    expect(timeInWords(ms, zone)).toBe(expected);
  });

  test('is told in the zone that was asked for, whatever the language', () => {
    expect(explain(IN_STATE.unknown, 'en', 'Asia/Tokyo')).toContain('(2026-11-30 18:00:00 Asia/Tokyo).');
    expect(explain(IN_STATE.unknown, 'ja', 'UTC')).not.toContain('Tokyo');
  });
});

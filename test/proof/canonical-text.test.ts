/**
 * 105 000 generated texts: equal meaning has one hash, different meaning never, and a provider's declared
 * rewrites are undone or named, never taken for equal where anything was changed. Meanings, spellings and
 * rewrites are written down here by other means than the product's.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalPost, textHash } from '../../lib/domain/canonical-text.ts';
import { compareText, type TextRewrite } from '../../lib/domain/compare-text.ts';
import { NotCanonical } from '../../lib/domain/fingerprint.ts';
import { random } from '../support/schedule.ts';

/** An interrupted run is a failure; a failure names seed, path and counterexample. */
const RUNS: fc.Parameters<unknown> = {
  numRuns: 21_000,
  endOnFailure: true,
  plugins: [fc.interruptAfterTimeLimit(50_000, { failOnInterrupt: true })],
};

/** Characters by meaning: the first spelling is the meaning, any other is the same. */
const CHARACTERS: readonly (readonly string[])[] = [
  ['é', 'e\u0301'],
  ['ガ', 'カ\u3099'],
  ['Å', '\u212b', 'A\u030a'],
  ['각', '\u1100\u1161\u11a8'],
  ...['a', 'A', 'x', ' ', '  ', '\t', '\n', '&', '<', '"', '&amp;', '&#39;', '?', '.', '…'].map((it) => [it]),
  ...['ｶﾞ', '\ufb01', '\u2028', '\u200b', '。', '「', '👀', '⚡\ufe0f', '👩\u200d💻', '🇯🇵', '7'].map((it) => [
    it,
  ]),
];
const HOSTS = [
  ['a.test', 'A.test', 'a.TEST'],
  ['b.a.test', 'B.a.test'],
  ['xn--r8jz45g.test', '例え.test', 'XN--r8jz45g.test'],
  ['xn--caf-dma.test', 'café.test', 'cafe\u0301.test', 'CAFÉ.test'],
];
const PORTS = { http: [['', ':80'], [':443'], [':8080']], https: [['', ':443'], [':80'], [':8080']] };
const USERS = ['', 'u@', 'U:P@'];
const PATHS = [['/', ''], ['/a'], ['/A'], ['/a/'], ['/%61'], ['/a/../b'], ['/é', '/e\u0301']];
const TAILS = ['', '?b=1', '?B=1', '#c', '?b=1&a=2#C', '?u=HTTP://B.test'];

/** A piece of a text that stays whole: its parts in order, each with all its spellings. */
type Unit = readonly (readonly string[])[];

const character: fc.Arbitrary<Unit> = fc.constantFrom(...CHARACTERS).map((spellings) => [spellings]);
/** It stands between spaces, so that where it ends is in no doubt. */
const link: fc.Arbitrary<Unit> = fc
  .tuple(
    fc.constantFrom('http' as const, 'https' as const),
    fc.constantFrom(...USERS),
    fc.constantFrom(...HOSTS),
    fc.nat(2),
    fc.constantFrom(...PATHS),
    fc.constantFrom(...TAILS),
  )
  .map(([scheme, user, host, port, path, tail]) => [
    [` ${scheme}://${user}`, ` ${scheme.toUpperCase()}://${user}`],
    host,
    PORTS[scheme][port] ?? [''],
    path,
    [`${tail} `],
  ]);
const post: fc.Arbitrary<readonly Unit[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: character }, { weight: 1, arbitrary: link }),
  { maxLength: 8 },
);
const seed = fc.nat();

/** What a text says; at its very end white space says nothing. */
function meaningOf(units: readonly Unit[]): string {
  const said = units.flat().map(([meaning = '']) => meaning);
  return said.join('').replace(/[ \t\n\u2028]+$/, '');
}

/** The text in spellings by chance, with one kind of line end. */
function spelled(units: readonly Unit[], chance: number): string {
  const next = random(chance);
  const pick = (from: readonly string[]) => from[Math.floor(next() * from.length)] ?? '';
  const end = pick(['', '', ' ', '\n', '\u3000\n']);
  return `${units.flat().map(pick).join('')}${end}`.replaceAll('\n', pick(['\n', '\r\n', '\r']));
}

describe('the hash of a text', () => {
  test('is one for all spellings of a meaning', () => {
    fc.assert(
      fc.property(post, seed, seed, (units, one, other) => {
        const text = spelled(units, one);
        expect(textHash(text)).toBe(textHash(spelled(units, other)));
        expect(canonicalPost(text)).toBe(meaningOf(units));
      }),
      RUNS,
    );
  });

  test('is another for another meaning', () => {
    let differed = 0;
    fc.assert(
      fc.property(post, character, fc.nat(), seed, (units, other, place, chance) => {
        const changed = units.toSpliced(place % Math.max(1, units.length), 1, other);
        const equal = meaningOf(units) === meaningOf(changed);
        if (!equal) differed += 1;
        expect(textHash(spelled(units, chance)) === textHash(spelled(changed, chance + 1))).toBe(equal);
      }),
      { ...RUNS, examples: [[[[['a']]], [['A']], 0, 0]] },
    );
    expect(differed).toBeGreaterThan(15_000);
  });
});

describe('any sequence of UTF-16 units', () => {
  const PIECES = [
    'http://',
    'HTTPS://',
    '://',
    '@',
    ':',
    '.',
    '/',
    '&amp;',
    '&#',
    ';',
    '\ud83d',
    '\udc40',
    '…',
  ];
  const piece = fc.oneof(
    fc.constantFrom(...PIECES),
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
  );
  const any = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

  test('is refused when ill-formed, else brought into a form that stays; no provider crashes a comparison', () => {
    const seen = { refused: 0, taken: 0 };
    fc.assert(
      fc.property(any, any, (text, shown) => {
        if (!text.isWellFormed()) {
          seen.refused += 1;
          expect(() => canonicalPost(text)).toThrow(NotCanonical);
          return;
        }
        seen.taken += 1;
        const form = canonicalPost(text);
        expect(canonicalPost(form)).toBe(form);
        expect(compareText(text, form, { rewrites: [] })).toEqual({ kind: 'equal' });
        const links = [{ shown, target: text }];
        compareText(text, shown, { rewrites: ALL, links });
        const plainly = compareText(text, shown, { rewrites: [] });
        const same = shown.isWellFormed() && canonicalPost(shown) === form;
        expect(plainly).toEqual({ kind: same ? 'equal' : 'different' });
      }),
      RUNS,
    );
    expect(Math.min(seen.refused, seen.taken)).toBeGreaterThan(2_000);
  });
});

const LOSS_FREE = ['crlf', 'trim_end', 'unicode_form', 'html_entities', 'links_with_map'] as const;
const LOSSY = ['links_without_map', 'emoji_lost', 'cut'] as const;
const ALL: readonly TextRewrite[] = [...LOSS_FREE, ...LOSSY, 'scheme_added'];

describe('a text that a provider rewrites', () => {
  const declared = fc.tuple(fc.subarray([...LOSS_FREE]), fc.subarray([...LOSSY]));

  test('is equal after loss-free rewrites, and never different after lossy ones', () => {
    const kinds = new Map<string, number>();
    fc.assert(
      fc.property(post, declared, seed, (units, [lossFree, lossy], chance) => {
        const approved = spelled(units, chance);
        const rewrites = [...lossFree, ...lossy];
        const { text, links } = published(approved, new Set(rewrites), chance);
        const verdict = compareText(approved, text, { rewrites, links });
        const word = 'reason' in verdict ? verdict.reason : verdict.kind;
        kinds.set(word, (kinds.get(word) ?? 0) + 1);
        expect(lossy.length === 0 ? ['equal'] : ['equal', 'not_comparable']).toContain(verdict.kind);
      }),
      RUNS,
    );
    expect([...kinds.keys()].toSorted()).toEqual(['cut', 'emoji_lost', 'equal', 'links_hidden']);
    expect(Math.min(...kinds.values())).toBeGreaterThan(200);
  });

  test('is never equal to another one, whatever is declared, and different where nothing is lost', () => {
    let differed = 0;
    fc.assert(
      fc.property(post, character, fc.nat(), declared, seed, (units, other, place, words, chance) => {
        const changed = units.toSpliced(place % Math.max(1, units.length), 1, other);
        const [lossFree, lossy] = words;
        if (meaningOf(units) === meaningOf(changed)) return;
        differed += 1;
        const { text, links } = published(spelled(changed, chance), new Set(lossFree), chance);
        const verdict = compareText(spelled(units, chance + 1), text, {
          rewrites: [...lossFree, ...lossy],
          links,
        });
        expect(lossy.length === 0 ? ['different'] : ['different', 'not_comparable']).toContain(verdict.kind);
      }),
      { ...RUNS, examples: [[[[['a']]], [['A']], 0, [[], []], 0]] },
    );
    expect(differed).toBeGreaterThan(15_000);
  });
});

const EMOJI = /[\u{1f000}-\u{1faff}]/gu;

/** What a provider makes of a text. Entities come last, as in a page. */
function published(sent: string, words: ReadonlySet<TextRewrite>, chance: number) {
  const next = random(chance);
  const links: { shown: string; target: string }[] = [];
  let text = sent;
  if (words.has('crlf')) text = text.replace(/\r\n?|\n/g, '\r\n');
  if (words.has('unicode_form')) text = text.normalize(next() < 0.5 ? 'NFC' : 'NFD');
  if (words.has('trim_end')) text = text.trimEnd();
  if (words.has('emoji_lost'))
    text = text.replace(EMOJI, () => (next() < 0.5 ? '????' : '')).replace(/\ufe0f|\u200d/g, '');
  if (words.has('links_with_map') || words.has('links_without_map')) {
    text = text.replace(/https?:\/\/\S+/gi, (target) => {
      const shown = `https://s.test/${links.length + 1}`;
      links.push({ shown, target });
      return shown;
    });
  }
  if (words.has('cut') && text.trim() !== '') text = cutSomewhere(text, next);
  if (words.has('html_entities')) {
    text = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  }
  const mapped = words.has('links_with_map') ? links : [];
  return { text, links: mapped };
}

/** Between any two UTF-16 units, but so that a character or a link is left to read. */
function cutSomewhere(text: string, next: () => number): string {
  const [first] = /^\s*(?:https?:\S+|\S\S?)/i.exec(text) ?? [text];
  const kept = first.length + Math.floor(next() * (text.length - first.length));
  const mark = kept < text.length && next() < 0.5 ? '…' : '';
  return `${text.slice(0, kept)}${mark}`;
}

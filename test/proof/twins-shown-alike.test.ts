/**
 * 1500 pairs of texts and what a medium made of the first: whenever the shown text equals the second, in the eyes of
 * the adapter, and could be the first, both share one hold: else one post would be the receipt of two. What a medium does is written down here by other means than the
 * product's.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TextRewrite } from '../../lib/domain/compare-text.ts';
import { medium } from '../../lib/providers/medium.ts';
import { MEDIUM_REWRITES } from '../../lib/providers/medium-promise.ts';
import { intentOf } from '../support/kit.ts';
import { random } from '../support/schedule.ts';

const RUNS: fc.Parameters<unknown> = {
  numRuns: 1500,
  endOnFailure: true,
  plugins: [fc.interruptAfterTimeLimit(50_000, { failOnInterrupt: true })],
};

type Chance = () => number;
interface Shown {
  readonly text: string;
  readonly links: readonly { readonly shown: string; readonly target: string }[];
}

const WORDS = [
  'Tea',
  'tea',
  'at',
  '5',
  '10%',
  'お茶',
  'カ\u3099',
  'ガ',
  'です。',
  '「本日」',
  'é',
  'e\u0301',
  '3.5',
];
const MARKS = [
  '&',
  '<',
  '"',
  '&amp;',
  '&amp;amp;',
  '&#39;',
  '&lt;',
  '?',
  '??',
  '????',
  '…',
  '...',
  '\ufffd',
  '#',
  '!',
];
const EMOJI = [
  '👀',
  '🎉',
  '⚡\ufe0f',
  '⚡',
  '👩\u200d💻',
  '🇯🇵',
  '1\ufe0f\u20e3',
  '#\u20e3',
  '©',
  '❤\ufe0f',
  '👍🏽',
];
const SPACES = [' ', ' ', ' ', ' ', '', '\n', '\r\n', '  ', '\u3000'];
const LINKS = [
  ...[
    'https://x.test/p',
    'http://x.test/p',
    'https://x.test/p/',
    'x.test/p',
    'https://x.test/p?utm=1&b=2',
    'x.test',
  ],
  ...[
    'https://X.test',
    'https://x.test/',
    'https://www.x.test/p#c',
    'https://x.test:443/p',
    'https://x.test/q',
    'y.test',
  ],
  ...['https://お茶.test/抹茶', 'https://xn--t8jy01w.test', 'https://s.test/1', 'https://u@x.test/p'],
  ...['http://localhost/a', 'https://x.test/%E6%8A%B9', 'https://x.test/抹'],
];

const SPACED = LINKS.map((link) => ` ${link} `);
const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.constantFrom(...MARKS) },
  { weight: 2, arbitrary: fc.constantFrom(...EMOJI) },
  // Letters beyond ASCII around a host without a scheme leave its ends in doubt: those are not covered.
  { weight: 2, arbitrary: fc.constantFrom(...SPACED) },
  { weight: 4, arbitrary: fc.constantFrom(...SPACES) },
);
/** Short, or so long that it is cut behind what counts. */
const filler = fc.constantFrom(
  '',
  '',
  '',
  '\nLong tea, all of it. '.repeat(16),
  `\n${'長いお茶。'.repeat(70)}`,
);
/**
 * A beginning that links and emoji do not crowd: what counts of it shows in a text that is cut. That is the one thing
 * the claim asks of a post.
 */
const post = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 7 }), filler, fc.array(piece, { maxLength: 3 }))
  .filter(([pieces, , end]) => widest(pieces) <= 150 && widest(end) <= 120)
  .map(([pieces, more, end]) => ({ pieces, rest: [more, ...end].join('') }))
  .filter(({ pieces, rest }) => takes(pieces.join('') + rest));

/** More than a medium can make of them. */
function widest(pieces: readonly string[]): number {
  return pieces.reduce(
    (sum, each) => sum + (LINKS.includes(each.trim()) ? each.length + 16 : 3 * each.length),
    0,
  );
}

const seed = fc.nat();
/** A cut, and a link whose target is hidden, are never equal to anything: people decide about those. */
const UNDOABLE = MEDIUM_REWRITES.filter((each) => each !== 'cut' && each !== 'links_without_map');
const rewriting = fc.tuple(fc.subarray([...UNDOABLE, 'link_changed' as const]), fc.boolean());

function takes(text: string): boolean {
  return medium.payload.safeParse({ text, visibility: 'public' }).success;
}

/** Whether the adapter takes what is shown for the post: true, false, or a word where nobody can say. */
function isPost(text: string, shown: Shown): boolean | string | undefined {
  const payload = { text, visibility: 'public', media: [] };
  const content = {
    ...{ deleted: false, text: shown.text.toWellFormed(), links: shown.links.map((each) => ({ ...each })) },
    ...{ parent: null, visibility: 'public', media: [], hasMedia: false, page: null },
  };
  const record = { externalId: '9', account: '1', reference: null, createdAt: 0, content };
  return medium.reasons?.(intentOf({ provider: 'medium', account: '1', payload }), record)['payload'];
}

const holdOf = (text: string) => medium.shownContent?.({ text, visibility: 'public', media: [] });

describe('two posts of which one could be shown as the other', () => {
  test('share one hold', () => {
    const met = { changed: 0, lost: 0, apart: 0 };
    fc.assert(
      fc.property(post, post, rewriting, seed, (one, two, [words, literal], chance) => {
        const next = random(chance);
        const first = one.pieces.join('') + one.rest;
        const shown = published(first, new Set(words), next);
        const second = literal && takes(shown.text) ? shown.text : secondOf(one, two, next);
        if (first === second || !takes(second)) return;
        if (isPost(first, shown) === false || isPost(second, shown) !== true) return;
        if (holdOf(first)?.['text'] !== holdOf(second)?.['text'])
          throw new Error(JSON.stringify({ first, second, shown }));
        if (words.includes('link_changed')) met.changed += 1;
        if (words.includes('emoji_lost')) met.lost += 1;
      }),
      RUNS,
    );
    fc.assert(
      fc.property(post, post, (one, two) => {
        const [a, b] = [one, two].map(({ pieces, rest }) => pieces.join('') + rest);
        if (a !== b && holdOf(a ?? '')?.['text'] !== holdOf(b ?? '')?.['text']) met.apart += 1;
      }),
      { numRuns: 2000 },
    );
    // Neither side of the claim is empty: many pairs may be shown alike, and most posts are told apart.
    expect(Math.min(met.changed, met.lost), JSON.stringify(met)).toBeGreaterThan(100);
    expect(met.apart).toBeGreaterThan(1500);
  });
});

/** The first one with up to two pieces exchanged for others of their kind, dropped or spelled otherwise. */
function secondOf(
  one: { pieces: string[]; rest: string },
  two: { pieces: string[]; rest: string },
  next: Chance,
): string {
  const pieces = [...one.pieces];
  for (let n = 0; n < 2; n += 1) {
    const at = Math.floor(next() * pieces.length);
    const kind = [SPACED, EMOJI, WORDS, MARKS].find((each) => each.includes(pieces[at] ?? '')) ?? SPACES;
    const other = kind[Math.floor(next() * kind.length)] ?? '';
    pieces[at] = next() < 0.7 ? other : next() < 0.5 ? '' : (two.pieces[0] ?? '');
  }
  return pieces.join('') + (next() < 0.6 ? one.rest : two.rest);
}

type Word = TextRewrite | 'link_changed';
const URLS =
  /(?:https?:\/\/[^\s<>"「」。、]+|(?<![\w.@/-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?:\/[^\s<>"「」。、]*)?)/gi;

/** What a medium makes of a text: any of the declared rewrites, and changes of links that none declares. */
function published(sent: string, words: ReadonlySet<Word>, next: Chance): Shown {
  const links: { shown: string; target: string }[] = [];
  let text = sent;
  if (words.has('crlf')) text = text.replace(/\r\n?|\n/g, next() < 0.5 ? '\r\n' : '\n');
  if (words.has('trim_end')) text = text.trimEnd();
  if (words.has('link_changed')) text = text.replace(URLS, (url) => changed(url, next));
  if (words.has('emoji_lost')) text = lost(text, next);
  if (words.has('links_with_map') || words.has('links_without_map')) {
    text = text.replace(URLS, (url) => {
      const bare = !url.includes('://');
      if (bare && !words.has('scheme_added')) return url;
      const shown = `https://s.test/${links.length + 1}`;
      links.push({ shown, target: bare ? `https://${url}` : url });
      return shown;
    });
  }
  if (words.has('cut') && [...text].length > 280) text = `${[...text].slice(0, 280).join('')}…`;
  if (words.has('html_entities'))
    text = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  if (words.has('unicode_form')) text = text.normalize(next() < 0.5 ? 'NFC' : 'NFD');
  return {
    text,
    links: words.has('links_with_map') ? links.filter(({ shown }) => text.includes(shown)) : [],
  };
}

function changed(url: string, next: Chance): string {
  const changes = [
    (it: string) => it.replace(/[?#].*$/, ''),
    (it: string) => it.replace(/^http:/, 'https:'),
    (it: string) => it.replace(/\/$/, ''),
    (it: string) => (it.includes('://') ? it : `https://${it}`),
    (it: string) => (URL.canParse(it) ? new URL(it).href : it),
    // A host of other letters is known by its scheme only.
    (it: string) => (/^[ -~]*$/.test(it) && !it.includes('xn--') ? it.replace(/^https?:\/\//, '') : it),
    (it: string) => `${it}?ref=m`,
  ];
  return changes[Math.floor(next() * changes.length)]?.(url) ?? url;
}

/** Its digit stays: a keycap that is dropped with its digit is not covered. */
const KEYCAP = /([0-9#*])\ufe0f?\u20e3/gu;
const ANY_EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}/gu;

function lost(text: string, next: Chance): string {
  const way = Math.floor(next() * 4);
  if (way === 3) return text.replace(/\ufe0f|\u200d|\u20e3/g, '');
  return text
    .replace(KEYCAP, '$1')
    .replace(ANY_EMOJI, (it) => ['', '?'.repeat(2 * it.length), '\ufffd'][way] ?? '')
    .replace(/\ufe0f|\u200d/g, '');
}

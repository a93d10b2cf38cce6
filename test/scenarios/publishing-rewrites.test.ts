/** A medium that shows a post otherwise than it was sent: what can be undone is, the rest goes to people. */
import { describe, expect, it } from 'vitest';
import type { Rewriting } from '../support/medium-book.ts';
import { mediumWorld, POST } from '../support/medium-world.ts';

const HASH = 'a'.repeat(64);
const WITH_IMAGE = { ...POST, media: [{ media_id: 'm1', sha256: HASH }] };
const LINK = 'https://example.test/a?b=1#c';

interface Row {
  readonly sent: string;
  readonly shown: (text: string) => string;
  readonly links?: readonly { readonly shown: string; readonly target: string }[];
  readonly because: string;
}

/** Sent, the answer lost; what is there is what the row shows. */
async function ended({ sent, shown, links = [] }: Row) {
  const s = mediumWorld({
    script: ['cut_after_save'],
    rewriting: { text: (text) => ({ text: shown(text), links }) },
  });
  const intent = await s.sent({ payload: { text: sent, visibility: 'public' } });
  const end = await s.ending(intent);
  const searched = await s.searches(intent);
  const reasons = JSON.stringify(searched.map((each) => each['seen'] ?? []));
  return { end, reasons, body: s.outside.posts[0]?.body.text };
}

const DECOMPOSED = 'ガールズ café'.normalize('NFD');
const COMPOSED = 'ガールズ café'.normalize('NFC');

describe('what loses nothing is confirmed', () => {
  it.each<Row>([
    { sent: COMPOSED, shown: () => DECOMPOSED, because: 'C23: decomposed' },
    { sent: DECOMPOSED, shown: () => COMPOSED, because: 'C23: composed' },
    { sent: '2 \u212b', shown: () => '2 \u00c5', because: 'C23: the sign of a unit is its letter' },
    { sent: '2 \u00c5', shown: () => '2 \u212b', because: 'C23: the letter is the sign of a unit' },
    { sent: 'A & B <x>', shown: () => 'A &amp; B &lt;x&gt;', because: 'C24: entities encoded once' },
    { sent: 'A & B', shown: (text) => text, because: 'C24: entities not encoded at all' },
    { sent: 'A &amp; B', shown: (text) => text, because: 'C24: a literal entity, left alone' },
    { sent: 'A &amp; B', shown: () => 'A &amp;amp; B', because: 'C24: a literal entity, encoded once' },
    { sent: 'one\r\ntwo', shown: () => 'one\ntwo', because: 'C24: line ends' },
    { sent: 'one\ntwo', shown: () => 'one\r\ntwo', because: 'C24: line ends, the other way' },
    { sent: 'one\n', shown: () => 'one', because: 'C24: a line end at the end was trimmed' },
    { sent: 'one', shown: () => 'one\n', because: 'C24: a line end was added' },
    { sent: 'one\n', shown: (text) => text, because: 'C24: a line end at the end was kept' },
    {
      sent: `See ${LINK} now`,
      shown: () => 'See https://s.test/AbC now',
      links: [{ shown: 'https://s.test/AbC', target: LINK }],
      because: 'C25: a map says where the link leads',
    },
    {
      sent: `${LINK} and ${LINK}`,
      shown: () => 'https://s.test/1 and https://s.test/2',
      links: [1, 2].map((n) => ({ shown: `https://s.test/${n}`, target: LINK })),
      because: 'C25: two equal links',
    },
    {
      sent: `${LINK} and ${LINK}`,
      shown: () => 'https://s.test/1 and https://s.test/1',
      links: [{ shown: 'https://s.test/1', target: LINK }],
      because: 'C25: two equal links under one short one',
    },
    {
      sent: 'See https://お茶.test/抹茶',
      shown: () => 'See https://s.test/1',
      links: [{ shown: 'https://s.test/1', target: 'https://xn--t8jy01w.test/抹茶' }],
      because: 'C25: a host of other letters is told in ASCII',
    },
    { sent: 'See example.test/x', shown: (text) => text, because: 'C25: a bare host is left alone' },
    {
      sent: 'See example.test/x',
      shown: () => 'See https://s.test/1',
      links: [{ shown: 'https://s.test/1', target: 'http://example.test/x' }],
      because: 'C25: a bare host that became a link',
    },
  ])('$because', async (row) => {
    const { end, body } = await ended(row);
    expect(end).toEqual({ state: 'confirmed', reason: null, writes: 1, posts: 1 });
    expect(body, 'sent as it was approved').toBe(row.sent);
  });
});

/** The same host and path, led to otherwise: in the text, or in the map. */
const SHORT = 'Read https://s.test/1';
const LINK_CHANGES: readonly { sent: string; shown: string; target?: string; because: string }[] = [
  {
    sent: 'Read http://x.test/a',
    shown: SHORT,
    target: 'https://x.test/a',
    because: 'the scheme was raised',
  },
  {
    sent: 'Read https://x.test/a/',
    shown: SHORT,
    target: 'https://x.test/a',
    because: 'a slash was taken off',
  },
  { sent: 'Read https://x.test/a', shown: SHORT, target: 'https://www.x.test/a', because: 'www. was added' },
  {
    ...{ sent: 'Read https://x.test/お茶', shown: SHORT, target: 'https://x.test/%E3%81%8A%E8%8C%B6' },
    because: 'letters were escaped',
  },
  {
    ...{ sent: 'Read x.test/p?utm_source=k', shown: SHORT, target: 'https://x.test/p' },
    because: 'a scheme was added and the query taken off',
  },
  {
    ...{ sent: 'Read https://x.test/p?utm_source=k, now', shown: 'Read https://x.test/p, now' },
    because: 'the query was taken off in the text',
  },
  {
    ...{ sent: '詳しくはhttps://x.test/p?utm=kを見て', shown: '詳しくはhttps://x.test/pを見て' },
    because: 'it was, and letters follow at once',
  },
  {
    sent: 'Read https://x.test/p now',
    shown: 'Read https://x.test/p?ref=m now',
    because: 'a query was added',
  },
  {
    sent: 'Read x.test/p now',
    shown: 'Read https://x.test/p now',
    because: 'a scheme was added in the text',
  },
  { sent: '詳しくはx.test/p', shown: '詳しくはhttps://x.test/p', because: 'it was, behind other letters' },
  { sent: 'Read https://X.test:443', shown: 'Read http://x.test/', because: 'scheme, case, port and slash' },
];

describe('what cannot be undone goes to people, and nothing is written again', () => {
  const LONG = `${'Long tea. '.repeat(30)}End.`;
  it.each<Row & { word: string }>([
    {
      sent: LONG,
      shown: (text) => `${text.slice(0, 280)}…`,
      word: 'cut',
      because: 'C24: the end was cut off',
    },
    { sent: 'Look 👀', shown: () => 'Look ????', word: 'emoji_lost', because: 'C24: emoji became marks' },
    {
      sent: 'Look 👀 https://x.test/p?utm=k',
      shown: () => 'Look ???? https://x.test/p',
      word: 'emoji_lost',
      because: 'C24: emoji became marks, and a link was changed',
    },
    {
      sent: 'Go \u26a1\ufe0f',
      shown: () => 'Go \u26a1',
      word: 'emoji_lost',
      because: 'C24: a variation selector was dropped',
    },
    {
      sent: 'We \u{1f469}\u200d\u{1f33e} here',
      shown: () => 'We \u{1f469}\u{1f33e} here',
      word: 'emoji_lost',
      because: 'C24: a joiner was dropped',
    },
    {
      sent: `See ${LINK}`,
      shown: () => 'See https://s.test/1',
      links: [{ shown: 'https://s.test/1', target: 'https://example.test/a' }],
      word: 'link_changed',
      because: 'C25: the map leads to the same page without its query',
    },
    {
      sent: `See ${LINK} now`,
      shown: () => 'See https://s.test/AbC now',
      word: 'links_hidden',
      because: 'C25: nothing says where a short link of letters leads',
    },
    {
      sent: 'Tea at five.',
      shown: (text) => `${text} https://s.test/m1`,
      word: 'link_added',
      because: 'C25: a link to what is attached was added',
    },
    {
      sent: `See ${LINK} now`,
      shown: () => 'See https://s.test/1 now',
      word: 'links_hidden',
      because: 'C25: nothing says where the link leads',
    },
    {
      sent: `${LINK} and ${LINK}`,
      shown: () => 'https://s.test/1 and https://s.test/2',
      links: [{ shown: 'https://s.test/1', target: LINK }],
      word: 'links_hidden',
      because: 'C25: the map leaves one of two out',
    },
    ...LINK_CHANGES.map(({ sent, shown, target, because }) => ({
      ...{ sent, shown: () => shown, word: 'link_changed', because: `C25: ${because}` },
      links: target === undefined ? [] : [{ shown: 'https://s.test/1', target }],
    })),
  ])('$because', async ({ word, ...row }) => {
    const { end, reasons } = await ended(row);
    expect(end).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
    expect(reasons).toContain(`not_comparable:${word}`);
  });

  it.each<{ images: NonNullable<Rewriting['images']>; word: string }>([
    { images: () => ['b'.repeat(64)], word: 'images_reencoded' },
    { images: () => [null], word: 'images_reencoded' },
    { images: () => [], word: 'image_missing' },
  ])('R06: images are other ones, or fewer: $word', async ({ images, word }) => {
    const s = mediumWorld({ script: ['cut_after_save'], rewriting: { images } });
    s.outside.uploads.set('m1', HASH);
    const intent = await s.sent({ payload: WITH_IMAGE });
    expect(await s.ending(intent)).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
    const [search] = await s.searches(intent);
    // It counts against the intent until a person says otherwise, so that it is no near miss.
    expect(search?.['seen']).toMatchObject([{ near: false, reasons: { payload: `not_comparable:${word}` } }]);
    // No reference shows at a medium, so that none was looked for.
    expect(search).toMatchObject({ verdict: 'found', reference: null });
  });
});

describe('what is another text is no match, and is shown as a near miss', () => {
  it.each<{ ours: string; theirs: string; links?: Row['links']; because: string }>([
    { ours: '\u30ac', theirs: '\uff76\uff9e', because: 'C23: kana half as wide are another text' },
    { ours: 'A & B', theirs: 'A &amp;amp; B', because: 'C24: entities are decoded once, never twice' },
    { ours: 'A & B', theirs: 'A &amp;amp;amp; B', because: 'C24: nor three times' },
    { ours: 'Tea at five.', theirs: 'Tea', because: 'C24: too short to have been cut' },
    {
      ours: `New: ${LINK}`,
      theirs: 'New: https://example.test/other',
      because: 'C25: a plain link hides nothing',
    },
    { ours: 'New: https://x.test/a', theirs: 'New: https://y.test/a', because: 'C25: another host' },
    { ours: 'New: x.test/a', theirs: 'New: https://x.test/b', because: 'C25: another path' },
    { ours: 'New: https://x.test', theirs: 'New: https://x.test:8080', because: 'C25: another port' },
    { ours: 'New: https://x.test/a?b', theirs: 'Old: https://x.test/a', because: 'C25: not only the link' },
    { ours: 'Tea at five', theirs: 'Tea at \ud83d', because: 'half a character is read, and is another' },
    {
      ours: `New: ${LINK}`,
      theirs: 'New: https://s.test/1',
      links: [{ shown: 'https://s.test/1', target: 'https://example.test/other' }],
      because: 'C25: a map that leads elsewhere',
    },
    { ours: 'tea', theirs: 'Tea', because: 'case counts' },
  ])('$because', async ({ ours, theirs, links = [] }) => {
    const s = mediumWorld({ script: ['cut_before_save'] });
    const intent = await s.sent({ payload: { text: ours, visibility: 'public' } });
    const other = s.outside.add({ text: theirs, links });
    expect(await s.ending(intent)).toEqual({ state: 'confirmed', reason: null, writes: 2, posts: 1 });
    expect((await s.w.read(intent.id)).externalId).not.toBe(other.id);
    expect(await s.seenLast(intent)).toContainEqual(
      expect.objectContaining({
        ...{ externalId: other.id, near: true },
        reasons: { author: true, payload: false, parent: true, window: true, time: true, binding: 'free' },
      }),
    );
  });

  it.each<Row>([
    { sent: 'A & B', shown: () => 'A &amp;amp; B', because: 'C24: entities encoded twice' },
    { sent: '\u30ac', shown: () => '\uff76\uff9e', because: 'C23: kana made half as wide' },
    {
      sent: `See ${LINK}`,
      shown: () => 'See https://s.test/1',
      links: [{ shown: 'https://s.test/1', target: 'https://elsewhere.test/' }],
      because: 'C25: a map that leads elsewhere',
    },
    {
      sent: `${LINK} and https://example.test/b`,
      shown: () => 'https://s.test/1 and https://s.test/2',
      links: [
        { shown: 'https://s.test/1', target: 'https://example.test/b' },
        { shown: 'https://s.test/2', target: LINK },
      ],
      because: 'C25: a map that exchanges two links',
    },
  ])(
    'under the id that was answered it is not confirmed either: $because',
    async ({ sent, shown, links = [] }) => {
      const s = mediumWorld({ rewriting: { text: (text) => ({ text: shown(text), links }) } });
      const end = await s.ending(await s.sent({ payload: { text: sent, visibility: 'public' } }));
      expect(end).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
    },
  );
});

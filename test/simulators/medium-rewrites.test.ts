import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Rewrite } from '../../lib/simulators/medium-rewrites.ts';
import { FIRST, mediumRig, png, SECOND } from './medium-rig.ts';

let rig: ReturnType<typeof mediumRig>;
beforeEach(() => {
  rig = mediumRig();
});
afterEach(() => rig.stop());

const link = (n: number, target: string) => ({ shown: `https://s.test/${n}`, target });
const NFD = 'cafe\u0301 \u30ab\u3099';
const NFC = 'caf\u00e9 \u30ac';

interface Row {
  readonly on: readonly Rewrite[];
  readonly sent: string;
  readonly shown: string;
  readonly links?: readonly object[];
  readonly because: string;
}

const ROWS: readonly Row[] = [
  { on: [], sent: ' a\r\n<&>  \n', shown: ' a\r\n<&>  \n', because: 'nothing is on' },
  { on: ['crlf_to_lf'], sent: 'a\r\nb\rc', shown: 'a\nb\rc', because: 'a lone CR is no line end' },
  { on: ['trim_end'], sent: ' a \n\n', shown: ' a', because: 'only the end' },
  { on: ['nfc'], sent: NFD, shown: NFC, because: 'composed' },
  { on: ['nfd'], sent: NFC, shown: NFD, because: 'decomposed' },
  { on: ['nfc', 'nfd'], sent: NFC, shown: NFD, because: 'the later wins' },
  { on: ['nfc'], sent: 'ｶﾞ', shown: 'ｶﾞ', because: 'half width is no matter of composition' },
  {
    ...{ on: ['html_entities'], sent: 'A & <B> "C" \'d\'' },
    ...{ shown: "A &amp; &lt;B&gt; &quot;C&quot; 'd'", because: 'four characters' },
  },
  { on: ['html_entities'], sent: '&amp;', shown: '&amp;amp;', because: 'once, whatever it was' },
  { on: ['emoji_to_question'], sent: '見て👀⚡️茶', shown: '見て????⚡茶', because: 'four bytes' },
  { on: ['emoji_to_question'], sent: '👩‍🔧', shown: '????????', because: 'the joiner goes too' },
  {
    ...{ on: ['shorten_urls'], sent: 'See https://a.test/x?b=1&c#d, twice: https://a.test/x?b=1&c#d.' },
    shown: 'See https://s.test/1, twice: https://s.test/2.',
    links: [link(1, 'https://a.test/x?b=1&c#d'), link(2, 'https://a.test/x?b=1&c#d')],
    because: 'each has a number of its own',
  },
  {
    ...{ on: ['shorten_urls'], sent: '(http://例え.test/) a.test/x', shown: '(https://s.test/1) a.test/x' },
    ...{ links: [link(1, 'http://例え.test/')], because: 'a bare host is left alone' },
  },
  {
    ...{ on: ['expand_urls'], sent: 'See a.test/x, or https://b.test. Mail ann@c.test at 3.5' },
    shown: 'See https://a.test/x, or https://b.test. Mail ann@c.test at 3.5',
    links: [{ shown: 'https://a.test/x', target: 'https://a.test/x' }],
    because: 'a host without a scheme gets one',
  },
  {
    ...{ on: ['expand_urls', 'shorten_urls'], sent: 'See a.test/x', shown: 'See https://s.test/1' },
    ...{ links: [link(1, 'https://a.test/x')], because: 'and is shortened like any other' },
  },
  {
    ...{ on: ['shorten_urls_no_map'], sent: 'See https://a.test/', shown: 'See https://s.test/1' },
    because: 'nothing tells what it stands for',
  },
  { on: ['cut_280'], sent: '茶'.repeat(280), shown: '茶'.repeat(280), because: 'it fits' },
  { on: ['cut_280'], sent: '🍵'.repeat(281), shown: `${'🍵'.repeat(280)}…`, because: 'in code points' },
  {
    ...{ on: ['cut_280', 'shorten_urls'], sent: `${'x'.repeat(270)} https://a.test/` },
    ...{ shown: `${'x'.repeat(270)} https://s…`, because: 'half a link is none' },
  },
  {
    ...{ on: ['html_entities', 'crlf_to_lf', 'trim_end', 'shorten_urls'] },
    ...{ sent: 'a & b\r\nhttps://a.test/?x&y\r\n', shown: 'a &amp; b\nhttps://s.test/1' },
    ...{ links: [link(1, 'https://a.test/?x&y')], because: 'any subset' },
  },
];

describe('a text', () => {
  it.each(ROWS)('with $on is rewritten everywhere: $because', async ({ on, sent, shown, links = [] }) => {
    const medium = await rig.start({ rewrites: on });
    await medium.post(sent);
    expect((await medium.get(FIRST)).body.post).toMatchObject({ text: shown, links });
    expect((await medium.page(FIRST)).linked.articleBody).toBe(shown);
    expect(rig.book().posts).toMatchObject([{ text: shown, sent_text: sent }]);
  });

  it('is matched by a fault as it was sent', async () => {
    const medium = await rig.start({ rewrites: ['html_entities'] });
    await medium.plan('a & b', [{ kind: 'hidden' }]);
    await medium.post('a & b');
    expect((await medium.list()).body.posts).toEqual([]);
  });

  it('is rewritten as control says from then on, also after a restart, whose links go on counting', async () => {
    const first = await rig.start({ rewrites: ['shorten_urls'] });
    await first.post('https://a.test/ ');
    expect((await first.control('PUT', 'rewrites', ['trim_end', 'shorten_urls'])).status).toBe(200);
    await first.close();
    const second = await rig.start({ rewrites: ['html_entities'] });
    await second.post('https://b.test/ ');
    const texts = rig.book().posts.map(({ text }) => text);
    expect(texts).toEqual(['https://s.test/1 ', 'https://s.test/2']);
    expect((await second.control('PUT', 'rewrites', ['upper'])).status).toBe(400);
  });
});

describe('an image', () => {
  const hash = createHash('sha256').update(png()).digest('hex');
  const size = { media_id: 'm1', width: 3, height: 2 };

  it.each([
    { on: [], shown: [{ ...size, sha256: hash }], because: 'nothing is on' },
    { on: ['hide_media_hash'], shown: [{ ...size, sha256: null }], because: 'no hash is shown' },
    { on: ['reencode_media', 'hide_media_hash'], shown: [{ ...size, sha256: null }], because: 'both' },
    { on: ['drop_media'], shown: [], because: 'none is kept' },
  ] as const)('with $on is shown as $shown: $because', async ({ on, shown }) => {
    const medium = await rig.start({ rewrites: on });
    expect((await medium.upload(png())).body.sha256).toBe(hash);
    await medium.post('Tea', { more: { media: ['m1'] } });
    expect((await medium.get(FIRST)).body.post.media).toEqual(shown);
    expect((await medium.list()).body.posts).toMatchObject([{ has_media: shown.length > 0 }]);
  });

  it('that is made anew has another hash, the same in every post', async () => {
    const medium = await rig.start({ rewrites: ['reencode_media'] });
    await medium.upload(png());
    for (const text of ['Tea', 'Cake']) await medium.post(text, { more: { media: ['m1'] } });
    const [one, two] = [await medium.get(FIRST), await medium.get(SECOND)];
    expect(one.body.post.media[0].sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(one.body.post.media[0].sha256).not.toBe(hash);
    expect(two.body.post.media).toEqual(one.body.post.media);
  });
});

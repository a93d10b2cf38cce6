/** What a medium makes of a text and its images on the way into its book. */

/** Any subset may be on; the text is rewritten in this order. Of `nfc` and `nfd` the later wins. */
export const REWRITES = [
  'crlf_to_lf',
  'trim_end',
  'nfc',
  'nfd',
  /** Emoji of four bytes become `????`; variation selectors and joiners are dropped. */
  'emoji_to_question',
  /** Every host without a scheme is shown as `https://` and itself; the link says so. */
  'expand_urls',
  /** Every http(s) URL becomes `https://s.test/<n>`, each with a number of its own. */
  'shorten_urls',
  /** The same, but nothing shows what a short one stands for. */
  'shorten_urls_no_map',
  /** A longer text is its first 280 code points and `…`. */
  'cut_280',
  /** `&`, `<`, `>` and `"`, once. */
  'html_entities',
  /** Images are shown with the hash of other bytes. */
  'reencode_media',
  /** Images are shown without a hash. */
  'hide_media_hash',
  /** Images are not kept. */
  'drop_media',
] as const;
export type Rewrite = (typeof REWRITES)[number];

export interface Link {
  readonly shown: string;
  readonly target: string;
}

export interface Rewritten {
  readonly text: string;
  readonly links: readonly Link[];
}

/** @param shorten gives the number of a new short link. */
export function rewriteText(
  sent: string,
  words: ReadonlySet<Rewrite>,
  shorten: (target: string) => number,
): Rewritten {
  const links: Link[] = [];
  let text = sent;
  if (words.has('crlf_to_lf')) text = text.replaceAll('\r\n', '\n');
  if (words.has('trim_end')) text = text.trimEnd();
  if (words.has('nfc')) text = text.normalize('NFC');
  if (words.has('nfd')) text = text.normalize('NFD');
  if (words.has('emoji_to_question')) text = withoutEmoji(text);
  if (words.has('expand_urls')) {
    text = text.replaceAll(BARE_HOST, (bare) => {
      const target = `https://${bare}`;
      links.push({ shown: target, target });
      return target;
    });
  }
  if (words.has('shorten_urls') || words.has('shorten_urls_no_map')) {
    text = text.replaceAll(URL_IN_TEXT, (target) => {
      const shown = `https://s.test/${shorten(target)}`;
      links.push({ shown, target });
      return shown;
    });
  }
  if (words.has('cut_280')) text = cutAt(text, 280);
  const kept = words.has('shorten_urls_no_map') ? [] : links.filter(({ shown }) => text.includes(shown));
  if (words.has('html_entities')) text = text.replaceAll(/[&<>"]/g, (it) => ENTITIES[it] ?? it);
  return { text, links: kept };
}

/** Ends before white space, quotes and brackets, and before the full stop of its sentence. */
const URL_IN_TEXT = /https?:\/\/[^\s<>"'()「」、。]*[^\s<>"'()「」、。.,;:!?]/g;
const BARE_HOST =
  /(?<![\w.@/:-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?:\/[^\s<>"'()「」、。]*[^\s<>"'()「」、。.,;:!?])?/gi;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const EMOJI = /[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}]/gu;

function withoutEmoji(text: string): string {
  return text
    .replaceAll(EMOJI, (it) => (it.length > 1 ? '????' : it))
    .replaceAll(/\p{Variation_Selector}|\u200d/gu, '');
}

function cutAt(text: string, most: number): string {
  const points = [...text];
  return points.length > most ? `${points.slice(0, most).join('')}…` : text;
}

export interface SavedImage {
  readonly media_id: string;
  readonly sha256: string | null;
  readonly width: number;
  readonly height: number;
}

/** Either hash is of bytes that were: those received, or those that the medium made of them. */
export function rewriteImages(
  images: readonly (SavedImage & { readonly reencodedSha256: string })[],
  words: ReadonlySet<Rewrite>,
): SavedImage[] {
  if (words.has('drop_media')) return [];
  return images.map(({ media_id, sha256, reencodedSha256, width, height }) => {
    const hash = words.has('reencode_media') ? reencodedSha256 : sha256;
    return { media_id, sha256: words.has('hide_media_hash') ? null : hash, width, height };
  });
}

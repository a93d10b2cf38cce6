/**
 * What two posts have in common whenever what a provider made of one of them equals the other: then its record would be
 * the receipt of both. It only tells whose turn it is. Rule `skeleton/v1`, in this order: line ends and Unicode form as in
 * `text/v1`; entities decoded, whatever their level; links and hosts reduced to host and path; emoji and all that they may
 * be shown as or leave behind are dropped (question marks, U+FFFD; the digit of a keycap stays, because numbers tell posts
 * of a series apart); white space is one space.
 *
 * Not covered, and so not held: a text that itself ends like a cut one, holds a short link of the provider, differs from
 * another by a keycap that was dropped with its digit, or by the scheme of a link that is glued to letters beyond ASCII.
 */
import { withLinksBlurred } from './blurred-links.ts';
import { untrimmedText } from './canonical-text.ts';
import { sha256 } from './fingerprint.ts';
import { WHITE_SPACE } from './links-in-text.ts';
import { withEntitiesDecoded } from './undo-rewrites.ts';

/** In front of every hash: a changed rule is another version. Holds stay for ever, so this one must. */
export const SKELETON_VERSION = 'skeleton/v1';

/**
 * Everything that any table of emoji holds now or has reserved, with marks, joiners, selectors and tags. Written out:
 * a rule for ever must not move with the engine's tables.
 */
const LOST = new RegExp(
  [
    '[?\\ufffd\\u00a9\\u00ae\\u180b-\\u180f\\u200d\\u203c\\u2049\\u20e3\\u2122\\u2139\\u2190-\\u21ff\\u2300-\\u23ff',
    '\\u24c2\\u25a0-\\u27bf\\u2900-\\u297f\\u2b00-\\u2bff\\u3030\\u303d\\u3297\\u3299\\ufe00-\\ufe0f',
    '\\u{1f000}-\\u{1ffff}\\u{e0000}-\\u{e0fff}]',
  ].join(''),
  'gu',
);
const SPACES = new RegExp(`[${WHITE_SPACE}]+`, 'u');

/** `skeleton/v1:<sha256 hex>`. */
export function textSkeleton(text: string): string {
  return `${SKELETON_VERSION}:${sha256(skeletonOf(text))}`;
}

function skeletonOf(text: string): string {
  const words = settled(untrimmedText(text)).split(SPACES);
  return words.filter((word) => word !== '').join(' ');
}

/** Once more at the end: what is dropped may have stood inside an entity. */
function settled(text: string): string {
  const known = withLinksBlurred(wholeDecoded(text), 'at_breaks').replace(LOST, '').normalize('NFC');
  return wholeDecoded(known).replace(LOST, '').normalize('NFC');
}

/** Every level, which ends: each makes the text shorter. */
function wholeDecoded(text: string): string {
  for (let left = text; ; ) {
    const next = withEntitiesDecoded(left);
    if (next === left) return left;
    left = next;
  }
}

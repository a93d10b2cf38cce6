/**
 * Whether a shown text is the approved one but for declared losses: links that hide their targets, emoji that
 * became question marks or nothing, an end that was cut off. Every other character must agree, in order.
 *
 * Read from left to right with the set of all places in the approved text that may come next, so the time is
 * bounded by the product of both lengths, whatever a provider shows.
 */
import { linkStartsAt, splitAtLinks, WHITE_SPACE } from './links-in-text.ts';

export interface Losses {
  readonly links: boolean;
  /** A hidden link may also stand for one without a scheme. */
  readonly bareLinks: boolean;
  /** Links whose targets are known: they hide nothing. */
  readonly knownLinks: readonly string[];
  readonly emoji: boolean;
  /** The shown text is a true beginning of the approved one, at least one character long. */
  readonly cut: boolean;
}

/** One character of the approved text, or a run of emoji with all that joins them. */
interface Piece {
  readonly text: string;
  readonly isEmoji: boolean;
  /** Where a link begins: the first place that is surely behind it; else 0. */
  readonly linkEnd: number;
}

const EMOJI_PARTS = ['Extended_Pictographic', 'Emoji_Modifier', 'Regional_Indicator', 'Variation_Selector']
  .map((property) => `\\p{${property}}`)
  .join('');
/** With keycaps, joiners and tags. A run is group 1; else it is any other single character. */
const EMOJI_RUN = new RegExp(
  `((?:[0-9#*]\\ufe0f?\\u20e3|[${EMOJI_PARTS}\\u200d\\u{e0020}-\\u{e007f}])+)|.`,
  'gsu',
);
const SPACE = new RegExp(`^[${WHITE_SPACE}]`);

/** A lost emoji leaves a question mark for each of its bytes, and no UTF-16 unit has more than three. */
const MOST_SHOWN_PER_UNIT = 3;

export function agreesButFor(losses: Losses, approved: string, shown: string): boolean {
  const own = approved.normalize('NFD');
  const pieces = piecesOf(own, losses);
  const tokens = tokensOf(shown.normalize('NFD'), losses);
  if (tokens.length > MOST_SHOWN_PER_UNIT * own.length) return false;
  let places = withEmojiSkipped([0], pieces);
  for (const token of tokens) {
    const next = isLink(token) ? behindLinks(places, pieces) : [...places].flatMap(stepOver(token, pieces));
    places = withEmojiSkipped(next, pieces);
    if (places.size === 0) return false;
  }
  if (losses.cut) return tokens.length > 0 && [...places].some((place) => place < pieces.length);
  const end = endOf(pieces);
  return [...places].some((place) => place >= end);
}

/** Behind the last character that must show: with emoji lost at the end, the space before them is trimmed. */
function endOf(pieces: readonly Piece[]): number {
  return pieces.findLastIndex(({ text, isEmoji }) => !isEmoji && !SPACE.test(text)) + 1;
}

function piecesOf(text: string, { links, bareLinks, emoji }: Losses): readonly Piece[] {
  const runs = emoji ? [...text.matchAll(EMOJI_RUN)] : [...text].map((character) => [character]);
  const pieces: Piece[] = [];
  let spaceAt = runs.length;
  let offset = text.length;
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const [run = '', emojiRun] = runs[at] ?? [];
    offset -= run.length;
    if (SPACE.test(run)) spaceAt = at;
    const linkEnd = links && linkStartsAt(text, offset, bareLinks) ? spaceAt : 0;
    pieces.push({ text: run, isEmoji: emojiRun !== undefined, linkEnd });
  }
  return pieces.reverse();
}

/** Characters, and links that hide their targets as one token each. */
function tokensOf(text: string, { links, knownLinks }: Losses): readonly string[] {
  if (!links) return [...text];
  const known = knownLinks.filter((link) => link !== '').map((link) => link.normalize('NFD'));
  const isKnown = (link: string) => known.some((it) => it.includes(link) || link.startsWith(it));
  return splitAtLinks(text).flatMap((it) => (it.isLink && !isKnown(it.text) ? [it.text] : [...it.text]));
}

function isLink(token: string): boolean {
  return token.length > 2;
}

/** A hidden link may stand for any part of the approved text that begins as a link and has no space in it. */
function behindLinks(places: ReadonlySet<number>, pieces: readonly Piece[]): number[] {
  const next: number[] = [];
  let filled = 0;
  for (const place of [...places].sort((a, b) => a - b)) {
    const end = pieces[place]?.linkEnd ?? 0;
    for (let at = Math.max(place, filled) + 1; at <= end; at += 1) next.push(at);
    filled = Math.max(filled, end);
  }
  return next;
}

/** The places that may follow one, when this character is shown there. */
function stepOver(character: string, pieces: readonly Piece[]): (place: number) => number[] {
  return (place) => {
    const piece = pieces[place];
    if (piece?.isEmoji === true) return remainsOf(piece.text, character) ? [place] : [];
    return piece?.text === character ? [place + 1] : [];
  };
}

/** What a provider leaves of emoji: question marks, replacement characters, halves, single parts. */
function remainsOf(emoji: string, character: string): boolean {
  return character === '?' || character === '\ufffd' || emoji.includes(character);
}

function withEmojiSkipped(places: Iterable<number>, pieces: readonly Piece[]): Set<number> {
  const all = new Set(places);
  for (const place of all) if (pieces[place]?.isEmoji === true) all.add(place + 1);
  return all;
}

/**
 * Whether a shown text is the approved one but for declared losses: links that hide their targets, emoji that
 * became question marks or nothing, an end that was cut off. Every other character must agree, in order.
 *
 * Read from left to right with all places in the approved text that may come next, so the time is bounded by the
 * product of both lengths, whatever a provider shows.
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

/** Whether shown texts agree with this approved one but for the losses. */
export function agreementBut(losses: Losses, approved: string): (shown: string) => boolean {
  const own = approved.normalize('NFD');
  const pieces = piecesOf(own, losses);
  const isKnown = among(losses.knownLinks.map((link) => link.normalize('NFD')));
  return (shown) => {
    const text = shown.normalize('NFD');
    const tokens = losses.links ? tokensOf(text, isKnown) : [...text];
    if (tokens.length > MOST_SHOWN_PER_UNIT * own.length) return false;
    const last = lastPlaceBehind(tokens, pieces);
    if (losses.cut) return tokens.length > 0 && last.first < pieces.length;
    return last.furthest >= endOf(pieces);
  };
}

/** The first and the furthest place that may come behind all tokens; both out of reach where there is none. */
function lastPlaceBehind(tokens: readonly string[], pieces: readonly Piece[]) {
  let places = new Uint8Array(pieces.length + 1);
  let next = new Uint8Array(pieces.length + 1);
  places[0] = 1;
  let [first, furthest] = behindEmoji(places, pieces, 0, 0);
  for (const token of tokens) {
    next.fill(0);
    const step = isLink(token) ? behindLinks : behindCharacter;
    const reached = step(token, pieces, { places, next, first, furthest });
    if (reached === -1) return { first: Number.POSITIVE_INFINITY, furthest: -1 };
    [first, furthest] = behindEmoji(next, pieces, first, reached);
    [places, next] = [next, places];
  }
  return { first, furthest };
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
function tokensOf(text: string, isKnown: (link: string) => boolean): readonly string[] {
  return splitAtLinks(text).flatMap((it) => (it.isLink && !isKnown(it.text) ? [it.text] : [...it.text]));
}

/** Whether a link is a part of a known one, or goes on behind it. In time that no list of links drives up. */
function among(known: readonly string[]): (link: string) => boolean {
  const all = known.join('\n');
  const whole = new Set(known.filter((link) => link !== ''));
  const lengths = [...new Set([...whole].map(({ length }) => length))];
  return (link) => all.includes(link) || lengths.some((length) => whole.has(link.slice(0, length)));
}

function isLink(token: string): boolean {
  return token.length > 2;
}

/** All places up to now, those that may follow, and the first and furthest of the former. */
interface Step {
  readonly places: Uint8Array;
  readonly next: Uint8Array;
  readonly first: number;
  readonly furthest: number;
}

/** A hidden link may stand for any part of the approved text that begins as a link and has no space in it. */
function behindLinks(_: string, pieces: readonly Piece[], { places, next, first, furthest }: Step): number {
  let filled = -1;
  for (let place = first; place <= furthest; place += 1) {
    if (places[place] === 0) continue;
    const end = pieces[place]?.linkEnd ?? 0;
    for (let at = Math.max(place, filled) + 1; at <= end; at += 1) next[at] = 1;
    if (end > place) filled = Math.max(filled, end);
  }
  return filled;
}

/** The furthest place that may follow when this character is shown; -1 for none. */
function behindCharacter(
  character: string,
  pieces: readonly Piece[],
  { places, next, first, furthest }: Step,
): number {
  let reached = -1;
  for (let place = first; place <= furthest; place += 1) {
    const piece = places[place] === 0 ? undefined : pieces[place];
    if (piece === undefined) continue;
    const stays = piece.isEmoji && remainsOf(piece.text, character);
    const goes = !piece.isEmoji && piece.text === character;
    if (!stays && !goes) continue;
    reached = Math.max(reached, goes ? place + 1 : place);
    next[goes ? place + 1 : place] = 1;
  }
  return reached;
}

/** What a provider leaves of emoji: question marks, replacement characters, halves, single parts. */
function remainsOf(emoji: string, character: string): boolean {
  return character === '?' || character === '\ufffd' || emoji.includes(character);
}

/** Adds the places behind emoji that were dropped. Returns the first and the furthest of all. */
function behindEmoji(
  places: Uint8Array,
  pieces: readonly Piece[],
  from: number,
  to: number,
): [first: number, furthest: number] {
  let first = -1;
  let furthest = to;
  for (let place = from; place <= furthest; place += 1) {
    if (places[place] === 0) continue;
    if (first === -1) first = place;
    if (pieces[place]?.isEmoji !== true) continue;
    places[place + 1] = 1;
    furthest = Math.max(furthest, place + 1);
  }
  return [first, furthest];
}

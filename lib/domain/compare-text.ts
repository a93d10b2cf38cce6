/**
 * Whether a provider shows the text that was approved. Only rewrites that its promise declares are allowed for:
 * loss-free ones are undone once and the canonical forms compared; after lossy ones the answer is that no
 * comparison can be made, as long as everything else agrees, and a person decides.
 */
import { canonicalPost, plainText, untrimmedText, withoutSpaceAtEnd } from './canonical-text.ts';
import { withLinksInOneSpelling } from './links-in-text.ts';
import { agreementBut, type Losses } from './text-alignment.ts';
import { type ShownLink, withEntitiesDecoded, withLinksExpanded } from './undo-rewrites.ts';

/** What a provider may do to a text. `crlf`, `trim_end` and `unicode_form` change no canonical form (`text/v1`). */
export type TextRewrite =
  | 'crlf'
  | 'trim_end'
  | 'unicode_form'
  /** Encoded once, in the text; targets of links are shown as they are. */
  | 'html_entities'
  /** Links are shown in another form, and a map says what each stands for. */
  | 'links_with_map'
  /** Targets in the map have a scheme also where the approved text has none (`example.test/x`). */
  | 'scheme_added'
  /** Links are shown in another form, and nothing says what they stand for. */
  | 'links_without_map'
  /** Emoji become question marks or replacement characters, or are dropped whole or in part. */
  | 'emoji_lost'
  /** Long text ends early, with or without `…` or `...`. */
  | 'cut';

export interface TextReading {
  /** As the provider's promise declares them. */
  readonly rewrites: readonly TextRewrite[];
  /** The provider's map of links, in the order of the text. Undeclared, it must lead where the text says. */
  readonly links?: readonly ShownLink[];
  /** Another field of identity matched one record only: then links hidden under `links_without_map` are taken on trust. */
  readonly identifiedOtherwise?: boolean;
}

/** Why nobody but a person can compare; a shown text may suffer from several, the worst is named. */
export type TextLoss = 'links_hidden' | 'emoji_lost' | 'cut';

export type TextComparison =
  | { readonly kind: 'equal' }
  | { readonly kind: 'different' }
  | { readonly kind: 'not_comparable'; readonly reason: TextLoss };

/** Least first: what one loss explains is not laid to two. The last of each is the one named. */
const LOSSES: readonly (readonly TextLoss[])[] = [
  ['links_hidden'],
  ['emoji_lost'],
  ['cut'],
  ['links_hidden', 'emoji_lost'],
  ['links_hidden', 'cut'],
  ['emoji_lost', 'cut'],
  ['links_hidden', 'emoji_lost', 'cut'],
];

/** Throws `NotCanonical` where the approved text is ill-formed: intake refuses such. The shown text may be anything. */
export function compareText(approved: string, shown: string, reading: TextReading): TextComparison {
  const own = canonicalPost(approved);
  if (isTooMuch(own, shown, reading)) return { kind: 'different' };
  if (!mayMapLinks(reading) && reading.links?.some(leadsElsewhere) === true) return { kind: 'different' };
  const { text, stray } = undone(shown, own, reading);
  if (!stray && oneSpelling(text) === own) return { kind: 'equal' };
  // What the map names and the text does not show can only have been cut off.
  const losses = LOSSES.filter((each) => areDeclared(each, reading) && (!stray || each.includes('cut')));
  const reason = losses.find((each) => agrees(approved, text, each, reading))?.at(-1);
  if (reason === undefined) return { kind: 'different' };
  return reason === 'links_hidden' && areTrusted(reading)
    ? { kind: 'equal' }
    : { kind: 'not_comparable', reason };
}

/** No declared rewrite makes so much of a text, and no time is spent on it. */
const MOST_SHOWN_PER_UNIT = 10;
const SHOWN_BEYOND = 1000;

/** Entities take 8 characters for one, and short links are no longer than this either; a map names links only. */
export function isTooMuch(own: string, shown: string, { links = [] }: TextReading): boolean {
  const most = MOST_SHOWN_PER_UNIT * own.length + SHOWN_BEYOND;
  const named = links.reduce((sum, { target }) => sum + target.length, 0);
  return shown.length > most || named > most || links.length > own.length;
}

function undone(shown: string, own: string, { rewrites, links = [] }: TextReading) {
  const text = rewrites.includes('html_entities') ? withEntitiesDecoded(shown) : shown;
  return withLinksExpanded(text, own, links, rewrites.includes('scheme_added'));
}

function mayMapLinks({ rewrites }: TextReading): boolean {
  return rewrites.includes('links_with_map') || rewrites.includes('links_without_map');
}

function leadsElsewhere({ shown, target }: ShownLink): boolean {
  return oneSpelling(shown) !== oneSpelling(target);
}

function oneSpelling(link: string): string {
  return withLinksInOneSpelling(plainText(link));
}

function areDeclared(losses: readonly TextLoss[], reading: TextReading): boolean {
  return losses.every((loss) =>
    loss === 'links_hidden' ? mayMapLinks(reading) : reading.rewrites.includes(loss),
  );
}

/** A provider that promised a map and left a link out of it is not trusted for that link. */
function areTrusted({ rewrites, identifiedOtherwise = false }: TextReading): boolean {
  return identifiedOtherwise && rewrites.includes('links_without_map');
}

function agrees(approved: string, text: string, losses: readonly TextLoss[], reading: TextReading): boolean {
  const targets = (reading.links ?? []).map(({ target }) => target);
  const allowed: Losses = {
    links: losses.includes('links_hidden'),
    bareLinks: reading.rewrites.includes('scheme_added'),
    knownLinks: [...targets, ...targets.map(oneSpelling)],
    emoji: losses.includes('emoji_lost'),
    cut: losses.includes('cut'),
  };
  const readings = allowed.cut ? beforeCut(text, reading) : [plainText(text)];
  // What was cut off may have been white space only.
  const whole = allowed.cut ? untrimmedText(approved) : plainText(approved);
  // As it is too: a link that is cut in its host has another spelling than the whole one.
  const forms = whole.includes('://') ? [withLinksInOneSpelling, asItIs] : [asItIs];
  return forms.some((form) => {
    const agree = agreementBut(allowed, form(whole));
    return readings.some((left) => agree(form(left)));
  });
}

function asItIs(text: string): string {
  return text;
}

const MARK = /(?:…|\.\.\.)$/;
/** Half of a pair, or what is shown in place of a character that was cut in two. */
const HALF_CHARACTER = /[\p{Surrogate}\ufffd]+$/u;
const HALF_ENTITY = /&#?[0-9A-Za-z]{0,7}$/;
const HALF_LINK = /(?<![A-Za-z0-9])h(?:t(?:t(?:ps?(?::(?:\/(?:\/[!-~]{0,100})?)?)?)?)?)?$/i;

/** What may have stood before a cut: with and without a mark, and what the provider wrote itself and cut in two. */
function beforeCut(shown: string, reading: TextReading): readonly string[] {
  const text = plainText(shown);
  const whole = [text, text.replace(MARK, '')].map((each) => each.replace(HALF_CHARACTER, ''));
  const readings = whole.flatMap((each) => [each, ...withoutHalves(each, reading)]);
  return [...new Set(readings.map(withoutSpaceAtEnd))];
}

function withoutHalves(text: string, reading: TextReading): readonly string[] {
  const { rewrites, links = [] } = reading;
  const endsInTarget = links.some(({ target }) => target !== '' && text.endsWith(target));
  return [
    ...(rewrites.includes('html_entities') ? [text.replace(HALF_ENTITY, '')] : []),
    ...(mayMapLinks(reading) && !endsInTarget ? [text.replace(HALF_LINK, '')] : []),
  ];
}

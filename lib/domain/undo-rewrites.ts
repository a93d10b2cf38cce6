/** Loss-free rewrites of a text by a provider, undone: each once, never twice. */
import { plainText } from './canonical-text.ts';
import { withLinksInOneSpelling } from './links-in-text.ts';

/** What the provider shows in the text, and where it leads. */
export interface ShownLink {
  readonly shown: string;
  readonly target: string;
}

const ENTITY = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** One level of HTML entities: `&amp;amp;` is `&amp;`. Numbers that are no character stay as they are. */
export function withEntitiesDecoded(text: string): string {
  return text.replace(ENTITY, (whole: string, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return isCharacter(code) ? String.fromCodePoint(code) : whole;
  });
}

/** HTML reads 0x80 to 0x9F as other characters and 0 and surrogates as none: no encoder means those. */
function isCharacter(code: number): boolean {
  const control = code === 0 || (code >= 0x7f && code <= 0x9f);
  return !control && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

/**
 * The text with what is shown for links replaced by their targets, in one pass; entries for the same shown
 * text are used in order, the last one again.
 * @param own the approved text in canonical form
 * @param schemeAdded where `own` has the target without its scheme at that place, it is put in so
 * @returns `stray`: the map has an entry that the text does not show
 */
export function withLinksExpanded(
  text: string,
  own: string,
  links: readonly ShownLink[],
  schemeAdded: boolean,
): { readonly text: string; readonly stray: boolean } {
  if (links.length === 0) return { text, stray: false };
  const waiting = inOrder(links);
  let expanded = '';
  let from = 0;
  for (const match of text.matchAll(anyOf([...waiting.keys()]))) {
    const targets = waiting.get(match[0]);
    const target = targets?.left.shift() ?? targets?.last;
    if (target === undefined) continue;
    expanded += text.slice(from, match.index);
    expanded += schemeAdded ? asApproved(expanded, target, own) : target;
    from = match.index + match[0].length;
  }
  return {
    text: expanded + text.slice(from),
    stray: [...waiting.values()].some(({ left }) => left.length > 0),
  };
}

/** What each shown text leads to, in turn. */
function inOrder(links: readonly ShownLink[]): Map<string, { readonly left: string[]; last: string }> {
  const all = new Map<string, { readonly left: string[]; last: string }>();
  for (const { shown, target } of links) {
    const met = all.get(shown);
    if (met === undefined) all.set(shown, { left: [target], last: target });
    else {
      met.left.push(target);
      met.last = target;
    }
  }
  return all;
}

/** Whole words only: `https://s.test/1` is not in `https://s.test/12`. */
function anyOf(words: readonly string[]): RegExp {
  const longestFirst = words.filter((word) => word !== '').toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return /(?!)/g;
  const escaped = longestFirst.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(`(?<![A-Za-z0-9])(?:${escaped.join('|')})(?![A-Za-z0-9_/-])`, 'g');
}

const HOST_NAME = /^[^/?#]*\.[^./?#]/;

/** The spelling of a target that carries on what was approved, else one that was approved at all, else the target. */
function asApproved(before: string, target: string, own: string): string {
  // Hopeless already, and a hostile map must not take quadratic time.
  if (before.length > 4 * own.length) return target;
  const bare = target.replace(/^https?:\/\//i, '');
  // A word without a dot that became a link is another text.
  const spellings = HOST_NAME.test(bare) ? [target, bare, bare.replace(/^([^/]*)\/$/, '$1')] : [target];
  const carriesOn = (each: string) => own.startsWith(withLinksInOneSpelling(plainText(before + each)));
  const isApproved = (each: string) => own.includes(withLinksInOneSpelling(plainText(each)));
  return spellings.find(carriesOn) ?? spellings.find(isApproved) ?? target;
}

/**
 * Whether a text is the approved one but for its links, which lead to the same host and path. A provider that raises
 * a scheme or takes tracking off a link makes such texts; so does somebody who links to the same page otherwise.
 */
import { LINK_ENDS, withLinksBlurred } from './blurred-links.ts';
import { compareText, isTooMuch, type TextComparison, type TextReading } from './compare-text.ts';
import { withEntitiesDecoded, withLinksExpanded } from './undo-rewrites.ts';

const LINK_SIGN = /:\/\/|\.\p{L}/u;

/**
 * One comparison for each reading of where links end; none where the approved text has no link. `equal` is a doubt
 * here: which of two links was approved, nobody can tell from such texts.
 */
export function compareBlurred(approved: string, shown: string, reading: TextReading): TextComparison[] {
  const { rewrites, links = [] } = reading;
  if (!LINK_SIGN.test(approved) || isTooMuch(approved, shown, reading)) return [];
  const decoded = rewrites.includes('html_entities') ? withEntitiesDecoded(shown) : shown;
  const { text } = withLinksExpanded(decoded, approved, links, false);
  const pairs = LINK_ENDS.map((end) => {
    const blur = (each: string) => withLinksBlurred(each.normalize('NFC'), end);
    // Known, so that they hide nothing.
    const targets = links.map(({ target }) => blur(target)).map((target) => ({ shown: target, target }));
    return { own: blur(approved), text: blur(text), targets };
  });
  const [first, second] = pairs;
  const once = first?.own === second?.own && first?.text === second?.text;
  return pairs
    .slice(once ? 1 : 0)
    .map((pair) => compareText(pair.own, pair.text, { ...reading, links: pair.targets }));
}

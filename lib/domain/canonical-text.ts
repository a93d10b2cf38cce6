/**
 * The text of a post as it is compared, before and after publishing by the same rule. Rule `text/v1`: CRLF and
 * CR are LF; Unicode form NFC; white space at the very end is cut; links have one spelling (`links-in-text.ts`).
 * Nothing else: case, inner and leading space, compatibility forms (NFKC), entities and emoji all count. NFC
 * comes first and covers links too. The bytes sent stay as approved.
 */
import { NotCanonical, sha256 } from './fingerprint.ts';
import { WHITE_SPACE, withLinksInOneSpelling } from './links-in-text.ts';

/** In front of every hash; a changed rule is another version, and this one stays for ever. */
export const TEXT_VERSION = 'text/v1';

export interface TextRefusal {
  readonly reason: 'ill_formed_unicode';
  /** Where the lone surrogate stands, in UTF-16 units from 0. */
  readonly at: number;
}

/** Why a text cannot be posted, for the caller at intake; null when it can. */
export function refusalOfText(text: string): TextRefusal | null {
  const at = text.search(/\p{Surrogate}/u);
  return at === -1 ? null : { reason: 'ill_formed_unicode', at };
}

/** The one form of all spellings of a text. Throws `NotCanonical` on lone surrogates. */
export function canonicalPost(text: string): string {
  const refusal = refusalOfText(text);
  if (refusal !== null) {
    throw new NotCanonical(
      `Cannot bring text into canonical form: lone surrogate at ${refusal.at}, well-formed Unicode is wanted.`,
    );
  }
  return withLinksInOneSpelling(plainText(text));
}

/** `text/v1:<sha256 hex>` of the canonical form. Throws `NotCanonical` on lone surrogates. */
export function textHash(text: string): string {
  return `${TEXT_VERSION}:${sha256(canonicalPost(text))}`;
}

/** The rule without its part on links; takes ill-formed text too, which a provider may show. */
export function plainText(text: string): string {
  return withoutSpaceAtEnd(untrimmedText(text));
}

/** The rule's line ends and Unicode form only. */
export function untrimmedText(text: string): string {
  return text.replace(/\r\n?/g, '\n').normalize('NFC');
}

const SPACE = new RegExp(`[${WHITE_SPACE}]`);

/** A loop: `\s+$` takes quadratic time on long runs inside the text. */
export function withoutSpaceAtEnd(text: string): string {
  let end = text.length;
  while (end > 0 && SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/**
 * Links in a text, and the one spelling that rule `text/v1` gives them: scheme and host in lower case, a host
 * of other letters in ASCII (IDN), no default port, `/` for an empty path. User names, paths, queries and
 * fragments stay as they are. A link whose host does not clearly end (`https://a.test*b`) stays whole.
 */

/** Unicode's White_Space, written out: a rule for ever must not move with the engine's tables. */
export const WHITE_SPACE = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** What ends a link: readers and providers agree on these only. */
export const BREAKS = `${WHITE_SPACE}<>"「」『』（）【】〈〉《》。、`;

export const LABEL = '[\\p{L}\\p{M}\\p{N}_-]+';
/** Scheme letters are listed: with the flag `i`, `ſ` would be an `s`. */
const SCHEME = '(?<![A-Za-z0-9+.-])([Hh][Tt][Tt][Pp][Ss]?)://';
const USER = `([^${BREAKS}/?#@]*@)?`;
const LINK = new RegExp(`${SCHEME}${USER}(${LABEL}(?:\\.${LABEL})*)(:\\d+)?([/?#][^${BREAKS}]*)?`, 'gu');
/** Behind a link without a path: nothing, a break, or the punctuation of a sentence before one. */
const CLEAR_END = new RegExp(`[.,;:!)\\]}']*(?:$|[${BREAKS}])`, 'uy');
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' };

/** The text with every link in its one spelling. Expects NFC. */
export function withLinksInOneSpelling(text: string): string {
  return text.replace(
    LINK,
    (whole: string, scheme: string, user = '', host: string, port = '', tail = '', at: number) => {
      if (tail === '' && !endsClearly(text, at + whole.length)) return whole;
      const lower = scheme.toLowerCase();
      const shownPort = port === DEFAULT_PORTS[lower] ? '' : port;
      const path = tail.startsWith('/') ? tail : `/${tail}`;
      return `${lower}://${user}${hostInAscii(host)}${shownPort}${path}`;
    },
  );
}

function endsClearly(text: string, at: number): boolean {
  CLEAR_END.lastIndex = at;
  return CLEAR_END.test(text);
}

/** A host that is already ASCII is only lowered: `127.1` is not spelled out as an address. */
function hostInAscii(host: string): string {
  if (/^[\x21-\x7e]*$/.test(host)) return host.toLowerCase();
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : host;
}

const LINK_START = new RegExp(SCHEME, 'uy');
const BARE_START = /(?<![\p{L}\p{M}\p{N}_@./-])(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}/uy;

/** Whether a link begins there; with `bare`, also one without a scheme (`example.test/x`). */
export function linkStartsAt(text: string, at: number, bare: boolean): boolean {
  LINK_START.lastIndex = at;
  BARE_START.lastIndex = at;
  return LINK_START.test(text) || (bare && BARE_START.test(text));
}

/** A link as a shortener writes it, ASCII throughout, without the punctuation of its sentence. */
const SHORT_LINK = /(?<![A-Za-z0-9+.-])[Hh][Tt][Tt][Pp][Ss]?:\/\/[!#-&*-;=?-~]*[A-Za-z0-9/_=&#~-]/g;

/** The text cut into links (even the shortest form of them) and what lies between, in order. */
export function splitAtLinks(text: string): readonly { readonly text: string; readonly isLink: boolean }[] {
  const pieces: { text: string; isLink: boolean }[] = [];
  let from = 0;
  for (const match of text.matchAll(SHORT_LINK)) {
    pieces.push({ text: text.slice(from, match.index), isLink: false }, { text: match[0], isLink: true });
    from = match.index + match[0].length;
  }
  return [...pieces, { text: text.slice(from), isLink: false }];
}

/**
 * Links without what a provider may change on its own account: the scheme, `www.`, a default port, a user name, the
 * spelling of host and path, a slash at the end, the query, the fragment. Two links that still differ lead elsewhere.
 */
import { BREAKS, LABEL } from './links-in-text.ts';

/** Where links end: at what readers and providers agree on, or as shorteners read them, at the first letter beyond ASCII. */
export const LINK_ENDS = ['at_breaks', 'in_ascii'] as const;
export type LinkEnd = (typeof LINK_ENDS)[number];

/** Bounded, so that no text takes quadratic time. */
const NAME = '(?<![A-Za-z0-9_-])(?:[A-Za-z0-9_-]{1,63}\\.){1,10}[A-Za-z][A-Za-z0-9-]{1,62}';
/** A name of letters beyond ASCII counts as a host only behind a scheme: where it begins is in doubt otherwise. */
const HOST = { at_breaks: `${LABEL}(?:\\.${LABEL})*`, in_ascii: '[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*' };
const TAIL = { at_breaks: `[^${BREAKS}]`, in_ascii: '[!#-;=?-~]' };
/** With the punctuation behind a link: nobody knows whether it was a part of its query. */
const PATTERNS: Readonly<Record<LinkEnd, RegExp>> = {
  at_breaks: patternOf('at_breaks'),
  in_ascii: patternOf('in_ascii'),
};

function patternOf(end: LinkEnd): RegExp {
  const user = `(?:[^${BREAKS}/?#@]*@)?`;
  const start = `(?:[Hh][Tt][Tt][Pp][Ss]?://${user}(${HOST[end]})|(${NAME}))`;
  return new RegExp(`${start}(:\\d+)?([/?#]${TAIL[end]}*)?[.,;:!?)\\]}'/]*`, 'gu');
}

/** The text with every link, and every host that stands without a scheme, blurred. */
export function withLinksBlurred(text: string, end: LinkEnd): string {
  return text.replace(
    PATTERNS[end],
    (_, host: string | undefined, name: string | undefined, port = '', tail = '') =>
      `https://${hostOf(host ?? name ?? '')}${port === ':80' || port === ':443' ? '' : port}${pathOf(tail)}`,
  );
}

function hostOf(host: string): string {
  const url = `http://${host}`;
  const name = URL.canParse(url) ? new URL(url).hostname : host.toLowerCase();
  return name.replace(/^www\./, '');
}

function pathOf(tail: string): string {
  const path = tail.replace(/[?#].*$/su, '');
  const url = `http://a${path}`;
  const resolved = URL.canParse(url) ? new URL(url).pathname : path;
  return decoded(resolved).replace(/[.,;:!?)\]}'/]*$/, '');
}

/** What a cut left of a character is shown as U+FFFD. */
function decoded(path: string): string {
  const whole = path.replace(/%[0-9A-Fa-f]?$/, '');
  return whole.replace(/(?:%[0-9A-Fa-f]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

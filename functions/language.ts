/** The language of the words in an answer, from `Accept-Language` (RFC 9110, matched by RFC 4647 lookup). */
import { LANGUAGES, type Language } from '../lib/operations/explanation.ts';
import type { ApiRequest } from './handler.ts';

/** More than any browser sends. */
const MOST_RANGES = 20;
const RANGE = /^(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * The one with the greatest weight; of equals the one that is named first, then English. What cannot be read
 * is passed over: a wish for a language is never a reason to refuse.
 */
export function languageOf(request: Pick<ApiRequest, 'headers'>): Language {
  const ranges = (request.headers['accept-language'] ?? '')
    .split(',', MOST_RANGES)
    .flatMap((text) => rangeIn(text.trim().toLowerCase()));
  const wishes = LANGUAGES.map((language) => ({ language, ...wishFor(language, ranges) }));
  const [best] = wishes.filter((wish) => wish.weight > 0).sort((a, b) => b.weight - a.weight || a.at - b.at);
  return best?.language ?? LANGUAGES[0];
}

/** What every answer with words says about them. */
export function languageHeaders(language: Language): Record<string, string> {
  return { 'content-language': language, vary: 'accept-language' };
}

interface Range {
  /** Primary subtag, or `*`. */
  readonly primary: string;
  readonly weight: number;
}

function rangeIn(text: string): Range[] {
  const [, range, weight] = RANGE.exec(text) ?? [];
  if (range === undefined) return [];
  return [{ primary: range.split('-')[0] ?? '', weight: weight === undefined ? 1 : Number(weight) }];
}

/** `*` speaks for what is not named. Regions of one language are one here: the greatest weight counts. */
function wishFor(language: Language, ranges: readonly Range[]): { weight: number; at: number } {
  const named = ranges.filter((range) => range.primary === language);
  const mine = named.length > 0 ? named : ranges.filter((range) => range.primary === '*');
  const weight = Math.max(0, ...mine.map((range) => range.weight));
  return { weight, at: ranges.findIndex((range) => mine.includes(range) && range.weight === weight) };
}

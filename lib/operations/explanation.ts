/**
 * The state in words: what is known, what is not, what happens next and when. First it is decided what to say,
 * then it is said in a language. No provider text and no id of the provider's gets in.
 */
import type { Intent } from '../domain/intent.ts';
import { ENGLISH, type Words } from './explanation-en.ts';
import { JAPANESE } from './explanation-ja.ts';
import { timeInWords } from './local-time.ts';
import { type Phrase, phrasesOf } from './phrases.ts';

/** The first is spoken to whoever prefers none. */
export const LANGUAGES = ['en', 'ja'] as const;
export type Language = (typeof LANGUAGES)[number];

const WORDS: Readonly<Record<Language, Words>> = { en: ENGLISH, ja: JAPANESE };

/** Times are told in UTC, and also in `zone` (an IANA name; the language's own when left out) if that is another. */
export function explain(intent: Intent, language: Language = 'en', zone?: string): string {
  const words = WORDS[language];
  return phrasesOf(intent)
    .map((phrase) => sentence(phrase, words, zone ?? words.zone))
    .join(words.between);
}

function sentence(phrase: Phrase, words: Words, zone: string): string {
  const facts: Readonly<Record<string, string | undefined>> = {
    at: phrase.at === undefined ? undefined : timeInWords(phrase.at, zone),
    count: phrase.count?.toString(),
    id: phrase.id,
    who: phrase.who,
    reason: phrase.reason === undefined ? undefined : words.reasons[phrase.reason],
    decision: phrase.decision === undefined ? undefined : words.decisions[phrase.decision],
    checks: phrase.checks?.map((name) => words.checks[name] ?? name).join(words.comma),
  };
  return words.sayings[phrase.say].replace(/\{(\w+)\}/g, (_, name: string) => facts[name] ?? '');
}

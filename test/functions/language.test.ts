/** In which language an answer speaks: RFC 9110 weights, English unless Japanese is preferred. */
import { describe, expect, test } from 'vitest';
import { languageHeaders, languageOf } from '../../functions/language.ts';

describe('Accept-Language', () => {
  test.each<[string | undefined, 'en' | 'ja', string]>([
    [undefined, 'en', 'nothing is preferred'],
    ['', 'en', 'nothing is preferred'],
    ['ja', 'ja', 'it is the only wish'],
    ['JA', 'ja', 'tags have no case'],
    ['ja-JP', 'ja', 'a region falls back to its language'],
    ['ja-Jpan-JP-x-ours', 'ja', 'so does anything longer'],
    ['en-GB', 'en', 'a region falls back to its language'],
    ['jam', 'en', 'Jamaican Creole begins with the same letters'],
    ['ja, en', 'ja', 'of equals the first is taken'],
    ['en, ja', 'en', 'of equals the first is taken'],
    ['en;q=0.5, ja;q=0.8', 'ja', 'the greater weight counts'],
    ['en;q=0.8,ja;q=0.8', 'en', 'of equals the first is taken'],
    ['en;q=0.899, ja;q=0.9', 'ja', 'weights have three digits'],
    ['ja ; q=0.1 , en ; q=0.2', 'en', 'blanks are allowed'],
    ['fr, ja;q=0.5', 'ja', 'French is not spoken'],
    ['fr', 'en', 'French is not spoken'],
    ['*', 'en', 'anything will do'],
    ['*, ja;q=0.5', 'en', 'the asterisk speaks for English'],
    ['*;q=0.1, ja;q=0.5', 'ja', 'the asterisk weighs less'],
    ['en;q=0', 'en', 'something has to be said'],
    ['en;q=0, *', 'ja', 'English is refused and anything else will do'],
    ['en;q=0, ja;q=0', 'en', 'something has to be said'],
    ['ja;q=0, *;q=0.1', 'en', 'Japanese is refused'],
    ['ja;q=0.000', 'en', 'so it is with three zeros'],
    ['ja-JP;q=0.2, ja;q=0.9, en;q=0.5', 'ja', 'the greatest weight of a language counts'],
    ['ja;q=1.1, en;q=0.1', 'en', 'a weight above one cannot be read'],
    ['ja;q=high, en;q=0.1', 'en', 'a word is no weight'],
    ['ja;q=0.1234', 'en', 'four digits are too many'],
    ['ja;level=1, en;q=0.1', 'en', 'there is no such parameter'],
    ['日本語, ja', 'ja', 'what cannot be read is passed over'],
    [`${'fr,'.repeat(19)}ja`, 'ja', 'twenty are read'],
    [`${'fr,'.repeat(20)}ja`, 'en', 'no more than twenty are read'],
  ])('%j is %s, because %s', (header, expected) => {
    expect(languageOf({ headers: { 'accept-language': header } })).toBe(expected);
  });

  test('a header of 64 KB is read in no time', () => {
    const header = `${' '.repeat(30_000)};${'-a'.repeat(17_000)}`;
    const startedAt = performance.now();
    languageOf({ headers: { 'accept-language': header } });
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

test('an answer says in which language it speaks, and that it depends on the wish', () => {
  expect(languageHeaders('ja')).toEqual({ 'content-language': 'ja', vary: 'accept-language' });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalPost, refusalOfText, TEXT_VERSION, textHash } from '../../lib/domain/canonical-text.ts';
import { compareImages, type ImageComparison } from '../../lib/domain/compare-images.ts';
import { compareText, type TextComparison, type TextReading } from '../../lib/domain/compare-text.ts';
import { NotCanonical } from '../../lib/domain/fingerprint.ts';

interface Pair {
  readonly because: string;
  readonly a: string;
  readonly b: string;
}

interface Compared extends TextReading {
  readonly because: string;
  readonly approved: string;
  readonly shown: string;
  readonly expected: TextComparison;
}

interface Vectors {
  readonly equal: readonly Pair[];
  readonly different: readonly Pair[];
  readonly pinned: readonly { because: string; text: string; canonical: string; hash: string }[];
  readonly refused: readonly { because: string; text: string; at: number }[];
  readonly compared: readonly Compared[];
  readonly images: readonly {
    because: string;
    approved: readonly string[];
    shown: readonly (string | null)[];
    reencoded: boolean;
    expected: ImageComparison;
  }[];
}

const vectors = JSON.parse(
  readFileSync(new URL('./canonical-text.vectors.json', import.meta.url), 'utf8'),
) as Vectors;

describe('the hash of a text', () => {
  it.each(vectors.equal)('is equal: $because ($a, $b)', ({ a, b }) => {
    expect(canonicalPost(a)).toBe(canonicalPost(b));
    expect(textHash(a)).toBe(textHash(b));
  });

  it.each(vectors.different)('differs: $because ($a, $b)', ({ a, b }) => {
    expect(textHash(a)).not.toBe(textHash(b));
  });

  it.each(vectors.pinned)('is what it always was: $because', ({ text, canonical, hash }) => {
    expect(canonicalPost(text)).toBe(canonical);
    expect(textHash(text)).toBe(hash);
    expect(hash.startsWith(`${TEXT_VERSION}:`)).toBe(true);
  });

  it.each(vectors.refused)('is refused: $because', ({ text, at }) => {
    expect(refusalOfText(text)).toEqual({ reason: 'ill_formed_unicode', at });
    expect(() => canonicalPost(text)).toThrow(NotCanonical);
    expect(() => textHash(text)).toThrow(`lone surrogate at ${at}`);
    expect(() => compareText(text, text, { rewrites: [] })).toThrow(NotCanonical);
  });

  it('is not refused for any other vector', () => {
    const texts = [...vectors.equal, ...vectors.different].flatMap(({ a, b }) => [a, b]);
    expect(texts.map(refusalOfText).filter((refusal) => refusal !== null)).toEqual([]);
  });
});

describe('a text as a provider shows it', () => {
  it.each(vectors.compared)('is $expected: $because ($approved, $shown)', (vector) => {
    expect(compareText(vector.approved, vector.shown, vector)).toEqual(vector.expected);
  });

  it.each(vectors.different)('is different where nothing is declared: $because', ({ a, b }) => {
    expect(compareText(a, b, { rewrites: [] })).toEqual({ kind: 'different' });
  });
});

describe('images as a provider shows them', () => {
  it.each(vectors.images)('are $expected: $because', ({ approved, shown, reencoded, expected }) => {
    expect(compareImages(approved, shown, { reencoded })).toEqual(expected);
  });
});

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalText,
  type FingerprintParts,
  fingerprint,
  NotCanonical,
} from '../../lib/domain/fingerprint.ts';
import type { Json, JsonObject } from '../../lib/domain/intent.ts';

interface Vectors {
  readonly equal: readonly { because: string; a: string; b: string }[];
  readonly different: readonly { because: string; a: string; b: string }[];
  readonly pinned: readonly { because: string; parts: FingerprintParts; fingerprint: string }[];
}

const vectors = JSON.parse(
  readFileSync(new URL('./fingerprint.vectors.json', import.meta.url), 'utf8'),
) as Vectors;

const PARTS: FingerprintParts = { route: 'r', account: 'a', environment: 'test', parent: null, payload: {} };
const of = (json: string) => fingerprint({ ...PARTS, payload: JSON.parse(json) as JsonObject });

describe('the fingerprint', () => {
  it.each(vectors.equal)('is equal: $because ($a, $b)', ({ a, b }) => {
    expect(of(a)).toBe(of(b));
  });

  it.each(vectors.different)('differs: $because ($a, $b)', ({ a, b }) => {
    expect(of(a)).not.toBe(of(b));
  });

  it.each(vectors.pinned)('is what it always was: $because', ({ parts, fingerprint: pinned }) => {
    expect(fingerprint(parts)).toBe(pinned);
  });

  it.each(['route', 'account', 'environment', 'parent'] as const)('differs when the %s differs', (name) => {
    expect(fingerprint({ ...PARTS, [name]: 'other' })).not.toBe(fingerprint(PARTS));
  });

  it('is refused for half a character', () => {
    expect(() => fingerprint({ ...PARTS, payload: { t: '\ud83d' } })).toThrow(NotCanonical);
  });

  it('is refused where the text rule makes two member names one', () => {
    expect(() => fingerprint({ ...PARTS, payload: { 'caf\u00e9': 1, 'cafe\u0301': 2 } })).toThrow(
      NotCanonical,
    );
  });
});

describe('the canonical form, on 100 000 inputs', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 });
  const value: fc.Arbitrary<Json> = fc.letrec<{ any: Json }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(text, tie('any'), { maxKeys: 3 }) as fc.Arbitrary<JsonObject>,
    ),
  })).any;
  const settings = { numRuns: 50_000, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true };

  it('is equal for equal meaning: members shuffled, text decomposed, line ends changed', () => {
    fc.assert(
      fc.property(value, (each) => {
        expect(orRefusal(respell(each))).toBe(orRefusal(each));
      }),
      settings,
    );
  });

  it('is different for different meaning, and parses back to the same canonical form', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [left, right] = [orRefusal(a), orRefusal(b)];
        if (left === 'refused' || right === 'refused') return;
        expect(left === right).toBe(meaning(a) === meaning(b));
        expect(canonicalText(JSON.parse(left) as Json)).toBe(left);
      }),
      settings,
    );
  });
});

function orRefusal(value: Json): string {
  try {
    return canonicalText(value);
  } catch (error) {
    if (error instanceof NotCanonical) return 'refused';
    throw error;
  }
}

/** Another spelling of the same meaning. */
function respell(value: Json): Json {
  if (typeof value === 'string') return value.normalize('NFD').replaceAll('\n', '\r\n');
  if (Array.isArray(value)) return value.map(respell);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).reverse();
  return Object.fromEntries(members.map(([name, member]) => [respell(name) as string, respell(member)]));
}

/** The meaning, written down by other means than the product's: a sorted list of typed paths. */
function meaning(value: Json, path = '$'): string {
  if (typeof value === 'string')
    return `${path}:s${JSON.stringify(value.normalize('NFC').replace(/\r\n?/g, '\n'))}`;
  if (value === null || typeof value !== 'object')
    return `${path}:${String(Object.is(value, -0) ? 0 : value)}`;
  const list = Array.isArray(value);
  const parts = Object.entries(value).map(([name, member]) => {
    const at = list ? name : JSON.stringify(name.normalize('NFC').replace(/\r\n?/g, '\n'));
    return meaning(member as Json, `${path}.${at}`);
  });
  return `${path}:${list ? 'list' : 'object'}(${parts.sort().join()})`;
}

import { describe, expect, it } from 'vitest';
import { BadJson, parseAnswer, parseJson, REQUEST_LIMITS } from '../../lib/platform/json.ts';

const parse = (text: string) => parseJson(text, REQUEST_LIMITS);
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const members = (count: number) => `[${Array.from({ length: count }, () => 1).join()}]`;

describe('strict JSON', () => {
  it.each([
    ['16 levels', nested(16)],
    ['500 members', members(500)],
    ['a string at its limit', JSON.stringify('x'.repeat(32_768))],
    ['a safe integer', '9007199254740991'],
    ['a decimal that is kept', '0.1'],
    ['a surrogate pair', '"\\ud83d\\ude00"'],
  ])('takes %s', (_, text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['17 levels', nested(17)],
    ['a deep bomb', nested(30_000)],
    ['501 members', members(501)],
    ['a string over its limit', JSON.stringify('x'.repeat(32_769))],
    ['a name over its limit', JSON.stringify({ ['x'.repeat(32_769)]: 1 })],
    ['a name twice', '{"a":1,"a":2}'],
    ['a name twice with one value', '{"a":1,"a":1}'],
    ['a name twice in two spellings', '{"a":1,"\\u0061":2}'],
    ['a 19-digit integer', '8389765489680951453'],
    ['a number beyond JavaScript', '1e400'],
    ['a decimal that would be rounded', '0.12345678901234567890123'],
    ['NaN', 'NaN'],
    ['half a character', '"\\ud83d"'],
    ['half a character in a name', '{"\\ude00":1}'],
    ['a member that libraries drop or follow', '{"a":{"__proto__":{"admin":true}}}'],
    ['two values', '1 2'],
    ['nothing', ''],
    ['a trailing comma', '[1,]'],
    ['a comment', '[1] // x'],
  ])('refuses %s', (_, text) => {
    expect(() => parse(text)).toThrow(BadJson);
  });

  it('never repeats what was sent', () => {
    expect(() => parse('{"card":"4111","card":"4111"}')).toThrow(
      /^An object in the body names a member twice.$/,
    );
  });

  it('C27: keeps long numbers of an answer as text', () => {
    expect(parseAnswer('{"id":8389765489680951453,"n":5}')).toEqual({ id: '8389765489680951453', n: 5 });
  });

  it.each<[text: string, value: unknown, because: string]>([
    ['"a\\ud83d"', 'a\ufffd', 'a text that was cut inside a pair'],
    ['["\\ude00b",{"\\uD83D":"\\uD83D\\uDE00"}]', ['\ufffdb', { '\ufffd': '\u{1f600}' }], 'whole pairs stay'],
    ['"\ud83d"', '\ufffd', 'written out'],
    ['"\\\\ud83d"', '\\ud83d', 'an escaped backslash is no half'],
  ])('an answer with half a character can be read: %s', (text, value) => {
    expect(parseAnswer(text)).toEqual(value);
  });

  it('names of an answer that differ in halves only are one name twice', () => {
    expect(() => parseAnswer('{"\\ud83d":1,"\\ude00":2}')).toThrow(BadJson);
  });
});

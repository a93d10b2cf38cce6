import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorName, type LogFields, logLine } from '../../lib/platform/log.ts';

describe('the log', () => {
  it('is one JSON object a line, whatever strings come (10 000 of them)', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\n{"event":"x"}', '\u2028', '\u2029', '\u001b[2J', '%s'),
    );
    fc.assert(
      fc.property(hostile, hostile, (tenant, error) => {
        const line = logLine('warn', 'e', { tenant, error }, 0);
        for (const breaker of ['\n', '\r', '\u2028', '\u2029', '\u001b']) expect(line).not.toContain(breaker);
        expect(Object.keys(JSON.parse(line) as object)).toEqual(['at', 'level', 'event', 'tenant', 'error']);
      }),
      { numRuns: 10_000 },
    );
  });

  it('drops every field that is not on its list', () => {
    const fields = { intentId: 'i', payload: 'secret', headers: { authorization: 'Bearer x' } } as LogFields;
    expect(logLine('info', 'e', fields, 0)).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","level":"info","event":"e","intentId":"i"}',
    );
  });

  it('cuts long values', () => {
    expect(logLine('info', 'e', { error: 'x'.repeat(10_000) }, 0).length).toBeLessThan(700);
  });

  it('names an error by its class, never by its message', () => {
    class Away extends Error {
      override readonly name = 'Away';
    }
    expect(errorName(new Away('Bearer abc', { cause: new TypeError('Bearer abc') }))).toBe('Away(TypeError)');
    expect(errorName('Bearer abc')).toBe('string');
  });
});

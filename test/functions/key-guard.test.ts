/** Keys and identities: what is a key, and that no two callers ever share an intent by accident of spelling. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { api } from '../../functions/handler.ts';
import { ProblemError } from '../../functions/problem.ts';
import { readKey } from '../../functions/request-body.ts';
import { listPartition, partitionOf, refOf } from '../../lib/ledger/item.ts';
import { intentIdOf } from '../../lib/workflow/accept.ts';
import { type Claims, SHOP } from '../support/api-rig.ts';
import { problemOf } from './refused-requests.ts';

const NO_CALLER = { tenant: '', unit: '', subject: '' };

/** An interrupted run is a failure; a failure names seed, path and counterexample as they came. */
function runs(numRuns: number) {
  const plugins = [fc.interruptAfterTimeLimit(50_000, { failOnInterrupt: true })];
  return { numRuns, endOnFailure: true, plugins };
}

/** Pieces that mean something to one of the places that a name passes through. */
const PIECES = [
  ...[
    '#',
    ':',
    '|',
    '/',
    '.',
    '..',
    ',',
    '","',
    '"',
    "'",
    '\\',
    '\\"',
    '[',
    ']',
    '{}',
    '%23',
    '~',
    '~2',
    ' ',
  ],
  ...['T#', '#I#', 'E#', 'R#*', 'int_', 'null', 'undefined', '__proto__', 'a', 'A', 'b', 't1', 't10', '0'],
  ...[
    'é',
    'e\u0301',
    'ｅ',
    'ß',
    'ss',
    'İ',
    'i',
    '鍵',
    '🔑',
    '\ud83d',
    '\\ud83d',
    '\u0000',
    '\n',
    '\u00a0',
    '\ufeff',
  ],
] as const;
const part = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 3 }).map((all) => all.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);

describe('the grammar of a key, on 30 000 headers', () => {
  const FORBIDDEN = [',', '"', '\\', '~', ' '];
  const ALLOWED = Array.from({ length: 0x7e - 0x20 }, (_, i) => String.fromCharCode(0x21 + i)).filter(
    (char) => !FORBIDDEN.includes(char),
  );
  const good = fc.string({ unit: fc.constantFrom(...ALLOWED), maxLength: 40 });
  const long = fc
    .tuple(fc.constantFrom(...ALLOWED), fc.integer({ min: 250, max: 260 }))
    .map(([char, length]) => char.repeat(length));
  const poison = fc.oneof(
    fc.constantFrom(...FORBIDDEN, '\t', '\n', '\r', '\u007f', '\u0080', '\u2028', 'ä', '１'),
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  );
  const poisoned = fc.tuple(good, poison, good).map((all) => all.join(''));
  const blank = fc.constantFrom('', ' ', '\t \t', '"', '""', '" "', '"""', '""""', '\u00a0', '\v', '\n');
  const core = fc.oneof(
    good,
    good,
    good,
    long,
    poisoned,
    poisoned,
    part,
    fc.string({ unit: 'binary' }),
    blank,
  );
  const around = fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 2, arbitrary: fc.constant('"') },
    { weight: 2, arbitrary: fc.constantFrom('""', ' ', '\t', '" ', ' "', '\n', '\u00a0', '\ufeff') },
  );
  /** Most are wrapped alike on both sides. */
  const after = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: around });
  const header = fc
    .tuple(around, core, after)
    .map(([before, text, behind]) => `${before}${text}${behind ?? [...before].reverse().join('')}`);

  type Judged = { readonly key: string } | { readonly problem: 'key-missing' | 'key-malformed' };

  /** The page docs/problems/key-malformed.md, one character at a time. */
  function judged(text: string): Judged {
    const isBlank = (char: string | undefined) => char === ' ' || char === '\t';
    let [from, to] = [0, text.length];
    while (from < to && isBlank(text[from])) from += 1;
    while (from < to && isBlank(text[to - 1])) to -= 1;
    const quoted = to - from >= 2 && text[from] === '"' && text[to - 1] === '"';
    const key = quoted ? text.slice(from + 1, to - 1) : text.slice(from, to);
    if (key === '') return { problem: 'key-missing' };
    const fine = key.length <= 255 && [...key].every((char) => ALLOWED.includes(char));
    return fine ? { key } : { problem: 'key-malformed' };
  }

  function read(text: string | undefined): Judged {
    const headers = { 'idempotency-key': text };
    try {
      return { key: readKey({ caller: NO_CALLER, headers, query: {}, path: {}, body: '' }) };
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      // The whole answer is one of two: nothing of the header comes back.
      if (error.answer.body === MISSING) return { problem: 'key-missing' };
      if (error.answer.body === MALFORMED) return { problem: 'key-malformed' };
      throw new Error(`Another answer than the two named ones: ${error.answer.body}`);
    }
  }
  const MISSING = JSON.stringify(problemOf('key-missing').problem);
  const MALFORMED = JSON.stringify(
    problemOf('key-malformed', {
      detail: '1 to 255 visible ASCII characters without comma, double quote, backslash, tilde and space.',
    }).problem,
  );

  test('a header is a key exactly when the grammar holds, and two keys never have one intent', () => {
    const seen = { taken: 0, quoted: 0, 'key-missing': 0, 'key-malformed': 0 };
    const keyOf = new Map<string, string>();
    fc.assert(
      fc.property(header, (text) => {
        const [is, should] = [read(text), judged(text)];
        expect(is).toEqual(should);
        if ('problem' in is) {
          seen[is.problem] += 1;
          return;
        }
        seen.taken += 1;
        if (text.includes('"')) seen.quoted += 1;
        const id = idOf(['acme', 'sales', 'test', 'reserve', is.key]);
        expect(keyOf.get(id) ?? is.key).toBe(is.key);
        keyOf.set(id, is.key);
        expect(read(is.key), 'a key is read as itself').toEqual({ key: is.key });
      }),
      runs(30_000),
    );
    // A generator that misses one side would prove nothing.
    expect(seen.taken).toBeGreaterThan(5_000);
    expect(seen.quoted).toBeGreaterThan(1_000);
    expect(seen['key-malformed']).toBeGreaterThan(5_000);
    expect(seen['key-missing']).toBeGreaterThan(500);
    expect(keyOf.size).toBeGreaterThan(3_000);
  });

  test('no header at all is a missing key', () => {
    expect(read(undefined)).toEqual({ problem: 'key-missing' });
  });

  test('each of the 65 536 code units alone is a key, or is refused, as the grammar says', () => {
    const wrong: string[] = [];
    let taken = 0;
    for (let unit = 0; unit <= 0xffff; unit += 1) {
      const text = String.fromCharCode(unit);
      const is = read(text);
      if ('key' in is) taken += 1;
      if (JSON.stringify(is) !== JSON.stringify(judged(text))) wrong.push(unit.toString(16));
    }
    expect(wrong).toEqual([]);
    expect(taken).toBe(94 - 4);
  });

  test('a key in another case is another key', () => {
    fc.assert(
      fc.property(good, (text) => {
        const [lower, upper] = [text.toLowerCase(), text.toUpperCase()];
        fc.pre(lower !== upper);
        expect([read(lower), read(upper)]).toEqual([{ key: lower }, { key: upper }]);
        expect(ownIdOf(lower)).not.toBe(ownIdOf(upper));
      }),
      runs(5_000),
    );
  });
});

type Identity = readonly [
  tenant: string,
  unit: string,
  environment: 'test' | 'production',
  action: string,
  key: string,
];

function idOf([tenant, unit, environment, action, key]: Identity): string {
  return intentIdOf(tenant, unit, { environment, action }, key);
}

function ownIdOf(key: string): string {
  return idOf(['acme', 'sales', 'test', 'reserve', key]);
}

describe('equal identities are one intent, all others never meet', () => {
  const environment = fc.constantFrom('test' as const, 'production' as const);
  const identity: fc.Arbitrary<Identity> = fc.tuple(part, part, environment, part, part);

  test('among 100 000 identities, each compared with all others', () => {
    const identityOf = new Map<string, string>();
    let drawn = 0;
    fc.assert(
      fc.property(fc.array(identity, { minLength: 50, maxLength: 50 }), (identities) => {
        for (const each of identities) {
          const [id, name] = [idOf(each), nameOf(each)];
          drawn += 1;
          expect(id).toMatch(/^int_[0-9a-f]{40}$/);
          if ((identityOf.get(id) ?? name) !== name) {
            throw new Error(`Cannot tell ${name} from ${identityOf.get(id)}: both are ${id}`);
          }
          identityOf.set(id, name);
        }
      }),
      runs(2_000),
    );
    expect(drawn).toBe(100_000);
    const names = new Set(identityOf.values());
    expect(names.size, 'one id for one identity').toBe(identityOf.size);
    expect(drawn - names.size, 'some came twice, and had the same id').toBeGreaterThan(100);
    expect(names.size).toBeGreaterThan(50_000);
  });

  test('a border between two parts that is moved makes another intent', () => {
    let moved = 0;
    const separator = fc.constantFrom('', '#', ':', '","', '"', '\\', '\u0000', '\u001f');
    const cut = fc.tuple(fc.array(fc.constantFrom(...PIECES), { minLength: 3, maxLength: 6 }), separator);
    fc.assert(
      fc.property(cut, fc.nat(), fc.nat(), ([pieces, between], a, b) => {
        const at = (n: number): readonly [string, string] => {
          const where = n % (pieces.length + 1);
          return [pieces.slice(0, where).join(between), pieces.slice(where).join(between)];
        };
        const [[left, right], [otherLeft, otherRight]] = [at(a), at(b)];
        const pairs: readonly (readonly [Identity, Identity])[] = [
          [
            [left, right, 'test', 'act', 'key'],
            [otherLeft, otherRight, 'test', 'act', 'key'],
          ],
          [
            ['acme', left, 'test', right, 'key'],
            ['acme', otherLeft, 'test', otherRight, 'key'],
          ],
          [
            ['acme', 'sales', 'test', left, right],
            ['acme', 'sales', 'test', otherLeft, otherRight],
          ],
        ];
        for (const [one, other] of pairs) {
          const same = nameOf(one) === nameOf(other);
          if (!same) moved += 1;
          expect(idOf(one) === idOf(other)).toBe(same);
        }
      }),
      runs(10_000),
    );
    expect(moved).toBeGreaterThan(15_000);
  });

  test.each<{ title: string; one: Identity; other: Identity; because: string }>([
    {
      title: 'a tenant whose name begins another',
      one: ['t1', '0', 'test', 'act', 'key'],
      other: ['t10', '', 'test', 'act', 'key'],
      because: 'names are quoted, not strung together',
    },
    {
      title: 'a unit that spells the rest of the identity',
      one: ['acme', 'sales","test","act","key', 'test', 'act', 'key'],
      other: ['acme', 'sales', 'test', 'act', 'key","test","act","key'],
      because: 'a quote inside a name is escaped',
    },
    {
      title: 'half a character and its escape',
      one: ['acme', 'sales', 'test', 'act', '\ud83d'],
      other: ['acme', 'sales', 'test', 'act', '\\ud83d'],
      because: 'the backslash is escaped too',
    },
    {
      title: 'two halves of a character',
      one: ['acme', 'sales', 'test', 'act', '\ud83d'],
      other: ['acme', 'sales', 'test', 'act', '\ud83e'],
      because: 'UTF-8 would make the same replacement character of both',
    },
    {
      title: 'a composed and a decomposed letter',
      one: ['acme', 'café', 'test', 'act', 'key'],
      other: ['acme', 'cafe\u0301', 'test', 'act', 'key'],
      because: 'identity is compared as it is, not as text that looks alike',
    },
    {
      title: 'production and test',
      one: ['acme', 'sales', 'production', 'act', 'key'],
      other: ['acme', 'sales', 'test', 'act', 'key'],
      because: 'what was tried in test was not done in production',
    },
  ])('$title: $because', ({ one, other }) => {
    expect(idOf(one)).not.toBe(idOf(other));
  });

  function nameOf(identity: Identity): string {
    return identity.map((each) => Buffer.from(each, 'utf16le').toString('hex')).join('/');
  }
});

describe('a key of the ledger says whose it is, or is not built', () => {
  const isWhole = (text: string) => text !== '' && !text.includes('#');

  test('a partition is read back as the tenant and the intent that it was built from', () => {
    const seen = { built: 0, refused: 0 };
    fc.assert(
      fc.property(part, part, (tenant, intentId) => {
        if (isWhole(tenant) && isWhole(intentId)) {
          seen.built += 1;
          expect(refOf(partitionOf({ tenant, intentId }))).toEqual({ tenant, intentId });
        } else {
          seen.refused += 1;
          expect(() => partitionOf({ tenant, intentId })).toThrow(RangeError);
        }
      }),
      runs(20_000),
    );
    expect(Math.min(seen.built, seen.refused)).toBeGreaterThan(4_000);
  });

  test('a list is of one tenant, one unit and one day', () => {
    fc.assert(
      fc.property(part, part, (tenant, unit) => {
        const build = () => listPartition(tenant, unit, '2026-11-30');
        if (isWhole(tenant) && isWhole(unit))
          expect(build().split('#')).toEqual([tenant, unit, '2026-11-30']);
        else expect(build).toThrow(RangeError);
      }),
      runs(20_000),
    );
  });

  test('a caller whose tenant or unit is no plain name is forbidden before anything is read', async () => {
    const plain = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,5}$/);
    const claimed = fc.oneof(
      plain,
      plain,
      part,
      fc.tuple(plain, part).map((all) => all.join('')),
    );
    const asked = { inside: 0, outside: 0 };
    const callers: unknown[] = [];
    const handler = api(
      'accept',
      () => () => undefined,
      async ({ caller }) => {
        callers.push(caller);
        return { statusCode: 204 };
      },
    );
    await fc.assert(
      fc.asyncProperty(claimed, claimed, async (tenant, unit) => {
        callers.length = 0;
        const answer = await handler(eventFrom({ ...SHOP, tenant, unit }));
        if (isPlain(tenant) && isPlain(unit)) {
          asked.inside += 1;
          expect(callers).toEqual([{ tenant, unit, subject: 'shop' }]);
        } else {
          asked.outside += 1;
          expect([callers, answer.statusCode, answer.body]).toEqual([[], 403, '{"message":"Forbidden"}']);
        }
      }),
      runs(5_000),
    );
    expect(Math.min(asked.inside, asked.outside)).toBeGreaterThan(500);
  });

  /** docs/deploying.md: letters, digits, dot, underscore and hyphen, a letter or digit first, at most 64. */
  function isPlain(text: string): boolean {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    const [first = '', ...rest] = text;
    if (first === '' || text.length > 64 || !letters.includes(first)) return false;
    return rest.every((char) => `${letters}._-`.includes(char));
  }

  function eventFrom(claims: Claims): Parameters<ReturnType<typeof api>>[0] {
    const requestContext = { authorizer: { jwt: { claims, scopes: ['submit'] } } };
    return { headers: {}, requestContext, isBase64Encoded: false } as never;
  }
});

/** Each requirement has its section, and each section names tests that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/traceability.md'), 'utf8');
const numbered = (letter: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
const REQUIRED = [...numbered('W', 11), ...numbered('O', 21), ...numbered('P', 17), 'C'];

const sections = PAGE.split(/^## /m)
  .slice(1)
  .map((text) => {
    const [id = '', ...lines] = text.split('\n');
    const named = lines.flatMap((line) => {
      const [, file, name] = /^- `([^`]+)` › (.+)$/.exec(line) ?? [];
      return file === undefined || name === undefined ? [] : [{ file, name }];
    });
    return { id, lines, named };
  });

test('every requirement has a section, in order', () => {
  expect(sections.map((section) => section.id)).toEqual(REQUIRED);
});

describe.each(sections)('$id', ({ lines, named }) => {
  test('says what must hold', () => {
    const words = lines
      .filter((line) => !line.startsWith('- '))
      .join(' ')
      .split(/\s+/);
    expect(words.length).toBeGreaterThan(15);
  });

  test('names its tests, each in a line that can be read', () => {
    expect(named.length).toBeGreaterThan(0);
    expect(named.length).toBe(lines.filter((line) => line.startsWith('- ')).length);
  });

  test.each(named)('$file › $name', ({ file, name }) => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(namesIn(file)).toContain(name);
  });
});

test('a name that only stands in a comment or a text is no test', () => {
  const source =
    "// test('a')\nconst b = 'b';\ntest('c', () => undefined);\nit.each([1])('d %i', () => undefined);";
  expect(namesOf(source)).toEqual(['c', 'd %i']);
});

test('the limits of W10 are written down', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const limits = readme.split('## What is NOT guaranteed')[1]?.split('\n## ')[0] ?? '';
  for (const limit of ['One warehouse.', 'No distributed transaction.', 'A key past its lifetime']) {
    expect(limits).toContain(`**${limit}**`);
  }
});

const parsed = new Map<string, readonly string[]>();

function namesIn(file: string): readonly string[] {
  const names = parsed.get(file) ?? namesOf(readFileSync(join(ROOT, file), 'utf8'));
  parsed.set(file, names);
  return names;
}

/** First arguments of calls to `test` and `it`, whatever is chained to them. */
function namesOf(source: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const name = ts.isCallExpression(node) && isTest(node.expression) ? node.arguments[0] : undefined;
    if (name !== undefined && ts.isStringLiteralLike(name)) names.push(name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true));
  return names;
}

function isTest(called: ts.Expression): boolean {
  if (ts.isIdentifier(called)) return called.text === 'test' || called.text === 'it';
  return (ts.isPropertyAccessExpression(called) || ts.isCallExpression(called)) && isTest(called.expression);
}

/** The page of field cases has a row for each, and each row names tests that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const ORDERS = [
  ...['C01', 'C02', 'C05', 'C06', 'C08', 'C09', 'C10', 'C12'],
  ...['C14', 'C15', 'C16', 'C18', 'C19', 'C20'],
  ...['C28', 'C29', 'C31', 'C32', 'C35', 'C36', 'C37'],
  ...['C44', 'C46', 'C48', 'C49'],
];
const POSTS = [...['C22', 'C23', 'C24', 'C25', 'C27'], ...['C28', 'C29', 'C31', 'C32', 'C35', 'C36', 'C37']];

const rows = readFileSync(join(ROOT, 'docs/field-cases.md'), 'utf8')
  .split(/^## /m)
  .flatMap((section) => section.split('\n').map((line) => ({ of: section.split(/[:\n]/)[0], line })))
  .filter(({ line }) => /^\| C\d\d /.test(line))
  .map(({ of, line }) => {
    const [, id = '', fault = '', does = '', named = ''] = line.split('|').map((cell) => cell.trim());
    const tests = named.split('; `').map((each) => each.replace(/^`/, '').split('` › '));
    return { of: of === 'Posts' ? 'posts' : 'orders', id, fault, does, tests };
  });

test.each([
  ['orders', ORDERS],
  ['posts', POSTS],
])('every case of %s has one row, in order', (which, cases) => {
  expect(rows.filter(({ of }) => of === which).map(({ id }) => id)).toEqual(cases);
});

describe.each(rows)('$id of $of', ({ fault, does, tests }) => {
  test('tells the fault and what is done', () => {
    for (const cell of [fault, does]) expect(cell).toMatch(/^[A-Z0-9].{20,}\.$/);
  });

  test.each(tests)('%s › %s', (file = '', name) => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(name).toMatch(/\S/);
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(name);
  });
});

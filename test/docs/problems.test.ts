/** Every problem that the API can answer has its page, and the page says what the answer says. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROBLEMS, type ProblemName, problem } from '../../functions/problem.ts';

const PAGES = resolve(import.meta.dirname, '../../docs/problems');
const NAMES = Object.keys(PROBLEMS) as ProblemName[];
const PARTS = ['Meaning.', 'When.', 'What to do.', 'Never says'];

test('there is a page for each problem, and no page without one', () => {
  const pages = readdirSync(PAGES).map((file) => file.replace(/\.md$/, ''));
  expect(pages.sort()).toEqual([...NAMES].sort());
});

describe.each(NAMES)('the page of %s', (name) => {
  const page = readFileSync(join(PAGES, `${name}.md`), 'utf8');
  const { status, title } = PROBLEMS[name];

  test('has its name, status and title', () => {
    expect(page.split('\n').slice(0, 4)).toEqual([
      `# ${name}`,
      '',
      `**Status** ${status}`,
      `**Title** ${title}`,
    ]);
  });

  test('tells what it means, when it comes, what to do, and what it never says', () => {
    expect(PARTS.filter((part) => !page.includes(`**${part}**`))).toEqual([]);
  });

  test('shows a body that the API would answer', () => {
    const shown = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? 'null') as Record<string, unknown>;
    const answered = JSON.parse(problem(name).body ?? '{}') as Record<string, unknown>;
    const { detail, errors, reason: _, ...fixed } = shown;
    expect(fixed).toEqual(answered);
    expect([detail, errors].filter((extra) => extra !== undefined).length).toBeLessThanOrEqual(1);
  });
});

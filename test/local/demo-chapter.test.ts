/** The table that a chapter of scenarios prints for people. */
import { afterEach, expect, test, vi } from 'vitest';
import { report } from '../../lib/local/demo-chapter.ts';
import type { Ending, Row } from '../../lib/local/demo-ending.ts';

afterEach(() => vi.restoreAllMocks());

const row: Row = {
  ...{ scenario: '3-two-alike', route: 'posts-searchable', state: 'confirmed', report: 'confirmed' },
  ...{ intents: 2, attempts: 3, posts: 3, effects: 4, equal: false, errorKinds: ['timeout'] },
  ...{ conflicts: 5, handovers: 6, violations: 7, reopened: 8, seconds: 9.5 },
};
const ending: Ending = { row, faults: { duplicates: 0, lost: 0, wronglyConfirmed: 0 }, unmet: [] };

function printed(): string {
  const said: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  report([ending], [], false);
  return said.join('');
}

test('every figure stands under its name, intents beside attempts and effects', () => {
  const [head = [], figures = []] = printed()
    .split('\n')
    .filter((line) => line.startsWith('│'))
    .map((line) =>
      line
        .split('│')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(Object.fromEntries(head.map((name, at) => [name, figures[at]]))).toEqual({
    ...{ scenario: '3-two-alike', route: 'posts-searchable', state: 'confirmed', report: 'confirmed' },
    ...{ intents: '2', attempts: '3', effects: '4', equal: 'no', errors: 'timeout', conflicts: '5' },
    ...{ 'hand-overs': '6', violations: '7', reopened: '8', s: '9.5' },
  });
});

test('what a column does not tell of itself is said below', () => {
  const below = printed().split('\n').slice(-5).join('\n');
  for (const name of ['intents', 'equal', 'violations', 'reopened']) expect(below).toContain(`${name}: `);
});

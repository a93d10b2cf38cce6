/** What the demo holds its passes to. Success is counted in the warehouse's book, never from our answer. */
import { nonZero, SETTLED } from './demo-ending.ts';
import type { Pass, Row } from './demo-pass.ts';

export interface Summary {
  readonly orders: number;
  readonly confirmed: number;
  readonly unconfirmed: number;
  readonly rejected: number;
  readonly effects: number;
  readonly duplicates: number;
  readonly lost: number;
  readonly wronglyConfirmed: number;
}

export function summarise({ rows, book }: Pass): Summary {
  const reported = (report: string) => rows.filter((row) => row.report === report).length;
  return {
    orders: rows.length,
    confirmed: reported('confirmed'),
    unconfirmed: reported('unconfirmed'),
    rejected: reported('rejected'),
    effects: rows.reduce((sum, row) => sum + row.effects, 0),
    duplicates: rows.reduce((sum, row) => sum + Math.max(0, row.effects - 1), 0),
    lost: rows.filter(isLost).length,
    wronglyConfirmed: rows.filter((row) => isWronglyConfirmed(row, book)).length,
  };
}

/** Accepted, but in no honest end; or confirmed with nothing there. */
function isLost(row: Row): boolean {
  if (row.state === null) return false;
  return !SETTLED.includes(row.state) || (row.state === 'confirmed' && row.effects === 0);
}

function isWronglyConfirmed(row: Row, book: Pass['book']): boolean {
  if (row.state !== 'confirmed') return false;
  return row.effects !== 1 || book.get(row.key)?.[0] !== row.externalId;
}

/** Sentences about what does not hold in the first pass; none when all does. */
export function brokenIn(pass: Pass): string[] {
  const { duplicates, lost, wronglyConfirmed } = summarise(pass);
  const broken = nonZero({ duplicates, lost, wronglyConfirmed });
  const extra = pass.rows.filter((row) => (pass.posts.get(row.key) ?? 0) > row.attempts);
  return [...broken, ...extra.map((row) => `${row.key}: more POSTs on the wire than attempts on record`)];
}

/** What a later pass on the same book may not change. */
export function differences(first: Pass, later: Pass, name: string): string[] {
  const found: string[] = [];
  for (const row of first.rows) {
    const again = later.rows.find((each) => each.key === row.key);
    const ids = (pass: Pass) => (pass.book.get(row.key) ?? []).join(' ');
    if (ids(first) !== ids(later)) found.push(`${name}: ${row.key}: the book changed`);
    if (again?.externalId !== row.externalId) found.push(`${name}: ${row.key}: another external id`);
  }
  return found;
}

/** What the warehouse answered to POSTs that came after `before`. */
export function answersSince(before: Pass, later: Pass): readonly string[] {
  return later.answers.slice(before.answers.length);
}

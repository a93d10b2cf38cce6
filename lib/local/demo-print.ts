/** What a chapter of the demo prints: a table with its sums for people, one JSON line each for programs. */
import Table from 'cli-table3';

type Cell = string | number;
type Sums = Readonly<Record<string, number>>;

export function jsonLines(items: readonly object[]): string {
  return items.map((each) => `${JSON.stringify(each)}\n`).join('');
}

export function tableText(head: readonly string[], rows: readonly (readonly Cell[])[], sums: Sums): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) table.push([...row]);
  const counts = Object.entries(sums).map(([name, count]) => `${name} ${count}`);
  return `${table.toString()}\n${counts.join(', ')}\n`;
}

/** What a chapter of the demo prints: a table with its sums for people, one JSON line each for programs. */
import Table from 'cli-table3';
import pc from 'picocolors';

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

/** Says on standard error what is broken, or that nothing is; true when nothing is. */
export function verdict(broken: readonly string[], ok: string): boolean {
  for (const each of broken) process.stderr.write(`${pc.red('broken')} ${each}\n`);
  if (broken.length === 0) process.stderr.write(`${pc.green('ok')} ${ok}\n`);
  return broken.length === 0;
}

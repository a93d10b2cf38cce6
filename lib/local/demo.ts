/**
 * `npm run demo`: the main job on one machine, in three chapters, each on a local stack of its own. `warehouse`
 * submits a file of orders three times; `orders` lets purchase orders meet six faults at four kinds of supplier;
 * `publishing` posts at a medium that knows no key.
 */
import { parseArgs } from 'node:util';
import { CannotStart } from './cannot-start.ts';
import { ordersChapter } from './demo-orders.ts';
import { publishingChapter } from './demo-publishing.ts';
import { warehouseChapter } from './demo-warehouse.ts';
import { BadOrders, readOrders } from './orders.ts';
import { EXIT } from './start.ts';

const USAGE = `Usage: npm run demo -- [warehouse|orders|publishing] [--json] [--orders examples/orders.jsonl]
  warehouse  that chapter alone: a file of orders at a warehouse, three times
  orders     that chapter alone: purchase orders that need an approval, at four kinds of supplier
  publishing that chapter alone: posts that need an approval, at a medium that rewrites texts
  --json     one JSON line per key or scenario and a last line with the sums on standard output
  --orders   the file of orders for the warehouse`;
const CHAPTERS = ['warehouse', 'orders', 'publishing'] as const;
const ORDERS = 'examples/orders.jsonl';

type Chapter = (typeof CHAPTERS)[number];

interface Wish {
  readonly chapters: readonly Chapter[];
  readonly json: boolean;
  readonly orders: string;
}

class BadUsage extends Error {
  override readonly name = 'BadUsage';
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  try {
    const wish = wishIn(args);
    if (wish === 'help') {
      process.stdout.write(`${USAGE}\n`);
      return EXIT.ok;
    }
    return await demo(wish);
  } catch (error) {
    if (error instanceof CannotStart) return fail(error.message, EXIT.unavailable);
    if (error instanceof BadOrders || error instanceof BadUsage || isUsage(error))
      return fail(`${(error as Error).message}\n${USAGE}`, EXIT.usage);
    throw error;
  }
}

function wishIn(args: string[]): Wish | 'help' {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      orders: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  if (positionals.length > 1) throw new BadUsage('One chapter at a time, or none for all.');
  const only = positionals.map(chapterOf);
  const chapters = only.length === 0 ? CHAPTERS : only;
  if (values.orders !== undefined && !chapters.includes('warehouse'))
    throw new BadUsage('--orders goes with the chapter warehouse.');
  return { chapters, json: values.json, orders: values.orders ?? ORDERS };
}

function chapterOf(text: string): Chapter {
  const chapter = CHAPTERS.find((each) => each === text);
  if (chapter === undefined) throw new BadUsage(`There is no chapter "${text}".`);
  return chapter;
}

/** One chapter after the other, also after one that broke. */
async function demo({ chapters, json, orders: file }: Wish): Promise<number> {
  // Read first: a wrong file is said at once.
  const orders = chapters.includes('warehouse') ? readOrders(file) : new Map();
  let held = true;
  const play = {
    warehouse: () => warehouseChapter(orders, json),
    orders: () => ordersChapter(json),
    publishing: () => publishingChapter(json),
  } as const;
  for (const chapter of chapters) held = (await play[chapter]()) && held;
  return held ? EXIT.ok : EXIT.broken;
}

function isUsage(error: unknown): boolean {
  return (
    error instanceof TypeError && String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
  );
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`);
  return code;
}

/**
 * `npm run demo`: the main job on one machine. It starts the local stack, submits a file of orders over HTTP,
 * prints what became of each, then submits the same file twice more: after a restart, and with an empty ledger.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import pc from 'picocolors';
import { CannotStart } from './cannot-start.ts';
import { answersSince, brokenIn, differences, summarise } from './demo-judge.ts';
import { type Pass, runPass } from './demo-pass.ts';
import { BadOrders, type Order, readOrders } from './orders.ts';
import { startService } from './service.ts';
import { type Place, placesIn } from './stack.ts';
import { EXIT } from './start.ts';

const USAGE = `Usage: npm run demo -- [--json] [--orders examples/orders.jsonl]
  --json     one JSON line per key and a last line with the sums on standard output
  --orders   the file of orders to submit`;
const DATA_DIR = '.kakutei/demo';

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  try {
    const { values } = parseArgs({
      args,
      options: {
        json: { type: 'boolean', default: false },
        orders: { type: 'string', default: 'examples/orders.jsonl' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      return EXIT.ok;
    }
    return await demo(readOrders(values.orders), values.json);
  } catch (error) {
    if (error instanceof CannotStart) return fail(error.message, EXIT.unavailable);
    if (error instanceof BadOrders || isUsage(error))
      return fail(`${(error as Error).message}\n${USAGE}`, EXIT.usage);
    throw error;
  }
}

async function demo(orders: ReadonlyMap<string, readonly Order[]>, json: boolean): Promise<number> {
  const first = await pass('1 of 3: a new ledger and a new warehouse', orders, ['ledger', 'book']);
  const second = await pass('2 of 3: both restarted, the same orders again', orders, []);
  const third = await pass('3 of 3: an empty ledger on the same warehouse', orders, ['ledger']);
  const broken = [
    ...brokenIn(first),
    ...answersSince(first, second).map(() => 'pass 2: a POST left'),
    ...answersSince(second, third).flatMap((answer) =>
      answer === '200' ? [] : [`pass 3: a POST was answered ${answer}`],
    ),
    ...differences(first, second, 'pass 2'),
    ...differences(first, third, 'pass 3'),
  ];
  process.stdout.write(json ? jsonOf(first) : tableOf(first));
  for (const each of broken) process.stderr.write(`${pc.red('broken')} ${each}\n`);
  if (broken.length === 0) process.stderr.write(`${pc.green('ok')} every invariant held in three passes\n`);
  return broken.length === 0 ? EXIT.ok : EXIT.broken;
}

/** Starts the stack after forgetting `anew`, runs one pass, stops the stack. */
async function pass(
  title: string,
  orders: ReadonlyMap<string, readonly Order[]>,
  anew: readonly Place[],
): Promise<Pass> {
  process.stderr.write(`${pc.bold(`Pass ${title}`)}\n`);
  const service = await startService({ dataDir: DATA_DIR, anew });
  try {
    return await runPass(service, orders, placesIn(DATA_DIR).book, (done, all) => {
      process.stderr.write(`  ${done} of ${all} orders settled\n`);
    });
  } finally {
    await service.stop();
  }
}

function jsonOf(first: Pass): string {
  return [...first.rows, summarise(first)].map((each) => `${JSON.stringify(each)}\n`).join('');
}

function tableOf(first: Pass): string {
  const head = ['order', 'state', 'report', 'attempts', 'effects', 'errors', 'conflicts', 'external id', 's'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const row of first.rows) {
    const { key, state, report, attempts, effects, errorKinds, conflicts, externalId, seconds } = row;
    table.push([
      key,
      state ?? '-',
      report,
      attempts,
      effects,
      errorKinds.join(' '),
      conflicts,
      externalId ?? '-',
      seconds,
    ]);
  }
  const sums = Object.entries(summarise(first)).map(([name, count]) => `${name} ${count}`);
  return `${table.toString()}\n${sums.join(', ')}\n`;
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

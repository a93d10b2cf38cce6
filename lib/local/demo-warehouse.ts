/**
 * The warehouse chapter of the demo: submits a file of orders over HTTP, prints what became of each, then submits
 * the same file twice more: after a restart, and with an empty ledger.
 */
import pc from 'picocolors';
import { answersSince, brokenIn, differences, summarise } from './demo-judge.ts';
import { type Pass, runPass } from './demo-pass.ts';
import { jsonLines, tableText, verdict } from './demo-print.ts';
import type { Order } from './orders.ts';
import { startService } from './service.ts';
import { type Place, placesIn } from './stack.ts';

const DATA_DIR = '.kakutei/demo';
const HEAD = ['order', 'state', 'report', 'attempts', 'effects', 'errors', 'conflicts', 'external id', 's'];

type Orders = ReadonlyMap<string, readonly Order[]>;

/** True when every invariant held. */
export async function warehouseChapter(orders: Orders, json: boolean): Promise<boolean> {
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
  process.stdout.write(json ? jsonLines([...first.rows, summarise(first)]) : tableOf(first));
  return verdict(broken, 'every invariant held in three passes');
}

/** Starts the stack after forgetting `anew`, runs one pass, stops the stack. */
async function pass(title: string, orders: Orders, anew: readonly Place[]): Promise<Pass> {
  process.stderr.write(`${pc.bold(`Pass ${title}`)}\n`);
  const service = await startService({ dataDir: DATA_DIR, anew, warehouseOnly: true });
  try {
    return await runPass(service, orders, placesIn(DATA_DIR).book, (done, all) => {
      process.stderr.write(`  ${done} of ${all} orders settled\n`);
    });
  } finally {
    await service.stop();
  }
}

function tableOf(first: Pass): string {
  const rows = first.rows.map((row) => [
    row.key,
    row.state ?? '-',
    row.report,
    row.attempts,
    row.effects,
    row.errorKinds.join(' '),
    row.conflicts,
    row.externalId ?? '-',
    row.seconds,
  ]);
  return tableText(HEAD, rows, { ...summarise(first) });
}

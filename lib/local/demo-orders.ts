/**
 * The purchase-order chapter of the demo: orders that people approve, at suppliers of four kinds, each meeting a
 * fault. One stack is killed in the middle of a POST and started again; then all scenarios play side by side.
 */
import pc from 'picocolors';
import { systemClock } from '../platform/clock.ts';
import { Unexpected } from './demo-orders-desk.ts';
import type { Scene } from './demo-orders-draft.ts';
import { type Ending, judge, sumsOf, type Work } from './demo-orders-judge.ts';
import { hangs } from './demo-orders-plays.ts';
import { type Scenario, scenarios } from './demo-orders-scenarios.ts';
import { type Books, booksIn } from './demo-orders-supplier.ts';
import { jsonLines, tableText } from './demo-print.ts';
import { type Service, startService } from './service.ts';
import { placesIn } from './stack.ts';

const DATA_DIR = '.kakutei/demo-orders';
const HEAD = [
  ...['scenario', 'route', 'state', 'report', 'attempts', 'effects', 'equal', 'errors', 'conflicts'],
  ...['hand-overs', 'violations', 'reopened', 's'],
];

interface Played {
  readonly scenario: Scenario;
  readonly works: readonly Work[];
  readonly unmet: readonly string[];
  readonly seconds: number;
}

/** True when every scenario ended as it must. */
export async function ordersChapter(json: boolean): Promise<boolean> {
  process.stderr.write(`${pc.bold('Purchase orders: a new ledger and four new suppliers')}\n`);
  const { folder, played } = await playAll();
  const books = booksIn(folder);
  const endings = played.map(({ scenario, works, unmet, seconds }) =>
    judge(scenario, works, books, seconds, unmet),
  );
  process.stdout.write(json ? jsonOf(endings) : tableOf(endings));
  const broken = [...endings.flatMap((ending) => ending.unmet), ...strangers(played, books)];
  for (const each of broken) process.stderr.write(`${pc.red('broken')} ${each}\n`);
  if (broken.length === 0) process.stderr.write(`${pc.green('ok')} every scenario ended as it must\n`);
  return broken.length === 0;
}

async function playAll(): Promise<{ folder: string; played: readonly Played[] }> {
  const folder = placesIn(DATA_DIR).suppliers;
  const first = await startService({ dataDir: DATA_DIR, anew: ['ledger', 'suppliers'] });
  const scene: Scene = { service: first, folder, check: () => undefined, say: () => undefined };
  const hanging = await hangs(scene).catch(orUnexpected);
  await first.kill();
  process.stderr.write('  killed while an order was out; starting again\n');
  const service = await startService({ dataDir: DATA_DIR });
  try {
    return { folder, played: await sideBySide(service, folder, scenarios(hanging)) };
  } finally {
    await service.stop();
  }
}

async function sideBySide(
  service: Service,
  folder: string,
  all: readonly Scenario[],
): Promise<readonly Played[]> {
  let done = 0;
  const one = async (scenario: Scenario): Promise<Played> => {
    const played = await playOne(service, folder, scenario);
    done += 1;
    process.stderr.write(`  ${done} of ${all.length} scenarios ended: ${scenario.name}\n`);
    return played;
  };
  return Promise.all(all.map(one));
}

async function playOne(service: Service, folder: string, scenario: Scenario): Promise<Played> {
  const { startedAt = systemClock.now() } = scenario;
  const unmet: string[] = [];
  const scene: Scene = {
    service,
    folder,
    check: (holds, otherwise) => void (holds || unmet.push(otherwise)),
    say: (line) => void process.stderr.write(`  ${line}\n`),
  };
  const works = await scenario.play(scene).catch(orUnexpected);
  const seconds = Math.round((systemClock.now() - startedAt) / 100) / 10;
  if (!(works instanceof Unexpected)) return { scenario, works, unmet, seconds };
  return { scenario, works: [], unmet: [...unmet, works.message], seconds };
}

function orUnexpected(error: unknown): Unexpected {
  if (error instanceof Unexpected) return error;
  throw error;
}

/** POSTs in the books that belong to no scenario. */
function strangers(played: readonly Played[], books: Books): string[] {
  const ours = new Set(played.flatMap(({ works }) => works.map(nameOf)));
  const posts = books.flatMap((book) => book.posts);
  return posts
    .filter((post) => !ours.has(nameOf({ call: post.kind, purchaseOrder: post.purchase_order })))
    .map((post) => `a POST for ${post.purchase_order} that belongs to nothing here`);
}

function nameOf({ call, purchaseOrder }: { readonly call: string; readonly purchaseOrder: string }): string {
  return `${call} ${purchaseOrder}`;
}

function jsonOf(endings: readonly Ending[]): string {
  return jsonLines([...endings.map(({ row }) => row), sumsOf(endings)]);
}

function tableOf(endings: readonly Ending[]): string {
  const rows = endings.map(({ row }) => [
    ...[row.scenario, row.route, row.state, row.report, row.attempts, row.effects, row.equal ? 'yes' : 'no'],
    ...[row.errorKinds.join(' '), row.conflicts, row.handovers, row.violations, row.reopened, row.seconds],
  ]);
  return tableText(HEAD, rows, sumsOf(endings));
}

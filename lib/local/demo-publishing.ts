/**
 * The publishing chapter of the demo: posts that people approve, at a medium that knows no key, shows no reference
 * of ours and rewrites texts. All scenarios play side by side, each with words of its own.
 */
import pc from 'picocolors';
import { systemClock } from '../platform/clock.ts';
import { type MediumTruth, readMediumBook } from '../simulators/medium-truth.ts';
import { Unexpected } from './demo-orders-desk.ts';
import { type Ending, sumsOf } from './demo-orders-judge.ts';
import { jsonLines, tableText } from './demo-print.ts';
import type { Scene } from './demo-publishing-draft.ts';
import { judge, type Work } from './demo-publishing-judge.ts';
import { setRewrites } from './demo-publishing-medium.ts';
import { SCENARIOS, type Scenario } from './demo-publishing-scenarios.ts';
import { type Service, startService } from './service.ts';
import { placesIn } from './stack.ts';

const DATA_DIR = '.kakutei/demo-publishing';
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
export async function publishingChapter(json: boolean): Promise<boolean> {
  process.stderr.write(`${pc.bold('Publishing: a new ledger and a new medium')}\n`);
  const played = await playAll();
  const book = readMediumBook(placesIn(DATA_DIR).medium);
  const endings = played.map(({ scenario, works, unmet, seconds }) =>
    judge(scenario, works, book, seconds, unmet),
  );
  process.stdout.write(json ? jsonOf(endings) : tableOf(endings));
  const broken = [...endings.flatMap((ending) => ending.unmet), ...strangers(played, book)];
  for (const each of broken) process.stderr.write(`${pc.red('broken')} ${each}\n`);
  if (broken.length === 0) process.stderr.write(`${pc.green('ok')} every scenario ended as it must\n`);
  return broken.length === 0;
}

async function playAll(): Promise<readonly Played[]> {
  const service = await startService({ dataDir: DATA_DIR, anew: ['ledger', 'medium'] });
  try {
    await setRewrites(service);
    let done = 0;
    const one = async (scenario: Scenario): Promise<Played> => {
      const played = await playOne(service, scenario);
      done += 1;
      process.stderr.write(`  ${done} of ${SCENARIOS.length} scenarios ended: ${scenario.name}\n`);
      return played;
    };
    return await Promise.all(SCENARIOS.map(one));
  } finally {
    await service.stop();
  }
}

async function playOne(service: Service, scenario: Scenario): Promise<Played> {
  const startedAt = systemClock.now();
  const unmet: string[] = [];
  const scene: Scene = {
    service,
    book: placesIn(DATA_DIR).medium,
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

/** POSTs in the book that belong to no scenario. */
function strangers(played: readonly Played[], book: MediumTruth): string[] {
  const ours = new Set(played.flatMap(({ works }) => works.map(({ post }) => post.text)));
  return book.requests
    .filter(({ text }) => text === null || !ours.has(text))
    .map(({ text }) => `a POST of "${text}" that belongs to nothing here`);
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

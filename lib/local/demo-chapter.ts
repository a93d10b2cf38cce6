/** A chapter of the demo that is made of scenarios: they play side by side, and each ends as it must or breaks. */
import pc from 'picocolors';
import { systemClock } from '../platform/clock.ts';
import { type Ending, type Stated, sumsOf, type Tale } from './demo-ending.ts';
import { Unexpected } from './demo-orders-desk.ts';
import { jsonLines, tableText, verdict } from './demo-print.ts';
import type { Service } from './service.ts';

/** Where a scenario plays; a chapter adds where the books of the other side are. */
export interface Scene {
  readonly service: Service;
  /** Breaks the scenario with a sentence where something does not hold. */
  readonly check: (holds: boolean, otherwise: string) => void;
  /** A line for people who watch. */
  readonly say: (line: string) => void;
}

export interface Scenario<Place, Work, How extends Stated> extends Tale<How> {
  /** When it began, ms; left out where that is when it plays. */
  readonly startedAt?: number;
  readonly play: (scene: Scene & Place) => Promise<Work[]>;
}

/** `works` are none where something unexpected broke it; `unmet` says what. */
export interface Played<Place, Work, How extends Stated> {
  readonly scenario: Scenario<Place, Work, How>;
  readonly works: readonly Work[];
  readonly unmet: readonly string[];
  readonly seconds: number;
}

export async function sideBySide<Place, Work, How extends Stated>(
  service: Service,
  place: Place,
  all: readonly Scenario<Place, Work, How>[],
): Promise<readonly Played<Place, Work, How>[]> {
  let done = 0;
  const one = async (scenario: Scenario<Place, Work, How>) => {
    const played = await playOne(service, place, scenario);
    done += 1;
    process.stderr.write(`  ${done} of ${all.length} scenarios ended: ${scenario.name}\n`);
    return played;
  };
  return Promise.all(all.map(one));
}

async function playOne<Place, Work, How extends Stated>(
  service: Service,
  place: Place,
  scenario: Scenario<Place, Work, How>,
): Promise<Played<Place, Work, How>> {
  const { startedAt = systemClock.now() } = scenario;
  const unmet: string[] = [];
  const scene: Scene & Place = {
    ...place,
    service,
    check: (holds, otherwise) => void (holds || unmet.push(otherwise)),
    say: (line) => void process.stderr.write(`  ${line}\n`),
  };
  const works = await scenario.play(scene).catch(orUnexpected);
  const seconds = Math.round((systemClock.now() - startedAt) / 100) / 10;
  if (!(works instanceof Unexpected)) return { scenario, works, unmet, seconds };
  return { scenario, works: [], unmet: [...unmet, works.message], seconds };
}

export function orUnexpected(error: unknown): Unexpected {
  if (error instanceof Unexpected) return error;
  throw error;
}

export function title(text: string): void {
  process.stderr.write(`${pc.bold(text)}\n`);
}

const HEAD = [
  ...['scenario', 'route', 'state', 'report', 'intents', 'attempts', 'effects', 'equal', 'errors'],
  ...['conflicts', 'hand-overs', 'violations', 'reopened', 's'],
];
/** The columns that do not tell of themselves. */
const LEGEND = `intents: asked for by the scenario; never more effects than these. equal: "yes" where every effect is as
approved, value for value; "no" where the other side made something else of it, or nothing.
violations: sends without a permission. reopened: sends after it was confirmed. Both must be 0.
`;

/**
 * Prints how all scenarios ended; true when each ended as it must.
 *
 * @param strangers sentences about what the books hold and no scenario asked for.
 */
export function report(endings: readonly Ending[], strangers: readonly string[], json: boolean): boolean {
  process.stdout.write(json ? jsonOf(endings) : tableOf(endings));
  const broken = [...endings.flatMap((ending) => ending.unmet), ...strangers];
  return verdict(broken, 'every scenario ended as it must');
}

function jsonOf(endings: readonly Ending[]): string {
  return jsonLines([...endings.map(({ row }) => row), sumsOf(endings)]);
}

function tableOf(endings: readonly Ending[]): string {
  const rows = endings.map(({ row }) => [
    ...[row.scenario, row.route, row.state, row.report, row.intents, row.attempts, row.effects],
    ...[row.equal ? 'yes' : 'no', row.errorKinds.join(' '), row.conflicts, row.handovers],
    ...[row.violations, row.reopened, row.seconds],
  ]);
  return `${tableText(HEAD, rows, sumsOf(endings))}${LEGEND}`;
}

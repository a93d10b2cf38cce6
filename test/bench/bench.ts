/**
 * `npm run bench`: the figures that the product is held to, measured on real parts. Ends with 1 when a promise
 * among them is broken, 2 on bad usage, 69 when it cannot start. Run it on a quiet machine.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { CannotStart } from '../../lib/local/cannot-start.ts';
import { EXIT } from '../../lib/local/start.ts';
import { measureBudget } from './budget.ts';
import { measureBundles } from './bundle-cost.ts';
import { type Figures, floorsOf } from './floors.ts';
import { measureMemory } from './memory.ts';
import { textOf } from './report.ts';
import { measureSearches } from './search-cost.ts';
import { measureSweep, type SweepCost } from './sweep-cost.ts';
import { measureThroughput } from './throughput.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const USAGE = `Usage: npm run bench -- [--json] [--seconds 30] [--memory]
  --json      one JSON object on standard output; progress goes to standard error
  --seconds   warm-up before rates are measured, 10 to 600; a round of measuring lasts a sixth of it
  --memory    also the memory of the local stack after 5000 intents over HTTP (minutes)`;

const BUDGET_INTENTS = 100;
const STORED = [100, 10_000, 100_000];
const DUE = 50;
const MEMORY_INTENTS = 5000;

interface Options {
  readonly json: boolean;
  readonly memory: boolean;
  readonly seconds: number;
}

class BadUsage extends Error {
  override readonly name = 'BadUsage';
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  try {
    const options = optionsOf(args);
    if (options !== 'help') return await run(options);
    process.stdout.write(`${USAGE}\n`);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CannotStart) return fail(error.message, EXIT.unavailable);
    if (error instanceof BadUsage) return fail(`${error.message}\n${USAGE}`, EXIT.usage);
    throw error;
  }
}

function optionsOf(args: string[]): Options | 'help' {
  const { help, json, memory, seconds } = parsed(args);
  if (help) return 'help';
  const number = Number(seconds);
  if (!/^\d{1,3}$/.test(seconds) || number < 10 || number > 600) {
    throw new BadUsage('--seconds must be a whole number from 10 to 600.');
  }
  return { json, memory, seconds: number };
}

function parsed(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const seconds = { type: 'string', default: '30' } as const;
  try {
    return parseArgs({ args, options: { json: flag, memory: flag, help: { ...flag, short: 'h' }, seconds } })
      .values;
  } catch (error) {
    throw new BadUsage(error instanceof Error ? error.message : String(error));
  }
}

async function run(options: Options): Promise<number> {
  const machine = {
    cpus: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    node: process.version,
    load: loadavg()[0] ?? 0,
  };
  const figures: Figures = { machine, ...(await onWorkbench(options)), ...(await apart(options)) };
  const floors = floorsOf(figures);
  process.stdout.write(
    options.json ? `${JSON.stringify({ ...figures, floors })}\n` : textOf(figures, floors),
  );
  return floors.every((each) => each.held || each.kind === 'aim') ? EXIT.ok : EXIT.broken;
}

async function onWorkbench({ seconds }: Options): Promise<Pick<Figures, 'budget' | 'throughput' | 'sweep'>> {
  // A signal ends the process without a word; an exit lets the workbench end the JVM.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(EXIT.broken));
  progress('starting DynamoDB Local and the warehouse');
  const bench = await openWorkbench();
  try {
    progress(`writes, reads and states of ${BUDGET_INTENTS} intents`);
    const budget = await measureBudget(bench, BUDGET_INTENTS);
    const throughput = await measureThroughput(bench, seconds, progress);
    return { budget, throughput, sweep: await sweeps(bench) };
  } finally {
    await bench.stop();
  }
}

async function sweeps(bench: Workbench): Promise<SweepCost[]> {
  const costs: SweepCost[] = [];
  for (const stored of STORED) {
    progress(`a pass of the sweep over ${stored} stored intents`);
    costs.push(await measureSweep(bench, stored, DUE));
  }
  return costs;
}

async function apart({ memory }: Options): Promise<Pick<Figures, 'searches' | 'bundles' | 'memory'>> {
  progress('searches for posts that cannot be found');
  const searches = await measureSearches();
  progress('bundles');
  const bundles = await measureBundles();
  if (!memory) return { searches, bundles, memory: null };
  progress(`memory of the local stack, ${MEMORY_INTENTS} intents`);
  return { searches, bundles, memory: await measureMemory(MEMORY_INTENTS, progress) };
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`);
  return code;
}

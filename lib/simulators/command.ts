/** A simulator in a process of its own: its command line, its ready line, its end. */
import { once } from 'node:events';
import { parseArgs } from 'node:util';

export interface SimulatorOptions {
  /** Path of the SQLite book; made when it is not there. */
  readonly file: string;
  /** The account that every GET names. */
  readonly account: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  /** D, 500 unless told. */
  readonly applyDelayMs?: number;
  /** L, 300 unless told. */
  readonly visibilityLagMs?: number;
  /** When set, a POST needs it as its bearer token. */
  readonly writeToken?: string;
  /** When set, a GET needs it, or the write token. */
  readonly readToken?: string;
  /** Serves `/control` on the same port, without a token. */
  readonly control?: boolean;
  /** false: no safety against power loss. For benches. */
  readonly durable?: boolean;
}

export const DEFAULTS = {
  port: 0,
  host: '127.0.0.1',
  applyDelayMs: 500,
  visibilityLagMs: 300,
  control: false,
};

export type Start = (options: SimulatorOptions) => Promise<{ url: string; close(): Promise<void> }>;

const USAGE =
  'usage: --file F --account A [--port P] [--control] [--apply-delay-ms N] ' +
  '[--visibility-lag-ms N] [--with-parent] [--not-durable]';
export const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
/** What every simulator can be told. */
export const ARGUMENTS = {
  'apply-delay-ms': { ...TEXT, default: `${DEFAULTS.applyDelayMs}` },
  'visibility-lag-ms': { ...TEXT, default: `${DEFAULTS.visibilityLagMs}` },
  control: FLAG,
  'with-parent': FLAG,
  'not-durable': FLAG,
};

/** The command line and the tokens of the environment as options; throws with one line on bad usage. */
function readCommandLine(args: string[]): { options: SimulatorOptions; withParent: boolean } {
  const more = { file: TEXT, account: TEXT, port: { ...TEXT, default: '0' } };
  const { values } = parseArgs({ args, options: { ...ARGUMENTS, ...more } });
  const { file, account, port, 'with-parent': withParent } = values;
  if (!file || !account) throw new Error('--file and --account are needed');
  const options = { file, account, port: wholeArgument('--port', port, 65_535) };
  return { options: { ...options, ...toldIn(values, 'WAREHOUSE') }, withParent };
}

/** What `ARGUMENTS` and the tokens of the environment tell; throws with one line on bad usage. */
export function toldIn(
  values: Readonly<Record<'apply-delay-ms' | 'visibility-lag-ms', string>> &
    Readonly<Record<'control' | 'not-durable', boolean>>,
  tokensOf: 'WAREHOUSE' | 'SUPPLIER' | 'MEDIUM',
) {
  const writeToken = process.env[`KAKUTEI_${tokensOf}_WRITE_TOKEN`];
  const readToken = process.env[`KAKUTEI_${tokensOf}_READ_TOKEN`];
  return {
    applyDelayMs: wholeArgument('--apply-delay-ms', values['apply-delay-ms'], 60_000),
    visibilityLagMs: wholeArgument('--visibility-lag-ms', values['visibility-lag-ms'], 60_000),
    control: values.control,
    durable: !values['not-durable'],
    ...(writeToken ? { writeToken } : {}),
    ...(readToken ? { readToken } : {}),
  };
}

export function pageSizeArgument(text: string, most: number): number {
  const size = wholeArgument('--page-size', text, most);
  if (size === 0) throw new Error(`--page-size must be a whole number from 1 to ${most}, got "0"`);
  return size;
}

/** A number given on the command line; throws with one line for anything else. */
export function wholeArgument(name: string, text: string, max: number): number {
  if (!/^\d{1,11}$/.test(text) || Number(text) > max) {
    throw new Error(`${name} must be a whole number from 0 to ${max}, got "${text}"`);
  }
  return Number(text);
}

/** Some of the words that are known, in their order; throws with one line for any other. */
export function wordsArgument<Word extends string>(
  name: string,
  words: readonly string[],
  known: readonly Word[],
): Word[] {
  const strange = words.find((word) => !known.some((each) => each === word));
  if (strange === undefined) return known.filter((word) => words.includes(word));
  throw new Error(`${name} must be some of ${known.join(',')}, got "${strange}"`);
}

/** Reads a command line, throwing with one line on bad usage; what it returns starts the simulator. */
export type Prepare = (args: string[]) => {
  readonly withParent: boolean;
  /** `ready` goes into the ready line. */
  readonly start: () => Promise<{ readonly ready: object; close(): Promise<void> }>;
};

/** Serves until a signal or, with --with-parent, until stdin ends: exit 0. Prints one JSON line when ready. */
async function serve({ start, withParent }: ReturnType<Prepare>): Promise<void> {
  // Listening for the end comes first: whoever reads the ready line may end us at once.
  const ends = [once(process, 'SIGTERM'), once(process, 'SIGINT')];
  // A pipe ends and closes; a file only ends.
  if (withParent) ends.push(once(process.stdin.resume(), 'end'), once(process.stdin, 'close'));
  const ended = Promise.race(ends).catch(() => {});
  const { ready, close } = await start();
  // The reader of the ready line may be gone already; that is no reason to crash.
  process.stdout.on('error', () => {});
  process.stdout.write(`${JSON.stringify({ ready: true, ...ready, pid: process.pid })}\n`);
  await ended;
  await close();
  process.exit(0);
}

/** Exit 2 for bad usage, 69 when it cannot start. */
export async function runProgram(
  name: string,
  usage: string,
  prepare: Prepare,
  args: string[],
): Promise<void> {
  let code = 2;
  try {
    const prepared = prepare(args);
    code = 69;
    await serve(prepared);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
    process.stderr.write(`Cannot start the ${name}: ${reason}${code === 2 ? ` (${usage})` : ''}\n`);
    process.exitCode = code;
  }
}

/** Runs one server over one book. */
export async function runSimulator(name: string, start: Start, args: string[]): Promise<void> {
  const prepare: Prepare = (given) => {
    const { options, withParent } = readCommandLine(given);
    return {
      withParent,
      start: async () => {
        const { url, close } = await start(options);
        return { ready: { url }, close };
      },
    };
  };
  await runProgram(name, USAGE, prepare, args);
}

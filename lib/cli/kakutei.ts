#!/usr/bin/env node
/** `npx kakutei <noun> <verb> ...`: finds the verb and lets it speak. */
import type { Writable } from 'node:stream';
import { callerSettings } from '../platform/caller-settings.ts';
import { BadUsage, type Command, EXIT, isUsage, quoted, type Terminal } from './command.ts';
import { DRY_RUN_USAGE, dryRunIntent } from './intent-dry-run.ts';
import { VERIFY_USAGE, verifyReceipt } from './receipt-verify.ts';

interface Verb {
  readonly usage: string;
  readonly run: Command;
}

const VERBS: Readonly<Record<string, Verb>> = {
  'intent dry-run': { usage: DRY_RUN_USAGE, run: dryRunIntent },
  'receipt verify': { usage: VERIFY_USAGE, run: verifyReceipt },
};

const USAGE = `Usage: kakutei <command> [options]
  intent dry-run  shows what a look would find and lead to; nothing is written
  receipt verify  checks a receipt without any network

kakutei <command> --help tells more.`;

if (import.meta.main) {
  // A reader that goes away, as `head` does, is no failure.
  process.stdout.on('error', () => undefined);
  process.exitCode = await main(process.argv.slice(2), {
    stdin: process.stdin,
    settings: callerSettings(),
    out: lineTo(process.stdout),
    err: lineTo(process.stderr),
  });
}

/** Wrong use is answered here, for every verb alike. Anything else that is thrown is a bug. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const [noun = '', verb = '', ...rest] = args;
  if (noun === '--help' || noun === '-h' || noun === 'help') {
    terminal.out(USAGE);
    return EXIT.ok;
  }
  const named = Object.hasOwn(VERBS, `${noun} ${verb}`) ? VERBS[`${noun} ${verb}`] : undefined;
  try {
    if (noun === '') throw new BadUsage('A command is missing.');
    if (named === undefined) throw new BadUsage(`There is no command ${quoted(`${noun} ${verb}`.trim())}.`);
    return await named.run(rest, terminal);
  } catch (error) {
    if (!isUsage(error)) throw error;
    terminal.err(`${error.message}\n${named?.usage ?? USAGE}`);
    return EXIT.usage;
  }
}

function lineTo(stream: Writable): (line: string) => void {
  return (line) => stream.write(`${line}\n`);
}

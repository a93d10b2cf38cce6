#!/usr/bin/env node
/** `npx --no -- kakutei <noun> <verb> ...`, inside the checkout: finds the verb and lets it speak. */
import type { Writable } from 'node:stream';
import { callerSettings } from '../platform/caller-settings.ts';
import { BadUsage, type Command, EXIT, isUsage, quoted, type Terminal } from './command.ts';
import { DRY_RUN_USAGE, dryRunIntent } from './intent-dry-run.ts';
import { VERIFY_USAGE, verifyReceipt } from './receipt-verify.ts';

interface Verb {
  /** In one line, for the list. */
  readonly does: string;
  readonly usage: string;
  readonly run: Command;
}

const VERBS: Readonly<Record<string, Verb>> = {
  'intent dry-run': {
    does: 'shows what a look would find and lead to; nothing is written',
    usage: DRY_RUN_USAGE,
    run: dryRunIntent,
  },
  'receipt verify': {
    does: 'checks a receipt without any network',
    usage: VERIFY_USAGE,
    run: verifyReceipt,
  },
};
const USAGE = listOf('<command>', Object.keys(VERBS));
const HELP = ['--help', '-h', 'help'];

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
  const usage = usageOf(noun);
  if (HELP.includes(noun) || (usage !== USAGE && HELP.includes(verb))) {
    terminal.out(usage);
    return EXIT.ok;
  }
  const named = Object.hasOwn(VERBS, `${noun} ${verb}`) ? VERBS[`${noun} ${verb}`] : undefined;
  try {
    if (noun === '') throw new BadUsage('A command is missing.');
    if (named === undefined) throw new BadUsage(`There is no command ${quoted(`${noun} ${verb}`.trim())}.`);
    return await named.run(rest, terminal);
  } catch (error) {
    if (!isUsage(error)) throw error;
    terminal.err(`${error.message}\n${named?.usage ?? usage}`);
    return EXIT.usage;
  }
}

/** The verbs of a noun; of a word that is none, all there are. */
function usageOf(noun: string): string {
  const names = Object.keys(VERBS).filter((name) => name.startsWith(`${noun} `));
  return names.length === 0 ? USAGE : listOf(`${noun} <verb>`, names);
}

function listOf(what: string, names: readonly string[]): string {
  const lines = names.map((name) => `  ${name}  ${VERBS[name]?.does}`);
  return `Usage: kakutei ${what} [options]\n${lines.join('\n')}\n\nkakutei <noun> <verb> --help tells more. Inside the checkout it is called as npx --no -- kakutei.`;
}

function lineTo(stream: Writable): (line: string) => void {
  return (line) => stream.write(`${line}\n`);
}

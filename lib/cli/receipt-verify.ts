/** `kakutei receipt verify`: checks a receipt that somebody kept, without asking the service or anybody else. */
import { parseArgs } from 'node:util';
import type { ReceiptDocument } from '../domain/receipt-digest.ts';
import { BadUsage, type Command, EXIT, quoted, type Terminal } from './command.ts';
import { readJsonFile } from './read-json-file.ts';
import { type Broken, brokenIn } from './receipt-check.ts';

export const VERIFY_USAGE = `Usage: kakutei receipt verify <file> [--payload <file>] [--json]
  <file>     a receipt, as GET /intents/{id}/receipt answered it; - for standard input
  --payload  also check that the receipt is for this payload
  --json     one JSON object instead of lines
Exit codes: 0 everything holds, 1 something is broken, 2 nothing was checked.`;

interface Wish {
  readonly file: string;
  readonly payload: string | undefined;
  readonly json: boolean;
}

/** Throws `BadUsage`, or what `parseArgs` throws. */
export const verifyReceipt: Command = async (args, terminal) => {
  const wish = wishIn(args);
  if (wish === 'help') {
    terminal.out(VERIFY_USAGE);
    return EXIT.ok;
  }
  const { receipt, broken } = await judged(wish, terminal);
  const compared = wish.payload !== undefined;
  if (wish.json)
    terminal.out(JSON.stringify({ holds: receipt !== null, broken, ...told(receipt, compared) }));
  else
    for (const line of receipt === null ? linesOf(broken) : summaryOf(receipt, compared)) terminal.out(line);
  return receipt === null ? EXIT.broken : EXIT.ok;
};

function wishIn(args: readonly string[]): Wish | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      payload: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new BadUsage('Name one receipt.');
  if (file === '-' && values.payload === '-')
    throw new BadUsage('Only one file can come from standard input.');
  return { file, payload: values.payload, json: values.json };
}

interface Judged {
  /** Null unless nothing is broken. */
  readonly receipt: ReceiptDocument | null;
  readonly broken: readonly Broken[];
}

/** With a payload that is no JSON there is nothing to compare; the receipt is judged all the same. */
async function judged({ file, payload }: Wish, { stdin }: Terminal): Promise<Judged> {
  const receipt = await read('receipt', file, stdin);
  const given = payload === undefined ? NOTHING : await read('payload', payload, stdin);
  const found = receipt.broken.length > 0 ? [] : brokenIn(receipt.value, given.value);
  const broken = [...receipt.broken, ...found, ...given.broken];
  return { receipt: broken.length === 0 ? (receipt.value as ReceiptDocument) : null, broken };
}

interface Read {
  readonly value: unknown;
  readonly broken: readonly Broken[];
}

const NOTHING: Read = { value: undefined, broken: [] };

async function read(what: string, path: string, stdin: Terminal['stdin']): Promise<Read> {
  const file = await readJsonFile(path, stdin);
  switch (file.kind) {
    case 'json':
      return { value: file.value, broken: [] };
    case 'not_json':
      return { value: undefined, broken: [{ what, why: file.detail }] };
    case 'unreadable':
      throw new BadUsage(`Cannot read ${quoted(path)}: ${file.code}.`);
  }
}

function linesOf(broken: readonly Broken[]): string[] {
  return broken.map(({ what, why }) => `broken: ${what}: ${why}`);
}

/** A receipt holds without its payload too: what was looked at is said. */
function summaryOf(
  { intentId, externalId, account, readAt, digest }: ReceiptDocument,
  compared: boolean,
): string[] {
  return [
    `holds: ${intentId} is ${quoted(externalId)} at ${quoted(account)}, read back ${readAt}`,
    compared
      ? 'payload: compared, this receipt is for it'
      : 'payload: not compared; --payload <file> compares it',
    `digest ${digest}: the service must answer the same one`,
  ];
}

function told(receipt: ReceiptDocument | null, payloadCompared: boolean): object {
  if (receipt === null) return {};
  const { intentId, externalId, readAt, digest } = receipt;
  return { intentId, externalId, readAt, payloadCompared, digest };
}

/** The command line of a medium. */
import { parseArgs } from 'node:util';
import { type Prepare, wholeArgument } from './command.ts';
import { isZone, MEDIUM_DEFAULTS, type MediumOptions } from './medium-house.ts';
import type { Account } from './medium-records.ts';
import { REWRITES, type Rewrite } from './medium-rewrites.ts';

export const MEDIUM_USAGE =
  'usage: --file F --accounts ID:HANDLE:NAME,... [--port P] [--rewrite a,b] [--apply-delay-ms N] ' +
  '[--visibility-lag-ms N] [--page-size N] [--zone=+09:00] [--control] [--with-parent] [--not-durable]';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const ARGUMENTS = {
  file: TEXT,
  accounts: TEXT,
  port: { ...TEXT, default: '0' },
  rewrite: { ...TEXT, default: '' },
  'apply-delay-ms': { ...TEXT, default: `${MEDIUM_DEFAULTS.applyDelayMs}` },
  'visibility-lag-ms': { ...TEXT, default: `${MEDIUM_DEFAULTS.visibilityLagMs}` },
  'page-size': { ...TEXT, default: `${MEDIUM_DEFAULTS.pageSize}` },
  zone: { ...TEXT, default: MEDIUM_DEFAULTS.zone },
  control: FLAG,
  'with-parent': FLAG,
  'not-durable': FLAG,
};

type Start = (options: MediumOptions) => Promise<{ url: string; close(): Promise<void> }>;

/** Reads the command line; throws with one line on bad usage. */
export function prepareMedium(start: Start): Prepare {
  return (args) => {
    const { values } = parseArgs({ args, options: ARGUMENTS });
    if (!values.file || !values.accounts) throw new Error('--file and --accounts are needed');
    if (!isZone(values.zone)) throw new Error(`--zone must be an offset like +09:00, got "${values.zone}"`);
    const writeToken = process.env['KAKUTEI_MEDIUM_WRITE_TOKEN'];
    const readToken = process.env['KAKUTEI_MEDIUM_READ_TOKEN'];
    const options: MediumOptions = {
      file: values.file,
      accounts: accountsIn(values.accounts),
      port: wholeArgument('--port', values.port, 65_535),
      rewrites: rewritesIn(values.rewrite),
      applyDelayMs: wholeArgument('--apply-delay-ms', values['apply-delay-ms'], 60_000),
      visibilityLagMs: wholeArgument('--visibility-lag-ms', values['visibility-lag-ms'], 60_000),
      pageSize: pageSize(values['page-size']),
      zone: values.zone,
      control: values.control,
      durable: !values['not-durable'],
      ...(writeToken ? { writeToken } : {}),
      ...(readToken ? { readToken } : {}),
    };
    const started = async () => {
      const { url, close } = await start(options);
      return { ready: { url }, close };
    };
    return { withParent: values['with-parent'], start: started };
  };
}

const ACCOUNT = /^(\d{1,19}):([A-Za-z0-9._-]{1,64}):([^,\p{Cc}\p{Cs}]{1,100})$/u;

function accountsIn(text: string): Account[] {
  return text.split(',').map((each) => {
    const [, id, handle, display_name] = ACCOUNT.exec(each) ?? [];
    if (id === undefined || handle === undefined || display_name === undefined) {
      throw new Error(`--accounts must be ID:HANDLE:NAME,..., got "${each}"`);
    }
    return { id, handle, display_name };
  });
}

function rewritesIn(text: string): Rewrite[] {
  const words = text === '' ? [] : text.split(',');
  for (const word of words) {
    if (!REWRITES.some((known) => known === word)) {
      throw new Error(`--rewrite must be some of ${REWRITES.join(',')}, got "${word}"`);
    }
  }
  return REWRITES.filter((word) => words.includes(word));
}

function pageSize(text: string): number {
  const size = wholeArgument('--page-size', text, 30);
  if (size === 0) throw new Error('--page-size must be a whole number from 1 to 30, got "0"');
  return size;
}

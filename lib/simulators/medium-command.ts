/** The command line of a medium. */
import { parseArgs } from 'node:util';
import {
  ARGUMENTS,
  type Prepare,
  pageSizeArgument,
  TEXT,
  toldIn,
  wholeArgument,
  wordsArgument,
} from './command.ts';
import { isZone, MEDIUM_DEFAULTS, type MediumOptions } from './medium-house.ts';
import type { Account } from './medium-records.ts';
import { REWRITES } from './medium-rewrites.ts';

export const MEDIUM_USAGE =
  'usage: --file F --accounts ID:HANDLE:NAME,... [--port P] [--rewrite a,b] [--apply-delay-ms N] ' +
  '[--visibility-lag-ms N] [--page-size N] [--zone=+09:00] [--control] [--with-parent] [--not-durable]';

const OPTIONS = {
  ...ARGUMENTS,
  file: TEXT,
  accounts: TEXT,
  port: { ...TEXT, default: '0' },
  rewrite: { ...TEXT, default: '' },
  'page-size': { ...TEXT, default: `${MEDIUM_DEFAULTS.pageSize}` },
  zone: { ...TEXT, default: MEDIUM_DEFAULTS.zone },
};

type Start = (options: MediumOptions) => Promise<{ url: string; close(): Promise<void> }>;

/** Reads the command line; throws with one line on bad usage. */
export function prepareMedium(start: Start): Prepare {
  return (args) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    if (!values.file || !values.accounts) throw new Error('--file and --accounts are needed');
    const words = values.rewrite === '' ? [] : values.rewrite.split(',');
    if (!isZone(values.zone)) throw new Error(`--zone must be an offset like +09:00, got "${values.zone}"`);
    const options: MediumOptions = {
      file: values.file,
      accounts: accountsIn(values.accounts),
      port: wholeArgument('--port', values.port, 65_535),
      rewrites: wordsArgument('--rewrite', words, REWRITES),
      ...toldIn(values, 'MEDIUM'),
      pageSize: pageSizeArgument(values['page-size'], 30),
      zone: values.zone,
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

/** The command line of several suppliers in one process: a port and a book for each. */
import { join } from 'node:path';
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
import { SUPPLIER_KINDS, type SupplierKind } from './supplier-calls.ts';
import { SUPPLIER_DEFAULTS, type SupplierOptions } from './supplier-house.ts';

export const SUPPLIERS_USAGE =
  'usage: --dir D --account A [--environment E] [--kinds keyed,unique,searchable,blind] ' +
  '[--apply-delay-ms N] [--visibility-lag-ms N] [--key-lifetime-ms N] [--cancel-within-ms N] ' +
  '[--page-size N] [--control] [--with-parent] [--not-durable]';

const OPTIONS = {
  ...ARGUMENTS,
  dir: TEXT,
  account: TEXT,
  environment: { ...TEXT, default: SUPPLIER_DEFAULTS.environment },
  kinds: { ...TEXT, default: SUPPLIER_KINDS.join(',') },
  'key-lifetime-ms': { ...TEXT, default: `${SUPPLIER_DEFAULTS.keyLifetimeMs}` },
  'cancel-within-ms': { ...TEXT, default: `${SUPPLIER_DEFAULTS.cancelWithinMs}` },
  'page-size': { ...TEXT, default: `${SUPPLIER_DEFAULTS.pageSize}` },
};
/** A year: longer than any key that a supplier promises to remember. */
const MAX_LIFE_MS = 31_536_000_000;

type Start = (options: SupplierOptions) => Promise<{ url: string; close(): Promise<void> }>;

/** Reads the command line; throws with one line on bad usage. */
export function prepareSuppliers(start: Start): Prepare {
  return (args) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { dir, account, environment } = values;
    if (!dir || !account) throw new Error('--dir and --account are needed');
    const kinds = wordsArgument('--kinds', values.kinds.split(','), SUPPLIER_KINDS);
    const shared = {
      account,
      environment,
      ...toldIn(values, 'SUPPLIER'),
      keyLifetimeMs: wholeArgument('--key-lifetime-ms', values['key-lifetime-ms'], MAX_LIFE_MS),
      cancelWithinMs: wholeArgument('--cancel-within-ms', values['cancel-within-ms'], MAX_LIFE_MS),
      pageSize: pageSizeArgument(values['page-size'], 50),
    };
    const options = kinds.map((kind) => ({ ...shared, kind, file: join(dir, `${kind}.sqlite`) }));
    return { withParent: values['with-parent'], start: () => startAll(start, options) };
  };
}

/** All or none: when one cannot start, the others are closed. */
async function startAll(start: Start, options: readonly SupplierOptions[]) {
  const started: { kind: SupplierKind; url: string; close(): Promise<void> }[] = [];
  const close = async () => {
    for (const each of started) await each.close();
  };
  try {
    for (const each of options) started.push({ kind: each.kind, ...(await start(each)) });
  } catch (error) {
    await close();
    throw error;
  }
  return { ready: { urls: Object.fromEntries(started.map(({ kind, url }) => [kind, url])) }, close };
}

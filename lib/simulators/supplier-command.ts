/** The command line of several suppliers in one process: a port and a book for each. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Prepare, wholeArgument } from './command.ts';
import { SUPPLIER_KINDS, type SupplierKind } from './supplier-calls.ts';
import { SUPPLIER_DEFAULTS, type SupplierOptions } from './supplier-house.ts';

export const SUPPLIERS_USAGE =
  'usage: --dir D --account A [--environment E] [--kinds keyed,unique,searchable,blind] ' +
  '[--apply-delay-ms N] [--visibility-lag-ms N] [--key-lifetime-ms N] [--cancel-within-ms N] ' +
  '[--page-size N] [--control] [--with-parent] [--not-durable]';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const ARGUMENTS = {
  dir: TEXT,
  account: TEXT,
  environment: { ...TEXT, default: SUPPLIER_DEFAULTS.environment },
  kinds: { ...TEXT, default: SUPPLIER_KINDS.join(',') },
  'apply-delay-ms': { ...TEXT, default: `${SUPPLIER_DEFAULTS.applyDelayMs}` },
  'visibility-lag-ms': { ...TEXT, default: `${SUPPLIER_DEFAULTS.visibilityLagMs}` },
  'key-lifetime-ms': { ...TEXT, default: `${SUPPLIER_DEFAULTS.keyLifetimeMs}` },
  'cancel-within-ms': { ...TEXT, default: `${SUPPLIER_DEFAULTS.cancelWithinMs}` },
  'page-size': { ...TEXT, default: `${SUPPLIER_DEFAULTS.pageSize}` },
  control: FLAG,
  'with-parent': FLAG,
  'not-durable': FLAG,
};
/** A year: longer than any key that a supplier promises to remember. */
const MAX_LIFE_MS = 31_536_000_000;

type Start = (options: SupplierOptions) => Promise<{ url: string; close(): Promise<void> }>;

/** Reads the command line; throws with one line on bad usage. */
export function prepareSuppliers(start: Start): Prepare {
  return (args) => {
    const { values } = parseArgs({ args, options: ARGUMENTS });
    const { dir, account, environment } = values;
    if (!dir || !account) throw new Error('--dir and --account are needed');
    const kinds = kindsIn(values.kinds);
    const writeToken = process.env['KAKUTEI_SUPPLIER_WRITE_TOKEN'];
    const readToken = process.env['KAKUTEI_SUPPLIER_READ_TOKEN'];
    const shared = {
      account,
      environment,
      applyDelayMs: wholeArgument('--apply-delay-ms', values['apply-delay-ms'], 60_000),
      visibilityLagMs: wholeArgument('--visibility-lag-ms', values['visibility-lag-ms'], 60_000),
      keyLifetimeMs: wholeArgument('--key-lifetime-ms', values['key-lifetime-ms'], MAX_LIFE_MS),
      cancelWithinMs: wholeArgument('--cancel-within-ms', values['cancel-within-ms'], MAX_LIFE_MS),
      pageSize: pageSize(values['page-size']),
      control: values.control,
      durable: !values['not-durable'],
      ...(writeToken ? { writeToken } : {}),
      ...(readToken ? { readToken } : {}),
    };
    const options = kinds.map((kind) => ({ ...shared, kind, file: join(dir, `${kind}.sqlite`) }));
    return { withParent: values['with-parent'], start: () => startAll(start, options) };
  };
}

function kindsIn(text: string): SupplierKind[] {
  const kinds = new Set(text.split(','));
  for (const kind of kinds) {
    if (!SUPPLIER_KINDS.some((known) => known === kind)) {
      throw new Error(`--kinds must be some of ${SUPPLIER_KINDS.join(',')}, got "${kind}"`);
    }
  }
  return SUPPLIER_KINDS.filter((kind) => kinds.has(kind));
}

function pageSize(text: string): number {
  const size = wholeArgument('--page-size', text, 50);
  if (size === 0) throw new Error('--page-size must be a whole number from 1 to 50, got "0"');
  return size;
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

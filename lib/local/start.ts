/**
 * `npm start`: keeps the local stack running on one port for exploring. Ctrl-C ends everything. Started by
 * another process (the demo, the tests) it reports over the channel to it and ends when that one does.
 */
import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { CannotStart } from './cannot-start.ts';
import { COMPILE_CACHE } from './child.ts';
import type { Place, Stack, StackOptions } from './stack.ts';
import { leaveAwsOut } from './without-aws.ts';

const USAGE =
  'Usage: npm start -- [--port 8787] [--data .kakutei] [--warehouse-only] ' +
  '[--anew ledger] [--anew book] [--anew suppliers] [--anew medium]';
/** sysexits: usage, unavailable. */
export const EXIT = { ok: 0, broken: 1, usage: 2, unavailable: 69 } as const;

/** What a parent process is told once the stack answers. */
export interface Ready {
  readonly url: string;
  readonly tokens: Stack['tokens'];
  readonly warehouseUrl: string;
  readonly suppliers: Stack['suppliers'];
  readonly mediumUrl: Stack['mediumUrl'];
}

if (import.meta.main) await main();

async function main(): Promise<void> {
  const options = optionsOf(process.argv.slice(2));
  if (options === undefined) return;
  let stack: Stack | undefined;
  let code: number | undefined;
  // Asked to end while it starts: it starts first, so that nothing is left half started, then ends.
  const stop = (exitCode: number): void => {
    code ??= exitCode;
    if (stack !== undefined) void stack.stop().then(() => process.exit(code));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(EXIT.ok));
  process.on('disconnect', () => stop(EXIT.ok));
  process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;
  enableCompileCache(process.env['NODE_COMPILE_CACHE']);
  leaveAwsOut();
  const { startStack } = await import('./stack.ts');
  try {
    stack = await startStack({ ...options, onBroken: (what) => broken(what, stop) });
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT.unavailable);
  }
  if (code === undefined) announce(stack);
  else stop(code);
}

function broken(what: string, stop: (exitCode: number) => void): void {
  process.stderr.write(`${what}; stopping.\n`);
  stop(EXIT.broken);
}

function optionsOf(args: string[]): Omit<StackOptions, 'onBroken'> | undefined {
  try {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: 'string', default: '8787' },
        data: { type: 'string', default: '.kakutei' },
        'warehouse-only': { type: 'boolean', default: false },
        anew: { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      return undefined;
    }
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new RangeError('--port must be 0 to 65535.');
    const warehouseOnly = values['warehouse-only'];
    return { dataDir: values.data, port, warehouseOnly, anew: values.anew.map(placeOf) };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    process.exitCode = EXIT.usage;
    return undefined;
  }
}

function placeOf(text: string): Place {
  if (text === 'ledger' || text === 'book' || text === 'suppliers' || text === 'medium') return text;
  throw new RangeError('--anew must be ledger, book, suppliers or medium.');
}

function announce({ url, tokens, warehouseUrl, suppliers, mediumUrl }: Stack): void {
  if (process.send !== undefined) {
    process.send({ url, tokens, warehouseUrl, suppliers, mediumUrl } satisfies Ready);
    return;
  }
  const order = '{"route":"warehouse","payload":{"order_id":"ORD-1","sku":"TEA-01","quantity":2}}';
  const simulated = Object.entries(suppliers ?? {}).map(([kind, at]) => `${kind} ${at}`);
  process.stdout.write(`Kakutei runs at ${url}; the simulated warehouse at ${warehouseUrl}. Ctrl-C ends all.
Simulated suppliers: ${simulated.join(', ') || 'none'}; medium: ${mediumUrl ?? 'none'}.

# tokens, valid for one day
SUBMITTER=${tokens.submitter}
APPROVER=${tokens.approver}
OPERATOR=${tokens.operator}
OTHER_TENANT=${tokens.otherTenant}
${mediumUrl === null ? '' : mediumAddress(mediumUrl)}
# submit an order, then look at it (ORD-AFTER instead of ORD-1 loses its first answer)
curl -i ${url}/intents -H "authorization: Bearer $SUBMITTER" -H 'idempotency-key: ORD-1' -d '${order}'
curl ${url}/intents -H "authorization: Bearer $SUBMITTER"
curl '${url}/intents?route=warehouse&key=ORD-1' -H "authorization: Bearer $SUBMITTER"

# the same as another tenant sees it: nothing
curl '${url}/intents' -H "authorization: Bearer $OTHER_TENANT"
${suppliers === null ? '' : purchaseOrder(url)}${mediumUrl === null ? '' : post(url)}`);
}

/** The second thing to try: an order that somebody has to sign. */
function purchaseOrder(url: string): string {
  const payload = {
    purchase_order: 'LOST-1',
    ship_to: {
      name: 'Tea Room',
      street: '1-2-3 Ginza',
      city: 'Tokyo',
      postal_code: '104-0061',
      country: 'JP',
    },
    lines: [{ sku: 'TEA-01', quantity: '2', unit: 'piece', unit_price: '1100' }],
    currency: 'JPY',
    total: '2200',
  };
  return `
# a purchase order (LOST-1 loses its first answer): submit it, read and sign it, wait until it is certain
${signed(url, 'LOST-1', { route: 'orders-keyed', payload })}`;
}

function mediumAddress(mediumUrl: string): string {
  return `
# the simulated medium; what it holds and what it does wrong is behind $MEDIUM/control
MEDIUM=${mediumUrl}
`;
}

/** The third: a post that loses its first answer. */
function post(url: string): string {
  const payload = { text: 'Tea at five.', visibility: 'public' };
  const fault = { match: { text: payload.text }, plan: [{ kind: 'cut_after_save' }] };
  return `
# a post whose first answer is lost, and what the medium holds in the end; docs/publishing.md goes on from here
curl -X PUT $MEDIUM/control/posts/faults -d '${JSON.stringify(fault)}'
${signed(url, 'POST-1', { route: 'posts-searchable', payload })}curl $MEDIUM/control/book
`;
}

/** Handed in by one, read and signed by another, waited for. */
function signed(url: string, key: string, body: object): string {
  return `ID=$(curl -s ${url}/intents -H "authorization: Bearer $SUBMITTER" -H 'idempotency-key: ${key}' -d '${JSON.stringify(body)}' | grep -o 'int_[0-9a-f]*' | head -1)
FP=$(curl -s ${url}/intents/$ID/approval -H "authorization: Bearer $APPROVER" | grep -o 'fp1:[0-9a-f]*' | head -1)
curl -X PUT ${url}/intents/$ID/approval -H "authorization: Bearer $APPROVER" -d "{\\"fingerprint\\":\\"$FP\\"}"
curl ${url}/intents/$ID -H "authorization: Bearer $SUBMITTER" -H 'prefer: wait=20'
`;
}

/** What the local stack writes for its functions: routes with the real ports, and made-up secrets. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** D and L of the simulated providers: small, real, and obeyed by them. */
export const LOCAL_LAG = { applyDelayMs: 500, visibilityLagMs: 300 };
export const LOCAL_ACCOUNT = 'tokyo-1';
/** Accounts of the simulated medium; the first is ours, and both have the same display name. */
export const MEDIUM_ACCOUNTS = [
  { id: '900001', handle: 'tea.example', name: 'Tea Room' },
  { id: '900002', handle: 'other.example', name: 'Tea Room' },
] as const;

/** The endpoint at which the signed events of one supplier arrive. */
export function webhookEndpoint(kind: string): string {
  return `supplier-${kind}`;
}

const SECRETS = [
  'warehouse-write',
  'warehouse-read',
  'supplier-write',
  'supplier-read',
  'supplier-webhook',
  'medium-write',
  'medium-read',
] as const;

export type LocalSecrets = Readonly<Record<(typeof SECRETS)[number], string>>;

/** The same secrets at every start on the same data: the simulators may have outlived us. New ones are added. */
export function localSecrets(dataDir: string): { file: string; secrets: LocalSecrets } {
  const file = join(dataDir, 'secrets.json');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<LocalSecrets>) : {};
  const secrets = Object.fromEntries(SECRETS.map((name) => [name, known[name] ?? made(name)]));
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return { file, secrets: secrets as LocalSecrets };
}

/** Standard Webhooks wants its secrets in a form of their own. */
function made(name: string): string {
  const bytes = randomBytes(24);
  return name.endsWith('-webhook') ? `whsec_${bytes.toString('base64')}` : bytes.toString('hex');
}

const ALWAYS = { kind: 'standing', version: 'local-1', until: '2100-01-01T00:00:00Z' };
const POLICY = {
  permission: ALWAYS,
  attempts: 4,
  requestMs: 1000,
  pauseMs: 100,
  resend: 'after_search',
  repeatOn: ['not_sent', 'closed_without_answer', 'timeout', 'lost', 'status_503'],
  sendWithinMs: 86_400_000,
};
/** An absence that people declare counts a day after the last send: there must be time left for another one. */
const LONG_MS = 3 * 86_400_000;
/** Somebody else than the submitter signs; from a million yen on two people do. */
const SIGNED = {
  kind: 'approval',
  version: 'local-1',
  longestMs: 86_400_000,
  separate: true,
  twoFrom: { field: 'total', amount: '1000000', currency: 'JPY', currencyField: 'currency' },
};

type Place = { readonly account: string; readonly environment: string; readonly baseUrl: string };

/** The warehouse with its own policy, once resending first and once searching first. */
function warehouseRoutes(baseUrl: string): object[] {
  const warehouse = {
    provider: 'warehouse',
    action: 'reserve',
    keyField: 'order_id',
    ...placeOf(baseUrl),
    writeSecretRef: 'local:warehouse-write',
    readSecretRef: 'local:warehouse-read',
    ...LOCAL_LAG,
  };
  return [
    { name: 'warehouse', ...warehouse, policy: { ...POLICY, resend: 'first' } },
    { name: 'warehouse-search-first', ...warehouse, policy: POLICY },
  ];
}

/** Three ways to a supplier: orders and cancellations are signed one by one, confirmation e-mails are not. */
function supplierRoutes(kind: string, baseUrl: string) {
  const supplier = {
    ...placeOf(baseUrl),
    keyField: 'purchase_order',
    writeSecretRef: 'local:supplier-write',
    readSecretRef: 'local:supplier-read',
    // Nothing can be searched at the blind one: bounds would promise what nobody can see.
    ...(kind === 'blind' ? {} : LOCAL_LAG),
  };
  const way = (name: string, provider: string, action: string, permission: object) => ({
    name: `${name}-${kind}`,
    provider,
    // Without the kind: a purchase order is ordered once, at whichever supplier.
    action,
    ...supplier,
    policy: { ...POLICY, permission, pauseMs: 500, ...(kind === 'blind' ? { sendWithinMs: LONG_MS } : {}) },
  });
  return [
    way('orders', `supplier-${kind}`, 'order', SIGNED),
    way('cancellations', `supplier-${kind}-cancellation`, 'cancel', { ...SIGNED, twoFrom: null }),
    way('confirmations', `supplier-${kind}-confirmation`, 'confirm', ALWAYS),
  ];
}

/** Two ways to one medium: where the lag is named it can be searched for what is not there, else never. */
function mediumRoutes(baseUrl: string): object[] {
  const { applyDelayMs } = LOCAL_LAG;
  const posts = {
    ...{ provider: 'medium', action: 'post', ...placeOf(baseUrl), account: MEDIUM_ACCOUNTS[0].id },
    publicHosts: [new URL(baseUrl).host],
    writeSecretRef: 'local:medium-write',
    readSecretRef: 'local:medium-read',
    policy: { ...POLICY, permission: { ...SIGNED, twoFrom: null }, pauseMs: 500, sendWithinMs: LONG_MS },
  };
  return [
    { name: 'posts-searchable', ...posts, ...LOCAL_LAG },
    { name: 'posts-blind', ...posts, applyDelayMs },
  ];
}

function placeOf(baseUrl: string): Place {
  return { account: LOCAL_ACCOUNT, environment: 'test', baseUrl };
}

/** Writes the routes file; `suppliers` are their addresses by kind; null stands for what was not started. */
export function writeRoutes(
  dataDir: string,
  warehouseUrl: string,
  suppliers: Readonly<Record<string, string>> | null,
  mediumUrl: string | null = null,
): string {
  const kinds = Object.entries(suppliers ?? {});
  const ways = kinds.map(([kind, url]) => ({ kind, routes: supplierRoutes(kind, url) }));
  const tenant = {
    tenant: 'acme',
    routes: [
      ...warehouseRoutes(warehouseUrl),
      ...ways.flatMap((way) => way.routes),
      ...(mediumUrl === null ? [] : mediumRoutes(mediumUrl)),
    ],
    webhooks: ways.map(({ kind, routes }) => ({
      endpoint: webhookEndpoint(kind),
      routes: routes.map((route) => route.name),
      secretRefs: ['local:supplier-webhook'],
    })),
  };
  const file = join(dataDir, 'routes.json');
  writeFileSync(file, `${JSON.stringify({ tenants: [tenant] }, null, 2)}\n`);
  return file;
}

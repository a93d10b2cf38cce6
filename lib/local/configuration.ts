/** What the local stack writes for its functions: routes with the real ports, and made-up secrets. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** D and L of the simulated warehouse: small, real, and obeyed by it. */
export const LOCAL_LAG = { applyDelayMs: 500, visibilityLagMs: 300 };
export const LOCAL_ACCOUNT = 'tokyo-1';

export interface LocalSecrets {
  readonly 'warehouse-write': string;
  readonly 'warehouse-read': string;
}

/** The same secrets at every start on the same data: the warehouse may have outlived us. */
export function localSecrets(dataDir: string): { file: string; secrets: LocalSecrets } {
  const file = join(dataDir, 'secrets.json');
  if (!existsSync(file)) {
    const secrets: LocalSecrets = { 'warehouse-write': secret(), 'warehouse-read': secret() };
    writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  }
  return { file, secrets: JSON.parse(readFileSync(file, 'utf8')) as LocalSecrets };
}

/** Writes the routes file: the warehouse with its own policy, once resending first and once searching first. */
export function writeRoutes(dataDir: string, warehouseUrl: string): string {
  const policy = {
    permission: { kind: 'standing', version: 'local-1', until: '2100-01-01T00:00:00Z' },
    attempts: 4,
    requestMs: 1000,
    pauseMs: 100,
    resend: 'first',
    repeatOn: ['not_sent', 'closed_without_answer', 'timeout', 'lost', 'status_503'],
    sendWithinMs: 86_400_000,
  };
  const warehouse = {
    provider: 'warehouse',
    account: LOCAL_ACCOUNT,
    environment: 'test',
    action: 'reserve',
    keyField: 'order_id',
    baseUrl: warehouseUrl,
    writeSecretRef: 'local:warehouse-write',
    readSecretRef: 'local:warehouse-read',
    ...LOCAL_LAG,
  };
  const routes = [
    { name: 'warehouse', ...warehouse, policy },
    { name: 'warehouse-search-first', ...warehouse, policy: { ...policy, resend: 'after_search' } },
  ];
  const file = join(dataDir, 'routes.json');
  writeFileSync(file, `${JSON.stringify({ tenants: [{ tenant: 'acme', routes }] }, null, 2)}\n`);
  return file;
}

function secret(): string {
  return randomBytes(24).toString('hex');
}

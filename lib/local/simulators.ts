/** The simulated providers of the local stack: the warehouse, and four suppliers in one process of their own. */
import { join } from 'node:path';
import { SUPPLIER_KINDS, type SupplierKind } from '../simulators/supplier-calls.ts';
import { LOCAL_ACCOUNT, LOCAL_LAG, type LocalSecrets } from './configuration.ts';
import { startSimulatorProcess } from './simulator-process.ts';

export type SupplierUrls = Readonly<Record<SupplierKind, string>>;

export interface SimulatorsOptions {
  readonly book: string;
  /** Folder of the suppliers' books; null starts no suppliers. */
  readonly suppliers: string | null;
  readonly secrets: LocalSecrets;
  readonly onSpawn: (name: string, pid: number) => void;
  readonly onBroken: (what: string) => void;
}

export interface Simulators {
  readonly warehouseUrl: string;
  readonly suppliers: SupplierUrls | null;
  readonly stop: () => Promise<void>;
}

/** Both start side by side. When one cannot, the other is ended first. */
export async function startSimulators(options: SimulatorsOptions): Promise<Simulators> {
  const started = await Promise.allSettled([startWarehouse(options), startSuppliers(options)]);
  const [warehouse, suppliers] = started;
  const stop = async (): Promise<void> => {
    for (const each of started) if (each.status === 'fulfilled') await each.value?.stop();
  };
  if (warehouse.status === 'fulfilled' && suppliers.status === 'fulfilled') {
    const urls = suppliers.value?.ready.urls ?? null;
    return { warehouseUrl: warehouse.value.ready.url, suppliers: urls, stop };
  }
  await stop();
  throw started.find((each) => each.status === 'rejected')?.reason;
}

const lags = [
  ['--account', LOCAL_ACCOUNT],
  ['--apply-delay-ms', String(LOCAL_LAG.applyDelayMs)],
  ['--visibility-lag-ms', String(LOCAL_LAG.visibilityLagMs)],
];

function startWarehouse({ book, secrets, onSpawn, onBroken }: SimulatorsOptions) {
  return startSimulatorProcess<{ url: string }>({
    module: 'warehouse',
    args: [['--file', book], ['--port', '0'], ...lags],
    env: {
      KAKUTEI_WAREHOUSE_WRITE_TOKEN: secrets['warehouse-write'],
      KAKUTEI_WAREHOUSE_READ_TOKEN: secrets['warehouse-read'],
    },
    onSpawn: (pid) => onSpawn('warehouse', pid),
    onExit: () => onBroken('The simulated warehouse ended by itself'),
  });
}

async function startSuppliers({ suppliers, secrets, onSpawn, onBroken }: SimulatorsOptions) {
  if (suppliers === null) return null;
  return startSimulatorProcess<{ urls: SupplierUrls }>({
    module: 'suppliers',
    args: [['--dir', suppliers], ...lags],
    env: {
      KAKUTEI_SUPPLIER_WRITE_TOKEN: secrets['supplier-write'],
      KAKUTEI_SUPPLIER_READ_TOKEN: secrets['supplier-read'],
    },
    onSpawn: (pid) => onSpawn('suppliers', pid),
    onExit: () => onBroken('The simulated suppliers ended by themselves'),
  });
}

/** The book of one supplier below the folder of all. */
export function supplierBook(folder: string, kind: SupplierKind): string {
  return join(folder, `${kind}.sqlite`);
}

export { SUPPLIER_KINDS, type SupplierKind };

/** The simulated providers of the local stack: the warehouse, four suppliers in one process, a medium. */
import { join } from 'node:path';
import { SUPPLIER_KINDS, type SupplierKind } from '../simulators/supplier-calls.ts';
import { LOCAL_ACCOUNT, LOCAL_LAG, type LocalSecrets, MEDIUM_ACCOUNTS } from './configuration.ts';
import { startSimulatorProcess } from './simulator-process.ts';

export type SupplierUrls = Readonly<Record<SupplierKind, string>>;

export interface SimulatorsOptions {
  readonly book: string;
  /** Folder of the suppliers' books; null starts no suppliers. */
  readonly suppliers: string | null;
  /** The medium's book; null starts no medium. */
  readonly medium: string | null;
  readonly secrets: LocalSecrets;
  readonly onSpawn: (name: string, pid: number) => void;
  readonly onBroken: (what: string) => void;
}

export interface Simulators {
  readonly warehouseUrl: string;
  readonly suppliers: SupplierUrls | null;
  readonly mediumUrl: string | null;
  readonly stop: () => Promise<void>;
}

/** All start side by side. When one cannot, the other is ended first. */
export async function startSimulators(options: SimulatorsOptions): Promise<Simulators> {
  const started = await Promise.allSettled([
    startWarehouse(options),
    startSuppliers(options),
    startMedium(options),
  ]);
  const [warehouse, suppliers, medium] = started;
  const stop = async (): Promise<void> => {
    for (const each of started) if (each.status === 'fulfilled') await each.value?.stop();
  };
  if (warehouse.status === 'fulfilled' && suppliers.status === 'fulfilled' && medium.status === 'fulfilled') {
    const urls = suppliers.value?.ready.urls ?? null;
    const mediumUrl = medium.value?.ready.url ?? null;
    return { warehouseUrl: warehouse.value.ready.url, suppliers: urls, mediumUrl, stop };
  }
  await stop();
  throw started.find((each) => each.status === 'rejected')?.reason;
}

const lags = [
  ['--apply-delay-ms', String(LOCAL_LAG.applyDelayMs)],
  ['--visibility-lag-ms', String(LOCAL_LAG.visibilityLagMs)],
];

function startWarehouse({ book, secrets, onSpawn, onBroken }: SimulatorsOptions) {
  return startSimulatorProcess<{ url: string }>({
    module: 'warehouse',
    args: [['--file', book], ['--port', '0'], ['--account', LOCAL_ACCOUNT], ...lags],
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
    args: [['--dir', suppliers], ['--account', LOCAL_ACCOUNT], ...lags],
    env: {
      KAKUTEI_SUPPLIER_WRITE_TOKEN: secrets['supplier-write'],
      KAKUTEI_SUPPLIER_READ_TOKEN: secrets['supplier-read'],
    },
    onSpawn: (pid) => onSpawn('suppliers', pid),
    onExit: () => onBroken('The simulated suppliers ended by themselves'),
  });
}

async function startMedium({ medium, secrets, onSpawn, onBroken }: SimulatorsOptions) {
  if (medium === null) return null;
  const accounts = MEDIUM_ACCOUNTS.map(({ id, handle, name }) => `${id}:${handle}:${name}`).join(',');
  return startSimulatorProcess<{ url: string }>({
    module: 'medium',
    args: [['--file', medium], ['--accounts', accounts], ...lags],
    env: {
      KAKUTEI_MEDIUM_WRITE_TOKEN: secrets['medium-write'],
      KAKUTEI_MEDIUM_READ_TOKEN: secrets['medium-read'],
    },
    onSpawn: (pid) => onSpawn('medium', pid),
    onExit: () => onBroken('The simulated medium ended by itself'),
  });
}

/** The book of one supplier below the folder of all. */
export function supplierBook(folder: string, kind: SupplierKind): string {
  return join(folder, `${kind}.sqlite`);
}

export { SUPPLIER_KINDS, type SupplierKind };

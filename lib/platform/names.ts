/** Names that the cloud, the local stack and the functions must agree on. Names only; no rules. */

/** Attributes of the one table and its sparse indexes; every index projects keys only. */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  indexes: {
    /** Open intents by due time; the sweep's index. */
    due: { name: 'due', partitionKey: 'dueShard', sortKey: 'dueAt', sortType: 'N' },
    /** What people should look at: unknown and handover, by tenant. */
    attention: { name: 'attention', partitionKey: 'attentionOf', sortKey: 'attentionAt', sortType: 'N' },
    /** All intents of a tenant's unit, by day of creation. */
    list: { name: 'list', partitionKey: 'listDay', sortKey: 'createdAt', sortType: 'N' },
  },
} as const;

/** Environment variables of the functions. */
export const ENV = {
  table: 'KAKUTEI_TABLE',
  machineArn: 'KAKUTEI_MACHINE_ARN',
  /** The dry-run function, for the one that passes requests on to it. */
  dryRunArn: 'KAKUTEI_DRY_RUN_ARN',
  /** Path of the routes file; the bundle's own `routes.json` when unset. */
  routes: 'KAKUTEI_ROUTES',
  /** Path of local secrets (`local:<name>` references); unset in the cloud. */
  secrets: 'KAKUTEI_SECRETS',
  /** Clock distrust in ms; 300000 when unset. */
  skewMs: 'KAKUTEI_SKEW_MS',
} as const;

/** Environment variables of the command line. */
export const CALLER_ENV = { url: 'KAKUTEI_URL', token: 'KAKUTEI_TOKEN' } as const;

/** Step functions by their state in the machine, with their timeouts in seconds. */
export const STEPS = {
  Send: { function: 'send', timeoutSeconds: 15 },
  Search: { function: 'search', timeoutSeconds: 30 },
  Verify: { function: 'verify', timeoutSeconds: 30 },
  HandOver: { function: 'hand-over', timeoutSeconds: 15 },
} as const;

export const SWEEP = { function: 'sweep', timeoutSeconds: 50 } as const;
/** Longer than the longest wait that a caller may prefer, shorter than the gateway's 30 s. */
export const API_TIMEOUT_SECONDS = 28;
/** Asked by an API function, which must still be there to pass its answer on. */
export const DRY_RUN = { function: 'dry-run', timeoutSeconds: 25 } as const;

/** Metrics that are counted from log events. */
export const METRICS = {
  namespace: 'Kakutei',
  duplicateRisk: { name: 'DuplicateRisk', event: 'duplicate_risk' },
} as const;

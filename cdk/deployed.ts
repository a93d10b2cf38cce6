/**
 * What is deployed: every function with its timeout, and the whole of what it may touch. A function is
 * deployed because the endpoint table or the machine names it; one without a line here does not synthesise.
 * There is no word here for Scan or DeleteItem: nobody may ask for them.
 */
import { functionsOfApi } from '../functions/endpoints.ts';
import { API_TIMEOUT_SECONDS, DRY_RUN, STEPS, SWEEP, type TABLE } from '../lib/platform/names.ts';

export type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem';

export interface Access {
  /** Allowed on the table itself, never on an index. */
  readonly table: readonly TableAction[];
  /** The one index that this function may query. */
  readonly index?: keyof typeof TABLE.indexes;
  /** Which secrets it may read: those that can write at a provider, that can only look, or that prove who signed. */
  readonly secrets?: 'write' | 'read' | 'webhook';
  /** May start runs of the machine. */
  readonly startsRuns?: true;
  /** The one function that it may invoke. */
  readonly invokes?: string;
}

export interface Deployed {
  /** Name of the file in `functions/`. */
  readonly name: string;
  readonly timeoutSeconds: number;
  readonly access: Access;
}

const ACCESS: Readonly<Record<string, Access>> = {
  accept: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'], startsRuns: true },
  list: { table: ['GetItem', 'Query'], index: 'list' },
  show: { table: ['GetItem', 'Query'] },
  evidence: { table: ['GetItem', 'Query'] },
  receipt: { table: ['GetItem'] },
  manifest: { table: ['GetItem'] },
  approval: { table: ['GetItem'] },
  approve: { table: ['GetItem', 'PutItem', 'UpdateItem'] },
  revoke: { table: ['GetItem', 'PutItem', 'UpdateItem'] },
  reconcile: { table: ['GetItem', 'Query', 'UpdateItem'], startsRuns: true, invokes: DRY_RUN.function },
  // It looks outside and can write nowhere; who asks it can write and holds no secret.
  'dry-run': { table: ['GetItem', 'BatchGetItem'], secrets: 'read' },
  withdraw: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'] },
  decide: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'] },
  again: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'] },
  correct: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'] },
  own: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'] },
  disown: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'] },
  queue: { table: ['GetItem', 'BatchGetItem', 'Query'], index: 'attention' },
  freeze: { table: ['PutItem'] },
  thaw: { table: ['PutItem'] },
  'freeze-all': { table: ['PutItem'] },
  'thaw-all': { table: ['PutItem'] },
  'take-evidence': { table: ['GetItem', 'PutItem', 'UpdateItem'], secrets: 'webhook' },
  health: { table: ['GetItem'] },
  openapi: { table: [] },
  send: { table: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'], secrets: 'write' },
  search: { table: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'], secrets: 'read' },
  verify: { table: ['GetItem', 'PutItem', 'UpdateItem'], secrets: 'read' },
  'hand-over': { table: ['GetItem', 'UpdateItem'] },
  sweep: { table: ['GetItem', 'PutItem', 'UpdateItem'], index: 'due', startsRuns: true },
};

/** Every function once, in a fixed order: those of the API (whoever is invoked before who invokes), steps, sweep. */
export function deployedFunctions(): readonly Deployed[] {
  const behindApi = functionsOfApi().map((name) =>
    name === DRY_RUN.function ? DRY_RUN : { function: name, timeoutSeconds: API_TIMEOUT_SECONDS },
  );
  return [...behindApi, ...Object.values(STEPS), SWEEP].map((entry) => ({
    name: entry.function,
    timeoutSeconds: entry.timeoutSeconds,
    access: accessOf(entry.function),
  }));
}

function accessOf(name: string): Access {
  const access = ACCESS[name];
  if (access === undefined) {
    throw new Error(`Cannot deploy function "${name}": cdk/deployed.ts does not say what it may touch`);
  }
  return access;
}

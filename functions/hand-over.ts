import { handOver } from '../lib/workflow/hand-over.ts';
import { step } from './handler.ts';
import { deps, log } from './wiring.ts';

/** Puts an intent before people. Touches the ledger only. */
export const handler = step('hand-over', log, () => handOver(deps()));

import { verify } from '../lib/workflow/verify.ts';
import { step } from './handler.ts';
import { log, looking } from './wiring.ts';

/** Reads an effect back and makes the receipt, read-only outside. */
export const handler = step('verify', log, () => verify(looking()));

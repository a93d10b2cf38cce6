import { search } from '../lib/workflow/search.ts';
import { step } from './handler.ts';
import { log, looking } from './wiring.ts';

/** Looks outside, read-only. */
export const handler = step('search', log, () => search(looking()));

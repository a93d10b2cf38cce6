import { setAllByHand } from './frozen-answers.ts';
import { api } from './handler.ts';
import { log } from './wiring.ts';

/** Stops all sends of all tenants. */
export const handler = api('freeze-all', log, (request) => setAllByHand(request, true));

import { setRouteByHand } from './frozen-answers.ts';
import { api } from './handler.ts';
import { log } from './wiring.ts';

/** Stops the sends of one route of the own tenant. */
export const handler = api('freeze', log, (request) => setRouteByHand(request, true));

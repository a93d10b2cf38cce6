import { setRouteByHand } from './frozen-answers.ts';
import { api } from './handler.ts';
import { log } from './wiring.ts';

/** Lets the sends of one route of the own tenant go on. */
export const handler = api('thaw', log, (request) => setRouteByHand(request, false));

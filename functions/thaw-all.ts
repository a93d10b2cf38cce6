import { setAllByHand } from './frozen-answers.ts';
import { api } from './handler.ts';
import { log } from './wiring.ts';

/** Lets sends go on, except those of routes that are frozen by themselves. */
export const handler = api('thaw-all', log, (request) => setAllByHand(request, false));

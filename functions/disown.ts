import { disown } from '../lib/operations/own.ts';
import { api } from './handler.ts';
import { changeOwner } from './owner-answers.ts';
import { deps, log } from './wiring.ts';

/** Gives an intent back. */
export const handler = api('disown', log, (request) => changeOwner(request, disown(deps())));

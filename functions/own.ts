import { own } from '../lib/operations/own.ts';
import { api } from './handler.ts';
import { changeOwner } from './owner-answers.ts';
import { deps, log } from './wiring.ts';

/** Takes an intent to work on. */
export const handler = api('own', log, (request) => changeOwner(request, own(deps())));

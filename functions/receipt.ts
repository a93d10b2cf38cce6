import { receiptOf } from '../lib/operations/trail.ts';
import { api, json } from './handler.ts';
import { problem } from './problem.ts';
import { onlyQuery, ownIntent } from './shown.ts';
import { log } from './wiring.ts';

/** The receipt of a confirmed intent; 404 while there is none. */
export const handler = api('receipt', log, async (request) => {
  onlyQuery(request, []);
  const receipt = receiptOf(await ownIntent(request));
  return receipt === null ? problem('not-found') : json(200, receipt);
});

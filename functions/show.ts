import { api } from './handler.ts';
import { onlyQuery, ownIntent, shown } from './shown.ts';
import { log } from './wiring.ts';

/** One intent, its exact state. */
export const handler = api('show', log, async (request) => {
  onlyQuery(request, []);
  return shown(200, await ownIntent(request));
});

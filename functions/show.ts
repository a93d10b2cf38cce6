import { api } from './handler.ts';
import { onlyQuery, ownIntent } from './shown.ts';
import { shownInTime } from './waiting.ts';
import { log } from './wiring.ts';

/** One intent, its exact state. */
export const handler = api('show', log, async (request) => {
  onlyQuery(request, []);
  return shownInTime(request, 200, await ownIntent(request));
});

import { approvalView } from '../lib/operations/approve.ts';
import { api, json } from './handler.ts';
import { onlyQuery, ownIntent } from './shown.ts';
import { deps, log } from './wiring.ts';

/** What is to be approved, exactly as it would be sent, and what was. */
export const handler = api('approval', log, async (request) => {
  onlyQuery(request, []);
  return json(200, approvalView(deps(), await ownIntent(request)));
});

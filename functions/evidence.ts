import { attemptsOf } from '../lib/operations/trail.ts';
import { utc } from '../lib/platform/clock.ts';
import { api, json } from './handler.ts';
import { limitOf, onlyQuery, ownIntent } from './shown.ts';
import { deps, log } from './wiring.ts';

/** Attempts, searches and conflicts of one intent, as recorded; pages of at most 100. */
export const handler = api('evidence', log, async (request) => {
  onlyQuery(request, ['limit', 'cursor']);
  const limit = limitOf(request);
  const intent = await ownIntent(request);
  const ref = { tenant: intent.tenant, intentId: intent.id };
  const page = await deps().ledger.evidence(ref, limit, request.query['cursor'] ?? null);
  const items = page.items.map((each) => ({ ...each, at: utc(each.at) }));
  return json(200, { intentId: intent.id, attempts: attemptsOf(intent), items, cursor: page.cursor });
});

import { dayOf } from '../lib/ledger/item.ts';
import { viewOf } from '../lib/operations/trail.ts';
import { intentIdOf } from '../lib/workflow/accept.ts';
import { type ApiAnswer, type ApiRequest, api, json } from './handler.ts';
import { ProblemError } from './problem.ts';
import { limitOf, onlyQuery } from './shown.ts';
import { deps, log } from './wiring.ts';

const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** The unit's intents of one UTC day (`day`, today when unset), newest first; or the one of `route` and `key`. */
export const handler = api('list', log, async (request) => {
  onlyQuery(request, ['day', 'limit', 'cursor', 'route', 'key']);
  const { route, key } = request.query;
  if (route !== undefined || key !== undefined) return byKey(request, route, key);
  const day = request.query['day'] ?? dayOf(deps().clock.now());
  if (!DAY.test(day)) throw new ProblemError('invalid-request', { detail: 'day must be YYYY-MM-DD (UTC).' });
  const { tenant, unit } = request.caller;
  const page = await deps().ledger.list(tenant, unit, day, limitOf(request), request.query['cursor'] ?? null);
  return json(200, { day, items: await views(page.items), cursor: page.cursor });
});

async function byKey(request: ApiRequest, route?: string, key?: string): Promise<ApiAnswer> {
  if (route === undefined || key === undefined) {
    throw new ProblemError('invalid-request', { detail: 'route and key go together.' });
  }
  const { tenant, unit } = request.caller;
  const way = deps().routes.find(tenant, route);
  const id = way === undefined ? undefined : intentIdOf(tenant, unit, way.route, key);
  const intent = id === undefined ? undefined : await deps().ledger.read({ tenant, intentId: id });
  return json(200, { items: intent === undefined ? [] : await views([intent]), cursor: null });
}

async function views(intents: readonly Parameters<typeof viewOf>[0][]): Promise<unknown[]> {
  return Promise.all(
    intents.map(async (intent) => {
      const ref = { tenant: intent.tenant, intentId: intent.id };
      return viewOf(intent, await deps().ledger.countConflicts(ref));
    }),
  );
}

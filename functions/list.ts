import type { Intent } from '../lib/domain/intent.ts';
import { dayOf } from '../lib/ledger/item.ts';
import { intentIdOf } from '../lib/workflow/accept.ts';
import { type ApiAnswer, type ApiRequest, api, json } from './handler.ts';
import { languageHeaders, languageOf } from './language.ts';
import { ProblemError } from './problem.ts';
import { limitOf, onlyQuery, viewIn } from './shown.ts';
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
  return listed(request, page.items, { day, cursor: page.cursor });
});

async function byKey(request: ApiRequest, route?: string, key?: string): Promise<ApiAnswer> {
  if (route === undefined || key === undefined) {
    throw new ProblemError('invalid-request', { detail: 'route and key go together.' });
  }
  const { tenant, unit } = request.caller;
  const way = deps().routes.find(tenant, route);
  const id = way === undefined ? undefined : intentIdOf(tenant, unit, way.route, key);
  const intent = id === undefined ? undefined : await deps().ledger.read({ tenant, intentId: id });
  return listed(request, intent === undefined ? [] : [intent], { cursor: null });
}

async function listed(
  request: ApiRequest,
  intents: readonly Intent[],
  { day, cursor }: { readonly day?: string; readonly cursor: string | null },
): Promise<ApiAnswer> {
  const language = languageOf(request);
  const items = await Promise.all(intents.map((intent) => viewIn(language, intent)));
  const body = { ...(day === undefined ? {} : { day }), items, cursor };
  return json(200, body, languageHeaders(language));
}

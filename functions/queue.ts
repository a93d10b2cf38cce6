import type { AttentionList } from '../lib/ledger/ledger.ts';
import { queue } from '../lib/operations/queue.ts';
import { api, json } from './handler.ts';
import { languageHeaders, languageOf } from './language.ts';
import { ProblemError } from './problem.ts';
import { limitOf, onlyQuery } from './shown.ts';
import { deps, log } from './wiring.ts';

const LISTS: readonly AttentionList[] = ['doubtful', 'approved'];

/** What the unit's people should look at: `doubtful` (when unset), oldest first, or `approved` for too long. */
export const handler = api('queue', log, async (request) => {
  onlyQuery(request, ['list', 'limit', 'cursor']);
  const { tenant, unit } = request.caller;
  const list = LISTS.find((each) => each === (request.query['list'] ?? 'doubtful'));
  if (list === undefined) {
    throw new ProblemError('invalid-request', { detail: `list must be one of ${LISTS.join(', ')}.` });
  }
  const language = languageOf(request);
  const cursor = request.query['cursor'] ?? null;
  const page = await queue(deps())({ tenant, unit, list, limit: limitOf(request), cursor, language });
  return json(200, { list, ...page }, languageHeaders(language));
});

import { manifestOf } from '../lib/operations/manifest.ts';
import { api, json } from './handler.ts';
import { onlyQuery, ownIntent } from './shown.ts';
import { log } from './wiring.ts';

/** The manifest of one intent, in every state; its ETag is that of the intent. */
export const handler = api('manifest', log, async (request) => {
  onlyQuery(request, []);
  const intent = await ownIntent(request);
  return json(200, manifestOf(intent), { etag: `"${intent.version}"` });
});

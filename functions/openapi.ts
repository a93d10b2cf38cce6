import { systemClock } from '../lib/platform/clock.ts';
import { logTo } from '../lib/platform/log.ts';
import { api, json } from './handler.ts';

/** Not from `wiring.ts`: what asks no service carries no client. */
const log = () => logTo((line) => process.stderr.write(line), systemClock.now);

/** The API document, made when it is first asked for. Tells nothing of anybody, so that it needs no token. */
export const handler = api('openapi', log, async () => {
  made ??= (await import('./api-document.ts')).apiDocument();
  return json(200, made);
});

let made: object | undefined;

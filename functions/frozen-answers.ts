/** Stopping and letting go, for one route or for everything. */
import type { RouteState } from '../lib/ledger/ledger.ts';
import { EVERYTHING, setFrozen, setRouteFrozen } from '../lib/operations/freeze.ts';
import { utc } from '../lib/platform/clock.ts';
import { type ApiAnswer, type ApiRequest, json } from './handler.ts';
import { problem } from './problem.ts';
import { readBody } from './request-body.ts';
import { freezeBody } from './request-schemas.ts';
import { deps } from './wiring.ts';

/** One route of the caller's tenant. A name that is no route's, `*` among them, is unknown here. */
export async function setRouteByHand(request: ApiRequest, frozen: boolean): Promise<ApiAnswer> {
  const { why } = readBody(request, freezeBody);
  const route = request.path['route'] ?? '';
  const { tenant, subject } = request.caller;
  const state = await setRouteFrozen(deps())(tenant, route, frozen, { by: subject, why });
  return state === undefined ? problem('unknown-route') : shownState(route, state);
}

/** Everything of every tenant. */
export async function setAllByHand(request: ApiRequest, frozen: boolean): Promise<ApiAnswer> {
  // The reason is asked for both ways: whoever reads it later was not there.
  const { why } = readBody(request, freezeBody);
  return shownState(
    EVERYTHING,
    await setFrozen(deps())(EVERYTHING, frozen, { by: request.caller.subject, why }),
  );
}

function shownState(route: string, state: RouteState): ApiAnswer {
  return json(200, { route, ...state, at: utc(state.at) });
}

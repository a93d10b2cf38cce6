/** People stop sends, of one route or of everything, and let them go on. Reconciliation is never stopped. */
import type { RouteState } from '../ledger/ledger.ts';
import type { Deps } from '../workflow/deps.ts';

/** The name under which everything is frozen; no route can be called so. */
export const EVERYTHING = '*';

export interface Hand {
  readonly by: string;
  readonly why: string;
}

/** One route of the caller's own tenant; undefined: there is none of this name. */
export function setRouteFrozen(deps: Deps) {
  return async (
    tenant: string,
    route: string,
    frozen: boolean,
    hand: Hand,
  ): Promise<RouteState | undefined> =>
    deps.routes.find(tenant, route) === undefined ? undefined : setFrozen(deps)(route, frozen, hand);
}

/** In force before the next first byte: every sender asks for it last. Whose route it is was asked before. */
export function setFrozen(deps: Deps) {
  return async (route: string, frozen: boolean, hand: Hand): Promise<RouteState> => {
    const change = { ...hand, at: deps.clock.now() };
    const state = await (frozen ? deps.ledger.freeze(route, change) : deps.ledger.thaw(route, change));
    deps.log('warn', frozen ? 'frozen' : 'thawed', { route });
    return state;
  };
}

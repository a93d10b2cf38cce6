/** Whether a decision may stand: the rules of the domain, and whose the records are that it names. */
import {
  absenceShowsAfter,
  type Decision,
  type DecisionRefusal,
  decisionRefusal,
  idsNamedBy,
} from '../domain/decision.ts';
import type { Intent } from '../domain/intent.ts';
import type { Lag } from '../domain/promise.ts';
import { type Deps, wayIfAny, wayOf } from '../workflow/deps.ts';
import { bindingOf } from '../workflow/twin-hold.ts';

export interface Guarded {
  readonly kind: 'refused';
  readonly reason:
    | DecisionRefusal
    /** A record that it names belongs to another intent. */
    | 'bound_elsewhere'
    /** Its route is gone, or leads elsewhere than it did: nothing could be looked up or sent there. */
    | 'route_not_configured';
  /** With `looked_too_early`: a look later than this counts, ms. */
  readonly after?: number;
}

/** A route that is gone promises nothing. */
const NO_LAG: Lag = { applyDelayMs: null, visibilityLagMs: null };

/** Null when it may stand now; else the first reason why not. Reads the ledger only. */
export async function refusalOf(deps: Deps, intent: Intent, decision: Decision): Promise<Guarded | null> {
  const way = wayIfAny(deps, intent);
  const context = { timing: deps.timing, lag: way?.lag ?? NO_LAG };
  const reason = decisionRefusal(intent, decision, context, deps.clock.now());
  if (reason === 'looked_too_early') {
    const after = absenceShowsAfter(intent, context);
    return { kind: 'refused', reason, ...(after === null ? {} : { after }) };
  }
  if (reason !== null) return { kind: 'refused', reason };
  if (way === undefined && needsRoute(decision)) return { kind: 'refused', reason: 'route_not_configured' };
  for (const externalId of idsNamedBy(decision)) {
    const owner = await deps.ledger.boundTo(bindingOf(wayOf(deps, intent), externalId));
    if (owner !== undefined && (owner.tenant !== intent.tenant || owner.intentId !== intent.id)) {
      return { kind: 'refused', reason: 'bound_elsewhere' };
    }
  }
  return null;
}

/** The machine goes on with it, or a record is bound. */
function needsRoute(decision: Decision): boolean {
  if (idsNamedBy(decision).length > 0) return true;
  return decision.kind === 'declare_absent';
}

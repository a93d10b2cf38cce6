/**
 * People decide about a handed-over intent, or open a closed one again. Nothing is called outside: what a
 * decision leads to is done by the next run, under the same rules as everything else.
 */
import { type Decision, dueAfter, idsBoundBy, needsTwo } from '../domain/decision.ts';
import type { Intent, IntentRef, JsonObject } from '../domain/intent.ts';
import { newProposal, notSecond, standingProposal } from '../domain/proposal.ts';
import { utc } from '../platform/clock.ts';
import { apply, type Deps, evidenceId, wayOf } from '../workflow/deps.ts';
import { bindingOf } from '../workflow/twin-hold.ts';
import { type Guarded, refusalOf } from './decision-guard.ts';
import { throughRaces } from './through-races.ts';
import { decisionJson } from './trail.ts';

export type Decided =
  /** Carried out; `intent` as it stands now. */
  | { readonly kind: 'done'; readonly intent: Intent }
  /** Kept as a proposal until a second person agrees. */
  | { readonly kind: 'proposed'; readonly intent: Intent }
  | Guarded
  | { readonly kind: 'proposal_gone' }
  | { readonly kind: 'not_second'; readonly who: 'proposer' | 'submitter' }
  /** It is not the version that the person read. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'absent' | 'busy' };

interface Wish {
  readonly by: string;
  /** What the person read; a decision about anything else is none. */
  readonly version: number;
}

export interface DecisionWish extends Wish {
  readonly decision: Decision;
  readonly reason: string;
}

export interface AgreementWish extends Wish {
  /** Id of the proposal. */
  readonly agreesTo: string;
  readonly reason: string | null;
}

/** One person's decision: carried out, or where it needs two people proposed. A second proposal replaces the first. */
export function decide(deps: Deps) {
  return (ref: IntentRef, unit: string, wish: DecisionWish): Promise<Decided> =>
    onVersion(deps, ref, unit, wish, async (intent) => {
      const refused = await refusalOf(deps, intent, wish.decision);
      if (refused !== null) return refused;
      return needsTwo(wish.decision) ? propose(deps, intent, wish) : carryOut(deps, intent, wish, {});
    });
}

/** The second person's word carries the proposal out, if it stands and everything that it rests on still does. */
export function agree(deps: Deps) {
  return (ref: IntentRef, unit: string, wish: AgreementWish): Promise<Decided> =>
    onVersion(deps, ref, unit, wish, async (intent) => {
      const proposal = standingProposal(intent, wish.agreesTo, deps.clock.now());
      if (proposal === null) return { kind: 'proposal_gone' };
      const who = notSecond(intent, proposal, wish.by);
      if (who !== null) return { kind: 'not_second', who };
      const { id, by, decision } = proposal;
      const refused = await refusalOf(deps, intent, decision);
      if (refused !== null) return refused;
      return carryOut(deps, intent, { ...wish, decision }, { proposal: id, proposedBy: by });
    });
}

/** A rival write makes the version another one: it is for the person to read again, never for us to try again. */
function onVersion(
  deps: Deps,
  ref: IntentRef,
  unit: string,
  { version }: Wish,
  work: (intent: Intent) => Promise<Decided | 'lost'>,
): Promise<Decided> {
  return throughRaces<Decided>(deps, ref, unit, async (intent) =>
    intent.version === version ? work(intent) : { kind: 'stale' },
  );
}

async function propose(deps: Deps, intent: Intent, wish: DecisionWish): Promise<Decided | 'lost'> {
  const proposal = newProposal(wish, deps.newId(), deps.clock.now());
  await keep(deps, intent, 'proposed', wish, { proposal: proposal.id, until: utc(proposal.until) });
  const after = await apply(deps, intent, { kind: 'proposed', proposal });
  return after === undefined ? 'lost' : { kind: 'proposed', intent: after };
}

/** Binds first, then keeps the fact, then moves: each may be done twice, and only the last one decides. */
async function carryOut(
  deps: Deps,
  intent: Intent,
  wish: Omit<DecisionWish, 'reason'> & { readonly reason: string | null },
  agreed: JsonObject,
): Promise<Decided | 'lost'> {
  const { decision } = wish;
  for (const externalId of idsBoundBy(decision)) {
    const bound = await deps.ledger.bind(bindingOf(wayOf(deps, intent), externalId), refOf(intent));
    if (bound.kind === 'taken') return { kind: 'refused', reason: 'bound_elsewhere' };
  }
  await keep(deps, intent, 'proposal' in agreed ? 'agreed' : 'decided', wish, agreed);
  const dueAt = dueAfter(decision, deps.clock.now());
  const after = await apply(deps, intent, { kind: 'decided', decision, dueAt });
  return after === undefined ? 'lost' : { kind: 'done', intent: after };
}

/** Kept before the change. `version` tells which change it was, where it then met a rival. */
async function keep(
  deps: Deps,
  intent: Intent,
  did: 'proposed' | 'agreed' | 'decided',
  { by, reason, decision }: { by: string; reason: string | null; decision: Decision },
  more: JsonObject,
): Promise<void> {
  const at = deps.clock.now();
  const facts = { did, by, reason, decision: decisionJson(decision), version: intent.version, ...more };
  await deps.ledger.addEvidence(refOf(intent), { kind: 'decision', id: evidenceId(deps, at), at, facts });
}

function refOf(intent: Intent): IntentRef {
  return { tenant: intent.tenant, intentId: intent.id };
}

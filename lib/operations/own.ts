/** Who works on an intent. It is a note for people: nothing is allowed or refused because of it. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import { utc } from '../platform/clock.ts';
import { apply, type Deps, evidenceId } from '../workflow/deps.ts';
import { throughRaces } from './through-races.ts';

export type Owned =
  | { readonly kind: 'done'; readonly intent: Intent }
  /** Somebody else works on it. */
  | { readonly kind: 'owned' }
  | { readonly kind: 'absent' | 'busy' };

export interface Wish {
  readonly by: string;
  /** Also from somebody else. */
  readonly takeOver: boolean;
}

/** Taking twice is taking once. */
export function own(deps: Deps) {
  return (ref: IntentRef, unit: string, wish: Wish): Promise<Owned> =>
    change(deps, ref, unit, wish, (intent) => intent.owner?.by === wish.by, 'took');
}

/** What nobody works on is given back already. */
export function disown(deps: Deps) {
  return (ref: IntentRef, unit: string, wish: Wish): Promise<Owned> =>
    change(deps, ref, unit, wish, (intent) => intent.owner === null, 'gave_back');
}

function change(
  deps: Deps,
  ref: IntentRef,
  unit: string,
  { by, takeOver }: Wish,
  isSo: (intent: Intent) => boolean,
  did: 'took' | 'gave_back',
): Promise<Owned> {
  return throughRaces<Owned>(deps, ref, unit, async (intent) => {
    if (isSo(intent)) return { kind: 'done', intent };
    if (intent.owner !== null && intent.owner.by !== by && !takeOver) return { kind: 'owned' };
    const at = deps.clock.now();
    await keep(deps, intent, by, did, at);
    const after = await apply(deps, intent, { kind: 'owned', owner: did === 'took' ? { by, at } : null });
    return after === undefined ? 'lost' : { kind: 'done', intent: after };
  });
}

/** Kept before the change. Where two people set out at once, the owner, or `from` of the next, tells who came first. */
async function keep(deps: Deps, intent: Intent, by: string, did: string, at: number): Promise<void> {
  const before = intent.owner;
  const from = before === null ? null : { by: before.by, at: utc(before.at) };
  const facts = { by, did, from, version: intent.version };
  const ref = { tenant: intent.tenant, intentId: intent.id };
  await deps.ledger.addEvidence(ref, { kind: 'owner', id: evidenceId(deps, at), at, facts });
}

/** A person orders a settled effect once more: a new intent, whose key the server issues, with an approval of its own. */
import { sha256 } from '../domain/fingerprint.ts';
import type { Intent, IntentRef, JsonObject } from '../domain/intent.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import { type Acceptance, enter } from '../workflow/accept.ts';
import { type Deps, wayOf } from '../workflow/deps.ts';

export type Again =
  | Acceptance
  /** There is none, or it is another unit's. */
  | { readonly kind: 'absent' }
  /** Open, or evidence against its end is still being looked into. */
  | { readonly kind: 'not_settled' }
  /** Its route is gone, or leads elsewhere than it did. */
  | { readonly kind: 'route_changed' };

export interface Wish {
  readonly by: string;
  readonly reason: string;
}

/** Asked twice of the same intent it is one and the same new intent. */
export function again(deps: Deps) {
  return async (ref: IntentRef, unit: string, wish: Wish): Promise<Again> => {
    const before = await deps.ledger.read(ref);
    if (before === undefined || before.unit !== unit) return { kind: 'absent' };
    if (!SETTLED.includes(before.state) || before.contraryAt !== null) return { kind: 'not_settled' };
    if (!leadsWhereItDid(deps, before)) return { kind: 'route_changed' };
    const key = nextKey(before.key);
    await keep(deps, ref, wish, { madeUnder: key });
    const entered = await enter(deps)(requestOf(before, key, wish.by));
    if (!('intent' in entered)) return entered;
    const made = { tenant: ref.tenant, intentId: entered.intent.id };
    await keep(deps, made, wish, { of: before.id });
    return entered;
  };
}

/** What follows a tilde is the server's: no caller can send such a key. `PO-37` → `PO-37~2` → `PO-37~3`. */
export function nextKey(key: string): string {
  const [, stem = key, count = '1'] = /^(.+)~(\d+)$/.exec(key) ?? [];
  return `${stem}~${Number(count) + 1}`;
}

/** The same effect; what was to follow the first is not made twice. */
function requestOf(before: Intent, key: string, subject: string): Parameters<ReturnType<typeof enter>>[0] {
  const { tenant, unit, route, payload, parent, corrects, id } = before;
  return { tenant, unit, subject, key, route, payload, parent, corrects, traceIds: { again: id } };
}

function leadsWhereItDid(deps: Deps, intent: Intent): boolean {
  try {
    wayOf(deps, intent);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** One row for each person and reason on each of the two, however often they ask. */
async function keep(deps: Deps, ref: IntentRef, { by, reason }: Wish, other: JsonObject): Promise<void> {
  const id = sha256(JSON.stringify([by, reason])).slice(0, 32);
  const facts = { by, reason, ...other };
  await deps.ledger.addEvidence(ref, { kind: 'again', id, at: deps.clock.now(), facts });
}

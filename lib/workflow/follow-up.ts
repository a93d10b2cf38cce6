/** Makes the intent that follows a confirmed one, by one conditional put. Its own unknown never touches its parent. */
import type { FollowUp, Intent } from '../domain/intent.ts';
import { enter } from './accept.ts';
import type { Deps } from './deps.ts';

/** Its id; undefined when its route does not take it any more. Made twice it is the same one. */
export async function makeFollowUp(
  deps: Deps,
  parent: Intent,
  { route, payload }: FollowUp,
): Promise<string | undefined> {
  const entered = await enter(deps)({
    tenant: parent.tenant,
    unit: parent.unit,
    subject: parent.submittedBy,
    key: keyAfter(parent),
    route,
    payload,
    parent: null,
    traceIds: { ...parent.traceIds, follows: parent.id },
  });
  if (entered.kind === 'accepted' || entered.kind === 'same') return entered.intent.id;
  const { tenant, id: intentId } = parent;
  deps.log('error', 'follow_up_refused', { tenant, intentId, route, reason: entered.kind });
  return undefined;
}

/** Names its parent: one key may stand for an order and for a booking, and what follows each is its own. */
function keyAfter({ key, id }: Intent): string {
  return `${key}~then-${id.slice('int_'.length, 'int_'.length + 12)}`;
}

/**
 * What people should look at, one unit's at a time: what is doubtful, oldest first, and what was approved and has
 * no confirmed external id for longer than its route allows. It reads only; every figure is worked out anew.
 */
import type { Intent, IntentRef } from '../domain/intent.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import type { AttentionList, Page } from '../ledger/ledger.ts';
import type { Deps } from '../workflow/deps.ts';
import type { Language } from './explanation.ts';
import { approvedAt, type QueueItem, queueItem } from './queue-item.ts';

export interface QueueWish {
  readonly tenant: string;
  readonly unit: string;
  readonly list: AttentionList;
  /** Most items of one answer. */
  readonly limit: number;
  readonly cursor: string | null;
  readonly language: Language;
}

/** Pages read for one answer: a list whose first pages hold nothing late must not be read to its end. */
const MOST_PAGES = 5;
/** For an intent whose route is not configured any more, ms. */
const CONFIRM_WITHIN_MS = 3_600_000;

/** At most `limit` items; fewer with a cursor when they are thinly spread. A cursor of null ends the list. */
export function queue(deps: Deps) {
  return async (wish: QueueWish): Promise<Page<QueueItem>> => {
    const { items, cursor } = await collected(deps, wish);
    const frozen = await frozenRoutes(deps, items);
    const shown = items.map((intent) => {
      const { list, language } = wish;
      return queueItem(deps, intent, { frozen: frozen.has(intent.route), list, language });
    });
    return { items: await Promise.all(shown), cursor };
  };
}

async function collected(deps: Deps, wish: QueueWish): Promise<Page<Intent>> {
  const now = deps.clock.now();
  const belongs = (intent: Intent) =>
    intent.unit === wish.unit && (wish.list === 'doubtful' ? isDoubtful(intent) : isLate(deps, intent, now));
  const items: Intent[] = [];
  const { tenant, unit } = wish;
  let { cursor } = wish;
  for (let pages = 0; pages < MOST_PAGES && items.length < wish.limit; pages += 1) {
    // Never more than are missing: a cursor stands at the end of a page, not within it.
    const page = await deps.ledger.attention(tenant, unit, wish.list, wish.limit - items.length, cursor);
    items.push(...page.items.filter(belongs));
    cursor = page.cursor;
    if (cursor === null || (wish.list === 'approved' && isAllYoung(deps, wish.tenant, page.items, now))) {
      return { items, cursor: null };
    }
  }
  return { items, cursor };
}

/** The index only proposes: what was read may have moved on. */
function isDoubtful(intent: Intent): boolean {
  const conflicted = intent.conflictAt !== null && !SETTLED.includes(intent.state);
  return ['unknown', 'handover'].includes(intent.state) || intent.incident !== null || conflicted;
}

/** Approved, open, and without a confirmed id for longer than the route allows; planned for later is not late. */
function isLate(deps: Deps, intent: Intent, now: number): boolean {
  const at = approvedAt(intent);
  const waits = SETTLED.includes(intent.state) || intent.state === 'awaiting_approval';
  if (at === null || waits || isDoubtful(intent) || intent.externalId !== null) return false;
  const way = deps.routes.find(intent.tenant, intent.route);
  const withinMs = way?.route.policy.confirmWithinMs ?? CONFIRM_WITHIN_MS;
  return now > Math.max(at, intent.plannedAt) + withinMs;
}

/** Approved so lately that no route calls it late; what follows was approved later still. */
function isAllYoung(deps: Deps, tenant: string, page: readonly Intent[], now: number): boolean {
  const own = deps.routes.all.filter(({ route }) => route.tenant === tenant);
  const shortest = Math.min(CONFIRM_WITHIN_MS, ...own.map(({ route }) => route.policy.confirmWithinMs));
  return page.length > 0 && page.every((intent) => (approvedAt(intent) ?? 0) + shortest >= now);
}

/** Asked once for each route. */
async function frozenRoutes(deps: Deps, intents: readonly Intent[]): Promise<ReadonlySet<string>> {
  const one = new Map(intents.map((intent) => [intent.route, intent]));
  const asked = [...one].map(async ([route, intent]) => {
    const ref: IntentRef = { tenant: intent.tenant, intentId: intent.id };
    const { frozen } = await deps.ledger.readForSend(ref, route);
    return frozen ? [route] : [];
  });
  return new Set((await Promise.all(asked)).flat());
}

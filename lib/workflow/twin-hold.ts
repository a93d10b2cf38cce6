/**
 * The hold that twins share: intents whose effects nobody could tell apart, because the provider shows no
 * reference. Whoever has it may claim, and what is seen outside counts for its holder only.
 */
import { canonicalText, NORMALISATION, sha256 } from '../domain/fingerprint.ts';
import { ELSEWHERE, type Environment, type Intent, type IntentRef } from '../domain/intent.ts';
import type { Binding } from '../ledger/ledger.ts';
import { familyOf } from '../providers/one-account.ts';
import type { ProviderRecord } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import type { Deps } from './deps.ts';

export type Held =
  | { readonly kind: 'mine' }
  /** Somebody else was faster; ask again. */
  | { readonly kind: 'raced' }
  /** The holder is still open; `ELSEWHERE` where it is another unit's. */
  | { readonly kind: 'waits'; readonly holder: string }
  /** The holder ended, and nobody knows whether it left an effect. */
  | { readonly kind: 'undetermined' };

type Holding = Pick<Deps, 'ledger'>;

/** Takes the hold if it is free, or from a twin that is over. It needs no release: the next one takes it over. */
export async function takeHold(deps: Holding, way: Way, intent: Intent): Promise<Held> {
  if (way.provider.promise.referenceShown) return { kind: 'mine' };
  const key = holdKeyOf(way, intent);
  const me = refOf(intent);
  const held = await deps.ledger.hold(key, me, null);
  if (held.kind === 'mine') return held;
  const first = await deps.ledger.read(held.by);
  const end = await endOf(deps, way, first);
  if (end === 'undetermined') return { kind: 'undetermined' };
  if (end === 'open')
    return { kind: 'waits', holder: first?.unit === intent.unit ? held.by.intentId : ELSEWHERE };
  const taken = await deps.ledger.hold(key, me, held.by);
  return taken.kind === 'mine' ? taken : { kind: 'raced' };
}

/** Whether an open twin goes first: what a look shows now may be its effect. */
export async function isAnothersTurn(deps: Holding, way: Way, intent: Intent): Promise<boolean> {
  return (await takeHold(deps, way, intent)).kind === 'waits';
}

/**
 * Of records that match, those that may be this intent's. Where no reference shows, one that is bound to a
 * settled twin is that one's, and one without effect is ours only under the id that we were given.
 */
export async function ownRecords(
  deps: Holding,
  way: Way,
  intent: Intent,
  records: readonly ProviderRecord[],
): Promise<readonly ProviderRecord[]> {
  if (way.provider.promise.referenceShown) return records;
  const kept: ProviderRecord[] = [];
  for (const record of records) if (await mayBeOurs(deps, way, intent, record)) kept.push(record);
  return kept;
}

async function mayBeOurs(deps: Holding, way: Way, intent: Intent, record: ProviderRecord): Promise<boolean> {
  const { externalId, reference, withoutEffect } = record;
  if (externalId === intent.acknowledgedId || reference === way.provider.reference(intent)) return true;
  if (withoutEffect === true) return false;
  const owner = await deps.ledger.boundTo(bindingOf(way, externalId));
  if (owner === undefined || owner.intentId === intent.id) return true;
  const other = await deps.ledger.read(owner);
  return other?.state !== 'confirmed' && !(other?.state === 'closed' && other.outcome === 'attested');
}

/** One record at the provider, as bindings name it: the same under every adapter that writes into the account. */
export function bindingOf(way: Way, externalId: string): Binding {
  const { route, provider } = way;
  const place = { account: route.account, environment: environmentOf(way) };
  return { provider: familyOf(provider), ...place, kind: provider.kind, externalId };
}

/** An account that is one by its name knows no environment, so that a route's word for it makes no second record. */
function environmentOf({ route, provider }: Way): Environment {
  return provider.oneAccount === 'by_name' ? 'production' : route.environment;
}

/** The rule of the key never changes: a hold that was taken before a deploy must be met after it. */
const KEY_RULE = NORMALISATION.rules['fp1'];

/** Provider, account, environment, kind, parent and shown content: what equal effects have in common. */
export function holdKeyOf(way: Way, intent: Pick<Intent, 'parent' | 'payload'>): string {
  const { provider, account } = way.route;
  const environment = environmentOf(way);
  const shown = way.provider.shownContent?.(intent.payload) ?? intent.payload;
  const shared = [provider, account, environment, way.provider.kind, intent.parent, shown];
  return sha256(canonicalText(shared, KEY_RULE));
}

/** Over once its record is known and bound, or there is none. */
async function endOf(
  deps: Holding,
  way: Way,
  first: Intent | undefined,
): Promise<'open' | 'over' | 'undetermined'> {
  // Whether it left an effect is looked into again.
  if (first !== undefined && first.contraryAt !== null && first.state !== 'confirmed') return 'open';
  switch (first?.state) {
    case undefined:
      return 'undetermined';
    case 'confirmed':
    case 'rejected':
      return 'over';
    case 'closed':
      return (await isAccountedFor(deps, way, first)) ? 'over' : 'undetermined';
    default:
      return 'open';
  }
}

async function isAccountedFor(deps: Holding, way: Way, first: Intent): Promise<boolean> {
  if (first.outcome === 'no_effect') return true;
  if (first.outcome !== 'attested' || first.attestedId === null) return false;
  const owner = await deps.ledger.boundTo(bindingOf(way, first.attestedId));
  return owner?.intentId === first.id;
}

function refOf(intent: Intent): IntentRef {
  return { tenant: intent.tenant, intentId: intent.id };
}

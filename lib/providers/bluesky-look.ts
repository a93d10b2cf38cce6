/** Looking for a post under the key that is made from its intent: one record, and the read probe. */
import type { Intent } from '../domain/intent.ts';
import { seen, underKey } from './bluesky-api.ts';
import { partsOf, postKey } from './bluesky-key.ts';
import { withPublicUrl } from './bluesky-page.ts';
import type { LookContext, Lookup } from './provider.ts';

/** Everything there that can be this intent's post: what its key holds. */
export async function findPost(look: LookContext, intent: Pick<Intent, 'id'>): Promise<Lookup> {
  return underKey(look, postKey(intent.id));
}

/** Readback of our own key, or of the address that a person gave, as we see it and as a stranger does. */
export async function readPost(
  look: LookContext,
  intent: Pick<Intent, 'id'>,
  externalId: string | null,
): Promise<Lookup> {
  const own = postKey(intent.id);
  const named = externalId === null ? { did: look.account, key: own } : partsOf(externalId);
  if (named === null || named.did !== look.account) return seen([], false);
  const lookup = await withPublicUrl(look, await underKey(look, named.key));
  if (lookup.kind === 'failed') return lookup;
  return { ...lookup, complete: lookup.complete && named.key === own };
}

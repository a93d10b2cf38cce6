/** Whether a provider shows the images that were approved, in their order, by the hashes of their bytes. */

export type ImageComparison =
  | { readonly kind: 'equal' }
  | { readonly kind: 'different'; readonly reason: 'image_missing' | 'image_added' | 'image_altered' }
  | { readonly kind: 'not_comparable'; readonly reason: 'images_reencoded' | 'image_hash_hidden' };

/**
 * @param approved sha256, hex, in order
 * @param shown the same of what is shown; null where the provider gives no hash
 * @param promise `reencoded`: the provider makes other bytes of an image, so an unequal hash says nothing
 */
export function compareImages(
  approved: readonly string[],
  shown: readonly (string | null)[],
  { reencoded }: { readonly reencoded: boolean },
): ImageComparison {
  if (shown.length !== approved.length) {
    return { kind: 'different', reason: shown.length < approved.length ? 'image_missing' : 'image_added' };
  }
  const unequal = shown.filter((hash, at) => hash?.toLowerCase() !== approved[at]?.toLowerCase());
  if (unequal.length === 0) return { kind: 'equal' };
  if (reencoded) return { kind: 'not_comparable', reason: 'images_reencoded' };
  return unequal.every((hash) => hash === null)
    ? { kind: 'not_comparable', reason: 'image_hash_hidden' }
    : { kind: 'different', reason: 'image_altered' };
}

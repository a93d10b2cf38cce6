/** The checks of a readback that every post must pass, however it was written. */
import { isDeepStrictEqual } from 'node:util';
import type { Intent } from '../domain/intent.ts';
import { partsOf } from './bluesky-key.ts';
import { recordOf, replyRefs } from './bluesky-payload.ts';
import type { ProviderRecord } from './provider.ts';

/** Nothing is rewritten there, so equal is equal to the last character. */
export function checksOf(intent: Intent, record: ProviderRecord): Record<string, boolean> {
  const { reply: askedReply = null, embed: askedEmbed = null, ...asked } = recordOf(intent.payload);
  const { reply = null, embed = null, more = [], ...shown } = record.content;
  return {
    // Only a readback goes to the public URL, and fails where strangers are not shown the post.
    ...(record.url === undefined ? {} : { publicUrl: true }),
    author: partsOf(record.externalId)?.did === intent.account && record.account === intent.account,
    payload: isDeepStrictEqual(shown, asked) && isDeepStrictEqual(more, []),
    media: isDeepStrictEqual(embed, askedEmbed),
    parent: isDeepStrictEqual(reply, askedReply) && parentIn(record.content) === intent.parent,
    // There are no drafts; a label of the author's own can hide a post from strangers.
    visibility: !(Array.isArray(more) && more.includes('labels')),
  };
}

/** The address of the post that this one answers, null for none; undefined where its reply has another form. */
export function parentIn({ reply = null, more }: ProviderRecord['content']): string | null | undefined {
  if (Array.isArray(more) && more.includes('reply')) return undefined;
  return replyRefs.safeParse(reply).data?.parent.uri ?? null;
}

/** The public page of a post, for anybody: HTML with the post as linked data inside. */
import type { House } from './medium-house.ts';
import type { Account, SavedPost } from './medium-records.ts';
import { lied, playOn } from './medium-view.ts';
import { answer, NOT_FOUND, type Wire } from './wire.ts';

/** 404 under any handle but the author's present one, for drafts and what is deleted, and within the lag. */
export function viewPage(house: House, handle: string, id: string): Wire {
  return house.book.atomically(() => {
    const saved = house.book.postById(id);
    const account = house.book.accountByHandle(handle);
    if (account === undefined || saved === undefined || !isShown(house, saved, account)) return MISSING;
    const played = playOn(house, saved, 'page');
    const post = lied(saved, played);
    if (post.deleted) return MISSING;
    let author = account;
    for (const { fault } of played) {
      if (fault.kind === 'page_404') return MISSING;
      if (fault.kind === 'page_redirect') {
        return answer(302, '', { location: fault.location ?? '/login' });
      }
      if (fault.kind === 'page_wrong_author') {
        author = { ...(house.book.accountBeside(account.id) ?? account), display_name: account.display_name };
      }
    }
    return answer(200, pageOf(post, author));
  });
}

const MISSING: Wire = { kind: 'answer', answer: NOT_FOUND };

function isShown(house: House, post: SavedPost, account: Account): boolean {
  const settled = post.savedAt <= Date.now() - house.visibilityLagMs;
  return settled && post.authorId === account.id && !post.deleted && post.visibility !== 'draft';
}

function pageOf(post: SavedPost, author: Account): string {
  const linked = {
    '@context': 'https://schema.org',
    '@type': 'SocialMediaPosting',
    identifier: post.id,
    author: {
      '@type': 'Person',
      identifier: author.id,
      alternateName: author.handle,
      name: author.display_name,
    },
    articleBody: post.text,
    ...(post.parent === null ? {} : { isPartOf: post.parent }),
  };
  // Neither `</script>` nor `<!--` of a text may end or change the script.
  const script = JSON.stringify(linked).replaceAll('<', '\\u003c');
  const name = escaped(author.display_name);
  return [
    `<!doctype html><html><head><meta charset="utf-8"><title>${name}</title>`,
    `<script type="application/ld+json">${script}</script></head>`,
    `<body><h1>${name}</h1><article>${escaped(post.text)}</article></body></html>`,
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

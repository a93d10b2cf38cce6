/** What a POST does to the book, at once or later; all of it inside the transaction of its turn. */
import { isInTime, lateSaves } from './late-saves.ts';
import type { Asked } from './medium-book.ts';
import { WRITE_FAULTS, type WriteFault } from './medium-faults.ts';
import type { House, Turn } from './medium-house.ts';
import { rewriteImages, rewriteText } from './medium-rewrites.ts';
import { NOTHING } from './post-faults.ts';
import type { Answer } from './wire.ts';

export interface Posted {
  readonly asked: Asked;
  /** When it arrived whole. */
  readonly at: number;
}

/** No post has this id: it is the one before the first. */
const NO_POST = '4611686018427387904';

/** Applies one POST and says what an honest medium answers. */
export function applyPost(turn: Turn, posted: Posted, fault: WriteFault | null): Answer {
  switch (fault === null ? 'now' : WRITE_FAULTS[fault.kind]) {
    case 'never':
      return NOTHING;
    case 'later':
      for (const each of posted.asked.media) turn.house.book.useImage(each);
      saves.postpone(turn, posted, fault?.delayMs);
      return NOTHING;
    case 'now': {
      const asked = alteredBy(turn, posted.asked, fault);
      const first = save(turn, asked, fault);
      if (fault?.kind === 'delivered_twice') save(turn, asked, fault);
      return first;
    }
  }
}

function alteredBy({ house }: Turn, asked: Asked, fault: WriteFault | null): Asked {
  switch (fault?.kind) {
    case 'wrong_author_saved':
      return { ...asked, account: house.book.accountBeside(asked.account)?.id ?? asked.account };
    case 'wrong_parent_saved': {
      const other = asked.parent === null ? NO_POST : null;
      return { ...asked, parent: fault.parent === undefined ? other : fault.parent };
    }
    case 'draft_saved':
      return { ...asked, visibility: 'draft' };
    default:
      return asked;
  }
}

function save({ house, now }: Turn, asked: Asked, fault: WriteFault | null): Answer {
  const { book } = house;
  const words = new Set(book.rewrites() ?? house.rewrites);
  const images = asked.media.flatMap((id) => book.imageById(id) ?? []);
  const kept = fault?.kind === 'image_missing' ? images.slice(0, -1) : images;
  const { id } = book.savePost({
    ...rewriteText(asked.text, words, book.shorten),
    authorId: asked.account,
    sentText: asked.text,
    parent: asked.parent,
    createdAt: now,
    savedAt: now,
    visibility: asked.visibility,
    media: rewriteImages(kept, words),
    sent: true,
  });
  for (const each of asked.media) book.useImage(each);
  return { status: 201, body: { post: { id } } };
}

const saves = lateSaves<Posted, House>((turn, posted) => {
  if (isInTime(turn, posted)) save(turn, posted.asked, null);
});
export const { resumePending } = saves;

/** What a POST does to the book, at once or later; all of it inside the transaction of its turn. */
import type { Asked } from './medium-book.ts';
import { WRITE_FAULTS, type WriteFault } from './medium-faults.ts';
import { commit, type House, type Turn } from './medium-house.ts';
import { rewriteImages, rewriteText } from './medium-rewrites.ts';
import type { Answer } from './wire.ts';

export interface Posted {
  readonly asked: Asked;
  /** When it arrived whole. */
  readonly at: number;
}

/** Unless told otherwise, what is saved later is aimed at this share of the declared bound. */
const LATE_SHARE = 0.6;
/** And never at more than this, so that a slow timer still keeps it. */
const LATEST_SHARE = 0.9;
/** No post has this id: it is the one before the first. */
const NO_POST = '4611686018427387904';
const NOTHING: Answer = { status: 503, body: '' };

/** Applies one POST and says what an honest medium answers. */
export function applyPost(turn: Turn, posted: Posted, fault: WriteFault | null): Answer {
  switch (fault === null ? 'now' : WRITE_FAULTS[fault.kind]) {
    case 'never':
      return NOTHING;
    case 'later':
      postpone(turn, posted, fault);
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

function postpone(turn: Turn, { asked, at }: Posted, fault: WriteFault | null): void {
  const { house } = turn;
  for (const each of asked.media) house.book.useImage(each);
  const wanted = fault?.delayMs ?? house.applyDelayMs * LATE_SHARE;
  const dueAt = Math.floor(at + Math.min(wanted, house.applyDelayMs * LATEST_SHARE));
  if (dueAt <= turn.now) {
    saveLate(turn, { asked, at });
    return;
  }
  const n = house.book.postpone({ asked, at, dueAt });
  turn.after.push(() => schedule(house, n, dueAt));
}

/** Goes on with what an earlier process left to be saved. */
export function resumePending(house: House): void {
  for (const { n, dueAt } of house.book.allPending()) schedule(house, n, dueAt);
}

function schedule(house: House, n: number, dueAt: number): void {
  const timer = setTimeout(() => {
    house.timers.delete(timer);
    commit(house, (turn) => {
      const late = house.book.takePending(n);
      if (late !== undefined) saveLate(turn, late);
    });
  }, dueAt - Date.now());
  house.timers.add(timer);
}

/** Past the bound nothing is saved: the bound is a promise, the fault is not. */
function saveLate(turn: Turn, { asked, at }: Posted): void {
  if (turn.now <= at + turn.house.applyDelayMs) save(turn, asked, null);
}

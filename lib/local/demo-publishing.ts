/**
 * The publishing chapter of the demo: posts that people approve, at a medium that knows no key, shows no reference
 * of ours and rewrites texts. All scenarios play side by side, each with words of its own.
 */
import { type MediumTruth, readMediumBook } from '../simulators/medium-truth.ts';
import { type Played, report, sideBySide, title } from './demo-chapter.ts';
import type { Place } from './demo-publishing-draft.ts';
import { judge, type Stated, type Work } from './demo-publishing-judge.ts';
import { setRewrites } from './demo-publishing-medium.ts';
import { SCENARIOS } from './demo-publishing-scenarios.ts';
import { startService } from './service.ts';
import { placesIn } from './stack.ts';

const DATA_DIR = '.kakutei/demo-publishing';

type PlayedPosts = readonly Played<Place, Work, Stated>[];

/** True when every scenario ended as it must. */
export async function publishingChapter(json: boolean): Promise<boolean> {
  title('Publishing: a new ledger and a new medium');
  const played = await playAll();
  const book = readMediumBook(placesIn(DATA_DIR).medium);
  const endings = played.map(({ scenario, works, unmet, seconds }) =>
    judge(scenario, works, book, seconds, unmet),
  );
  return report(endings, strangers(played, book), json);
}

async function playAll(): Promise<PlayedPosts> {
  const service = await startService({ dataDir: DATA_DIR, anew: ['ledger', 'medium'] });
  try {
    await setRewrites(service);
    return await sideBySide(service, { book: placesIn(DATA_DIR).medium }, SCENARIOS);
  } finally {
    await service.stop();
  }
}

/** POSTs in the book that belong to no scenario. */
function strangers(played: PlayedPosts, book: MediumTruth): string[] {
  const ours = new Set(played.flatMap(({ works }) => works.map(({ post }) => post.text)));
  return book.requests
    .filter(({ text }) => text === null || !ours.has(text))
    .map(({ text }) => `a POST of "${text}" that belongs to nothing here`);
}

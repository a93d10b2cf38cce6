/** What faults cost: the intents that were carried through them, held against what the PDS lists. */
import { POSTS } from './ground.ts';
import type { Rig } from './product.ts';
import { recordsOf } from './record-book.ts';

export interface Ended {
  /** Each intent has a text of its own. */
  readonly text: string;
  /** Writes that were begun. */
  readonly attempts: number;
  /** Whether the writer says that it is done. */
  readonly confirmed: boolean;
}

export interface Toll {
  readonly intents: number;
  readonly attempts: number;
  /** Posts beyond the first of an intent. */
  readonly duplicates: number;
  /** Intents without a post. */
  readonly lost: number;
  readonly unconfirmed: number;
}

/** Counts by text in both accounts, as the PDS lists them now. */
export async function tollOf({ pds }: Rig, ended: readonly Ended[]): Promise<Toll> {
  const held = await Promise.all([pds.alice, pds.bob].map(({ did }) => recordsOf(pds.url, did, POSTS)));
  const texts = held.flat().map(({ value }) => value['text']);
  const counts = ended.map(({ text }) => texts.filter((each) => each === text).length);
  return {
    intents: new Set(ended.map(({ text }) => text)).size,
    attempts: ended.reduce((sum, { attempts }) => sum + attempts, 0),
    duplicates: counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
    lost: counts.filter((count) => count === 0).length,
    unconfirmed: ended.filter(({ confirmed }) => !confirmed).length,
  };
}

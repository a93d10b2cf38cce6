/** The scenarios of the publishing chapter, and how each must end. */
import type { Scenario } from './demo-chapter.ts';
import type { Place } from './demo-publishing-draft.ts';
import type { Stated, Work } from './demo-publishing-judge.ts';
import {
  answerLost,
  cutOff,
  deletedByHand,
  failedThere,
  lookAlikes,
  rewritten,
  twoAlike,
} from './demo-publishing-plays.ts';

const ONE = { state: 'confirmed', effects: 1, posts: 1 };
/** One post, and nobody but a person can say what it is. */
const ASKED = { state: 'handover', effects: 1, posts: 1, handovers: 1 };

export const SCENARIOS: readonly Scenario<Place, Work, Stated>[] = [
  { name: '1-answer-lost', route: 'posts-blind', stated: ONE, play: answerLost },
  { name: '2-failed-there', route: 'posts-searchable', stated: { ...ONE, posts: 2 }, play: failedThere },
  { name: '3-two-alike', route: 'posts-searchable', stated: ASKED, play: twoAlike },
  {
    name: '4-look-alikes',
    route: 'posts-searchable',
    stated: { ...ONE, effects: 2, posts: 2 },
    play: lookAlikes,
  },
  { name: '5-rewritten', route: 'posts-searchable', stated: ONE, play: rewritten },
  { name: '6-cut-off', route: 'posts-searchable', stated: { ...ASKED, equal: false }, play: cutOff },
  { name: '7-deleted', route: 'posts-searchable', stated: ASKED, play: deletedByHand },
];

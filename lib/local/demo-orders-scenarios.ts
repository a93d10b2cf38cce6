/** The scenarios of the purchase-order chapter, and how each must end. */

import type { Scenario } from './demo-chapter.ts';
import type { Stated } from './demo-ending.ts';
import { Unexpected } from './demo-orders-desk.ts';
import type { Place, Signed } from './demo-orders-draft.ts';
import type { Work } from './demo-orders-judge.ts';
import { blind, orderAndMail, twins } from './demo-orders-people.ts';
import {
  answerLost,
  approvalOver,
  askedAgain,
  otherAddress,
  otherQuantity,
  searchLags,
  workerKilled,
} from './demo-orders-plays.ts';

const ONE = { state: 'confirmed', effects: 1 };

/** @param hanging the order whose worker was killed, or why there is none. */
export function scenarios(hanging: Signed | Unexpected): readonly Scenario<Place, Work, Stated>[] {
  return [
    { name: '1-answer-lost', route: 'orders-unique', stated: ONE, play: answerLost },
    { name: '2-asked-again', route: 'orders-keyed', stated: ONE, play: askedAgain },
    {
      name: '3-worker-killed',
      route: 'orders-searchable',
      stated: { ...ONE, posts: 1 },
      ...(hanging instanceof Unexpected ? {} : { startedAt: hanging.startedAt }),
      play: workerKilled(hanging),
    },
    {
      name: '4a-other-quantity',
      route: 'orders-keyed',
      stated: { ...ONE, conflicts: 1 },
      play: otherQuantity,
    },
    { name: '4b-other-address', route: 'orders-keyed', stated: { ...ONE, conflicts: 1 }, play: otherAddress },
    { name: '5-approval-over', route: 'orders-searchable', stated: { ...ONE, posts: 1 }, play: approvalOver },
    {
      name: '6a-blind',
      route: 'orders-blind',
      stated: { state: 'handover', effects: 1, handovers: 1, posts: 1 },
      play: blind,
    },
    { name: '6b-search-lags', route: 'orders-searchable', stated: { ...ONE, posts: 1 }, play: searchLags },
    { name: '7-twins', route: 'orders-blind', stated: { ...ONE, effects: 2, posts: 2 }, play: twins },
    {
      name: '8-order-and-mail',
      route: 'orders-searchable',
      stated: { ...ONE, effects: 2 },
      play: orderAndMail,
    },
  ];
}

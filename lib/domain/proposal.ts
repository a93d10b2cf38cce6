/** Decisions of two people: one proposes, another agrees. Time, new evidence or another proposal makes it void. */
import type { Decision } from './decision.ts';
import type { Intent } from './intent.ts';
import { DAY_MS } from './promise.ts';

/** A decision of one person, waiting for a second one. Any new evidence voids it. */
export interface Proposal {
  readonly id: string;
  readonly decision: Decision;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
  /** Exclusive, ms. */
  readonly until: number;
}

/** A proposal that nobody agreed to is over after this time. */
export const PROPOSAL_MS = DAY_MS;

export function newProposal(
  { decision, by, reason }: Pick<Proposal, 'decision' | 'by' | 'reason'>,
  id: string,
  now: number,
): Proposal {
  return { id, decision, by, reason, at: now, until: now + PROPOSAL_MS };
}

/** The proposal that stands at `now` under this id; null: expired, voided, replaced, or never made. */
export function standingProposal(
  { proposal }: Pick<Intent, 'proposal'>,
  id: string,
  now: number,
): Proposal | null {
  return proposal !== null && proposal.id === id && now < proposal.until ? proposal : null;
}

/** Why this person is not the second one: who proposed, or who wanted the effect. Null: this person may agree. */
export function notSecond(
  intent: Pick<Intent, 'submittedBy'>,
  proposal: Pick<Proposal, 'by'>,
  by: string,
): 'proposer' | 'submitter' | null {
  if (by === proposal.by) return 'proposer';
  return by === intent.submittedBy ? 'submitter' : null;
}

/** What every event does to the counts that end with people, and to a proposal. */
import type { Intent } from './intent.ts';
import type { LifeEvent } from './life-event.ts';

/** What leaves a proposal standing; everything else may be new evidence and voids it. */
const NO_EVIDENCE: readonly LifeEvent['kind'][] = [
  'owned',
  'proposed',
  'deferred',
  'held_back',
  'run_started',
];
/** A look was made after all. */
const LOOKED: readonly LifeEvent['kind'][] = [
  'searched',
  'read_back',
  'verified',
  'audited',
  'audit_incomplete',
  'not_contradicted',
];

/** Runs that come back to where they began, or only to what was known, end with people. */
function isProgress({ absentSince }: Intent, event: LifeEvent): boolean {
  if (event.kind === 'searched') return absentSince === null || event.facts.verdict !== 'absent';
  return !['run_started', 'conflicted', 'aged'].includes(event.kind);
}

/** `after` is what the event made of `before`. */
export function countsAfter(
  before: Intent,
  event: LifeEvent,
  after: Intent,
): Pick<Intent, 'idleRuns' | 'proposal' | 'heldBack'> {
  return {
    idleRuns: isProgress(before, event) ? 0 : after.idleRuns,
    proposal: NO_EVIDENCE.includes(event.kind) ? after.proposal : null,
    heldBack: LOOKED.includes(event.kind) ? null : after.heldBack,
  };
}

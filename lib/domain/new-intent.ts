/** The first state of an intent: ready where a write is permitted already, else waiting for approval. */
import { permissionOf } from './approval.ts';
import type { Intent } from './intent.ts';
import type { Timing } from './promise.ts';
import type { Permission } from './route.ts';

const NOTHING_YET = {
  approval: null,
  version: 1,
  runs: 1,
  idleRuns: 0,
  attempts: [],
  noMoreWrites: false,
  seenAt: null,
  acknowledgedId: null,
  searches: 0,
  searchingSince: null,
  heldBack: null,
  unknownSince: null,
  lastSearch: null,
  absentSince: null,
  readbacks: 0,
  handover: null,
  conflictAt: null,
  externalId: null,
  receipt: null,
  outcome: null,
  attestedId: null,
  incident: null,
  contraryAt: null,
  trustedSearchAt: null,
  cancelUntil: null,
  checkedAt: null,
  waitsFor: null,
  followUp: null,
  owner: null,
  proposal: null,
  waitUntil: null,
  declaredAbsentAt: null,
  surplus: [],
} as const;

type Grown = keyof typeof NOTHING_YET | 'state' | 'dueAt' | 'writeToken';

/** What is fixed by the first submit. */
export type AcceptedFacts = Omit<Intent, Grown>;

/** Due after the run that its acceptance starts, at its planned time, or at `sendBy` while nobody permits it. */
export function newlyAccepted(
  facts: AcceptedFacts,
  permission: Permission,
  timing: Timing,
  now: number,
): Intent {
  const quiet = { ...facts, ...NOTHING_YET, writeToken: facts.submitToken };
  // A correction is looked at by its first run: its original may be open.
  if (facts.corrects !== null) return { ...quiet, state: 'awaiting_approval', dueAt: now };
  const permitted = permissionOf(quiet, permission, now).kind === 'permitted';
  return permitted
    ? { ...quiet, state: 'ready', dueAt: Math.max(facts.plannedAt, now + timing.graceMs) }
    : { ...quiet, state: 'awaiting_approval', dueAt: facts.sendBy };
}

/** What evidence from outside does: it wakes a look, blocks writes, and never decides by itself. */
import type { Intent, IntentState } from './intent.ts';
import { SETTLED, toUnknown } from './lifecycle-states.ts';

export interface Sighting {
  /** Whether it speaks of an effect. */
  readonly seen: boolean;
  readonly externalId: string | null;
  readonly dueAt: number;
}

/** Nothing outside was believed to exist: a sighting contradicts that, and a look must support it. */
export const BELIEVED_EMPTY: readonly IntentState[] = ['awaiting_approval', 'ready', 'absent'];

export function takeEvidence(intent: Intent, sighting: Sighting, now: number): Intent {
  if (SETTLED.includes(intent.state)) return onSettled(intent, sighting, now);
  const noted = sighting.seen ? note(intent, sighting.externalId, now) : intent;
  if (intent.state === 'sending') return noted;
  if (BELIEVED_EMPTY.includes(intent.state)) {
    return sighting.seen ? contradict(noted, sighting.dueAt, now) : intent;
  }
  return intent.state === 'handover'
    ? { ...toUnknown(noted, now), dueAt: sighting.dueAt }
    : { ...noted, handover: null, dueAt: sighting.dueAt };
}

/** Keeps that something was seen. The first id stays; that there is another one is looked into once this one is read. */
function note(intent: Intent, externalId: string | null, now: number): Intent {
  const known = intent.acknowledgedId;
  const another = known !== null && externalId !== null && externalId !== known;
  return {
    ...intent,
    seenAt: intent.seenAt ?? now,
    acknowledgedId: known ?? externalId,
    contraryAt: another ? now : intent.contraryAt,
  };
}

/** Blocks every write from here on until a look has supported the evidence or time has passed over it. */
export function contradict(intent: Intent, dueAt: number, now: number): Intent {
  return { ...intent, contraryAt: now, dueAt };
}

function onSettled(intent: Intent, sighting: Sighting, now: number): Intent {
  if (!sighting.seen || isKnown(intent, sighting.externalId)) return intent;
  if (intent.state === 'confirmed') return contradict(intent, sighting.dueAt, now);
  return contradict(note(intent, sighting.externalId, now), sighting.dueAt, now);
}

/** It tells again what the intent ended with. */
function isKnown(intent: Intent, externalId: string | null): boolean {
  if (intent.state === 'confirmed') return externalId === null || externalId === intent.externalId;
  return intent.outcome === 'attested' && (externalId === null || externalId === intent.attestedId);
}

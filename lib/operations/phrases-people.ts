/** What is to be said of what people did to an intent, and of what they ordered with it. */
import { type Intent, inDoubt } from '../domain/intent.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import type { Saying } from './explanation-en.ts';
import type { Phrase } from './phrases.ts';

/** What people did to it. */
export function people(intent: Intent): Phrase[] {
  const { proposal, owner } = intent;
  const withdrawal = intent.noMoreWrites ? withdrawn(intent) : undefined;
  return [
    ...(withdrawal === undefined ? [] : [{ say: withdrawal }]),
    ...(proposal === null
      ? []
      : [
          {
            say: 'proposed',
            who: proposal.by,
            decision: proposal.decision.kind,
            at: proposal.until,
          } as const,
        ]),
    ...(owner === null ? [] : [{ say: 'owner', who: owner.by, at: owner.at } as const]),
  ];
}

function withdrawn(intent: Intent): Saying | undefined {
  if (intent.state === 'confirmed') return 'withdrawn_too_late';
  if (SETTLED.includes(intent.state)) return undefined;
  return inDoubt(intent) || intent.seenAt !== null ? 'withdrawn_looked_for' : 'withdrawn';
}

/** What is to follow it, or followed. */
export function followUp(intent: Intent): Phrase[] {
  if (intent.followWith === null) return [];
  if (intent.followUp !== null) return [{ say: 'then_created', id: intent.followUp }];
  if (intent.state === 'confirmed') return [{ say: 'then_due' }];
  return [{ say: SETTLED.includes(intent.state) ? 'then_not_made' : 'then_waits' }];
}

/** What stands against another write of an intent, by its state and by the guard of every claim: for people. */
import type { Intent } from '../domain/intent.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import { refusalsOf, type SendContext, type SendRefusal } from '../domain/may-send.ts';

export type ResendRefusal =
  | SendRefusal
  /** Bytes may be out right now. */
  | 'under_way'
  /** A person decides first. */
  | 'handed_over'
  | 'settled'
  /** Another intent with the same content goes first. */
  | 'waits_for_another'
  /** Its route is gone, or leads elsewhere than it did. */
  | 'route_not_configured';

/** Every reason, the state's own first; `context` is undefined where its route is not configured. */
export function resendRefusals(
  intent: Intent,
  context: SendContext | undefined,
  now: number,
): ResendRefusal[] {
  const byState: ResendRefusal[] = [];
  if (SETTLED.includes(intent.state)) byState.push('settled');
  if (intent.state === 'sending') byState.push('under_way');
  if (intent.state === 'handover' || intent.handover !== null) byState.push('handed_over');
  if (waitsForAnother(intent)) byState.push('waits_for_another');
  if (context === undefined) return [...byState, 'route_not_configured'];
  return [...byState, ...refusalsOf(intent, context, now)];
}

/** A twin goes first; what an intent corrects is no twin, and has a word of its own. */
export function waitsForAnother({ waitsFor, corrects }: Pick<Intent, 'waitsFor' | 'corrects'>): boolean {
  return waitsFor !== null && waitsFor !== corrects;
}

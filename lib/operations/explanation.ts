/** The state in words: what is known, what is not, what happens next and when. No provider text. */
import type { HandoverReason, Intent } from '../domain/intent.ts';
import { utc } from '../platform/clock.ts';

const REASONS: Readonly<Record<HandoverReason, string>> = {
  many: 'more than one record at the provider matches; none was chosen and none deleted',
  mismatch: 'the record at the provider differs from the approved request',
  found_but_gone: 'an effect was seen at the provider and is no longer shown',
  bound_elsewhere: 'the matching record already belongs to another intent',
  blind: 'this provider can neither be searched nor asked again safely',
  exhausted: 'every planned search was made and none was conclusive',
  readback_unavailable: 'the effect could not be read back',
  budget_spent: 'no attempt is left and no effect was found',
  not_repeatable: "no effect was found and this route's policy does not repeat such an attempt",
  contrary_evidence: 'there is evidence of an effect that was believed not to exist',
  second_effect: 'a second effect was found',
  cannot_run: 'its runs make no progress',
};

export function explain(intent: Intent): string {
  const next = intent.dueAt === null ? '' : ` Next step by ${utc(intent.dueAt)}.`;
  return `${sentence(intent)}${intent.state === 'handover' || intent.state === 'confirmed' ? '' : next}`;
}

function sentence(intent: Intent): string {
  switch (intent.state) {
    case 'awaiting_approval':
      return 'Nothing is unsettled outside. It waits for permission to be sent.';
    case 'ready':
      return intent.attempts.length === 0
        ? 'Accepted and stored. Nothing was sent yet.'
        : `All ${intent.attempts.length} attempts so far are proved not executed. It will be tried again.`;
    case 'sending':
      return `Attempt ${intent.attempts.length} is under way. Whether it took effect is not known yet.`;
    case 'acknowledged':
      return 'Something was seen at the provider. It is being read back before it is called confirmed.';
    case 'unknown':
      return 'The effect outside is undetermined and is being reconciled. Nothing is sent while it is looked for.';
    case 'absent':
      return 'A complete search proved that there is no effect outside. It may be sent again.';
    case 'handover':
      return `A person must decide: ${intent.handover === null ? 'the reason is missing' : REASONS[intent.handover.reason]}.`;
    case 'confirmed':
      return intent.incident === null
        ? 'Confirmed by readback: exactly one matching effect.'
        : 'Confirmed by readback. Later a second effect was found: an incident is open and the route is frozen.';
    case 'rejected':
      return 'Refused, with proof that there is no effect outside.';
    case 'closed':
      return intent.outcome === 'no_effect'
        ? 'Closed. There is no effect outside and none will be made.'
        : `Closed by people; outcome ${intent.outcome ?? 'undetermined'}.`;
  }
}

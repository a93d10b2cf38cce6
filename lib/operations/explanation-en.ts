/** What an intent can be said to be, in English. These sentences are the list that every language must have. */
import type { Decision } from '../domain/decision.ts';
import type { HandoverReason } from '../domain/intent.ts';

const SAYINGS = {
  nothing_unsettled: 'Nothing is unsettled outside.',
  permission_missing: 'It waits for permission to be sent.',
  approval_revoked: 'It waits for permission to be sent: the approval was revoked.',
  approval_not_enough:
    'It waits for permission to be sent: the approval given is incomplete, over, or does not hold any more.',
  approval_given: 'An approval was given and is about to be checked.',

  accepted: 'Accepted and stored. Nothing was sent yet.',
  planned: 'It is not sent before {at}.',
  one_not_executed: 'The only attempt so far is proved not executed. It may be tried again.',
  all_not_executed: 'All {count} attempts so far are proved not executed. It may be tried again.',
  under_way: 'Attempt {count} is under way. Whether it took effect is not known yet.',
  acknowledged: 'Something was seen at the provider. It is being read back before it is called confirmed.',
  undetermined:
    'The effect outside is undetermined and is being reconciled. Nothing is sent while it is looked for.',
  seen: 'Something was seen at the provider before, so it is never taken for absent.',
  absent: 'A complete search proved that there is no effect outside.',
  declared_absent: 'People looked at {at} and declared that there is no effect outside.',
  may_be_sent_again: 'It may be sent again.',
  must_decide: 'A person must decide: {reason}.',
  undetermined_still: 'Whether there is an effect outside is undetermined.',
  confirmed: 'Confirmed by readback: exactly one matching effect.',
  confirmed_by_id:
    'Confirmed by readback: the effect passes every check. Whether there is another one was not part of the proof.',
  confirmed_searched_since:
    'Confirmed by readback: the effect passes every check. A complete search since then shows no other one.',
  confirmed_kept: 'Confirmed by readback: one effect is kept; people settled {count} more as surplus.',
  confirmed_incident:
    'Confirmed by readback. Later a second effect was found: an incident is open and the route is frozen.',
  confirmed_unaudited:
    'Confirmed by readback. Whether there is a second effect is not known: the looks saw too little to tell.',
  refused: 'Refused, with proof that there is no effect outside.',
  not_sent: 'It could not be sent, with proof that there is no effect outside.',
  closed_no_effect: 'Closed. There is no effect outside and none will be made.',
  closed_attested: 'Closed by people who state that the effect exists. It was not read back.',
  closed_undetermined: 'Closed by people. Whether there is an effect outside was not determined.',

  about_to_hand_over: 'It is about to be handed over to a person: {reason}.',
  failed_checks: 'What was read back does not hold in: {checks}.',
  only_the_page: 'All else agrees. If the page is only late, another look can confirm it.',
  held_back: 'The next look waits, because the account has had its calls of the minute.',
  waits_for_twin: 'It waits for intent {id}, whose effect could be taken for its own.',
  waits_elsewhere: 'It waits for another intent, which has to be settled first.',
  waits_for_original: 'It waits for intent {id}, which it corrects, to be settled.',
  corrects: 'It corrects intent {id}.',
  contrary: 'Since then evidence of an effect came; a look at the provider must support it before it counts.',
  conflict: 'Another request came under the same key; nothing was sent for it.',
  withdrawn: 'It was withdrawn: nothing more is sent for it.',
  withdrawn_looked_for:
    'It was withdrawn: nothing more is sent for it. What may be outside is still looked for.',
  withdrawn_too_late: 'The withdrawal came after it had been sent.',
  trusted_search: 'The last search that counts began at {at}.',
  no_trusted_search: 'No search was complete and authorised yet.',
  cancellable: 'What was seen can be cancelled at the provider until {at}.',
  proposed: '{who} proposed to {decision}; a second person must agree before {at}.',
  owner: '{who} has worked on it since {at}.',
  then_waits: 'A follow-up is made once this one is confirmed.',
  then_due: 'Its follow-up is made next.',
  then_created: 'Its follow-up is intent {id}.',
  then_not_made: 'No follow-up is made, because this one was not confirmed.',

  next_by: 'Next step by {at}.',
  next_closes: 'Next step: a person approves it; without that it is closed with no effect at {at}.',
  next_audit: 'Next step: one more search for a second effect by {at}.',
  next_look: 'Next step: a look at the provider by {at}.',
  next_person: 'Next step: a decision by a person; it comes up again by {at}.',
  next_wait_until: 'Next step: a person chose to wait; it is looked for again at {at}.',
  next_incident: 'Next step: a person looks into the second effect; nothing is done by itself.',
  next_unaudited:
    'Next step: a person has it looked for again, or looks at the provider; nothing is done by itself.',
  next_reopen: 'No further step is due; a person may reopen it.',
  next_none: 'No further step is due.',
} as const;

export type Saying = keyof typeof SAYINGS;

/** One language. `{name}` in a sentence stands for a fact. */
export interface Words {
  readonly sayings: Readonly<Record<Saying, string>>;
  readonly reasons: Readonly<Record<HandoverReason, string>>;
  readonly decisions: Readonly<Record<Decision['kind'], string>>;
  /** What a check is about. One without a word is called by its name. */
  readonly checks: Readonly<Record<string, string>>;
  /** Stands between two of them. */
  readonly comma: string;
  /** Stands between two sentences. */
  readonly between: string;
  /** In which times are told besides UTC when nobody names another. */
  readonly zone: string;
}

export const ENGLISH: Words = {
  sayings: SAYINGS,
  reasons: {
    many: 'more than one record at the provider matches; none was chosen and none deleted',
    mismatch: 'the record at the provider does not pass every check',
    found_but_gone: 'an effect was seen at the provider and is no longer shown',
    bound_elsewhere: 'the matching record already belongs to another intent',
    blind: 'this provider can neither be searched nor asked again safely',
    exhausted: 'every planned search was made and none was conclusive',
    readback_unavailable: 'the effect could not be read back',
    budget_spent: 'no attempt is left and no effect was found',
    not_repeatable: "no effect was found and this route's policy does not repeat such an attempt",
    contrary_evidence: 'there is evidence of an effect that was believed not to exist',
    second_effect: 'a second effect was found',
    audit_incomplete: 'the looks for another effect saw too little to tell',
    twin_undetermined:
      'an intent whose effect could be taken for its own was closed and its effect never determined',
    cannot_compensate: 'the provider no longer allows what is to be corrected to be undone; nothing was sent',
    reopened: 'it was closed and a person reopened it',
    cannot_run: 'its runs make no progress',
  },
  decisions: {
    attach_external_id: "attach a record of the provider's",
    declare_absent: 'declare that there is no effect',
    settle_many: 'keep one record and settle the others as surplus',
    wait_until: 'wait',
    close: 'close it',
    reopen: 'reopen it',
  },
  checks: {
    publicUrl: 'public page',
    externalId: 'id',
    payload: 'text',
    media: 'images',
    time: 'time',
    author: 'author',
    parent: 'parent',
    visibility: 'visibility',
    account: 'account',
    environment: 'environment',
    reference: 'our reference',
  },
  comma: ', ',
  between: ' ',
  zone: 'UTC',
};

/** What people are answered who decide. */
import type { Decided } from '../lib/operations/decide.ts';
import type { Guarded } from '../lib/operations/decision-guard.ts';
import { utc } from '../lib/platform/clock.ts';
import type { ApiAnswer, ApiRequest } from './handler.ts';
import { problem } from './problem.ts';
import { shownTo } from './shown.ts';

export async function answerDecided(request: ApiRequest, decided: Decided): Promise<ApiAnswer> {
  switch (decided.kind) {
    case 'done':
      return shownTo(request, 200, decided.intent);
    case 'proposed':
      return shownTo(request, 202, decided.intent);
    case 'refused':
      return problem('decision-refused', { reason: decided.reason, detail: wordsFor(decided) });
    case 'proposal_gone':
      return problem('decision-refused', { reason: 'proposal_gone', detail: GONE });
    case 'not_second':
      return problem('second-person-needed', { detail: NOT_SECOND[decided.who] });
    case 'stale':
      return problem('stale', { detail: 'The intent has another version now. Read it again.' });
    case 'absent':
      return problem('not-found');
    case 'busy':
      return problem('acceptance-undetermined', {
        detail: 'Others kept writing. Ask again.',
        retryAfterSeconds: 1,
      });
  }
}

const GONE = 'It expired, was replaced by another one, or something new came to light since.';

const NOT_SECOND = {
  proposer: 'Who proposed it may not agree to it.',
  submitter: 'Who submitted the intent may not agree to it.',
} as const;

const WORDS: Readonly<Record<Guarded['reason'], string>> = {
  not_in_this_state: 'This is not decided in the state in which the intent is.',
  nothing_was_sent: 'Nothing of this intent can be outside.',
  something_seen: 'Something was seen outside; what was once seen is never absent.',
  looked_in_the_future: 'lookedAt lies in the future.',
  looked_too_early: 'What was sent need not have shown by lookedAt. Look again, later.',
  surplus_missing: 'surplus names no id.',
  kept_is_surplus: 'The id to be kept was settled as surplus.',
  not_a_candidate: 'An id in it was never seen as a match of this intent.',
  until_passed: 'until must lie in the future.',
  until_too_late: 'until may lie at most 30 days ahead.',
  bound_elsewhere: 'A record that it names belongs to another intent.',
  route_not_configured: 'The route of the intent is not configured as it was.',
};

function wordsFor({ reason, after }: Guarded): string {
  return after === undefined ? WORDS[reason] : `A look counts if it began later than ${utc(after)}.`;
}

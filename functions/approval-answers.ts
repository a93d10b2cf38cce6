/** What people who approve or revoke are answered. */
import type { IntentRef } from '../lib/domain/intent.ts';
import { type Approved, approvalView } from '../lib/operations/approve.ts';
import { type ApiAnswer, type ApiRequest, json } from './handler.ts';
import { ProblemError, problem } from './problem.ts';
import { refOf } from './shown.ts';
import { deps } from './wiring.ts';

export function refOrNotFound(request: ApiRequest): IntentRef {
  const ref = refOf(request);
  if (ref === undefined) throw new ProblemError('not-found');
  return ref;
}

export function answerTo(approved: Approved): ApiAnswer {
  switch (approved.kind) {
    case 'done':
      return json(200, approvalView(deps(), approved.intent), { etag: `"${approved.intent.version}"` });
    case 'absent':
      return problem('not-found');
    case 'settled':
      return problem('invalid-request', { detail: 'The intent is settled; nothing more is sent for it.' });
    case 'nothing_to_revoke':
      return problem('invalid-request', { detail: 'There is no approval in force.' });
    case 'unknown_route':
      return problem('unknown-route', { detail: 'Its route is gone, or leads elsewhere than it did.' });
    case 'busy':
      return problem('acceptance-undetermined', {
        detail: 'Others kept writing. Ask again.',
        retryAfterSeconds: 1,
      });
    case 'refused':
      return refusal(approved.reason);
  }
}

type Reason = Extract<Approved, { kind: 'refused' }>['reason'];

function refusal(reason: Reason): ApiAnswer {
  switch (reason) {
    case 'submitter':
      return problem('not-approver', { detail: 'Who submitted it may not approve it on this route.' });
    case 'not_an_approver':
      return problem('not-approver', { detail: 'The policy of the route does not name this person.' });
    case 'another_request':
      return problem('stale', { detail: 'The request that stands has another fingerprint. Read it again.' });
    case 'until_passed':
      return problem('invalid-request', {
        errors: [{ pointer: '/until', detail: 'until must lie in the future.' }],
      });
    case 'until_too_late':
      return problem('invalid-request', {
        errors: [{ pointer: '/until', detail: 'until lies later than the policy of the route allows.' }],
      });
    case 'standing':
      return problem('invalid-request', {
        detail: 'This route has a standing permission; nothing is approved singly.',
      });
  }
}

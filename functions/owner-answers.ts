/** What people are answered who take an intent to work on, or give it back. */
import type { IntentRef } from '../lib/domain/intent.ts';
import type { Owned, Wish } from '../lib/operations/own.ts';
import type { ApiAnswer, ApiRequest } from './handler.ts';
import { ProblemError, problem } from './problem.ts';
import { readBody } from './request-body.ts';
import { ownerBody } from './request-schemas.ts';
import { refOf, shownTo } from './shown.ts';

/** 200 with the intent as it stands; 409 while it is somebody else's. */
export async function changeOwner(
  request: ApiRequest,
  change: (ref: IntentRef, unit: string, wish: Wish) => Promise<Owned>,
): Promise<ApiAnswer> {
  const { takeOver } = request.body === '' ? { takeOver: false } : readBody(request, ownerBody);
  const ref = refOf(request);
  if (ref === undefined) throw new ProblemError('not-found');
  const { unit, subject } = request.caller;
  const owned = await change(ref, unit, { by: subject, takeOver });
  switch (owned.kind) {
    case 'done':
      return shownTo(request, 200, owned.intent);
    case 'owned':
      return problem('owned', { detail: 'Read it to see who works on it, or send {"takeOver": true}.' });
    case 'absent':
      return problem('not-found');
    case 'busy': {
      const detail = 'Others kept writing. Ask again.';
      return problem('acceptance-undetermined', { detail, retryAfterSeconds: 1 });
    }
  }
}

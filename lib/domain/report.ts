/** Kind of error, number of attempts and business result are three separate values. */
import type { Intent } from './intent.ts';

export type Report = 'confirmed' | 'rejected' | 'unconfirmed';

/** `unconfirmed` means not yet known; it never means "no effect". */
export function reportOf(intent: Pick<Intent, 'state' | 'outcome'>): Report {
  if (intent.state === 'confirmed') return 'confirmed';
  if (intent.state === 'rejected') return 'rejected';
  return intent.state === 'closed' && intent.outcome === 'no_effect' ? 'rejected' : 'unconfirmed';
}

/** One word per attempt that did not succeed, in order. */
export function errorKinds(intent: Pick<Intent, 'attempts'>): string[] {
  return intent.attempts.flatMap((attempt) => {
    if (attempt.result === undefined) return attempt.lostAt === undefined ? [] : ['lost'];
    return attempt.result.kind === 'acknowledged' ? [] : [attempt.result.code];
  });
}

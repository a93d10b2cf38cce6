/**
 * What a readback means. Only exactly one matching effect with every check true confirms; where an
 * earlier attempt may have had an effect, a complete search must show that same one and no other.
 */
import type { HandoverReason, Intent } from './intent.ts';
import type { Lag, Timing } from './promise.ts';
import { isExhausted, isGone } from './reconciliation.ts';

/** One look outside, reduced to the records that match the intent. */
export interface Readback {
  readonly startedAt: number;
  readonly failed: boolean;
  readonly complete: boolean;
  readonly authorised: boolean;
  readonly matched: readonly {
    readonly externalId: string;
    readonly checks: Readonly<Record<string, boolean>>;
    readonly url?: string;
  }[];
  /** Ids that match and that the provider lists as refused, without effect. */
  readonly refused?: readonly string[];
}

export type Verification =
  | {
      readonly kind: 'verified';
      readonly externalId: string;
      readonly url: string | null;
      readonly checks: Readonly<Record<string, boolean>>;
      readonly searchedWhole: boolean;
    }
  | { readonly kind: 'later' }
  | {
      readonly kind: 'hand_over';
      readonly reason: HandoverReason;
      readonly candidates: readonly string[];
      /** `mismatch`: names of the checks that do not hold. */
      readonly failedChecks?: readonly string[];
    };

/** More than one attempt, or one whose answer was not seen: verify then needs a complete search too. */
export function needsWholeSearch(intent: Pick<Intent, 'attempts'>): boolean {
  return intent.attempts.length > 1 || intent.attempts.some((attempt) => attempt.lostAt !== undefined);
}

/**
 * One more look when everything that was sent must show: after more than one attempt, and where nothing at the
 * provider makes one of a request that something on the way delivered twice.
 */
export function needsAudit(intent: Pick<Intent, 'attempts' | 'promiseClass'>): boolean {
  return needsWholeSearch(intent) || intent.promiseClass === 'searchable';
}

/**
 * @param whole the complete search, or null where none is needed or the readback already was one.
 */
export function judgeReadback(
  intent: Intent,
  readback: Readback,
  whole: Readback | null,
  timing: Timing,
  lag: Lag,
): Verification {
  const looks = whole === null ? [readback] : [readback, whole];
  const shown = looks.flatMap((look) => look.matched.map((record) => record.externalId));
  const told = acknowledgedIds(intent);
  const ids = [...new Set([...shown, ...told])];
  if (new Set(shown).size > 1 || new Set(told).size > 1) return handOver('many', ids);
  const since = intent.seenAt ?? readback.startedAt;
  const spent = isExhausted(intent.readbacks + 1, since, readback.startedAt);
  if (looks.some((look) => look.failed || !look.authorised || (look === whole && !look.complete))) {
    return spent ? handOver('readback_unavailable', ids) : { kind: 'later' };
  }
  if (looks.some((look) => look.matched.length === 0)) {
    return spent || isGone(intent, readback.startedAt, timing, lag)
      ? handOver('found_but_gone', ids)
      : { kind: 'later' };
  }
  return judgeOne(intent, readback, whole !== null || readback.complete);
}

/** Ids that answers gave. Two of them are two effects, whatever a readback shows. */
export function acknowledgedIds(intent: Pick<Intent, 'attempts' | 'surplus'>): string[] {
  const told = intent.attempts.flatMap(({ result }) =>
    result?.kind === 'acknowledged' && result.externalId !== null ? [result.externalId] : [],
  );
  return told.filter((id) => !intent.surplus.includes(id));
}

function judgeOne(intent: Intent, readback: Readback, searchedWhole: boolean): Verification {
  const record = readback.matched[0];
  if (record === undefined || readback.matched.length > 1) return handOver('many', []);
  const told = [
    ...acknowledgedIds(intent),
    ...(intent.acknowledgedId === null ? [] : [intent.acknowledgedId]),
  ];
  const checks = { ...record.checks, externalId: told.every((id) => id === record.externalId) };
  const failedChecks = Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
  if (failedChecks.length > 0) return { ...handOver('mismatch', [record.externalId]), failedChecks };
  const { externalId, url = null } = record;
  return { kind: 'verified', externalId, url, checks, searchedWhole };
}

function handOver(
  reason: HandoverReason,
  candidates: readonly string[],
): Extract<Verification, { kind: 'hand_over' }> {
  return { kind: 'hand_over', reason, candidates };
}

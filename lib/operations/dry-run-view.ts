/** A dry run as people are shown it: what was seen, what it would mean, and what would happen next. Never a guess. */
import type { IntentState, Json, Verdict } from '../domain/intent.ts';
import { utc } from '../platform/clock.ts';
import type { DryRun } from '../workflow/dry-run.ts';
import type { Seen } from '../workflow/look.ts';
import type { ResendRefusal } from '../workflow/resend-refusals.ts';
import type { Next } from '../workflow/what-next.ts';

export interface DryRunView {
  readonly id: string;
  /** On record; a dry run changes neither. */
  readonly state: IntentState;
  readonly version: number;
  readonly verdict: Verdict | null;
  readonly search: SearchView | null;
  readonly readback: LookView | null;
  readonly contradicting: readonly string[];
  readonly sendRefusals: readonly ResendRefusal[] | null;
  /** Id of the intent that has to settle first, on record; as `IntentView` has it. */
  readonly waitsFor: string | null;
  readonly next: Next;
}

/** One look: the records that match, each with every check. */
export interface LookView {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly complete: boolean;
  readonly authorised: boolean;
  /** One word where the look failed; never provider text. */
  readonly error: string | null;
  readonly candidates: readonly CandidateView[];
  /** Ids that match and that the provider lists as refused, without effect. */
  readonly refused: readonly string[];
}

export interface SearchView extends LookView {
  readonly reference: string | null;
  readonly account: string;
  readonly environment: string;
  /** Where identity is content: matches and near misses, each with its reasons, as the evidence keeps them. */
  readonly seen: readonly Json[];
}

export interface CandidateView {
  readonly externalId: string;
  readonly url: string | null;
  /** Those that this look makes: a search goes to no public page, and has no `publicUrl`. */
  readonly checks: Readonly<Record<string, boolean>>;
}

export function dryRunView({ intent, looked, ...rest }: DryRun): DryRunView {
  const { contradicting, sendRefusals, next } = rest;
  return {
    id: intent.id,
    state: intent.state,
    version: intent.version,
    verdict: looked?.facts.verdict ?? null,
    search: looked === null ? null : searchView(looked),
    readback: looked === null || looked.readback === null ? null : lookView(looked.readback),
    contradicting: contradicting.slice(0, MOST_SHOWN),
    sendRefusals,
    waitsFor: intent.waitsFor,
    next,
  };
}

/** At most this many records are shown of one look. */
const MOST_SHOWN = 20;

function searchView({ facts, seen }: NonNullable<DryRun['looked']>): SearchView {
  const { reference, account, environment } = facts;
  return { ...lookView(seen), reference, account, environment, seen: seen.shown ?? [] };
}

function lookView({ startedAt, endedAt, complete, authorised, error, matched, refused }: Seen): LookView {
  return {
    startedAt: utc(startedAt),
    endedAt: utc(endedAt),
    complete,
    authorised,
    error: error ?? null,
    candidates: matched.slice(0, MOST_SHOWN).map(({ externalId, url = null, checks }) => {
      return { externalId, url, checks };
    }),
    refused: (refused ?? []).slice(0, MOST_SHOWN),
  };
}

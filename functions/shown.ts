/** What the reading endpoints share: the caller's own intent, or an answer that tells nothing. */
import type { Intent, IntentRef } from '../lib/domain/intent.ts';
import type { Language } from '../lib/operations/explanation.ts';
import { type IntentView, viewOf } from '../lib/operations/trail.ts';
import { type ApiAnswer, type ApiRequest, json } from './handler.ts';
import { languageHeaders, languageOf } from './language.ts';
import { ProblemError } from './problem.ts';
import { deps } from './wiring.ts';

const INTENT_ID = /^int_[0-9a-f]{40}$/;

/** The intent of the path, if it is the caller's tenant's and unit's; else 404, as for one that does not exist. */
export async function ownIntent(request: ApiRequest): Promise<Intent> {
  const ref = refOf(request);
  const intent = ref === undefined ? undefined : await deps().ledger.read(ref);
  if (intent === undefined || intent.unit !== request.caller.unit) throw new ProblemError('not-found');
  return intent;
}

export function refOf(request: ApiRequest): IntentRef | undefined {
  const intentId = request.path['id'] ?? '';
  return INTENT_ID.test(intentId) ? { tenant: request.caller.tenant, intentId } : undefined;
}

/** The intent as callers see it, its version as ETag, its words in the language that they prefer. */
export async function shownTo(
  request: Pick<ApiRequest, 'headers'>,
  status: number,
  intent: Intent,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  const language = languageOf(request);
  const view = await viewIn(language, intent);
  return json(status, view, { etag: `"${intent.version}"`, ...languageHeaders(language), ...headers });
}

export async function viewIn(language: Language, intent: Intent): Promise<IntentView> {
  return viewOf(intent, await conflictsOf(intent), language);
}

/** A conflict leaves its mark on the intent, so that most readings need no count. */
async function conflictsOf(intent: Intent): Promise<number> {
  const ref = { tenant: intent.tenant, intentId: intent.id };
  return intent.conflictAt === null ? 0 : deps().ledger.countConflicts(ref);
}

/** A page size from the query, 1 to 100; 25 when unset. */
export function limitOf(request: ApiRequest): number {
  const text = request.query['limit'];
  if (text === undefined) return 25;
  const limit = Number(text);
  if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > 100) {
    throw new ProblemError('invalid-request', { detail: 'limit must be a whole number from 1 to 100.' });
  }
  return limit;
}

/** Refuses query parameters that nothing reads: a misspelt filter must not look like one that matched. */
export function onlyQuery(request: ApiRequest, known: readonly string[]): void {
  const unknown = Object.keys(request.query).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new ProblemError('invalid-request', {
      detail: `Known query parameters: ${known.join(', ') || 'none'}.`,
    });
  }
}

/** Whether a request under a known key is the stored one, also after a deploy that changed how requests are normalised. */
import {
  NORMALISATION,
  type Normalisation,
  NotCanonical,
  requestPrint,
  versionOfPrint,
} from '../domain/fingerprint.ts';
import type { FollowUp, Intent, JsonObject } from '../domain/intent.ts';
import type { Deps } from './deps.ts';

/**
 * Equal under today's rule, under the rule that the stored one was approved under, or once the stored payloads are
 * read by today's schemas: a deploy never turns an equal order into a different one. A stored fingerprint of a rule
 * that is not known here equals nothing.
 */
export function sameRequest(
  deps: Pick<Deps, 'routes' | 'normalisation'>,
  stored: Intent,
  offered: Intent,
): boolean {
  if (stored.fingerprint === offered.fingerprint) return true;
  const today = deps.normalisation ?? NORMALISATION;
  const before = { ...today, current: versionOfPrint(stored.fingerprint) };
  if (!Object.hasOwn(today.rules, before.current)) return false;
  if (printOf(offered, before) === stored.fingerprint) return true;
  const reread = readAgain(deps, stored);
  return reread !== undefined && printOf(reread, today) === offered.fingerprint;
}

/** Undefined where the rule makes no canonical form of it. */
function printOf(request: Intent, rule: Normalisation): string | undefined {
  try {
    return requestPrint(request, rule);
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

/** As today's schemas give it back; undefined where they refuse it. */
function readAgain(deps: Pick<Deps, 'routes'>, stored: Intent): Intent | undefined {
  const payload = read(deps, stored.tenant, stored);
  if (payload === undefined) return undefined;
  const { followWith } = stored;
  if (followWith === null) return { ...stored, payload };
  const next = read(deps, stored.tenant, followWith);
  return next && { ...stored, payload, followWith: { route: followWith.route, payload: next } };
}

function read(deps: Pick<Deps, 'routes'>, tenant: string, request: FollowUp): JsonObject | undefined {
  return deps.routes.find(tenant, request.route)?.provider.payload.safeParse(request.payload).data;
}

/** The manifest of an intent: what was ordered, where and for when, and how it stands; never the payload. */
import type { Intent, IntentState } from '../domain/intent.ts';
import { utc } from '../platform/clock.ts';

/** Its names are those of the publishing systems that read it. */
export interface Manifest {
  readonly schema: 'publish-intent/v1';
  readonly intent_id: string;
  readonly route: string;
  readonly account: string;
  /** sha256 hex of the canonical payload. */
  readonly payload_sha256: string;
  /** Not before, UTC; fixed by the first submit. */
  readonly planned_time: string;
  readonly parent_external_id: string | null;
  readonly status: IntentState;
}

export function manifestOf(intent: Intent): Manifest {
  return {
    schema: 'publish-intent/v1',
    intent_id: intent.id,
    route: intent.route,
    account: intent.account,
    payload_sha256: intent.payloadDigest,
    planned_time: utc(intent.plannedAt),
    parent_external_id: intent.parent,
    status: intent.state,
  };
}

/** People permit one intent, or take the permission back. Every signature and revocation is kept for ever. */
import {
  type Approval,
  permissionOf,
  type Signing,
  sign,
  signaturesNeeded,
  type Wish,
} from '../domain/approval.ts';
import type { Intent, IntentRef, Json, JsonObject } from '../domain/intent.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import type { Permission } from '../domain/route.ts';
import { utc } from '../platform/clock.ts';
import { apply, type Deps, evidenceId, wayIfAny } from '../workflow/deps.ts';
import { throughRaces } from './through-races.ts';

export type Approved =
  | { readonly kind: 'done'; readonly intent: Intent }
  /** `unknown_route`: it is gone, or leads elsewhere than it did. */
  | { readonly kind: 'absent' | 'settled' | 'nothing_to_revoke' | 'unknown_route' | 'busy' }
  | Extract<Signing, { kind: 'refused' }>;

/** One signature. A waiting intent is due at once: whoever approves can start nothing, the sweep does. */
export function approve(deps: Deps) {
  return (ref: IntentRef, unit: string, wish: Wish): Promise<Approved> =>
    ofOpen(deps, ref, unit, async (intent) => {
      const permission = wayIfAny(deps, intent)?.route.policy.permission;
      if (permission === undefined) return { kind: 'unknown_route' };
      const signing = sign(intent, permission, wish, deps.clock.now());
      if (signing.kind === 'refused') return signing;
      await keep(deps, intent, wish.by, 'signed', signing.approval);
      const after = await apply(deps, intent, { kind: 'approved', approval: signing.approval });
      if (after === undefined) return 'lost';
      return { kind: 'done', intent: after };
    });
}

/** Stops writes from the next check on; whatever is out is still looked for. */
export function revoke(deps: Deps) {
  return (ref: IntentRef, unit: string, by: string): Promise<Approved> =>
    ofOpen(deps, ref, unit, async (intent) => {
      if (intent.approval === null || intent.approval.revoked !== null) return { kind: 'nothing_to_revoke' };
      await keep(deps, intent, by, 'revoked', intent.approval);
      const after = await apply(deps, intent, { kind: 'revoked', revoked: { by, at: deps.clock.now() } });
      return after === undefined ? 'lost' : { kind: 'done', intent: after };
    });
}

/** What is to be approved, exactly, and what was; for people who sign and for those who ask why nothing moves. */
export function approvalView(deps: Deps, intent: Intent): JsonObject {
  const permission = wayIfAny(deps, intent)?.route.policy.permission;
  const { account, environment, action, route, parent, payload, fingerprint, corrects, followWith } = intent;
  return {
    id: intent.id,
    fingerprint,
    request: {
      ...{ route, account, environment, action, key: intent.key, parent, payload },
      // Only where there is one: the fingerprint covers them, so that whoever signs must see them.
      ...(corrects === null ? {} : { corrects }),
      // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data that is never awaited.
      ...(followWith === null ? {} : { then: { ...followWith } }),
    },
    ...permittedNow(intent, permission, deps.clock.now()),
    approval: approvalJson(intent.approval),
  };
}

/** Without a route nothing can be sent, whatever was signed. */
function permittedNow(intent: Intent, permission: Permission | undefined, at: number): JsonObject {
  if (permission === undefined) {
    const reason = 'route_not_configured';
    return { policyVersion: null, signaturesNeeded: 0, permitted: false, reason };
  }
  const now = permissionOf(intent, permission, at);
  return {
    policyVersion: permission.version,
    signaturesNeeded: permission.kind === 'standing' ? 0 : signaturesNeeded(intent, permission),
    permitted: now.kind === 'permitted',
    reason: now.kind === 'permitted' ? null : now.reason,
  };
}

function approvalJson(approval: Approval | null): Json {
  if (approval === null) return null;
  const { signatures, revoked, until, policyVersion } = approval;
  return {
    policyVersion,
    until: utc(until),
    signatures: signatures.map(({ by, at }) => ({ by, at: utc(at) })),
    revoked: revoked === null ? null : { by: revoked.by, at: utc(revoked.at) },
  };
}

/** A settled intent needs no permission any more. */
function ofOpen(
  deps: Deps,
  ref: IntentRef,
  unit: string,
  work: (intent: Intent) => Promise<Approved | 'lost'>,
): Promise<Approved> {
  return throughRaces<Approved>(deps, ref, unit, async (intent) =>
    SETTLED.includes(intent.state) ? { kind: 'settled' } : work(intent),
  );
}

/** Kept before the change that rests on it. */
async function keep(
  deps: Deps,
  intent: Intent,
  by: string,
  did: 'signed' | 'revoked',
  approval: Approval,
): Promise<void> {
  const at = deps.clock.now();
  const facts = {
    by,
    did,
    fingerprint: approval.fingerprint,
    policyVersion: approval.policyVersion,
    until: utc(approval.until),
  };
  const id = evidenceId(deps, at);
  await deps.ledger.addEvidence(
    { tenant: intent.tenant, intentId: intent.id },
    { kind: 'approval', id, at, facts },
  );
}

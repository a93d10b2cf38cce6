/**
 * Permission to write. A route either has a standing permission, or every intent needs an approval that binds
 * the fingerprint of the exact normalised request, a policy version and an expiry. One approval serves one
 * intent and all its attempts. Permission to look is separate and never lapses.
 */
import type { Intent } from './intent.ts';
import { amountOf, compareDecimals } from './money.ts';
import type { AmountLimit, Permission } from './route.ts';

export interface Signature {
  readonly by: string;
  readonly at: number;
}

export interface Approval {
  /** What was signed; the intent's own fingerprint. */
  readonly fingerprint: string;
  readonly policyVersion: string;
  /** Exclusive, ms since the epoch. */
  readonly until: number;
  readonly signatures: readonly Signature[];
  readonly revoked: Signature | null;
}

export type ApprovalRefusal =
  | 'not_approved'
  | 'approver_not_allowed'
  | 'second_signature_missing'
  | 'approval_revoked'
  | 'approval_of_another_request'
  | 'policy_version_not_accepted'
  | 'approval_expired'
  | 'approval_before_absence';

export type PermissionNow =
  | { readonly kind: 'permitted'; readonly version: string; readonly until: number }
  | { readonly kind: 'refused'; readonly reason: ApprovalRefusal };

/** Whether a write is permitted at `now`, under which version and until when; else the first reason why not. */
export function permissionOf(
  intent: Pick<Intent, 'approval' | 'fingerprint' | 'payload' | 'absentSince' | 'submittedBy'>,
  permission: Permission,
  now: number,
): PermissionNow {
  if (permission.kind === 'standing') {
    const { version, until } = permission;
    return now < until ? { kind: 'permitted', version, until } : refused('approval_expired');
  }
  const { approval } = intent;
  if (approval === null) return refused('not_approved');
  if (approval.revoked !== null) return refused('approval_revoked');
  if (approval.fingerprint !== intent.fingerprint) return refused('approval_of_another_request');
  if (!permission.accepts.includes(approval.policyVersion)) return refused('policy_version_not_accepted');
  if (now >= approval.until) return refused('approval_expired');
  // Whoever may not sign any more does not permit any more, whatever was signed.
  const signatures = approval.signatures.filter((each) => mayApprove(permission, intent, each.by));
  if (signatures.length < approval.signatures.length) return refused('approver_not_allowed');
  if (signatures.length < signaturesNeeded(intent, permission)) return refused('second_signature_missing');
  const { absentSince } = intent;
  const stale = absentSince !== null && approval.signatures.some((each) => each.at <= absentSince);
  if (permission.freshAfterAbsent && stale) return refused('approval_before_absence');
  return { kind: 'permitted', version: approval.policyVersion, until: approval.until };
}

type ByApproval = Extract<Permission, { kind: 'approval' }>;

function mayApprove(permission: ByApproval, intent: Pick<Intent, 'submittedBy'>, subject: string): boolean {
  if (permission.separate && subject === intent.submittedBy) return false;
  return permission.approvers === null || permission.approvers.includes(subject);
}

/**
 * Two where the policy names a limit and the request is at or above it, is of another currency, or does not
 * say; else one. A limit that cannot be read in its own currency asks for two of everything.
 */
export function signaturesNeeded(intent: Pick<Intent, 'payload'>, permission: ByApproval): 1 | 2 {
  const { twoFrom } = permission;
  if (twoFrom === null) return 1;
  return isBelow(intent.payload, twoFrom) ? 1 : 2;
}

function isBelow(payload: Intent['payload'], limit: AmountLimit): boolean {
  const value = payload[limit.field];
  if (!('currency' in limit)) return typeof value === 'number' && value < limit.amount;
  if (typeof value !== 'string' || payload[limit.currencyField] !== limit.currency) return false;
  const asked = amountOf(value, limit.currency);
  const most = amountOf(limit.amount, limit.currency);
  if (asked.kind === 'refused' || most.kind === 'refused') return false;
  return compareDecimals(asked.text, most.text) === -1;
}

export type Signing =
  | { readonly kind: 'signed'; readonly approval: Approval }
  | {
      readonly kind: 'refused';
      readonly reason:
        | 'submitter'
        | 'not_an_approver'
        | 'another_request'
        | 'until_passed'
        | 'until_too_late'
        | 'standing';
    };

export interface Wish {
  readonly by: string;
  readonly fingerprint: string;
  /** Undefined: as long as the policy allows. */
  readonly until: number | undefined;
}

/**
 * What one more signature makes of an intent's approval. A second person adds to an approval of the same
 * request and policy version; anything else starts again. Signing again as the same person renews that
 * person's signature and leaves the others.
 */
export function sign(intent: Intent, permission: Permission, wish: Wish, now: number): Signing {
  const refuse = (reason: Extract<Signing, { kind: 'refused' }>['reason']) =>
    ({ kind: 'refused', reason }) as const;
  if (permission.kind === 'standing') return refuse('standing');
  if (wish.fingerprint !== intent.fingerprint) return refuse('another_request');
  if (permission.separate && wish.by === intent.submittedBy) return refuse('submitter');
  if (!mayApprove(permission, intent, wish.by)) return refuse('not_an_approver');
  const latest = now + permission.longestMs;
  const until = wish.until ?? latest;
  if (until <= now) return refuse('until_passed');
  if (until > latest) return refuse('until_too_late');
  const signature = { by: wish.by, at: now };
  const before = intent.approval;
  const stands =
    before !== null &&
    before.revoked === null &&
    before.policyVersion === permission.version &&
    before.signatures.every((each) => mayApprove(permission, intent, each.by)) &&
    before.fingerprint === wish.fingerprint &&
    now < before.until &&
    !(permission.freshAfterAbsent && before.signatures.some((each) => each.at <= (intent.absentSince ?? -1)));
  const others = stands ? before.signatures.filter((each) => each.by !== wish.by) : [];
  const { fingerprint } = wish;
  const mine = {
    fingerprint,
    policyVersion: permission.version,
    until,
    signatures: [signature],
    revoked: null,
  };
  if (!stands || others.length === 0) return { kind: 'signed', approval: mine };
  // The shorter time of all: nobody's signature lasts longer than that person said.
  const signatures = [...others, signature];
  return { kind: 'signed', approval: { ...mine, until: Math.min(before.until, until), signatures } };
}

function refused(reason: ApprovalRefusal): PermissionNow {
  return { kind: 'refused', reason };
}

import { describe, expect, it } from 'vitest';
import { type Approval, permissionOf, sign, signaturesNeeded } from '../../lib/domain/approval.ts';
import { fingerprint } from '../../lib/domain/fingerprint.ts';
import type { Intent } from '../../lib/domain/intent.ts';
import { APPROVAL, BY_APPROVAL, intentOf, NOW } from '../support/kit.ts';

const HOUR_MS = 3_600_000;
const approved = (change: Partial<Approval> = {}, intent: Partial<Intent> = {}) =>
  intentOf({ ...intent, approval: { ...APPROVAL, ...change } });
const two = { ...BY_APPROVAL, twoFrom: { field: 'quantity', amount: 2 } };
const fresh = { ...BY_APPROVAL, freshAfterAbsent: true };
const ann = { by: 'ann', at: NOW };
const otto = { by: 'otto', at: NOW + 5 };

describe('whether a write is permitted', () => {
  it.each<[string, Intent, typeof BY_APPROVAL, number, string]>([
    ['not approved', intentOf(), BY_APPROVAL, NOW, 'not_approved'],
    ['approved', approved(), BY_APPROVAL, NOW, 'permitted'],
    ['1 ms before it expires', approved({ until: NOW + 1 }), BY_APPROVAL, NOW, 'permitted'],
    ['when it expires', approved({ until: NOW }), BY_APPROVAL, NOW, 'approval_expired'],
    ['1 ms after', approved({ until: NOW - 1 }), BY_APPROVAL, NOW, 'approval_expired'],
    ['revoked', approved({ revoked: otto }), BY_APPROVAL, NOW, 'approval_revoked'],
    [
      'of another request',
      approved({ fingerprint: 'fp1:other' }),
      BY_APPROVAL,
      NOW,
      'approval_of_another_request',
    ],
    [
      'under an older version that is accepted',
      approved({ policyVersion: 'v1' }),
      BY_APPROVAL,
      NOW,
      'permitted',
    ],
    [
      'under a version that is not',
      approved({ policyVersion: 'v0' }),
      BY_APPROVAL,
      NOW,
      'policy_version_not_accepted',
    ],
    [
      'signed by somebody who may sign no more',
      approved(),
      { ...BY_APPROVAL, approvers: ['otto'] },
      NOW,
      'approver_not_allowed',
    ],
    [
      'signed by the submitter before the policy kept the two apart',
      approved({ signatures: [{ by: 'shop', at: NOW }] }),
      BY_APPROVAL,
      NOW,
      'approver_not_allowed',
    ],
    [
      'signed by the submitter where the policy does not keep the two apart',
      approved({ signatures: [{ by: 'shop', at: NOW }] }),
      { ...BY_APPROVAL, separate: false },
      NOW,
      'permitted',
    ],
    [
      'one of two may sign no more',
      approved({ signatures: [ann, otto] }),
      { ...two, approvers: ['ann'] },
      NOW,
      'approver_not_allowed',
    ],
    ['signed by one who is named', approved(), { ...BY_APPROVAL, approvers: ['ann'] }, NOW, 'permitted'],
    ['one signature where two are needed', approved(), two, NOW, 'second_signature_missing'],
    ['two signatures', approved({ signatures: [ann, otto] }), two, NOW, 'permitted'],
    [
      'signed before absence was proved, asked to be fresh',
      approved({}, { absentSince: NOW }),
      fresh,
      NOW,
      'approval_before_absence',
    ],
    ['signed after', approved({ signatures: [otto] }, { absentSince: NOW }), fresh, NOW, 'permitted'],
    [
      'signed before, not asked to be fresh',
      approved({}, { absentSince: NOW }),
      BY_APPROVAL,
      NOW,
      'permitted',
    ],
  ])('%s', (_, intent, permission, now, expected) => {
    const result = permissionOf(intent, permission, now);
    expect(result.kind === 'permitted' ? 'permitted' : result.reason).toBe(expected);
  });

  it('two are needed from the amount on, and where the amount is not told', () => {
    const needed = (quantity: unknown) => signaturesNeeded({ payload: { quantity } as never }, two);
    expect([1, 2, 3, '1', undefined].map(needed)).toEqual([1, 2, 2, 2, 2]);
  });

  it.each([
    ['route', { route: 'other' }],
    ['account', { account: 'other' }],
    ['environment', { environment: 'production' }],
    ['parent', { parent: 'p' }],
    ['order', { payload: { order_id: 'PO-38', sku: 'TEA-01', quantity: 2 } }],
    ['sku', { payload: { order_id: 'PO-37', sku: 'TEA-1', quantity: 2 } }],
    ['quantity', { payload: { order_id: 'PO-37', sku: 'TEA-01', quantity: 3 } }],
    ['type of a value', { payload: { order_id: 'PO-37', sku: 'TEA-01', quantity: '2' } }],
    ['presence of a field', { payload: { order_id: 'PO-37', sku: 'TEA-01' } }],
    ['presence of another field', { payload: { order_id: 'PO-37', sku: 'TEA-01', quantity: 2, note: '' } }],
    ['null of a field', { payload: { order_id: 'PO-37', sku: 'TEA-01', quantity: null } }],
    ['white space', { payload: { order_id: 'PO-37', sku: 'TEA-01 ', quantity: 2 } }],
  ])('an approval does not serve a request that differs in its %s', (_, change) => {
    const base = intentOf();
    const parts = {
      route: base.route,
      account: base.account,
      environment: base.environment,
      parent: null,
      payload: base.payload,
    };
    const other = intentOf({
      fingerprint: fingerprint({ ...parts, ...change } as never),
      approval: APPROVAL,
    });
    expect(permissionOf(other, BY_APPROVAL, NOW)).toEqual({
      kind: 'refused',
      reason: 'approval_of_another_request',
    });
  });
});

describe('one more signature', () => {
  const wish = (by: string, until?: number) => ({ by, fingerprint: APPROVAL.fingerprint, until });

  it.each([
    ['of the submitter', { ...wish('shop') }, 'submitter'],
    ['of another request', { ...wish('ann'), fingerprint: 'fp1:other' }, 'another_request'],
    ['that is over', wish('ann', NOW), 'until_passed'],
    ['that lasts too long', wish('ann', NOW + BY_APPROVAL.longestMs + 1), 'until_too_late'],
  ])('%s is refused', (_, asked, reason) => {
    expect(sign(intentOf(), BY_APPROVAL, asked, NOW)).toEqual({ kind: 'refused', reason });
  });

  it('of the submitter is taken where the policy does not separate', () => {
    expect(sign(intentOf(), { ...BY_APPROVAL, separate: false }, wish('shop'), NOW).kind).toBe('signed');
  });

  it('of somebody whom the policy does not name is refused', () => {
    expect(sign(intentOf(), { ...BY_APPROVAL, approvers: ['ann'] }, wish('otto'), NOW)).toEqual({
      kind: 'refused',
      reason: 'not_an_approver',
    });
  });

  it('starts again where an earlier signer may sign no more', () => {
    const only = { ...two, approvers: ['otto'] };
    const signing = sign(approved(), only, wish('otto'), NOW + 10);
    expect(signing).toMatchObject({ approval: { signatures: [{ by: 'otto', at: NOW + 10 }] } });
  });

  it('is refused on a route with a standing permission', () => {
    const standing = { kind: 'standing', version: '1', until: NOW + 1 } as const;
    expect(sign(intentOf(), standing, wish('ann'), NOW)).toEqual({ kind: 'refused', reason: 'standing' });
  });

  const signed = (intent: Intent, by: string, until?: number, now = NOW + 10): Approval => {
    const signing = sign(intent, two, wish(by, until), now);
    if (signing.kind === 'refused') throw new Error(signing.reason);
    return signing.approval;
  };

  it('of a second person adds, and nobody is bound longer than they said', () => {
    const approval = signed(approved({ until: NOW + HOUR_MS }), 'otto', NOW + 2 * HOUR_MS);
    expect(approval).toMatchObject({ signatures: [ann, { by: 'otto', at: NOW + 10 }], until: NOW + HOUR_MS });
    expect(signed(approved(), 'otto', NOW + 60_000).until).toBe(NOW + 60_000);
  });

  it('of a person who signed already renews that one and leaves the others', () => {
    const both = approved({ signatures: [ann, { by: 'otto', at: NOW + 1 }] });
    expect(signed(both, 'otto')).toMatchObject({
      signatures: [ann, { by: 'otto', at: NOW + 10 }],
      until: both.approval?.until,
    });
  });

  it.each<[string, Partial<Approval>]>([
    ['of the same person', { signatures: [{ by: 'otto', at: NOW }] }],
    ['after a revocation', { revoked: ann }],
    ['after the first has expired', { until: NOW + 10 }],
    ['under another policy version', { policyVersion: 'v1' }],
    ['of another request', { fingerprint: 'fp1:other' }],
  ])('%s starts again with one', (_, change) => {
    expect(signed(approved(change), 'otto').signatures).toEqual([{ by: 'otto', at: NOW + 10 }]);
  });
});

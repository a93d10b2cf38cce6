/** Intents, clocks and deps for tests. Nothing here decides anything. */
import type { Approval } from '../../lib/domain/approval.ts';
import { fingerprint, payloadDigest } from '../../lib/domain/fingerprint.ts';
import type { Attempt, Intent, IntentState, SearchFacts } from '../../lib/domain/intent.ts';
import type { Timing } from '../../lib/domain/promise.ts';
import type { Permission, Policy, Route } from '../../lib/domain/route.ts';
import type { WriteResult } from '../../lib/domain/write-result.ts';
import type { Clock } from '../../lib/platform/clock.ts';

/** An ordinary moment. */
export const NOW = Date.parse('2026-11-30T09:00:00Z');
export const TIMING: Timing = { senderLifeMs: 15_000, skewMs: 0, graceMs: 60_000 };
/** W of the test route: Z 15 000 + D 500 + L 300. */
export const WINDOW_MS = 15_800;

export const POLICY: Policy = {
  permission: { kind: 'standing', version: 'test-1', until: NOW + 30 * 86_400_000 },
  attempts: 4,
  requestMs: 1000,
  pauseMs: 100,
  resend: 'first',
  repeatOn: ['not_sent', 'closed_without_answer', 'timeout', 'lost', 'status_503'],
  sendWithinMs: 86_400_000,
  confirmWithinMs: 3_600_000,
  lookBeforeMs: 300_000,
  lookAfterMs: 1_800_000,
};

export function routeTo(baseUrl: string, change: Partial<Route> = {}): Route {
  return {
    name: 'warehouse',
    tenant: 'acme',
    provider: 'warehouse',
    account: 'tokyo-1',
    environment: 'test',
    action: 'reserve',
    publicHosts: [],
    keyField: 'order_id',
    baseUrl,
    writeSecretRef: null,
    readSecretRef: null,
    policy: POLICY,
    applyDelayMs: 500,
    visibilityLagMs: 300,
    ...change,
  };
}

export const UNKNOWN_RESULT: Extract<WriteResult, { kind: 'unknown' }> = {
  kind: 'unknown',
  code: 'timeout',
  startedAt: NOW,
  evidenceId: 'a1',
  at: NOW + 1000,
};
export const ACKNOWLEDGED: WriteResult = {
  kind: 'acknowledged',
  externalId: 'R-1',
  status: 201,
  answerDigest: '00',
  at: NOW + 50,
};
export const NOT_SENT: WriteResult = {
  kind: 'rejected',
  proof: 'not_sent',
  code: 'not_sent',
  retryable: true,
  detail: 'refused',
  at: NOW + 50,
};
export const REFUSED: WriteResult = {
  kind: 'rejected',
  proof: 'refused',
  code: 'status_409',
  retryable: false,
  detail: 'the promise lists this answer as not executed',
  at: NOW + 50,
};

export function attemptOf(number: number, change: Partial<Attempt> = {}): Attempt {
  return {
    number,
    token: `a${number}`,
    claimedAt: NOW,
    sendBefore: NOW + 10_000,
    permission: 'test-1',
    ...change,
  };
}

export function searchOf(change: Partial<SearchFacts> = {}): SearchFacts {
  return {
    startedAt: NOW + 20_000,
    endedAt: NOW + 20_010,
    verdict: 'wait',
    complete: true,
    authorised: true,
    candidates: [],
    reference: 'PO-37',
    account: 'tokyo-1',
    environment: 'test',
    ...change,
  };
}

/** A permission that asks for an approval of each intent. */
export const BY_APPROVAL: Extract<Permission, { kind: 'approval' }> = {
  kind: 'approval',
  version: 'v2',
  accepts: ['v1', 'v2'],
  longestMs: 86_400_000,
  approvers: null,
  separate: true,
  twoFrom: null,
  freshAfterAbsent: false,
};

const PAYLOAD = { order_id: 'PO-37', sku: 'TEA-01', quantity: 2 };

export function intentOf(change: Partial<Intent> = {}): Intent {
  const parts = {
    route: 'warehouse',
    account: 'tokyo-1',
    environment: 'test',
    parent: null,
    payload: PAYLOAD,
  };
  return {
    id: `int_${'0'.repeat(40)}`,
    tenant: 'acme',
    unit: 'sales',
    environment: 'test',
    action: 'reserve',
    key: 'PO-37',
    route: 'warehouse',
    provider: 'warehouse',
    account: 'tokyo-1',
    parent: null,
    payload: PAYLOAD,
    frozen: { method: 'POST', path: '/reservations', headers: {}, body: JSON.stringify(PAYLOAD) },
    fingerprint: fingerprint(parts),
    payloadDigest: payloadDigest(PAYLOAD),
    promiseClass: 'keyed',
    submitToken: 'submit-1',
    submittedBy: 'shop',
    traceIds: {},
    corrects: null,
    followWith: null,
    createdAt: NOW,
    plannedAt: NOW,
    sendBy: NOW + 86_400_000,
    approval: null,
    state: 'ready',
    version: 1,
    dueAt: NOW,
    runs: 1,
    idleRuns: 0,
    attempts: [],
    noMoreWrites: false,
    seenAt: null,
    acknowledgedId: null,
    searches: 0,
    searchingSince: null,
    heldBack: null,
    unknownSince: null,
    lastSearch: null,
    absentSince: null,
    readbacks: 0,
    handover: null,
    conflictAt: null,
    externalId: null,
    receipt: null,
    outcome: null,
    attestedId: null,
    incident: null,
    contraryAt: null,
    trustedSearchAt: null,
    cancelUntil: null,
    checkedAt: null,
    waitsFor: null,
    followUp: null,
    owner: null,
    proposal: null,
    waitUntil: null,
    declaredAbsentAt: null,
    surplus: [],
    writeToken: 'submit-1',
    ...change,
  };
}

export const APPROVAL: Approval = {
  fingerprint: intentOf().fingerprint,
  policyVersion: 'v2',
  until: NOW + 3_600_000,
  signatures: [{ by: 'ann', at: NOW }],
  revoked: null,
};

const inDoubt = { attempts: [attemptOf(1, { result: UNKNOWN_RESULT })], unknownSince: NOW };
const seen = { attempts: [attemptOf(1, { result: ACKNOWLEDGED })], seenAt: NOW, acknowledgedId: 'R-1' };

/** One plain intent in each state, after at most one attempt. */
export const IN_STATE: Readonly<Record<IntentState, Intent>> = {
  awaiting_approval: intentOf({ state: 'awaiting_approval' }),
  ready: intentOf(),
  sending: intentOf({ state: 'sending', attempts: [attemptOf(1)] }),
  acknowledged: intentOf({ state: 'acknowledged', ...seen }),
  unknown: intentOf({ state: 'unknown', ...inDoubt }),
  absent: intentOf({ state: 'absent', ...inDoubt, lastSearch: searchOf({ verdict: 'absent' }) }),
  handover: intentOf({
    state: 'handover',
    ...inDoubt,
    handover: { reason: 'exhausted', candidates: [], at: NOW },
  }),
  confirmed: intentOf({
    state: 'confirmed',
    ...seen,
    dueAt: null,
    externalId: 'R-1',
    receipt: {
      schema: 'kakutei-receipt/v1',
      externalId: 'R-1',
      url: null,
      checks: { account: true },
      readAt: NOW,
      payloadDigest: '00',
      promiseClass: 'keyed',
      searchedWhole: true,
    },
  }),
  rejected: intentOf({ state: 'rejected', dueAt: null, attempts: [attemptOf(1, { result: REFUSED })] }),
  closed: intentOf({ state: 'closed', outcome: 'no_effect', dueAt: null, ...inDoubt }),
};

/** For adapters that visit no public page and search by reference. */
export const NOWHERE_ELSE = {
  visit: async () => ({ kind: 'failed', error: 'host_not_allowed' }) as const,
  range: { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY },
  ...{ baseUrl: 'http://127.0.0.1:1', startedAt: NOW, visibilityLagMs: 300 },
};

/** Time that passes only when somebody sleeps. */
export function fakeClock(start = NOW): Clock & { advance: (ms: number) => void } {
  let now = start;
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

/** `id-1`, `id-2`, ... */
export function counter(prefix = 'id'): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}-${last}`;
  };
}

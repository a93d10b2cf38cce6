/** Builds an intent from a checked submission: its identity, its frozen bytes, its fingerprint, its first state. */
import { payloadDigest, requestPrint, sha256 } from '../domain/fingerprint.ts';
import type { FollowUp, Intent, JsonObject } from '../domain/intent.ts';
import { newlyAccepted } from '../domain/new-intent.ts';
import { classOf } from '../domain/promise.ts';
import type { Way } from '../providers/registry.ts';
import type { Deps } from './deps.ts';

export interface Submission {
  readonly tenant: string;
  readonly unit: string;
  readonly subject: string;
  readonly key: string;
  readonly route: string;
  readonly payload: JsonObject;
  readonly parent: string | null;
  /** ms; undefined: now. */
  readonly plannedAt?: number | undefined;
  readonly sendBy?: number | undefined;
  readonly traceIds: Readonly<Record<string, string>>;
  /** The caller's own intent that this one corrects. */
  readonly corrects?: string | null | undefined;
  /** What is to be made once this one is confirmed. */
  readonly followWith?: FollowUp | null | undefined;
}

/** Depends on the identity alone: equal keys of two tenants, units, environments or actions never meet. */
export function intentIdOf(
  tenant: string,
  unit: string,
  way: Pick<Way['route'], 'environment' | 'action'>,
  key: string,
): string {
  return `int_${sha256(JSON.stringify([tenant, unit, way.environment, way.action, key])).slice(0, 40)}`;
}

/** The caller's part of a key; what follows the tilde is the server's. */
export function callersKey(key: string): string {
  return key.split('~', 1)[0] ?? key;
}

/** `payload` and the follow-up are as their adapters' schemas gave them back. Throws `NotCanonical`. */
export function newRequest(deps: Deps, submission: Submission, way: Way, now: number): Intent {
  const { route, provider } = way;
  const { tenant, unit, key, parent, payload } = submission;
  const id = intentIdOf(tenant, unit, route, key);
  const { account, environment } = route;
  const identity = { id, tenant, unit, environment, action: route.action, key };
  const corrects = submission.corrects ?? null;
  const followWith = submission.followWith ?? null;
  const asked = { route: route.name, account, parent, payload, corrects, followWith };
  const request = {
    ...asked,
    provider: provider.name,
    frozen: provider.write(payload, provider.reference({ id, key, payload }), {
      account,
      environment,
      parent,
    }),
    fingerprint: requestPrint({ ...asked, environment }, deps.normalisation),
    payloadDigest: payloadDigest(payload),
    promiseClass: classOf(provider.promise, deps.timing, way.lag, now, now),
  };
  const plannedAt = submission.plannedAt ?? now;
  const submitted = {
    submitToken: deps.newId(),
    submittedBy: submission.subject,
    traceIds: submission.traceIds,
    createdAt: now,
    plannedAt,
    sendBy: submission.sendBy ?? Math.max(now, plannedAt) + route.policy.sendWithinMs,
  };
  return newlyAccepted({ ...identity, ...request, ...submitted }, route.policy.permission, deps.timing, now);
}

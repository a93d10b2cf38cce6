import type { Environment } from './intent.ts';
import type { Lag, ProviderPromise } from './promise.ts';

/** A limit on a payload field at the top: a number, or money in one currency. */
export type AmountLimit =
  | { readonly field: string; readonly amount: number }
  | {
      readonly field: string;
      /** A decimal string, at most as fine as the currency. */
      readonly amount: string;
      /** ISO 4217. */
      readonly currency: string;
      /** The payload field that names the currency. */
      readonly currencyField: string;
    };

/** Who lets a write out. */
export type Permission =
  | {
      readonly kind: 'standing';
      readonly version: string;
      /** Exclusive, ms since the epoch. */
      readonly until: number;
    }
  | {
      /** Every intent needs an approval of its own. */
      readonly kind: 'approval';
      /** Policy version that new signatures are given under. */
      readonly version: string;
      /** Policy versions under which a write may still leave; `version` is one of them. */
      readonly accepts: readonly string[];
      /** Longest life of an approval, ms. */
      readonly longestMs: number;
      /** Subjects who may sign, asked again at every use; null: everybody who holds the scope. */
      readonly approvers: readonly string[] | null;
      /** Whether the submitter may not approve. */
      readonly separate: boolean;
      /** Two people from this limit on; null: one is enough. */
      readonly twoFrom: AmountLimit | null;
      /** Whether an approval given before an absence was proved no longer holds. */
      readonly freshAfterAbsent: boolean;
    };

/** The rules of one way out. They are this route's policy, not defaults for everyone. */
export interface Policy {
  readonly permission: Permission;
  /** Greatest number of attempts, the first included, proved-not-sent ones counted. */
  readonly attempts: number;
  /** Limit of one request, ms. */
  readonly requestMs: number;
  /** Pause between attempts, ms. */
  readonly pauseMs: number;
  /** `first`: resend in the same run before any search, where the promise allows it; else search first. */
  readonly resend: 'first' | 'after_search';
  /** Error words after which an attempt may be repeated at all. */
  readonly repeatOn: readonly string[];
  /** Default distance from `plannedAt` to `sendBy`, ms. */
  readonly sendWithinMs: number;
  /** An approved intent without an external id for longer than this is listed for people, ms. */
  readonly confirmWithinMs: number;
  /** How long before the first and after the last moment of a write an effect is looked for, ms. */
  readonly lookBeforeMs: number;
  readonly lookAfterMs: number;
}

/** A configured way out: provider, account, environment, action and policy. */
export interface Route {
  readonly name: string;
  readonly tenant: string;
  readonly provider: string;
  readonly account: string;
  readonly environment: Environment;
  readonly action: string;
  /** The payload field that is the caller's key, or null. */
  readonly keyField: string | null;
  readonly baseUrl: string;
  readonly writeSecretRef: string | null;
  readonly readSecretRef: string | null;
  /** Hosts of public URLs that a readback may visit, without credentials. */
  readonly publicHosts: readonly string[];
  readonly policy: Policy;
  readonly applyDelayMs: number | null;
  readonly visibilityLagMs: number | null;
}

/** D and L in force: the route's own where it sets them, else the provider's, else unknown. */
export function lagOf(route: Route, promise: ProviderPromise): Lag {
  return {
    applyDelayMs: route.applyDelayMs ?? promise.applyDelayMs ?? null,
    visibilityLagMs: route.visibilityLagMs ?? promise.visibilityLagMs ?? null,
  };
}

/** How an intent is laid out as one item: plain attributes, so that an update sets only what changed. */
import { isDeepStrictEqual } from 'node:util';
import type { Intent, IntentRef } from '../domain/intent.ts';
import { utc } from '../platform/clock.ts';
import {
  type Account,
  type AttentionList,
  type Binding,
  DUE_SHARDS,
  type Evidence,
  type OutsideEvent,
} from './ledger.ts';

export type Item = { readonly [attribute: string]: unknown };

export const INTENT_SORT_KEY = 'INTENT';
/** Larger payloads go into an item of their own, put before the intent. */
export const INLINE_BYTES = 4096;

const SEPARATOR = '#';

/** Tenants and units come from tokens; a separator in one could reach into another's keys. */
export function partOfKey(text: string): string {
  if (text === '' || text.includes(SEPARATOR)) {
    throw new RangeError('Cannot build a ledger key from a part that is empty or holds "#".');
  }
  return text;
}

export function partitionOf(ref: IntentRef): string {
  return `T#${partOfKey(ref.tenant)}#I#${partOfKey(ref.intentId)}`;
}

export function refOf(partition: string): IntentRef {
  const [, tenant = '', , intentId = ''] = partition.split(SEPARATOR);
  return { tenant, intentId };
}

export function evidenceSortKey(evidence: Pick<Evidence, 'kind' | 'id'>): string {
  return `E#${evidence.kind}#${evidence.id}`;
}

export function bindingPartition(binding: Binding): string {
  const { provider, account, environment, kind, externalId } = binding;
  return `X#${JSON.stringify([provider, account, environment, kind, externalId])}`;
}

export function holdPartition(key: string): string {
  return `L#${key}`;
}

export function callsPartition({ provider, account, environment }: Account): string {
  return `Q#${JSON.stringify([provider, account, environment])}`;
}

export function eventPartition(event: Pick<OutsideEvent, 'endpoint' | 'id'>): string {
  return `H#${JSON.stringify([event.endpoint, event.id])}`;
}

/** The partition of the due index in which events wait to be matched again. */
export const DUE_EVENTS = 'due#events';

export function listPartition(tenant: string, unit: string, day: string): string {
  return `${partOfKey(tenant)}#${partOfKey(unit)}#${day}`;
}

export function dayOf(ms: number): string {
  return utc(ms).slice(0, 10);
}

export function shardOf(intentId: string): number {
  let sum = 0;
  for (const char of intentId) sum = (sum + char.charCodeAt(0)) % DUE_SHARDS;
  return sum;
}

const DOUBTFUL: readonly string[] = ['unknown', 'handover'];
const SETTLED: readonly string[] = ['confirmed', 'rejected', 'closed'];

/** Partition of the attention index; `approved` has one of its own, so that neither list hides the other. */
export function attentionPartition(tenant: string, unit: string, list: AttentionList): string {
  return `${partOfKey(tenant)}#${partOfKey(unit)}#${list}`;
}

/** In which list an intent is, and since when; null when nobody needs to look. */
function attentionOf(intent: Intent): { attentionOf: string; attentionAt: number } | null {
  const open = !SETTLED.includes(intent.state);
  const conflicted = intent.conflictAt !== null && open;
  if (DOUBTFUL.includes(intent.state) || intent.incident !== null || conflicted) {
    const attentionAt = intent.unknownSince ?? intent.createdAt;
    return { attentionOf: attentionPartition(intent.tenant, intent.unit, 'doubtful'), attentionAt };
  }
  const signedAt = intent.approval?.signatures.at(-1)?.at;
  if (signedAt === undefined || !open) return null;
  return { attentionOf: attentionPartition(intent.tenant, intent.unit, 'approved'), attentionAt: signedAt };
}

/** Attributes of the item; null fields are left out, so that the sparse indexes stay sparse. */
export function toItem(intent: Intent): Item {
  const { payload, followWith, ...plain } = intent;
  const all: Record<string, unknown> = {
    ...plain,
    pk: partitionOf({ tenant: intent.tenant, intentId: intent.id }),
    sk: INTENT_SORT_KEY,
    payload: JSON.stringify(payload),
    followWith: followWith === null ? null : { ...followWith, payload: JSON.stringify(followWith.payload) },
    dueShard: intent.dueAt === null ? null : `due#${shardOf(intent.id)}`,
    ...attentionOf(intent),
    listDay: listPartition(intent.tenant, intent.unit, dayOf(intent.createdAt)),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** What a sighting changes while an attempt is out: its result must be judged on what stands then. */
export const SIGHTS = ['seenAt', 'acknowledgedId', 'contraryAt'] as const;

export interface Change {
  readonly path: readonly (string | number)[];
  /** Undefined: the attribute is removed. */
  readonly value: unknown;
}

/** What an update must set; attempts are compared one by one, so that a result touches its own attempt only. */
export function changesBetween(before: Item, after: Item): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== 'version',
  );
  return names.flatMap((name): Change[] => {
    if (isDeepStrictEqual(before[name], after[name])) return [];
    if (name !== 'attempts') return [{ path: [name], value: after[name] }];
    const old = before[name] as readonly unknown[];
    return (after[name] as readonly unknown[]).flatMap((each, index) =>
      isDeepStrictEqual(each, old[index]) ? [] : [{ path: [name, index], value: each }],
    );
  });
}

/** Whether a failed condition met our own write, repeated after its answer was lost. */
export function isOurs(current: Intent, before: Intent, after: Intent): boolean {
  if (current.writeToken === after.writeToken) return true;
  return after.attempts.some((attempt, index) => {
    const there = current.attempts[index];
    if (there?.token !== attempt.token) return false;
    const claimed = index >= before.attempts.length;
    const settled = attempt.result !== undefined && before.attempts[index]?.result === undefined;
    return claimed || (settled && there.result !== undefined);
  });
}

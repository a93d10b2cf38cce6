/** How an intent is laid out as one item: plain attributes, so that an update sets only what changed. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { type Intent, type IntentRef, type JsonObject, STATES } from '../domain/intent.ts';
import type { WriteResult } from '../domain/write-result.ts';
import { type Binding, DUE_SHARDS, type Evidence } from './ledger.ts';

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

export function listPartition(tenant: string, unit: string, day: string): string {
  return `${partOfKey(tenant)}#${partOfKey(unit)}#${day}`;
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function shardOf(intentId: string): number {
  let sum = 0;
  for (const char of intentId) sum = (sum + char.charCodeAt(0)) % DUE_SHARDS;
  return sum;
}

const ATTENTION: readonly string[] = ['unknown', 'handover'];

/** Attributes of the item; null fields are left out, so that the sparse indexes stay sparse. */
export function toItem(intent: Intent): Item {
  const { payload, ...plain } = intent;
  const attention = ATTENTION.includes(intent.state) || intent.incident !== null;
  const all: Record<string, unknown> = {
    ...plain,
    pk: partitionOf({ tenant: intent.tenant, intentId: intent.id }),
    sk: INTENT_SORT_KEY,
    payload: JSON.stringify(payload),
    dueShard: intent.dueAt === null ? null : `due#${shardOf(intent.id)}`,
    attentionOf: attention ? intent.tenant : null,
    attentionAt: attention ? (intent.unknownSince ?? intent.createdAt) : null,
    listDay: listPartition(intent.tenant, intent.unit, dayOf(intent.createdAt)),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

const ms = z.number();
const count = z.number().int().nonnegative();
const maybe = <T extends z.ZodType>(schema: T) => schema.nullable().default(null as never);

const writeResult = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('acknowledged'),
    externalId: z.string().nullable(),
    status: z.number(),
    answerDigest: z.string(),
    at: ms,
  }),
  z.object({
    kind: z.literal('rejected'),
    proof: z.enum(['not_sent', 'refused']),
    code: z.string(),
    retryable: z.boolean(),
    detail: z.string(),
    at: ms,
  }),
  z.object({ kind: z.literal('unknown'), code: z.string(), startedAt: ms, evidenceId: z.string(), at: ms }),
]) as unknown as z.ZodType<WriteResult>;

const environment = z.enum(['test', 'production']);

const attempt = z.object({
  number: count,
  token: z.string(),
  claimedAt: ms,
  sendBefore: ms,
  permission: z.string(),
  result: writeResult.optional(),
  lostAt: ms.optional(),
});

const search = z.object({
  startedAt: ms,
  endedAt: ms,
  verdict: z.enum(['found', 'many', 'absent', 'wait', 'inconclusive']),
  complete: z.boolean(),
  authorised: z.boolean(),
  candidates: z.array(z.string()),
  reference: z.string(),
  account: z.string(),
  environment,
  error: z.string().optional(),
});

const handover = z.object({ reason: z.string(), candidates: z.array(z.string()), at: ms });
const promiseClass = z.enum(['keyed', 'unique', 'searchable', 'blind']);

const receipt = z.object({
  schema: z.literal('kakutei-receipt/v1'),
  externalId: z.string(),
  checks: z.record(z.string(), z.boolean()),
  readAt: ms,
  payloadDigest: z.string(),
  promiseClass,
  searchedWhole: z.boolean(),
});

const stored = z.object({
  id: z.string(),
  tenant: z.string(),
  unit: z.string(),
  environment,
  action: z.string(),
  key: z.string(),
  route: z.string(),
  provider: z.string(),
  account: z.string(),
  parent: maybe(z.string()),
  payload: z.string().transform((text) => JSON.parse(text) as JsonObject),
  frozen: z.object({
    method: z.enum(['POST', 'PUT']),
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
  }),
  fingerprint: z.string(),
  payloadDigest: z.string(),
  promiseClass,
  submitToken: z.string(),
  submittedBy: z.string(),
  traceIds: z.record(z.string(), z.string()),
  createdAt: ms,
  plannedAt: ms,
  sendBy: ms,
  state: z.enum(STATES),
  version: count,
  dueAt: maybe(ms),
  runs: count,
  idleRuns: count,
  attempts: z.array(attempt),
  noMoreWrites: z.boolean(),
  seenAt: maybe(ms),
  acknowledgedId: maybe(z.string()),
  searches: count,
  unknownSince: maybe(ms),
  lastSearch: maybe(search),
  readbacks: count,
  handover: maybe(handover),
  conflictAt: maybe(ms),
  externalId: maybe(z.string()),
  receipt: maybe(receipt),
  outcome: maybe(z.enum(['no_effect', 'attested', 'undetermined'])),
  incident: maybe(handover),
  writeToken: z.string(),
});

/** Parses an item again; throws when what is stored is not an intent. */
export function fromItem(item: Item): Intent {
  return stored.parse(item) as Intent;
}

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

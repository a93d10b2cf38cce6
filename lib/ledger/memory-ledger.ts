/** The ledger in memory: the same items, guards and answers as the DynamoDB one; for tests and models. */
import type { Intent, IntentRef } from '../domain/intent.ts';
import type { NewId } from '../platform/ids.ts';
import {
  attentionPartition,
  bindingPartition,
  changesBetween,
  eventPartition,
  evidenceSortKey,
  holdPartition,
  INTENT_SORT_KEY,
  type Item,
  isOurs,
  listPartition,
  partitionOf,
  refOf,
  SIGHTS,
  toItem,
} from './item.ts';
import {
  BadCursor,
  type Evidence,
  type Guard,
  type Ledger,
  type OutsideEvent,
  type Page,
  type RouteState,
} from './ledger.ts';
import { callsInMemory } from './memory-calls.ts';
import { fromItem } from './stored-intent.ts';

export function memoryLedger(newId: NewId): Ledger {
  const items = new Map<string, Item>();
  const address = (pk: string, sk: string) => `${pk}\n${sk}`;
  const intentAt = (ref: IntentRef) => items.get(address(partitionOf(ref), INTENT_SORT_KEY));
  const read = (ref: IntentRef): Intent | undefined => {
    const item = intentAt(ref);
    return item === undefined ? undefined : fromItem(structuredClone(item));
  };
  const evidenceOf = (ref: IntentRef) =>
    [...items]
      .filter(([key]) => key.startsWith(`${partitionOf(ref)}\nE#`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, item]) => item['evidence'] as Evidence);
  const intents = () =>
    [...items.values()].filter((item) => item['sk'] === INTENT_SORT_KEY).map((item) => fromItem(item));

  return {
    create: async (intent) => {
      const ref = { tenant: intent.tenant, intentId: intent.id };
      const existing = read(ref);
      if (existing !== undefined) {
        return { kind: existing.submitToken === intent.submitToken ? 'created' : 'exists', intent: existing };
      }
      items.set(address(partitionOf(ref), INTENT_SORT_KEY), structuredClone(toItem(intent)));
      return { kind: 'created', intent };
    },
    read: async (ref) => read(ref),
    readForSend: async (ref, route) => ({
      intent: read(ref),
      frozen: [route, '*'].some((each) => items.get(`R#${each}`)?.['frozen'] === true),
    }),
    save: async (before, wanted, guard) => {
      const after = { ...wanted, writeToken: newId() };
      const ref = { tenant: before.tenant, intentId: before.id };
      const current = read(ref);
      const stored = intentAt(ref);
      if (current === undefined || stored === undefined) return { kind: 'lost', current: undefined };
      if (!holds(current, before, guard)) {
        return isOurs(current, before, after)
          ? { kind: 'saved', intent: current }
          : { kind: 'lost', current };
      }
      const next = structuredClone(stored) as Record<string, unknown>;
      for (const { path, value } of changesBetween(toItem(before), toItem(after))) {
        const [name, index] = path as [string, number | undefined];
        if (index !== undefined) (next[name] as unknown[])[index] = structuredClone(value);
        else if (value === undefined) delete next[name];
        else next[name] = structuredClone(value);
      }
      next['version'] = current.version + 1;
      items.set(address(partitionOf(ref), INTENT_SORT_KEY), next);
      return { kind: 'saved', intent: fromItem(next) };
    },
    bind: async (binding, owner) => {
      const pk = bindingPartition(binding);
      const holder = items.get(pk)?.['owner'] ?? partitionOf(owner);
      items.set(pk, { owner: holder });
      return { kind: holder === partitionOf(owner) ? 'mine' : 'taken' };
    },
    boundTo: async (binding) => {
      const owner = items.get(bindingPartition(binding))?.['owner'];
      return owner === undefined ? undefined : refOf(String(owner));
    },
    hold: async (key, owner, from) => {
      const pk = holdPartition(key);
      const holder = String(items.get(pk)?.['owner'] ?? partitionOf(owner));
      const free = [owner, ...(from === null ? [] : [from])].map(partitionOf).includes(holder);
      if (!free) return { kind: 'taken', by: refOf(holder) };
      items.set(pk, { owner: partitionOf(owner) });
      return { kind: 'mine' };
    },
    ...callsInMemory(),
    addEvidence: async (ref, evidence) => {
      const key = address(partitionOf(ref), evidenceSortKey(evidence));
      if (!items.has(key)) items.set(key, { sk: 'E', evidence: structuredClone(evidence) });
    },
    evidence: async (ref, limit, cursor) => pageOf(evidenceOf(ref), limit, cursor),
    countConflicts: async (ref) => evidenceOf(ref).filter((each) => each.kind === 'conflict').length,
    due: async (shard, now, limit, cursor) => {
      const due = [...items.values()]
        .filter((item) => item['dueShard'] === `due#${shard}` && Number(item['dueAt']) <= now)
        .filter((item) => item['sk'] === INTENT_SORT_KEY)
        .map((item) => fromItem(item))
        .filter((each) => cursor === null || placeOf(each) > cursor)
        .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
      const page = due.slice(0, limit);
      const last = page.at(-1);
      const refs = page.map((each) => ({ tenant: each.tenant, intentId: each.id }));
      return { items: refs, cursor: due.length > limit && last !== undefined ? placeOf(last) : null };
    },
    takeEvent: async (event) => {
      const known = items.get(eventPartition(event));
      if (known !== undefined) return known['event'] as OutsideEvent;
      items.set(eventPartition(event), { event });
      return event;
    },
    saveEvent: async (before, after) => {
      const known = items.get(eventPartition(before))?.['event'] as OutsideEvent | undefined;
      if (known?.changes !== before.changes) return false;
      items.set(eventPartition(before), { event: { ...after, changes: before.changes + 1 } });
      return true;
    },
    dueEvents: async (now, limit) =>
      [...items.values()]
        .flatMap((item) => (item['event'] === undefined ? [] : [item['event'] as OutsideEvent]))
        .filter((event) => event.dueAt !== null && event.dueAt <= now)
        .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
        .slice(0, limit),
    attention: async (tenant, unit, list, limit, cursor) => {
      const wanted = intents().filter(
        (each) => toItem(each)['attentionOf'] === attentionPartition(tenant, unit, list),
      );
      const since = (each: Intent) => Number(toItem(each)['attentionAt']);
      return pageOf(
        wanted.sort((a, b) => since(a) - since(b)),
        limit,
        cursor,
      );
    },
    list: async (tenant, unit, day, limit, cursor) => {
      const wanted = listPartition(tenant, unit, day);
      const all = intents().filter((each) => toItem(each)['listDay'] === wanted);
      return pageOf(
        all.sort((a, b) => b.createdAt - a.createdAt),
        limit,
        cursor,
      );
    },
    freeze: async (route, freeze) => {
      const before = items.get(`R#${route}`);
      if (before?.['frozen'] !== true) items.set(`R#${route}`, { ...freeze, frozen: true });
      return items.get(`R#${route}`) as unknown as RouteState;
    },
    thaw: async (route, thaw) => {
      items.set(`R#${route}`, { ...thaw, frozen: false });
      return { ...thaw, frozen: false };
    },
  };
}

function holds(current: Intent, before: Intent, guard: Guard): boolean {
  if (guard.kind === 'unchanged') return current.version === before.version;
  const attempt = current.attempts[guard.number - 1];
  const mine = attempt?.token === guard.token && attempt.result === undefined;
  const unseen = SIGHTS.every((name) => current[name] === before[name]);
  return mine && unseen && current.state === 'sending' && current.attempts.length === guard.number;
}

function pageOf<T>(all: readonly T[], limit: number, cursor: string | null): Page<T> {
  const from = cursor === null ? 0 : Number(cursor);
  if (!Number.isSafeInteger(from) || from < 0)
    throw new BadCursor('Cannot page on from a cursor that is not ours.');
  const end = from + limit;
  return { items: all.slice(from, end), cursor: end < all.length ? String(end) : null };
}

/** Orders intents by due time; unlike an index into the list it stays right while they are taken up. */
function placeOf(intent: Intent): string {
  return `${String(intent.dueAt ?? 0).padStart(15, '0')} ${intent.tenant} ${intent.id}`;
}

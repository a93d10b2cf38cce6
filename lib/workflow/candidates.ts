/** What a look saw where identity is content: each record with every reason for and against it, for people. */
import type { Intent, Json } from '../domain/intent.ts';
import type { LookContext, ProviderRecord } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import type { Deps } from './deps.ts';
import { bindingOf } from './twin-hold.ts';

/** At most this many records are kept of one look; those that match come first. */
const MOST_SHOWN = 20;

/** Whether a record lies in the time searched. One without a time does, and so does every one that shows our reference. */
export function inRange(way: Way, record: ProviderRecord, range: LookContext['range']): boolean {
  if (way.provider.promise.referenceShown || record.createdAt === undefined) return true;
  return record.createdAt >= range.from && record.createdAt <= range.to;
}

/** Matches, and near misses: the same parent in time with another text, or the same post out of time. */
export async function candidatesOf(
  deps: Pick<Deps, 'ledger'>,
  way: Way,
  intent: Intent,
  records: readonly ProviderRecord[],
  range: LookContext['range'],
): Promise<Json[]> {
  const { reasons } = way.provider;
  if (reasons === undefined) return [];
  const judged = records.map((record) => {
    const window = inRange(way, record, range);
    const why: Readonly<Record<string, boolean | string>> = { ...reasons(intent, record), window };
    return { record, why, against: Object.values(why).filter((each) => each !== true).length };
  });
  const shown = judged
    .filter(({ why, against }) => why['author'] === true && against <= 1)
    .sort((a, b) => a.against - b.against)
    .slice(0, MOST_SHOWN);
  return Promise.all(
    shown.map(async ({ record: { externalId }, why, against }) => {
      const binding = await boundAs(deps, way, intent, externalId);
      return { externalId, near: against > 0, reasons: { ...why, binding } };
    }),
  );
}

async function boundAs(
  deps: Pick<Deps, 'ledger'>,
  way: Way,
  intent: Intent,
  externalId: string,
): Promise<'free' | 'ours' | 'elsewhere'> {
  const owner = await deps.ledger.boundTo(bindingOf(way, externalId));
  if (owner === undefined) return 'free';
  return owner.intentId === intent.id ? 'ours' : 'elsewhere';
}

/** What a look saw where identity is content: each record with every reason for and against it, for people. */
import type { Intent, Json } from '../domain/intent.ts';
import { canBeOfAnAttempt } from '../domain/reconciliation.ts';
import { acknowledgedIds } from '../domain/verification.ts';
import { utc } from '../platform/clock.ts';
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

/**
 * Whether a record is no older than our first claim, by the provider's clock, so that it can be ours; the id that
 * answered an attempt is ours whatever that clock says. Undefined where reference or id tell, and not the time.
 */
export function inTime(
  { timing }: Pick<Deps, 'timing'>,
  { provider }: Way,
  intent: Intent,
  { externalId, createdAt }: ProviderRecord,
): boolean | undefined {
  const { referenceShown, clockSkewMs } = provider.promise;
  if (referenceShown) return undefined;
  const answered = acknowledgedIds(intent).includes(externalId);
  // Found by its content, and nobody knows when it was made: not ours for certain.
  if (createdAt === undefined) return provider.promise.search?.by === 'content' ? answered : undefined;
  return answered || canBeOfAnAttempt(intent, createdAt, timing, clockSkewMs);
}

/**
 * Where identity is content, by its checks: the record could not be compared, has another content than was approved, or is too old to
 * be ours. It may be the effect of another intent, or of a person.
 */
export function isDoubtful(
  { provider }: Way,
  intent: Intent,
  record: ProviderRecord,
  checks: Readonly<Record<string, boolean>>,
): boolean {
  if (provider.promise.referenceShown) return false;
  if (checks['payload'] === false || checks['time'] === false) return true;
  return Object.values(provider.reasons?.(intent, record) ?? {}).some((each) => each !== true);
}

/** Matches, and near misses: the same parent in time with another text, or the same post out of time. */
export async function candidatesOf(
  deps: Pick<Deps, 'ledger' | 'timing'>,
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
    const words = Object.values(why);
    // A word is a comparison that cannot be made: it speaks neither for the record nor against it.
    return { record, why, near: words.includes(false), open: words.filter((each) => each !== true).length };
  });
  const shown = judged
    .filter(({ why, open }) => why['author'] === true && open <= 1)
    .sort((a, b) => Number(a.near) - Number(b.near) || a.open - b.open)
    .slice(0, MOST_SHOWN);
  return Promise.all(
    shown.map(async ({ record, why, near }) => {
      const { externalId } = record;
      const binding = await boundAs(deps, way, intent, externalId);
      // One that is too old to be ours matches all the same: nothing is sent beside it, and people are told why.
      const time = inTime(deps, way, intent, record);
      const reasons = { ...why, ...(time === undefined ? {} : { time }), binding };
      return { externalId, ...whereAndWhen(record), near, reasons };
    }),
  );
}

const LONGEST_URL = 512;
/** The last moment that a date can name, ms. */
const END_OF_TIME = 8.64e15;

/** For people who look for it there. A longer URL is left out, not cut; so is a time that is none. */
function whereAndWhen({ url = '', createdAt = Number.NaN }: ProviderRecord) {
  return {
    url: url !== '' && url.length <= LONGEST_URL ? url : null,
    createdAt: Math.abs(createdAt) <= END_OF_TIME ? utc(createdAt) : null,
  };
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

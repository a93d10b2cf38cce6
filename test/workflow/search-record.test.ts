/** What stays of a search: what was asked for, where and when, and how far its answer can be trusted. */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { NOW } from '../support/kit.ts';
import type { LookFault } from '../support/supplier-plays.ts';
import { type SupplierWorld, supplierWorld } from '../support/supplier-world.ts';

/** Sent, the answer lost and nothing saved, so that every honest search is empty; then one search. */
async function searched(fault: LookFault['kind'] | null): Promise<{ s: SupplierWorld; intent: Intent }> {
  const s = supplierWorld('searchable', { script: ['cut_before_save'] });
  if (fault !== null) s.supplier.faults.push({ kind: fault });
  const intent = await s.entered();
  await s.sign(intent);
  await s.w.steps['Send']?.(await s.swept());
  s.w.clock.advance(1000);
  await s.w.steps['Search']?.(runInput(intent));
  return { s, intent };
}

async function records(s: SupplierWorld, intent: Intent) {
  const { items } = await s.w.ledger.evidence({ tenant: 'acme', intentId: intent.id }, 50, null);
  return items.filter((each) => each.kind === 'search').map((each) => each.facts);
}

describe('an empty search', () => {
  it.each<{ fault: LookFault['kind'] | null; told: object; error: string | null; because: string }>([
    {
      fault: null,
      told: { verdict: 'wait', complete: true, authorised: true },
      error: null,
      because: 'it was whole and ours; only the lag is open',
    },
    {
      fault: 'wrong_account_view',
      told: { verdict: 'inconclusive', authorised: false },
      error: null,
      because: 'it was another account',
    },
    {
      fault: 'search_status',
      told: { verdict: 'inconclusive', complete: false, authorised: false },
      error: 'status_503',
      because: 'it failed',
    },
    {
      fault: 'bad_cursor',
      told: { verdict: 'inconclusive', complete: false },
      error: null,
      because: 'a page is missing',
    },
  ])(
    'is kept with reference, account and environment, and told apart: $because',
    async ({ fault, told, error }) => {
      const { s, intent } = await searched(fault);
      const [record, ...more] = await records(s, intent);
      expect(more).toEqual([]);
      expect(record).toMatchObject({
        ...{ reference: intent.id, account: 'tokyo-1', environment: 'test' },
        ...{ startedAt: NOW + 1000, endedAt: NOW + 1000, candidates: [] },
        ...told,
      });
      expect(record?.['error'] ?? null).toBe(error);
      expect((await s.w.read(intent.id)).lastSearch).toEqual(record);
    },
  );

  it('keeps the place of its time, also when the route leads elsewhere since', async () => {
    const { s, intent } = await searched(null);
    const way = s.w.deps.routes.find('acme', 'orders');
    if (way === undefined) throw new Error('There is no route.');
    const before = await records(s, intent);
    s.w.deps.routes = registryOf([{ ...way.route, account: 'osaka-1', environment: 'production' }]);
    await s.w.untilQuiet(intent.id);
    expect(await records(s, intent), 'nothing is searched elsewhere').toEqual(before);
    const { lastSearch } = (await s.item(intent.id)).facts;
    expect(lastSearch).toMatchObject({ reference: intent.id, account: 'tokyo-1', environment: 'test' });
  });
});

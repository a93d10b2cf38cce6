/** What every ledger promises. Run on each implementation; a rule that one of them cannot keep is a fault in it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Intent, IntentRef } from '../../lib/domain/intent.ts';
import { dayOf, shardOf } from '../../lib/ledger/item.ts';
import { BadCursor, DUE_SHARDS, type Ledger, type Saved } from '../../lib/ledger/ledger.ts';
import { ACKNOWLEDGED, attemptOf, intentOf, NOW, searchOf, UNKNOWN_RESULT } from '../support/kit.ts';

const UNCHANGED = { kind: 'unchanged' } as const;

export function ledgerContract(name: string, make: () => Ledger): void {
  describe(`the ledger contract: ${name}`, () => {
    let ledger: Ledger;
    let made = 0;
    /** A fresh intent of a fresh tenant: runs of the suite never meet. */
    const fresh = (change: Partial<Intent> = {}): Intent => {
      made += 1;
      const tenant = `t${process.pid}x${made}x${Math.random().toString(36).slice(2, 8)}`;
      const id = `int_${made.toString(16).padStart(40, '0')}`;
      return intentOf({ tenant, id, submitToken: `s-${tenant}`, ...change });
    };
    const refOf = (intent: Intent): IntentRef => ({ tenant: intent.tenant, intentId: intent.id });
    const stored = async (change: Partial<Intent> = {}): Promise<Intent> => {
      const intent = fresh(change);
      await ledger.create(intent);
      return intent;
    };
    const must = (saved: Saved): Intent => {
      if (saved.kind === 'lost') throw new Error('lost');
      return saved.intent;
    };

    beforeEach(() => {
      ledger = make();
    });

    it('reads back exactly what was created, in every field', async () => {
      const intent = await stored({
        parent: 'p-1',
        traceIds: { call: 'c' },
        payload: { deep: [1, { '\u00e9': null }], big: '8389765489680951453' },
        attempts: [attemptOf(1, { result: ACKNOWLEDGED, lostAt: NOW })],
        lastSearch: searchOf({ error: 'timeout', cancelUntil: NOW }),
        corrects: 'int_0',
        followWith: { route: 'mail', payload: { to: ['a@b'], big: '8389765489680951453' } },
        followUp: 'int_9',
        waitsFor: 'int_8',
        owner: { by: 'otto', at: NOW },
        proposal: {
          id: 'p-1',
          decision: { kind: 'settle_many', keep: 'R-1', surplus: ['R-2'] },
          by: 'otto',
          reason: 'two of them',
          at: NOW,
          until: NOW + 1,
        },
        surplus: ['R-2'],
        attestedId: 'R-3',
        contraryAt: NOW,
        trustedSearchAt: NOW,
        cancelUntil: NOW,
        checkedAt: NOW,
        waitUntil: NOW,
        declaredAbsentAt: NOW,
        handover: { reason: 'many', candidates: ['R-1'], at: NOW },
      });
      expect(await ledger.read(refOf(intent))).toEqual(intent);
    });

    it('reads nothing where nothing is', async () => {
      expect(await ledger.read(refOf(fresh()))).toBeUndefined();
    });

    it('creates once; a rival meets the stored intent', async () => {
      const intent = await stored();
      const met = await ledger.create({ ...intent, submitToken: 'rival', key: 'other' });
      expect(met).toEqual({ kind: 'exists', intent });
    });

    it('C38: its own create, repeated because the answer was lost, is created', async () => {
      const intent = await stored();
      expect((await ledger.create(intent)).kind).toBe('created');
    });

    it('of 20 creates at once exactly one wins', async () => {
      const intent = fresh();
      const rivals = Array.from({ length: 20 }, (_, n) =>
        ledger.create({ ...intent, submitToken: `rival-${n}` }),
      );
      const won = (await Promise.all(rivals)).filter((each) => each.kind === 'created');
      expect(won).toHaveLength(1);
    });

    it('keeps a request that is too large to be inline', async () => {
      const text = '\u30c6'.repeat(20_000);
      const intent = await stored({
        payload: { text },
        frozen: { method: 'POST', path: '/', headers: {}, body: text },
      });
      expect(await ledger.read(refOf(intent))).toEqual(intent);
      const moved = must(await ledger.save(intent, { ...intent, dueAt: NOW + 1 }, UNCHANGED));
      expect(moved.payload).toEqual({ text });
      expect((await ledger.read(refOf(intent)))?.frozen.body).toBe(text);
    });

    it('saves what changed, and the version grows by one', async () => {
      const intent = await stored();
      const saved = must(
        await ledger.save(
          intent,
          { ...intent, state: 'closed', outcome: 'no_effect', dueAt: null },
          UNCHANGED,
        ),
      );
      expect(saved).toMatchObject({ state: 'closed', outcome: 'no_effect', dueAt: null, version: 2 });
      expect(await ledger.read(refOf(intent))).toEqual(saved);
    });

    it('of two saves on one version the second is lost and is shown what stands', async () => {
      const intent = await stored();
      await ledger.save(intent, { ...intent, dueAt: NOW + 1 }, UNCHANGED);
      const lost = await ledger.save(intent, { ...intent, dueAt: NOW + 2 }, UNCHANGED);
      expect(lost).toMatchObject({ kind: 'lost', current: { dueAt: NOW + 1, version: 2 } });
    });

    it('of 20 claims at once exactly one wins', async () => {
      const intent = await stored();
      const rivals = Array.from({ length: 20 }, (_, n) =>
        ledger.save(
          intent,
          { ...intent, state: 'sending', attempts: [attemptOf(1, { token: `w${n}` })] },
          UNCHANGED,
        ),
      );
      expect((await Promise.all(rivals)).filter((each) => each.kind === 'saved')).toHaveLength(1);
      expect((await ledger.read(refOf(intent)))?.attempts).toHaveLength(1);
    });

    it('a save of an intent that is not there is lost', async () => {
      const intent = fresh();
      expect(await ledger.save(intent, { ...intent, dueAt: 1 }, UNCHANGED)).toEqual({
        kind: 'lost',
        current: undefined,
      });
    });

    describe('the result of an attempt', () => {
      const out = { kind: 'still_out', number: 1, token: 'a1' } as const;
      const sending = () => stored({ state: 'sending', attempts: [attemptOf(1)] });
      const settled = (intent: Intent): Intent => ({
        ...intent,
        state: 'unknown',
        attempts: [{ ...attemptOf(1), result: UNKNOWN_RESULT }],
      });

      it('is written whatever else was written in between, and overwrites none of it', async () => {
        const intent = await sending();
        await ledger.save(intent, { ...intent, conflictAt: NOW }, UNCHANGED);
        expect((await ledger.save(intent, settled(intent), out)).kind).toBe('saved');
        expect(await ledger.read(refOf(intent))).toMatchObject({
          state: 'unknown',
          conflictAt: NOW,
          version: 3,
        });
      });

      it('is lost under another token', async () => {
        const intent = await sending();
        const lost = await ledger.save(intent, settled(intent), { ...out, token: 'other' });
        expect(lost.kind).toBe('lost');
      });

      it('is lost once the state has moved on', async () => {
        const intent = await sending();
        await ledger.save(
          intent,
          { ...intent, state: 'unknown', attempts: [attemptOf(1, { lostAt: NOW })] },
          UNCHANGED,
        );
        expect((await ledger.save(intent, settled(intent), out)).kind).toBe('lost');
      });

      it('is lost once attempt 2 is out', async () => {
        const intent = await sending();
        await ledger.save(
          intent,
          { ...intent, attempts: [...settled(intent).attempts, attemptOf(2)] },
          UNCHANGED,
        );
        const late: Intent = {
          ...intent,
          state: 'acknowledged',
          attempts: [{ ...attemptOf(1), result: ACKNOWLEDGED }],
        };
        expect(
          (
            await ledger.save(
              intent,
              { ...late, attempts: [{ ...attemptOf(1, { token: 'zz' }), result: ACKNOWLEDGED }] },
              { ...out, token: 'zz' },
            )
          ).kind,
        ).toBe('lost');
      });

      it('C38: written twice by its own repeat, it is saved', async () => {
        const intent = await sending();
        await ledger.save(intent, settled(intent), out);
        expect(await ledger.save(intent, settled(intent), out)).toMatchObject({
          kind: 'saved',
          intent: { state: 'unknown' },
        });
      });
    });

    it('C38: its own claim, met again after somebody wrote over it, is still its own', async () => {
      const intent = await stored();
      const claimed: Intent = { ...intent, state: 'sending', attempts: [attemptOf(1)] };
      const saved = must(await ledger.save(intent, claimed, UNCHANGED));
      await ledger.save(saved, { ...saved, conflictAt: NOW }, UNCHANGED);
      expect(await ledger.save(intent, claimed, UNCHANGED)).toMatchObject({
        kind: 'saved',
        intent: { conflictAt: NOW },
      });
    });

    it('appends attempts and touches only the one that changed', async () => {
      const intent = await stored({
        state: 'sending',
        attempts: [attemptOf(1, { result: UNKNOWN_RESULT }), attemptOf(2)],
      });
      const told = { ...UNKNOWN_RESULT, exists: true, notBefore: NOW } as const;
      const after = {
        ...intent,
        attempts: [...intent.attempts.slice(0, 1), { ...attemptOf(2), result: told }, attemptOf(3)],
      };
      must(await ledger.save(intent, after, UNCHANGED));
      expect((await ledger.read(refOf(intent)))?.attempts).toEqual(after.attempts);
    });

    it('binds an external record to one intent, and again to the same', async () => {
      const [mine, other] = [refOf(fresh()), refOf(fresh())];
      const binding = {
        provider: 'warehouse',
        account: mine.tenant,
        environment: 'test',
        kind: 'reservation',
        externalId: 'R-1',
      } as const;
      expect((await ledger.bind(binding, mine)).kind).toBe('mine');
      expect((await ledger.bind(binding, mine)).kind).toBe('mine');
      expect((await ledger.bind(binding, other)).kind).toBe('taken');
      expect((await ledger.bind({ ...binding, environment: 'production' }, other)).kind).toBe('mine');
      expect((await ledger.bind({ ...binding, externalId: 'R-1#' }, other)).kind).toBe('mine');
    });

    it('appends evidence once and pages through it', async () => {
      const intent = await stored();
      const ids = ['a', 'b', 'c', 'd', 'e'];
      for (const id of ids) {
        await ledger.addEvidence(refOf(intent), { kind: 'search', id, at: NOW, facts: { id } });
        await ledger.addEvidence(refOf(intent), {
          kind: 'search',
          id,
          at: NOW,
          facts: { id: 'overwritten' },
        });
      }
      const seen: unknown[] = [];
      let cursor: string | null = null;
      do {
        const page = await ledger.evidence(refOf(intent), 2, cursor);
        seen.push(...page.items.map((each) => each.facts['id']));
        cursor = page.cursor;
      } while (cursor !== null);
      expect(seen).toEqual(ids);
    });

    it('counts conflicts, and only those', async () => {
      const intent = await stored();
      await ledger.addEvidence(refOf(intent), { kind: 'search', id: '1', at: NOW, facts: {} });
      expect(await ledger.countConflicts(refOf(intent))).toBe(0);
      await ledger.addEvidence(refOf(intent), { kind: 'conflict', id: '1', at: NOW, facts: {} });
      await ledger.addEvidence(refOf(intent), { kind: 'conflict', id: '2', at: NOW, facts: {} });
      expect(await ledger.countConflicts(refOf(intent))).toBe(2);
    });

    it('proposes what is due, oldest first, and nothing that is settled or not yet due', async () => {
      const past = 1000 + made;
      const old = await stored({ dueAt: past });
      const later = await stored({ dueAt: past + 10 });
      const settled = await stored({ state: 'rejected', dueAt: null });
      const future = await stored({ dueAt: past + 100 });
      const shards = Array.from({ length: DUE_SHARDS }, (_, shard) =>
        ledger.due(shard, past + 50, 1000, null),
      );
      const due = (await Promise.all(shards)).flatMap((page) => page.items).map((ref) => ref.tenant);
      expect(due).toContain(old.tenant);
      expect(due).toContain(later.tenant);
      expect(due).not.toContain(settled.tenant);
      expect(due).not.toContain(future.tenant);
      const { items: mine } = await ledger.due(shardOf(old.id), past, 1000, null);
      expect(mine.map((ref) => ref.intentId)).toContain(old.id);
    });

    it('pages through what is due, each once, whether what came before was taken up or not', async () => {
      const first = await stored({ dueAt: 1 });
      const shard = shardOf(first.id);
      const all = [first];
      for (let n = 0; all.length < 5; n += 1) {
        const id = `int_${n.toString(16).padStart(40, 'd')}`;
        if (shardOf(id) !== shard) continue;
        const intent = { ...first, id, dueAt: 2 + n, submitToken: `p${n}` };
        await ledger.create(intent);
        all.push(intent);
      }
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<Ledger['due']>> = await ledger.due(shard, 1000, 2, cursor);
        seen.push(...page.items.filter((ref) => ref.tenant === first.tenant).map((ref) => ref.intentId));
        cursor = page.cursor;
        const [taken] = all.filter((each) => each.id === seen.at(-1));
        if (taken !== undefined) await ledger.save(taken, { ...taken, dueAt: NOW }, UNCHANGED);
      } while (cursor !== null);
      expect(seen).toEqual(all.map((each) => each.id));
    });

    it('takes an intent out of the due index when it settles', async () => {
      const intent = await stored({ dueAt: 5 });
      must(await ledger.save(intent, { ...intent, state: 'rejected', dueAt: null }, UNCHANGED));
      const { items: due } = await ledger.due(shardOf(intent.id), NOW, 1000, null);
      expect(due.map((ref) => ref.tenant)).not.toContain(intent.tenant);
    });

    it("lists one unit's intents of one day, newest first, in pages", async () => {
      const first = fresh();
      const day = dayOf(NOW);
      for (let n = 0; n < 5; n += 1) {
        const id = `int_${n.toString(16).padStart(40, 'b')}`;
        await ledger.create({ ...first, id, createdAt: NOW + n, submitToken: `s${n}` });
      }
      await ledger.create({ ...first, id: `int_${'c'.repeat(40)}`, unit: 'other' });
      const one = await ledger.list(first.tenant, first.unit, day, 3, null);
      const two = await ledger.list(first.tenant, first.unit, day, 3, one.cursor);
      expect([...one.items, ...two.items].map((each) => each.createdAt - NOW)).toEqual([4, 3, 2, 1, 0]);
      expect(two.cursor).toBeNull();
      expect((await ledger.list(first.tenant, first.unit, '2020-01-01', 3, null)).items).toEqual([]);
    });

    it('refuses a cursor that is not its own', async () => {
      const intent = await stored();
      await expect(ledger.list(intent.tenant, intent.unit, dayOf(NOW), 3, 'zzz')).rejects.toThrow(BadCursor);
      await expect(ledger.evidence(refOf(intent), 3, 'zzz')).rejects.toThrow(BadCursor);
    });

    it('shows whether a route, or everything, is frozen, beside the intent', async () => {
      const intent = await stored();
      const route = `route-${intent.tenant}`;
      expect(await ledger.readForSend(refOf(intent), route)).toEqual({ intent, frozen: false });
      const first = { by: 'audit', why: 'test', at: NOW };
      expect(await ledger.freeze(route, first)).toEqual({ ...first, frozen: true });
      expect(await ledger.freeze(route, { by: 'ann', why: 'again', at: NOW + 1 })).toEqual({
        ...first,
        frozen: true,
      });
      expect(await ledger.readForSend(refOf(intent), route)).toEqual({ intent, frozen: true });
      expect((await ledger.readForSend(refOf(intent), 'another')).frozen).toBe(false);
    });

    it('lets a frozen route go on, and can freeze it again', async () => {
      const intent = await stored();
      const route = `route-${intent.tenant}`;
      const by = (name: string, at: number) => ({ by: name, why: 'test', at });
      expect(await ledger.thaw(route, by('otto', 1))).toEqual({ ...by('otto', 1), frozen: false });
      await ledger.freeze(route, by('ann', 2));
      await ledger.thaw(route, by('otto', 3));
      expect((await ledger.readForSend(refOf(intent), route)).frozen).toBe(false);
      expect(await ledger.freeze(route, by('ann', 4))).toEqual({ ...by('ann', 4), frozen: true });
      expect((await ledger.readForSend(refOf(intent), route)).frozen).toBe(true);
    });

    it('keys of tenants that begin alike never meet', async () => {
      const a = await stored();
      const longer = { tenant: `${a.tenant}0`, intentId: a.id };
      expect(await ledger.read(longer)).toBeUndefined();
      await expect(ledger.read({ tenant: `${a.tenant}#I`, intentId: a.id })).rejects.toThrow(RangeError);
    });
  });
}

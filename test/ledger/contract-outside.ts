/** The part of the ledger's promise that is about others: bindings, holds, events, and what people should see. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Intent, IntentRef } from '../../lib/domain/intent.ts';
import { type AttentionList, BadCursor, type Ledger, type OutsideEvent } from '../../lib/ledger/ledger.ts';
import { APPROVAL, IN_STATE, NOW } from '../support/kit.ts';

export function outsideContract(name: string, make: () => Ledger): void {
  describe(`the ledger contract, outside: ${name}`, () => {
    let ledger: Ledger;
    let made = 0;
    const unique = (): string => `${process.pid}x${made++}x${Math.random().toString(36).slice(2, 8)}`;
    const someone = (): IntentRef => ({ tenant: `t${unique()}`, intentId: 'int_1' });
    const event = (change: Partial<OutsideEvent> = {}): OutsideEvent => ({
      endpoint: 'supplier',
      id: unique(),
      receivedAt: NOW,
      type: 'order.created',
      seen: true,
      reference: 'int_1',
      externalId: '8389765489680951453',
      account: 'a-1',
      environment: 'test',
      kind: 'order',
      digest: 'd',
      matchedTo: null,
      dueAt: null,
      changes: 0,
      ...change,
    });

    beforeEach(() => {
      ledger = make();
    });

    it('tells whose an external record is', async () => {
      const binding = {
        provider: 'p',
        account: unique(),
        environment: 'test',
        kind: 'order',
        externalId: '1',
      } as const;
      const owner = someone();
      expect(await ledger.boundTo(binding)).toBeUndefined();
      await ledger.bind(binding, owner);
      expect(await ledger.boundTo(binding)).toEqual(owner);
      expect(await ledger.boundTo({ ...binding, kind: 'cancellation' })).toBeUndefined();
    });

    it('gives a hold to one, keeps it for that one, and hands it on from a named holder only', async () => {
      const key = unique();
      const [first, second, third] = [someone(), someone(), someone()];
      expect(await ledger.hold(key, first, null)).toEqual({ kind: 'mine' });
      expect(await ledger.hold(key, first, null)).toEqual({ kind: 'mine' });
      expect(await ledger.hold(key, second, null)).toEqual({ kind: 'taken', by: first });
      expect(await ledger.hold(key, second, third)).toEqual({ kind: 'taken', by: first });
      expect(await ledger.hold(key, second, first)).toEqual({ kind: 'mine' });
      expect(await ledger.hold(key, third, first)).toEqual({ kind: 'taken', by: second });
    });

    it('of 20 who want a hold at once exactly one gets it', async () => {
      const key = unique();
      const got = await Promise.all(Array.from({ length: 20 }, () => ledger.hold(key, someone(), null)));
      expect(got.filter((each) => each.kind === 'mine')).toHaveLength(1);
    });

    const account = () => ({ provider: 'p', account: unique(), environment: 'test' as const });

    it('counts calls by account and minute, up to what is wanted and not one more', async () => {
      const one = account();
      const take = (calls: number, minute = 100, upTo = 10) => ledger.takeCalls(one, { minute, calls, upTo });
      expect([await take(6), await take(5), await take(4), await take(1)]).toEqual([
        true,
        false,
        true,
        false,
      ]);
      expect(await take(1, 100, 11), 'somebody who may fill it further').toBe(true);
      expect(await ledger.takeCalls(account(), { minute: 100, calls: 10, upTo: 10 })).toBe(true);
      expect([await take(10, 101), await take(1, 101), await take(11, 102)]).toEqual([true, false, false]);
    });

    it('a clock that is behind counts in the minute that others are in; one far ahead does not stop them', async () => {
      const one = account();
      const take = (minute: number) => ledger.takeCalls(one, { minute, calls: 1, upTo: 1 });
      expect([await take(100), await take(99), await take(101)]).toEqual([true, false, true]);
      expect([await take(5000), await take(102), await take(102)]).toEqual([true, true, false]);
    });

    it('a search begins with as many calls as the last one took, and into an empty minute always', async () => {
      const one = account();
      const begin = (minute: number, upTo: number, calls: number | null = null) =>
        ledger.beginSearch(one, { minute, upTo, calls });
      expect([await begin(1, 3), await begin(1, 3)]).toEqual([1, 1]);
      await ledger.endSearch(one, 12);
      expect([await begin(1, 13), await begin(1, 14), await begin(1, 14)]).toEqual([null, 12, null]);
      expect([await begin(2, 5), await begin(2, 5)]).toEqual([12, null]);
      expect([await begin(3, 9, 8), await begin(3, 9, 2), await begin(3, 9, 1)]).toEqual([8, null, 1]);
      await ledger.endSearch(account(), 7);
    });

    it('of 20 who take at once no more get calls than there are', async () => {
      const one = account();
      const wanted = { minute: 7, calls: 2, upTo: 9 };
      const got = await Promise.all(Array.from({ length: 20 }, () => ledger.takeCalls(one, wanted)));
      expect(got.filter(Boolean)).toHaveLength(4);
    });

    it('keeps the first event of an id, in every field', async () => {
      const first = event({ matchedTo: someone(), dueAt: NOW + 5 });
      expect(await ledger.takeEvent(first)).toEqual(first);
      expect(await ledger.takeEvent({ ...first, digest: 'other' })).toEqual(first);
      const bare = event({ reference: null, externalId: null });
      expect(await ledger.takeEvent(bare)).toEqual(bare);
      expect(await ledger.takeEvent({ ...bare, endpoint: 'another' })).toMatchObject({ endpoint: 'another' });
    });

    it('changes an event once for each reading of it', async () => {
      const before = event({ dueAt: NOW });
      await ledger.takeEvent(before);
      const matchedTo = someone();
      expect(await ledger.saveEvent(before, { ...before, matchedTo, dueAt: null })).toBe(true);
      expect(await ledger.saveEvent(before, { ...before, dueAt: NOW + 9 })).toBe(false);
      expect(await ledger.takeEvent(before)).toEqual({ ...before, matchedTo, dueAt: null, changes: 1 });
    });

    it('proposes events that are due, oldest first, and no others', async () => {
      const [late, early, over] = [event({ dueAt: 20 }), event({ dueAt: 10 }), event({ dueAt: null })];
      for (const each of [late, early, over]) await ledger.takeEvent(each);
      const ids = (await ledger.dueEvents(20, 1000)).map((each) => each.id);
      expect(ids.filter((id) => [late.id, early.id, over.id].includes(id))).toEqual([early.id, late.id]);
      expect((await ledger.dueEvents(19, 1000)).map((each) => each.id)).not.toContain(late.id);
      await ledger.saveEvent(early, { ...early, dueAt: null });
      expect((await ledger.dueEvents(20, 1000)).map((each) => each.id)).not.toContain(early.id);
    });

    describe('what people should look at', () => {
      const add = async (intent: Intent, tenant: string, n: number, change: Partial<Intent> = {}) => {
        const id = `int_${String(n).padStart(40, '0')}`;
        const submitToken = `${tenant}-${n}`;
        await ledger.create({ ...intent, tenant, id, submitToken, ...change });
        return id;
      };
      const ids = async (tenant: string, list: AttentionList) =>
        (await ledger.attention(tenant, 'sales', list, 100, null)).items.map((each) => each.id);

      it('lists unknown, handed over, an incident and an open conflict, longest first, and no others', async () => {
        const { tenant } = someone();
        const young = await add(IN_STATE.unknown, tenant, 1, { unknownSince: NOW + 50 });
        const old = await add(IN_STATE.handover, tenant, 2, { unknownSince: NOW - 50 });
        const incident = { reason: 'second_effect', candidates: [], at: NOW } as const;
        const second = await add(IN_STATE.confirmed, tenant, 3, { incident, unknownSince: NOW + 10 });
        await add(IN_STATE.ready, tenant, 4);
        await add(IN_STATE.rejected, tenant, 5, { conflictAt: NOW });
        const conflict = await add(IN_STATE.ready, tenant, 6, { conflictAt: NOW, createdAt: NOW + 60 });
        expect(await ids(tenant, 'doubtful')).toEqual([old, second, young, conflict]);
        expect(await ids(someone().tenant, 'doubtful')).toEqual([]);
        expect((await ledger.attention(tenant, 'rental', 'doubtful', 9, null)).items).toEqual([]);
      });

      it('lists open ones that somebody signed apart, oldest signature first', async () => {
        const { tenant } = someone();
        const approval = { ...APPROVAL, signatures: [{ by: 'ann', at: NOW - 5 }] };
        const later = await add(IN_STATE.acknowledged, tenant, 1, { approval: APPROVAL });
        const first = await add(IN_STATE.ready, tenant, 2, { approval });
        const doubtful = await add(IN_STATE.unknown, tenant, 3, { approval });
        await add(IN_STATE.confirmed, tenant, 4, { approval });
        await add(IN_STATE.ready, tenant, 5);
        expect(await ids(tenant, 'approved')).toEqual([first, later]);
        expect(await ids(tenant, 'doubtful')).toEqual([doubtful]);
      });

      it('pages, and takes out what has settled', async () => {
        const { tenant } = someone();
        for (let n = 0; n < 5; n += 1) await add(IN_STATE.unknown, tenant, n, { unknownSince: NOW + n });
        const one = await ledger.attention(tenant, 'sales', 'doubtful', 3, null);
        const two = await ledger.attention(tenant, 'sales', 'doubtful', 3, one.cursor);
        expect([...one.items, ...two.items].map((each) => (each.unknownSince ?? 0) - NOW)).toEqual([
          0, 1, 2, 3, 4,
        ]);
        const [first] = one.items;
        if (first === undefined) throw new Error('nothing is listed');
        const settled = { ...first, state: 'rejected', dueAt: null } as const;
        await ledger.save(first, settled, { kind: 'unchanged' });
        expect(await ids(tenant, 'doubtful')).not.toContain(first.id);
        await expect(ledger.attention(tenant, 'sales', 'doubtful', 3, 'zzz')).rejects.toThrow(BadCursor);
      });
    });
  });
}

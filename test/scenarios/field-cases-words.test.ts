/** Faults met in the field in what a supplier says: success that is none, advice, and "it exists already". */
import { describe, expect, it } from 'vitest';
import {
  ALL,
  answerOf,
  ending,
  type FieldOptions,
  fieldWorld,
  reworded,
  SEARCHED,
  sent,
} from '../support/field-world.ts';
import type { PlayName } from '../support/supplier-plays.ts';

const CONFIRMED = { state: 'confirmed', reason: null, writes: 1, effects: 1 };
const BLIND = { state: 'handover', reason: 'blind', writes: 1, effects: 1 };
const SECOND_MS = 1000;
/** As routes are configured: a 409 is never repeated. */
const REPEAT_ON = ['not_sent', 'closed_without_answer', 'timeout', 'lost', 'status_503'];

describe('C09: a success word that is none', () => {
  it.each<{ body: object; state: string; code: string; effects: number; because: string }>([
    {
      body: { ok: false, error: 'account_blocked' },
      state: 'rejected',
      code: 'status_200',
      effects: 0,
      because: 'the promise lists it as not executed',
    },
    {
      body: { ok: false, error: 'invalid_account' },
      state: 'unknown',
      code: 'bad_answer',
      effects: 1,
      because: 'the promise does not list it',
    },
    {
      body: { data: { order_id: '1' }, errors: [{ message: 'no stock' }] },
      state: 'unknown',
      code: 'bad_answer',
      effects: 1,
      because: 'it says both',
    },
  ])('200 $body is $state, because $because', async ({ body, state, code, effects }) => {
    const script: PlayName[] = effects === 0 ? ['ok_with_error'] : [];
    const s = fieldWorld('searchable', { script, told: [answerOf(200, body)] });
    const intent = await sent(s);
    expect([intent.state, intent.attempts[0]?.result]).toMatchObject([state, { code }]);
    const rejected = { state: 'rejected', reason: null, writes: 1, effects: 0 };
    expect(await ending(s, intent)).toEqual(effects === 0 ? rejected : CONFIRMED);
  });

  it.each<{ play: PlayName; end: object; because: string }>([
    { play: 'accepted_then_created', end: CONFIRMED, because: 'it was made later' },
    {
      play: 'accepted_then_rejected',
      end: { state: 'rejected', reason: null, writes: 1, effects: 1 },
      because: 'its own record says so',
    },
    {
      play: 'accepted_then_never',
      end: { state: 'handover', reason: 'found_but_gone', writes: 1, effects: 0 },
      because: 'what was accepted is never taken for absent',
    },
  ])('202, $play: one write, because $because', async ({ play, end }) => {
    for (const kind of SEARCHED) {
      const s = fieldWorld(kind, { script: [{ play, delayMs: 400 }] });
      const intent = await sent(s);
      expect([intent.state, intent.acknowledgedId], kind).toEqual(['acknowledged', null]);
      expect(await ending(s, intent), kind).toEqual(end);
    }
  });

  it.each<{ status: string; end: object }>([
    { status: 'rejected', end: { state: 'rejected', reason: null, writes: 1, effects: 1 } },
    { status: 'cancelled', end: { state: 'handover', reason: 'mismatch', writes: 1, effects: 1 } },
  ])('201, and the record says $status: it is not confirmed', async ({ status, end }) => {
    const s = fieldWorld('searchable', {
      view: ({ honest }) => reworded(honest, (text) => text.replace('"created"', `"${status}"`)),
    });
    const intent = await sent(s);
    expect(intent.state).toBe('acknowledged');
    expect(await ending(s, intent)).toEqual(end);
  });

  it('201, and the record is still being processed: read again, and confirmed once it stands', async () => {
    const s = fieldWorld('searchable', {
      view: ({ honest, number }) =>
        number < 3 ? reworded(honest, (text) => text.replace('"created"', '"processing"')) : undefined,
    });
    expect(await ending(s, await sent(s))).toEqual(CONFIRMED);
    expect(s.looks.length).toBeGreaterThan(3);
  });
});

describe('C10: every write is done and answered with advice to repeat it', () => {
  const advice = answerOf(500, { error: 'unexpected', message: 'Transient. Please retry your request.' });

  it.each(ALL)('%s: advice is text; one write, one order', async (kind) => {
    const s = fieldWorld(kind, { told: [advice, advice, advice, advice] });
    const intent = await sent(s);
    expect(intent.state).toBe('unknown');
    expect(await ending(s, intent)).toEqual(kind === 'blind' ? BLIND : CONFIRMED);
    expect(JSON.stringify([await s.w.read(intent.id), s.w.logged])).not.toContain('retry your request');
  });
});

describe('C12: "it exists already" after a lost answer', () => {
  const HIDDEN_MS = 5 * SECOND_MS;

  /** The first order is hidden, so that the second write meets it. */
  async function met(change: FieldOptions = {}) {
    const s = fieldWorld('unique', {
      script: ['cut_after_save'],
      visibilityLagMs: HIDDEN_MS,
      route: { visibilityLagMs: HIDDEN_MS },
      policy: { repeatOn: REPEAT_ON },
      ...change,
    });
    const intent = await sent(s);
    return { s, intent, end: await ending(s, intent) };
  }

  it('is a reason to look: the same request went twice, and the one order is read back', async () => {
    const { s, intent, end } = await met();
    expect(end).toEqual({ ...CONFIRMED, writes: 2 });
    const [first, second] = s.requests;
    expect([second?.body, second?.headers]).toEqual([first?.body, first?.headers]);
    expect((await s.w.read(intent.id)).attempts[1]?.result).toMatchObject({
      kind: 'unknown',
      code: 'status_409',
    });
  });

  it('with the id of somebody else: that id is nothing to us', async () => {
    const other = answerOf(409, { error: 'reference_exists', order_id: '1' });
    const { s, intent, end } = await met({ told: [undefined, other] });
    expect(end).toEqual({ ...CONFIRMED, writes: 2 });
    expect((await s.w.read(intent.id)).externalId).toBe(s.supplier.orders()[0]?.order_id);
    expect(s.looks.map(({ path }) => path)).not.toContain('/orders/1');
  });

  it('is never followed by "there is nothing", however long the search hides what exists', async () => {
    const end = { state: 'handover', reason: 'found_but_gone', writes: 2, effects: 1 };
    const s = fieldWorld('unique', {
      script: ['cut_after_save'],
      policy: { repeatOn: [...REPEAT_ON, 'status_409'] },
    });
    s.supplier.faults.push({ kind: 'hidden' });
    const intent = await sent(s);
    expect(await ending(s, intent)).toEqual(end);
    expect((await s.w.read(intent.id)).seenAt).not.toBeNull();
  });

  it('opens no new key: the same order under the same number stays the same intent', async () => {
    const { s, intent } = await met();
    expect(await s.submit()).toMatchObject({ kind: 'same', intent: { id: intent.id } });
    expect([s.supplier.posts.length, s.supplier.orders().length]).toEqual([2, 1]);
  });
});

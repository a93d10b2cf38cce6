/** A deploy changes how requests are made comparable: stored records keep their fingerprint and stay what they are. */

import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { NORMALISATION, type Normalisation } from '../../lib/domain/fingerprint.ts';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import { approvalView, approve } from '../../lib/operations/approve.ts';
import { accept, type Submission } from '../../lib/workflow/accept.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { BY_APPROVAL, POLICY } from '../support/kit.ts';
import { type Desk, type DeskOptions, scriptedDesk } from '../support/scripted-desk.ts';
import { type World, world } from '../support/world.ts';

const fp1 = NORMALISATION.rules['fp1'] as (text: string) => string;
/** As before, and blanks at the end of a text do not count. */
const NEXT: Normalisation = {
  current: 'fp2',
  rules: { ...NORMALISATION.rules, fp2: (text) => fp1(text).replace(/ +$/, '') },
};
const APPROVED: DeskOptions = { route: { policy: { ...POLICY, permission: BY_APPROVAL } } };

function desked(options: DeskOptions = {}): { w: World; desk: Desk } {
  const desk = scriptedDesk(options);
  return { w: world({ beside: desk.beside }), desk };
}
const note = (text: string, more: JsonObject = {}): Partial<Submission> => ({
  key: 'N-1',
  route: 'notes',
  payload: { text, ...more },
});
const afterDeploy = (w: World, change: Partial<World['deps']> = {}) => ({
  ...w.deps,
  normalisation: NEXT,
  ...change,
});

async function offered(w: World, submission: Partial<Submission>, deps = afterDeploy(w)) {
  const whole = { tenant: 'acme', unit: 'sales', subject: 'shop', parent: null, traceIds: {} };
  return accept(deps)({ ...whole, ...submission } as Submission);
}
async function stored(w: World, text: string): Promise<Intent> {
  const accepted = await w.submit(note(text));
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  return accepted.intent;
}

describe('an order that was stored under the rule before', () => {
  it.each<{ first: string; again: string; kind: 'same' | 'conflict'; because: string }>([
    { first: 'Tea', again: 'Tea', kind: 'same', because: 'it is the same order' },
    { first: 'Tea ', again: 'Tea ', kind: 'same', because: 'it is the same order, blank and all' },
    { first: 'a\r\nb', again: 'a\nb', kind: 'same', because: 'both rules say so' },
    { first: 'Tea ', again: 'Tea', kind: 'same', because: 'the rule of today says so' },
    { first: 'Tea', again: 'Tea  ', kind: 'same', because: 'the rule of today says so' },
    { first: 'Tea', again: 'tea', kind: 'conflict', because: 'no rule says that case does not count' },
    { first: 'Tea', again: ' Tea', kind: 'conflict', because: 'blanks before it count' },
  ])('$first then $again: $kind, because $because', async ({ first, again, kind }) => {
    const { w } = desked();
    const before = await stored(w, first);
    expect(before.fingerprint).toMatch(/^fp1:/);
    const answer = await offered(w, note(again));
    expect(answer.kind).toBe(kind);
    const after = await w.read(before.id);
    expect([after.fingerprint, after.payload]).toEqual([before.fingerprint, before.payload]);
    expect(after.conflictAt === null).toBe(kind === 'same');
  });

  it('is not equal under a rule that is not known any more, however equal the text', async () => {
    for (const version of ['fp0', 'fp', '', 'constructor', '__proto__']) {
      const { w } = desked();
      const before = await stored(w, 'Tea');
      const print = `${version}:${before.fingerprint.split(':')[1]}`;
      const saved = await w.ledger.save(before, { ...before, fingerprint: print }, { kind: 'unchanged' });
      expect(saved.kind).toBe('saved');
      expect((await w.read(before.id)).fingerprint).toBe(print);
      expect(await offered(w, note('Tea')), version).toEqual({ kind: 'conflict' });
      expect(await w.submit(note('Tea')), version).toEqual({ kind: 'conflict' });
    }
  });

  it('is the same order when the schema of today reads more into it', async () => {
    const { w } = desked();
    const before = await stored(w, 'Tea');
    const way = w.deps.routes.find('acme', 'notes');
    if (way === undefined) throw new Error('no route');
    const grown = z.strictObject({ text: z.string(), language: z.string().default('en') });
    const provider = { ...way.provider, payload: grown };
    const find = () => ({ ...way, provider });
    const deps = afterDeploy(w, { routes: { ...w.deps.routes, find } });
    expect(await offered(w, note('Tea'), deps)).toMatchObject({ kind: 'same', intent: { id: before.id } });
    expect(await offered(w, note('Tea', { language: 'ja' }), deps)).toEqual({ kind: 'conflict' });
    const followWith = { route: 'notes', payload: { text: 'After tea' } };
    const parent = { ...note('Tea'), key: 'N-2', followWith };
    expect((await w.submit(parent)).kind).toBe('accepted');
    expect(await offered(w, parent, deps), 'what follows is read again too').toMatchObject({ kind: 'same' });
  });

  it('is a conflict, and no fault, where the rule before makes no canonical form of the new one', async () => {
    const { w } = desked();
    // Under this rule two names are one, so that both together are no object.
    const fp0 = (text: string) => (text === 'tag' ? 'text' : fp1(text));
    const odd = { ...NORMALISATION, rules: { ...NORMALISATION.rules, fp0 } };
    const before = await offered(w, note('Tea'), { ...w.deps, normalisation: { ...odd, current: 'fp0' } });
    expect('intent' in before && before.intent.fingerprint).toMatch(/^fp0:/);
    const today = { ...w.deps, normalisation: odd };
    expect(await offered(w, note('Tea'), today)).toMatchObject({ kind: 'same' });
    expect(await offered(w, note('Tea', { tag: 'x' }), today)).toEqual({ kind: 'conflict' });
  });

  it('new orders are stored under the rule of today', async () => {
    const { w } = desked();
    const accepted = await offered(w, note('Tea '));
    expect(accepted).toMatchObject({ kind: 'accepted', intent: { payload: { text: 'Tea ' } } });
    expect('intent' in accepted && accepted.intent.fingerprint).toMatch(/^fp2:/);
    expect(await offered(w, note('Tea'))).toMatchObject({ kind: 'same' });
  });
});

describe('an approval', () => {
  const sign = (w: World, intent: Intent, fingerprint: string) =>
    approve(afterDeploy(w))({ tenant: 'acme', intentId: intent.id }, 'sales', {
      by: 'ann',
      fingerprint,
      until: undefined,
    });

  it('that was given before the deploy still permits, and what leaves is what was signed', async () => {
    const { w, desk } = desked(APPROVED);
    const intent = await stored(w, 'Tea ');
    const wish = { by: 'ann', fingerprint: intent.fingerprint, until: undefined };
    await approve(w.deps)({ tenant: 'acme', intentId: intent.id }, 'sales', wish);
    expect(approvalView(afterDeploy(w), await w.read(intent.id))).toMatchObject({ permitted: true });
    await sweep(afterDeploy(w)).runOnce();
    await w.run(runInput(await w.read(intent.id)));
    expect((await w.read(intent.id)).state).toBe('confirmed');
    expect(desk.book.map((each) => each.body)).toEqual([{ text: 'Tea ' }]);
  });

  it('that is given after the deploy signs the stored fingerprint, and no other', async () => {
    const { w } = desked(APPROVED);
    const intent = await stored(w, 'Tea');
    const view = approvalView(afterDeploy(w), intent);
    expect(view['fingerprint']).toBe(intent.fingerprint);
    const today = await offered(w, { ...note('Tea'), key: 'N-2' });
    if (!('intent' in today)) throw new Error(today.kind);
    expect(await sign(w, intent, today.intent.fingerprint)).toMatchObject({ reason: 'another_request' });
    expect(await sign(w, intent, intent.fingerprint)).toMatchObject({ kind: 'done' });
    expect((await w.read(intent.id)).approval?.fingerprint).toBe(intent.fingerprint);
  });
});

/**
 * Events, decisions, withdrawals, looks, approvals and revocations at any call of the runs of a few intents, and a ledger
 * that fails: one effect at most, no end that says more than the book, and no state without a way on.
 */
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../lib/domain/intent.ts';
import { SETTLED } from '../../lib/domain/lifecycle-states.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { POLICY } from '../support/kit.ts';
import { listenFor } from '../support/outside-events.ts';
import { emptyTally, type Scene, type Seeded, seeded, type Tally } from '../support/people-at-work.ts';
import { type DeskOptions, scriptedDesk } from '../support/scripted-desk.ts';
import type { PlayName } from '../support/supplier-plays.ts';
import { DRAFT, supplierWorld } from '../support/supplier-world.ts';
import { world } from '../support/world.ts';

/** Of each kind; three notes cost more than two orders. */
const SEEDS = { orders: 150, twins: 120 } as const;
const FIRST_SEED = 20_261_130;
/** Replays this seed alone. */
const ONLY = process.env['SEED'];
const MOST_ROUNDS = 60;
/** A busy machine is no failure. */
const SLOWEST_MS = 180_000;
const HORIZON_MS = 40 * 86_400_000;

const KINDS = ['keyed', 'unique', 'searchable', 'blind'] as const;
const SUPPLIER_PLAYS: readonly PlayName[] = [
  ...(['plain', 'away', 'cut_before_save', 'cut_after_save', 'late_save', 'stall'] as const),
  ...(['stall_after_save', 'status_before_save', 'status_after_save', 'accepted_then_created'] as const),
  ...(['accepted_then_rejected', 'accepted_then_never', 'ok_with_error', 'no_id_after_save'] as const),
  ...(['key_in_use', 'cut_body_after_save'] as const),
];
type DeskPlay = NonNullable<DeskOptions['script']>[number];
const DESK_PLAYS: readonly DeskPlay[] = [
  ...(['plain', 'lost', 'stalled', 'unavailable', 'saved500', 'empty500', 'cut'] as const),
  ...(['away', 'swallowed', 'late', 'refused', 'listed'] as const),
];

const FOLLOW_UP = { route: 'notes', payload: { text: 'Told' } };

/** What is wrong with what an intent says, by the book. */
type Wrong = (scene: Scene) => Promise<readonly string[]>;

/** Two orders that people approve, at a supplier of any kind. */
async function orders(chance: Seeded): Promise<{ scene: Scene; wrong: Wrong }> {
  const kind = chance.pick(KINDS);
  const script = Array.from({ length: 6 }, () => ({
    play: chance.pick(SUPPLIER_PLAYS),
    delayMs: 100 + Math.floor(chance.next() * 300),
  }));
  chance.log.push(`${kind}: ${script.map(({ play }) => play).join(', ')}`);
  const wraps = { wrapLedger: chance.ledger, wrapTransport: chance.transport };
  const s = supplierWorld(kind, { script, visibilityLagMs: 200, world: wraps });
  const tell = listenFor(s.w, ['orders'], 'order');
  const first = await s.entered();
  const payload = { ...DRAFT, purchase_order: 'PO-38' };
  const second = await s.entered({ key: 'PO-38', payload });
  for (const intent of [first, second]) await s.sign(intent);
  const scene: Scene = {
    w: s.w,
    tell,
    ids: [first.id, second.id],
    records: (intent) =>
      s.supplier
        .orders()
        .filter((order) =>
          kind === 'blind'
            ? order.purchase_order === intent.payload['purchase_order']
            : order.reference === intent.id,
        )
        .map(({ order_id: externalId, status }) => ({ externalId, real: status === 'created' })),
    // The blind one is told none, and tells none.
    reference: ({ id }) => (kind === 'blind' ? null : id),
    sign: s.sign,
    takeBack: s.takeBack,
  };
  const wrong: Wrong = async () => {
    const unapproved = s.violations();
    // By its reference also a refused record is known for ours.
    const unseen = (await all(scene)).filter(
      (each) => each.outcome === 'no_effect' && each.seenAt === null && scene.records(each).length > 0,
    );
    return [
      ...(unapproved === 0 ? [] : [`${unapproved} POSTs without an approval`]),
      ...unseen.map(({ key }) => `${key} is closed and its record was never seen`),
    ];
  };
  return { scene, wrong };
}

/** Three notes of one text, which nobody can tell apart by what the desk shows. */
async function twins(chance: Seeded): Promise<{ scene: Scene; wrong: Wrong }> {
  const script = Array.from({ length: 8 }, () => chance.pick(DESK_PLAYS));
  chance.log.push(script.join(', '));
  const repeatOn = [...POLICY.repeatOn, 'status_500', 'body_cut'];
  const desk = scriptedDesk({ script, route: { policy: { ...POLICY, resend: 'after_search', repeatOn } } });
  const wraps = { wrapLedger: chance.ledger, wrapTransport: chance.transport };
  const w = world({ beside: desk.beside, ...wraps });
  const tell = listenFor(w, ['notes'], 'note');
  const ids: string[] = [];
  for (const tag of ['A', 'B', 'C']) {
    const note = { key: tag, route: 'notes', payload: { text: 'Tea', tag } };
    const accepted = await w.submit({ ...note, ...(tag === 'A' ? { followWith: FOLLOW_UP } : {}) });
    if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
    ids.push(accepted.intent.id);
  }
  const scene: Scene = {
    w,
    tell,
    ids,
    records: (intent) =>
      desk.book
        .filter(({ body }) => body['tag'] === intent.payload['tag'])
        .map(({ id, refused }) => ({ externalId: id, real: !refused })),
    reference: ({ id }) => id,
  };
  const wrong: Wrong = async () =>
    (await all(scene))
      .filter((each) => each.state === 'confirmed' && each.followWith !== null && each.followUp === null)
      .map(({ key }) => `nothing follows ${key}`);
  return { scene, wrong };
}

const all = ({ w, ids }: Scene): Promise<Intent[]> => Promise.all(ids.map((id) => w.read(id)));

/** Sweeps at each due time, with somebody at work after each, until nothing is due; what is wrong on the way. */
async function untilQuiet(scene: Scene, chance: Seeded): Promise<readonly string[]> {
  const { w } = scene;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // A pass that fails is followed by the next one.
    await sweep(w.deps)
      .runOnce()
      .catch(() => undefined);
    await w.drain();
    await chance.act('between runs');
    const intents = await all(scene);
    const [{ route } = { route: '' }] = intents;
    await w.ledger.thaw(route, { by: 'otto', why: 'looked into', at: w.clock.now() });
    const stuck = intents.filter(
      // What still disputes an end is due, or with people.
      ({ state, dueAt, contraryAt, incident }) =>
        dueAt === null && (!SETTLED.includes(state) || (contraryAt !== null && incident === null)),
    );
    if (stuck.length > 0) return stuck.map(({ state }) => `no way on from ${state}`);
    const due = intents.flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt]));
    const next = Math.min(...due);
    if (next >= w.clock.now() + HORIZON_MS) return [];
    w.clock.advance(Math.max(0, next - w.clock.now()));
  }
  return [];
}

/** The book against what is said, once everything that is late has come. */
async function falsehoods(scene: Scene): Promise<readonly string[]> {
  scene.w.clock.advance(100_000);
  return (await all(scene)).flatMap((intent) => {
    const records = scene.records(intent).filter((record) => record.real);
    const real = records.map((record) => record.externalId);
    const empty = intent.state === 'rejected' || intent.outcome === 'no_effect';
    const says = `${intent.key} is ${intent.state} ${intent.outcome ?? ''} ${intent.externalId ?? ''}, the book has ${real}`;
    const wrong = [
      real.length > 1 && 'two effects',
      intent.state === 'confirmed' && (real.length !== 1 || real[0] !== intent.externalId) && 'not confirmed',
      // What disputes it is still being looked into.
      empty && real.length > 0 && intent.contraryAt === null && 'not without effect',
    ];
    return wrong.filter((each) => each !== false).map((each) => `${each}: ${says}`);
  });
}

async function play(name: keyof typeof SCENES, seed: number, tally: Tally): Promise<Intent[]> {
  const chance = seeded(seed, tally);
  const { scene, wrong } = await SCENES[name](chance);
  chance.begin(scene);
  try {
    const found = await untilQuiet(scene, chance);
    expect([...found, ...(await falsehoods(scene)), ...(await wrong(scene))]).toEqual([]);
  } catch (error) {
    const replay = `SEED=${seed} npx vitest run test/proof/people.test.ts -t '${name}'`;
    const ends = (await all(scene)).map((intent) => JSON.stringify(intent));
    const told = [`Seed ${seed} failed; replay it with: ${replay}`, ...chance.log, ...ends].join('\n');
    throw new Error(`${told}\n${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return all(scene);
}

const SCENES = { orders, twins } as const;

describe('people at work', () => {
  it.each([
    ['orders', ['signatures', 'revocations']],
    ['twins', []],
  ] as const)(
    '%s: one effect at most, no end that says too much, always a way on',
    async (name, more) => {
      const tally = emptyTally();
      const ends: Record<string, number> = {};
      const [from, count] = ONLY === undefined ? [FIRST_SEED, SEEDS[name]] : [Number(ONLY), 1];
      for (let seed = from; seed < from + count; seed += 1) {
        for (const { state } of await play(name, seed, tally)) ends[state] = (ends[state] ?? 0) + 1;
        tally.seeds += 1;
      }
      console.info(name, JSON.stringify({ ...tally, ends }));
      if (ONLY !== undefined) return;
      const hits = [
        'events',
        'falseEvents',
        'decisions',
        'agreements',
        'withdrawals',
        'looks',
        'faults',
        ...more,
      ] as const;
      for (const hit of hits) expect(tally[hit], hit).toBeGreaterThan(0);
      for (const end of ['confirmed', 'rejected', 'closed']) expect(ends[end], end).toBeGreaterThan(0);
    },
    SLOWEST_MS,
  );
});

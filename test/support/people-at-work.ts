/**
 * People, events from outside and ledger faults that come in at any boundary call, chosen by a seed. People are honest:
 * they state what the book shows at that moment, and they may be too early.
 */
import type { Decision } from '../../lib/domain/decision.ts';
import type { Intent, IntentRef } from '../../lib/domain/intent.ts';
import { SETTLED } from '../../lib/domain/lifecycle-states.ts';
import { type Ledger, LedgerUnavailable } from '../../lib/ledger/ledger.ts';
import { agree, decide } from '../../lib/operations/decide.ts';
import { lookAgain } from '../../lib/operations/look-again.ts';
import { withdraw } from '../../lib/operations/withdraw.ts';
import type { Transport } from '../../lib/providers/transport.ts';
import type { Tell } from './outside-events.ts';
import { random } from './schedule.ts';
import type { World } from './world.ts';

/** How often somebody comes in at one call, and how often one call of the ledger fails. */
const COMES_IN = 0.06;
const FAILS = 0.01;
/** How often an event speaks of what does not exist. */
const SPEAKS_FALSELY = 0.08;
const HOUR = 3_600_000;

/** How often each thing happened. */
export type Tally = Record<
  | 'seeds'
  | 'events'
  | 'falseEvents'
  | 'decisions'
  | 'agreements'
  | 'withdrawals'
  | 'looks'
  | 'signatures'
  | 'revocations'
  | 'faults',
  number
>;
export const emptyTally = (): Tally => ({
  seeds: 0,
  events: 0,
  falseEvents: 0,
  decisions: 0,
  agreements: 0,
  withdrawals: 0,
  looks: 0,
  signatures: 0,
  revocations: 0,
  faults: 0,
});

/** Where it all happens. `deps` of the world meet the faults; what people do goes past them. */
export interface Scene {
  readonly w: World;
  readonly tell: Tell;
  readonly ids: readonly string[];
  /** What the book shows of the effects of one intent. */
  readonly records: (intent: Intent) => readonly { readonly externalId: string; readonly real: boolean }[];
  /** As an event tells it. */
  readonly reference: (intent: Intent) => string | null;
  readonly sign?: (intent: Intent) => Promise<void>;
  readonly takeBack?: (intent: Intent, deps: World['deps']) => Promise<void>;
}

export type Seeded = ReturnType<typeof seeded>;

export function seeded(seed: number, tally: Tally) {
  const next = random(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const log: string[] = [];
  const on: { scene?: Scene } = {};
  const means: Means = { next, pick, log, tally, told: 0 };
  let busy = false;

  /** One act at a time, and no fault meanwhile. */
  const act = async (where: string): Promise<void> => {
    if (on.scene === undefined || busy) return;
    busy = true;
    await oneAct(on.scene, means, where);
    busy = false;
  };
  const perhaps = async (where: string): Promise<void> => {
    if (on.scene !== undefined && !busy && next() < COMES_IN) await act(where);
  };
  const fault = (chance: number, below: number): void => {
    if (on.scene === undefined || busy || chance >= below) return;
    tally.faults += 1;
    throw new LedgerUnavailable('It is away.');
  };

  return {
    next,
    pick,
    log,
    act,
    /** From here on people come in and calls fail. */
    begin: (scene: Scene): void => {
      on.scene = scene;
    },
    ledger: (ledger: Ledger): Ledger => {
      const wrapped = Object.entries(ledger).map(([name, method]) => {
        const call = method as (...given: unknown[]) => Promise<unknown>;
        return [
          name,
          async (...given: unknown[]) => {
            await perhaps(`before ${name}`);
            const chance = next();
            fault(chance, FAILS);
            const result = await call(...given);
            fault(chance, 2 * FAILS);
            await perhaps(`after ${name}`);
            return result;
          },
        ] as const;
      });
      return Object.fromEntries(wrapped) as unknown as Ledger;
    },
    transport:
      (transport: Transport): Transport =>
      async (request) => {
        await perhaps('before the POST');
        const lastCheck = async () => {
          const refusal = await request.lastCheck();
          await perhaps(LAST_CHECKED);
          return refusal;
        };
        const report = await transport({ ...request, lastCheck });
        await perhaps('after the POST');
        return report;
      },
  };
}

const LAST_CHECKED = 'after the last check';
/** From these moments on a revocation comes too late for the bytes that follow. */
const TOO_LATE_TO_REVOKE = [LAST_CHECKED, 'after readForSend'];

interface Means {
  readonly next: () => number;
  readonly pick: <T>(list: readonly T[]) => T;
  readonly log: string[];
  readonly tally: Tally;
  /** Events so far. */
  told: number;
}

async function oneAct(scene: Scene, means: Means, where: string): Promise<void> {
  const { w, ids } = scene;
  const { next, pick, log, tally } = means;
  const intent = await w.read(pick(ids));
  const ref = { tenant: intent.tenant, intentId: intent.id };
  const deps = { ...w.deps, ledger: w.ledger };
  const open = !SETTLED.includes(intent.state);
  const what = pick(['event', 'event', 'withdrawal', 'look', 'decision', 'decision', 'decision', 'approval']);
  log.push(`${w.clock.now()} ${where}: ${what} of ${ids.indexOf(intent.id)}, ${intent.state}`);
  switch (what) {
    case 'event':
      return tellOne(scene, means, intent);
    case 'withdrawal':
      if (!open || next() > 0.4) return;
      await withdraw(deps)(ref, intent.unit, 'shop');
      tally.withdrawals += 1;
      return;
    case 'look':
      if ((await lookAgain(deps)(ref, intent.unit)).kind === 'started') tally.looks += 1;
      return;
    case 'decision':
      return decideOne(scene, means, intent, ref);
    case 'approval':
      return open ? approveOne(scene, means, intent, where) : undefined;
  }
}

async function tellOne(scene: Scene, means: Means, intent: Intent): Promise<void> {
  const { next, pick, log, tally } = means;
  const { w, tell, reference } = scene;
  const records = scene.records(intent);
  const isFalse = next() < SPEAKS_FALSELY && reference(intent) !== null;
  if (records.length === 0 && !isFalse) return;
  means.told += 1;
  tally[isFalse ? 'falseEvents' : 'events'] += 1;
  const { externalId, real } = isFalse ? { externalId: `90${means.told}`, real: true } : pick(records);
  // Now and then an id comes twice.
  const id = next() < 0.3 ? 'evt-0' : `evt-${means.told}`;
  const type = real ? 'order.created' : 'order.rejected';
  log.push(`  ${id} ${type} ${externalId}`);
  await tell({ id, reference: reference(intent), externalId, type }, { ...w.deps, ledger: w.ledger });
}

async function approveOne(scene: Scene, means: Means, intent: Intent, where: string): Promise<void> {
  const { sign, takeBack, w } = scene;
  if (sign === undefined || takeBack === undefined) return;
  const { approval } = intent;
  if (means.next() < 0.5) {
    await sign(intent);
    means.tally.signatures += 1;
  } else if (approval !== null && approval.revoked === null && !TOO_LATE_TO_REVOKE.includes(where)) {
    await takeBack(intent, { ...w.deps, ledger: w.ledger });
    means.tally.revocations += 1;
  }
}

async function decideOne(scene: Scene, means: Means, intent: Intent, ref: IntentRef): Promise<void> {
  const { next, pick, log, tally } = means;
  const decisions = honestDecisions(scene, intent, next() < 0.3);
  if (decisions.length === 0) return;
  const decision = pick(decisions);
  const deps = { ...scene.w.deps, ledger: scene.w.ledger };
  const { unit, version } = intent;
  const decided = await decide(deps)(ref, unit, { by: 'ann', version, decision, reason: 'looked there' });
  log.push(`  ${JSON.stringify(decision)}: ${decided.kind}`);
  if (decided.kind === 'done') tally.decisions += 1;
  if (decided.kind !== 'proposed' || decided.intent.proposal === null || next() > 0.9) return;
  const agreesTo = decided.intent.proposal.id;
  const wish = { by: 'bea', version: decided.intent.version, agreesTo, reason: null };
  const agreed = await agree(deps)(ref, unit, wish);
  log.push(`  agreed: ${agreed.kind}`);
  if (agreed.kind === 'done') tally.agreements += 1;
}

function honestDecisions({ w, records }: Scene, intent: Intent, tired: boolean): readonly Decision[] {
  if (intent.state === 'closed') return [{ kind: 'reopen' }];
  if (intent.state !== 'handover') return [];
  const lookedAt = w.clock.now();
  const all = records(intent);
  const real = all.filter((record) => record.real);
  const [one] = real;
  const decisions: Decision[] = [];
  if (all.length === 0) {
    decisions.push({ kind: 'declare_absent', lookedAt }, { kind: 'close', outcome: 'no_effect', lookedAt });
  }
  if (one !== undefined && real.length === 1) {
    const { externalId } = one;
    decisions.push(
      { kind: 'attach_external_id', externalId },
      { kind: 'close', outcome: 'attested', externalId },
    );
  }
  if (tired) {
    decisions.push(
      { kind: 'wait_until', until: lookedAt + HOUR },
      { kind: 'close', outcome: 'undetermined' },
    );
  }
  return decisions;
}

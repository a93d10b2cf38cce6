/** Whoever submits does not approve: random histories of signatures, revocations, lapses and new policies. */
import { describe, expect, it } from 'vitest';
import { type Approval, permissionOf, sign, signaturesNeeded } from '../../lib/domain/approval.ts';
import { BY_APPROVAL, intentOf, NOW } from '../support/kit.ts';
import { random } from '../support/schedule.ts';

const HISTORIES = 10_000;
const ACTS = 12;
const INTENT = intentOf();
const SUBMITTER = INTENT.submittedBy;
const PEOPLE = [SUBMITTER, 'ann', 'otto', 'mia'];
const HOUR_MS = 3_600_000;

interface Tally {
  /** Moments at which a write was permitted. */
  permitted: number;
  /** Of those, the ones that rest on the submitter. */
  selfApproved: number;
  /** Of those, the ones with too few different people. */
  tooFew: number;
}

/** One intent; at each act somebody signs, somebody revokes, or the policy becomes another one. */
function play(seed: number, separate: boolean, tally: Tally): void {
  const next = random(seed);
  const oneOf = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T;
  const policy = () => ({
    ...BY_APPROVAL,
    separate,
    version: oneOf(['v1', 'v2']),
    approvers: oneOf([null, PEOPLE, ['ann', SUBMITTER]]),
    twoFrom: oneOf([null, { field: 'quantity', amount: 2 }]),
  });
  let [permission, now] = [policy(), NOW];
  let approval = null as Approval | null;
  for (let act = 0; act < ACTS; act += 1) {
    now += Math.floor(next() * HOUR_MS);
    const intent = { ...INTENT, approval };
    const what = next();
    if (what < 0.7) {
      const until = next() < 0.5 ? undefined : now + HOUR_MS;
      const signing = sign(
        intent,
        permission,
        { by: oneOf(PEOPLE), fingerprint: intent.fingerprint, until },
        now,
      );
      if (signing.kind === 'signed') approval = signing.approval;
    } else if (what < 0.8 && approval !== null) {
      approval = { ...approval, revoked: { by: oneOf(PEOPLE), at: now } };
    } else {
      permission = policy();
    }
    const after = { ...INTENT, approval };
    if (permissionOf(after, permission, now).kind !== 'permitted') continue;
    const signers = new Set(approval?.signatures.map((each) => each.by));
    tally.permitted += 1;
    tally.selfApproved += signers.has(SUBMITTER) ? 1 : 0;
    tally.tooFew += signers.size < signaturesNeeded(after, permission) ? 1 : 0;
  }
}

function tallyOf(separate: boolean): Tally {
  const tally = { permitted: 0, selfApproved: 0, tooFew: 0 };
  for (let seed = 0; seed < HISTORIES; seed += 1) play(seed, separate, tally);
  return tally;
}

describe('in 10 000 histories', () => {
  it('nobody approves what they submitted, and as many sign as the policy asks for', () => {
    const { permitted, selfApproved, tooFew } = tallyOf(true);
    expect(permitted).toBeGreaterThan(HISTORIES);
    expect({ selfApproved, tooFew }).toEqual({ selfApproved: 0, tooFew: 0 });
  });

  it('a policy that does not separate lets them, so that this count can fail', () => {
    const { selfApproved, tooFew } = tallyOf(false);
    expect(selfApproved).toBeGreaterThan(0);
    expect(tooFew).toBe(0);
  });
});

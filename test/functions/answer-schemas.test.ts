/** What is told of an intent is of the published form in every state, with everything that can hang on it. */
import { describe, expect, test } from 'vitest';
import { apiDocument, OPERATIONS } from '../../functions/api-document.ts';
import type { Decision } from '../../lib/domain/decision.ts';
import { type Intent, STATES } from '../../lib/domain/intent.ts';
import { memoryLedger } from '../../lib/ledger/memory-ledger.ts';
import { approvalView } from '../../lib/operations/approve.ts';
import { queueItem } from '../../lib/operations/queue-item.ts';
import { attemptsOf, viewOf } from '../../lib/operations/trail.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import type { Deps } from '../../lib/workflow/deps.ts';
import * as kit from '../support/kit.ts';
import { contractOf } from '../support/published-contract.ts';

const contract = contractOf(JSON.stringify(apiDocument()));
const OTHER = `int_${'7'.repeat(40)}`;
const ID = `int_${'0'.repeat(40)}`;
const { NOW, attemptOf, searchOf } = kit;

const DECISIONS: readonly Decision[] = [
  { kind: 'attach_external_id', externalId: 'R-1' },
  { kind: 'declare_absent', lookedAt: NOW },
  { kind: 'settle_many', keep: 'R-1', surplus: ['R-2'] },
  { kind: 'wait_until', until: NOW },
  { kind: 'close', outcome: 'no_effect', lookedAt: NOW },
  { kind: 'close', outcome: 'attested', externalId: null },
  { kind: 'close', outcome: 'undetermined' },
  { kind: 'reopen' },
];
const proposed = (decision: Decision): Partial<Intent> => ({
  proposal: { id: 'p1', decision, by: 'ann', reason: 'so', at: NOW, until: NOW + 1 },
});
const followWith = { route: 'confirmations', payload: {} };
const TOLD = { ...kit.UNKNOWN_RESULT, exists: true, notBefore: NOW + 1 } as const;
const results = [kit.UNKNOWN_RESULT, TOLD, kit.ACKNOWLEDGED, kit.NOT_SENT, kit.REFUSED];

const CHANGES: readonly (readonly [string, Partial<Intent>])[] = [
  ['as it is', {}],
  ...DECISIONS.map((each) => [`with the proposal ${JSON.stringify(each)}`, proposed(each)] as const),
  ['owned, correcting and waiting', { owner: { by: 'ann', at: NOW }, corrects: OTHER, waitsFor: OTHER }],
  ['with a follow-up', { followWith }],
  ['with a follow-up that was made', { followWith, followUp: OTHER }],
  ['signed and revoked', { approval: { ...kit.APPROVAL, revoked: { by: 'ann', at: NOW } } }],
  ['written in every way', { attempts: results.map((result, at) => attemptOf(at + 1, { result })) }],
  ['written by one that was lost', { attempts: [attemptOf(1, { lostAt: NOW })] }],
  ['searched in vain', { lastSearch: searchOf({ error: 'timeout' }), trustedSearchAt: NOW }],
  ['cancellable for a while', { lastSearch: searchOf({ cancelUntil: NOW }), cancelUntil: NOW }],
  ['with a second effect', { incident: { reason: 'second_effect', candidates: ['R-2'], at: NOW } }],
];
const deps: Deps = {
  ledger: memoryLedger(kit.counter()),
  clock: kit.fakeClock(),
  newId: kit.counter('n'),
  timing: kit.TIMING,
  routes: registryOf([kit.routeTo('http://127.0.0.1:1')]),
  log: () => undefined,
};

/** Judged twice: by the schema that the document is made from, strictly, and by what was published. */
function misfits(operation: string, value: unknown): unknown[] {
  const sent: unknown = JSON.parse(JSON.stringify(value));
  const schema = OPERATIONS[operation]?.answers[200]?.schema;
  const media = contract.operations.get(operation)?.answer(200, 'application/json');
  if (schema === undefined || media === undefined) throw new Error(`${operation} is not described`);
  return [...(schema.safeParse(sent).error?.issues ?? []), ...contract.misfits(media, sent)];
}

describe.each(CHANGES)('an intent %s, in every state', (_, change) => {
  const all = STATES.map((state): Intent => ({ ...kit.IN_STATE[state], id: ID, ...change }));

  test('itself, and what is to be approved', () => {
    expect(all.flatMap((intent) => misfits('show', viewOf(intent, 1)))).toEqual([]);
    expect(all.flatMap((intent) => misfits('approval', approvalView(deps, intent)))).toEqual([]);
  });

  test('its evidence', () => {
    const pages = all.map((intent) => ({
      intentId: intent.id,
      attempts: attemptsOf(intent),
      items: [],
      cursor: null,
    }));
    expect(pages.flatMap((page) => misfits('evidence', page))).toEqual([]);
  });

  test('its place in the queue', async () => {
    const around = { frozen: false, list: 'doubtful', language: 'ja' } as const;
    const items = await Promise.all(all.map((intent) => queueItem(deps, intent, around)));
    expect(misfits('queue', { list: 'doubtful', items, cursor: null })).toEqual([]);
  });
});

test('what nobody published is noticed', () => {
  const view = viewOf({ ...kit.IN_STATE.confirmed, id: ID }, 0);
  expect(misfits('show', { ...view, tenant: 'acme' })).toHaveLength(2);
  expect(misfits('show', { ...view, owner: { by: 'ann' } }).length).toBeGreaterThan(1);
});

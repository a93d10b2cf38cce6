/**
 * What the machine would do next with an intent after a look that was not kept. Pure: plans, transitions and verdicts
 * are those of `lib/domain`, as the steps use them; nothing here is ever written.
 */
import type { HandoverReason, Intent, SearchFacts } from '../domain/intent.ts';
import { judgeAudit } from '../domain/judge-audit.ts';
import type { LifeEvent } from '../domain/life-event.ts';
import { transition } from '../domain/lifecycle.ts';
import { SETTLED } from '../domain/lifecycle-states.ts';
import { maySend, type SendContext, type SendRefusal } from '../domain/may-send.ts';
import { planOf } from '../domain/plan.ts';
import { endOfSearch, showsRefusal } from '../domain/reconciliation.ts';
import { judgeReadback, needsWholeSearch, type Verification } from '../domain/verification.ts';
import type { Way } from '../providers/registry.ts';
import type { Seen } from './look.ts';
import { waitsForAnother } from './resend-refusals.ts';

export interface Next {
  /**
   * `check`: ask whether a first write is in order. `decide`: a person has to. `freeze`: stop the route and tell
   * people. `reject`, `close`: it ends without an effect. `end`: nothing more is due.
   */
  readonly do:
    | 'send'
    | 'check'
    | 'confirm'
    | 'follow_up'
    | 'reject'
    | 'close'
    | 'hand_over'
    | 'decide'
    | 'freeze'
    | 'wait'
    | 'end';
  /** Why, in the word that the machine would record; null where there is nothing to add. */
  readonly reason: SendRefusal | HandoverReason | 'under_way' | 'waits_for_another' | null;
}

/** What would be done, and the intent as it would then stand: what a write is judged by. */
export interface Forecast {
  readonly next: Next;
  readonly intent: Intent;
}

export interface Looked {
  readonly way: Way;
  readonly context: SendContext;
  readonly now: number;
  readonly seen: Seen;
  readonly facts: SearchFacts;
  /** Null where no id is known. */
  readonly readback: Seen | null;
  /** The record that was read back is bound to another intent. */
  readonly boundElsewhere: boolean;
}

const MOST_ROUNDS = 4;

export function whatNext(looked: Looked, intent: Intent, round = 0): Forecast {
  if (round >= MOST_ROUNDS) return told(intent, 'wait');
  const plan = planOf(intent, looked.context, looked.now);
  switch (plan.do) {
    case 'claim':
      return claim(intent);
    case 'look':
      return afterSearch(looked, intent, round);
    case 'verify':
      return afterReadback(looked, intent, round);
    case 'audit':
      return afterAudit(looked, intent);
    case 'apply':
      return afterEvent(looked, intent, plan.event, round);
    case 'hand_over':
      return told(intent, 'hand_over', intent.handover?.reason);
    case 'check':
      return told(intent, 'check', 'check_first');
    case 'follow_up':
      return told(intent, 'follow_up');
    case 'wait':
      return waiting(looked, intent);
    case 'end':
      return intent.state === 'sending' ? told(intent, 'wait', 'under_way') : told(intent, 'end');
  }
}

function told(intent: Intent, word: Next['do'], reason: Next['reason'] = null): Forecast {
  return { next: { do: word, reason }, intent };
}

function claim(intent: Intent): Forecast {
  return waitsForAnother(intent) ? told(intent, 'wait', 'waits_for_another') : told(intent, 'send');
}

function waiting({ context, now }: Looked, intent: Intent): Forecast {
  if (intent.state === 'handover') return told(intent, 'decide', intent.handover?.reason);
  return told(intent, 'wait', maySend(intent, context, now));
}

function afterEvent(looked: Looked, intent: Intent, event: LifeEvent, round: number): Forecast {
  if (event.kind === 'must_hand_over') return told(intent, 'hand_over', event.handover.reason);
  const moved = transition(intent, event, looked.now);
  if (moved.kind === 'refused') return told(intent, 'wait');
  const why = event.kind === 'refused_outside' ? null : maySend(intent, looked.context, looked.now);
  if (moved.intent.state === 'rejected') return told(intent, 'reject', why);
  if (moved.intent.state === 'closed') return told(intent, 'close', why);
  return whatNext(looked, moved.intent, round + 1);
}

function afterSearch(looked: Looked, intent: Intent, round: number): Forecast {
  const { way, context, now, seen, facts } = looked;
  if (way.provider.find === undefined && intent.acknowledgedId === null) {
    return told(intent, 'hand_over', 'blind');
  }
  if (showsRefusal(intent, seen, context.timing, context.lag)) {
    return afterEvent(looked, intent, { kind: 'refused_outside', facts }, round);
  }
  const moved = transition(intent, { kind: 'searched', facts, dueAt: now }, now);
  const after = moved.kind === 'refused' ? intent : moved.intent;
  const reason = endOfSearch(intent, seen, facts.verdict, context.timing, context.lag);
  if (reason !== undefined) return told(after, 'hand_over', reason);
  if (after.state !== 'unknown') return whatNext(looked, after, round + 1);
  const refusal = maySend(after, context, now);
  return refusal === null ? claim(after) : told(after, 'wait', refusal);
}

function afterReadback(looked: Looked, intent: Intent, round: number): Forecast {
  const verification = judged(looked, intent);
  if (verification === 'refused') {
    return afterEvent(looked, intent, { kind: 'refused_outside', facts: null }, round);
  }
  switch (verification.kind) {
    case 'verified':
      return looked.boundElsewhere ? told(intent, 'hand_over', 'bound_elsewhere') : told(intent, 'confirm');
    case 'later':
      return told(intent, 'wait');
    case 'hand_over':
      return told(intent, 'hand_over', verification.reason);
  }
}

/** As the verify step judges: a complete search too where more than one attempt may have had an effect. */
function judged(looked: Looked, intent: Intent): Verification | 'refused' {
  const { way, seen, readback } = looked;
  const { timing, lag } = looked.context;
  if (readback === null) return { kind: 'later' };
  const isWhole = readback.complete && readback.authorised;
  const refused = (readback.refused ?? []).length > 0;
  if (!refused && (!needsWholeSearch(intent) || isWhole)) {
    return judgeReadback(intent, readback, null, timing, lag);
  }
  if (way.provider.find === undefined) {
    return { kind: 'hand_over', reason: 'readback_unavailable', candidates: [] };
  }
  if (showsRefusal(intent, seen, timing, lag)) return 'refused';
  return judgeReadback(intent, readback, seen, timing, lag);
}

function afterAudit({ seen, context, now }: Looked, intent: Intent): Forecast {
  const settled = SETTLED.includes(intent.state);
  const { timing, lag } = context;
  switch (judgeAudit(intent, seen, timing, lag, now).kind) {
    case 'contradicted':
      return told(intent, 'freeze', intent.state === 'confirmed' ? 'second_effect' : 'contrary_evidence');
    case 'incomplete':
      return told(intent, 'decide', 'audit_incomplete');
    case 'unsupported':
      return told(intent, 'hand_over', 'contrary_evidence');
    case 'over':
      return told(intent, 'end');
    case 'later':
      return settled ? told(intent, 'end') : told(intent, 'wait', 'something_seen');
  }
}

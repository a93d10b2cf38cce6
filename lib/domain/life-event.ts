/** Everything that can happen to an intent. What it does in which state stands in `lifecycle.ts`. */
import type { Approval, Signature } from './approval.ts';
import type { Decision, Proposal } from './decision.ts';
import type { Attempt, Handover, Receipt, SearchFacts } from './intent.ts';
import type { WriteResult } from './write-result.ts';

export type LifeEvent =
  /** Attempt n is claimed; bytes may be out from here on. */
  | { readonly kind: 'claimed'; readonly attempt: Attempt; readonly dueAt: number }
  /** Result n and claim n + 1 in one update, in the run that saw n fail. */
  | {
      readonly kind: 'resent_first';
      readonly result: WriteResult;
      readonly attempt: Attempt;
      readonly dueAt: number;
    }
  /** The result of attempt `number`; `dueAt` is the next look, `retryAt` the end of the back-off. */
  | {
      readonly kind: 'result';
      readonly number: number;
      readonly result: WriteResult;
      readonly dueAt: number;
      readonly retryAt: number;
    }
  /** The lease ran out with no result: a right to look, never to send. */
  | { readonly kind: 'lease_over'; readonly dueAt: number }
  /** A search was recorded; `handover` when it left the machine nothing to do. */
  | {
      readonly kind: 'searched';
      readonly facts: SearchFacts;
      readonly dueAt: number;
      readonly handover?: Handover;
    }
  /** The provider's own record says refused, without effect, and nothing else can be out. */
  | { readonly kind: 'refused_outside'; readonly facts: SearchFacts | null }
  /** A readback that settles nothing yet. */
  | { readonly kind: 'read_back'; readonly dueAt: number }
  | { readonly kind: 'verified'; readonly receipt: Receipt; readonly dueAt: number | null }
  /** A step found that only people can go on; the hand-over step then moves the state. */
  | { readonly kind: 'must_hand_over'; readonly handover: Handover; readonly dueAt: number }
  | { readonly kind: 'handed_over'; readonly dueAt: number }
  /** Not now: frozen, planned for later, or another intent goes first. */
  | { readonly kind: 'deferred'; readonly dueAt: number; readonly waitsFor?: string }
  /** Its account had its calls of this minute; `calls` that the search needs, where that is known. */
  | { readonly kind: 'held_back'; readonly dueAt: number; readonly calls: number | null }
  /** The provider says that the first write is in order, and until when. */
  | { readonly kind: 'checked'; readonly cancelUntil: number | null; readonly dueAt: number }
  /** Absence too old to open a send. */
  | { readonly kind: 'aged'; readonly dueAt: number }
  /** A person signed; what it permits is judged anew at every use. */
  | { readonly kind: 'approved'; readonly approval: Approval }
  /** Stops writes only; whatever is out is still looked for. */
  | { readonly kind: 'revoked'; readonly revoked: Signature }
  /** Nobody wants it any more: no further write. What may be outside is still looked for. */
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'permission_lapsed' }
  | { readonly kind: 'permitted'; readonly dueAt: number }
  /** `sendBy` passed with nothing outside. */
  | { readonly kind: 'time_over' }
  /** Every attempt proved not sent and none left. */
  | { readonly kind: 'budget_spent' }
  /** Somebody asks for another look. */
  | { readonly kind: 'look_again'; readonly dueAt: number }
  /** The same key came with another request. */
  | { readonly kind: 'conflicted' }
  /** The sweep starts a run. */
  | { readonly kind: 'run_started'; readonly dueAt: number }
  | { readonly kind: 'cannot_run'; readonly dueAt: number }
  /** The follow-up of a confirmed intent was created. */
  | { readonly kind: 'followed_up'; readonly followUp: string; readonly dueAt: number | null }
  /** The audit of a confirmed intent found nothing else, or could not look yet (`dueAt`). */
  | { readonly kind: 'audited'; readonly facts: SearchFacts; readonly dueAt: number | null }
  | { readonly kind: 'second_effect'; readonly facts: SearchFacts; readonly incident: Handover }
  /** The looks for another effect saw too little to tell: the end stands, and people are told. */
  | { readonly kind: 'audit_incomplete'; readonly facts: SearchFacts; readonly incident: Handover }
  /** A readback supports, or does not, evidence against a settled end. */
  | { readonly kind: 'contradicted'; readonly handover: Handover; readonly dueAt: number }
  | { readonly kind: 'not_contradicted'; readonly facts: SearchFacts; readonly dueAt: number | null }
  /** Signed evidence from outside. It wakes a look and never decides; `seen` when it speaks of an effect. */
  | {
      readonly kind: 'evidence_came';
      readonly seen: boolean;
      readonly externalId: string | null;
      readonly dueAt: number;
    }
  /** Somebody takes it to work on, or gives it back. */
  | { readonly kind: 'owned'; readonly owner: Signature | null }
  /** One person's decision that needs a second one. */
  | { readonly kind: 'proposed'; readonly proposal: Proposal }
  | { readonly kind: 'decided'; readonly decision: Decision; readonly dueAt: number };

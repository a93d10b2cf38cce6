/** A signed event from outside, kept before it is acknowledged. It is evidence, never a verdict. */
import type { Environment, IntentRef } from '../domain/intent.ts';

export interface OutsideEvent {
  /** The endpoint that took it, and the sender's own id of it: together its identity. */
  readonly endpoint: string;
  readonly id: string;
  readonly receivedAt: number;
  readonly type: string;
  /** Whether it speaks of an effect, not of a refusal. */
  readonly seen: boolean;
  /** Our reference as it names it; null where it names none. */
  readonly reference: string | null;
  readonly externalId: string | null;
  readonly account: string;
  readonly environment: Environment;
  /** Kind of effect. */
  readonly kind: string;
  /** sha256 hex of the body; the body itself is not kept. */
  readonly digest: string;
  /** The intent that it was given to. */
  readonly matchedTo: IntentRef | null;
  /** When it is to be matched again; null once that is over. */
  readonly dueAt: number | null;
  /** Grows by one with every change. */
  readonly changes: number;
}

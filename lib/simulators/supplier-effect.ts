/** What a POST does to the book, at once or later; all of it inside the transaction of its turn. */
import { isInTime, lateSaves } from './late-saves.ts';
import { NOTHING } from './post-faults.ts';
import { type Body, CALLS, type Call } from './supplier-calls.ts';
import { WRITE_FAULTS, type WriteFault } from './supplier-faults.ts';
import { type House, idField, type Turn } from './supplier-house.ts';
import type { KeyUse } from './supplier-keys.ts';
import type { SavedRecord } from './supplier-records.ts';
import { announce } from './supplier-webhook.ts';
import { type Answer, failure } from './wire.ts';

export interface Posted {
  readonly call: Call;
  readonly body: Body;
  /** null where keys do not count. */
  readonly key: string | null;
  readonly digest: string;
  /** When it arrived whole. */
  readonly at: number;
}

export const OTHER_ACCOUNT = 'other-1';
const OTHER_ENVIRONMENT = 'production';

/** Applies one POST and says what an honest supplier answers. */
export function applyPost(turn: Turn, posted: Posted, fault: WriteFault | null): Answer {
  const first = applyOnce(turn, posted, fault);
  if (fault?.kind === 'delivered_twice') applyOnce(turn, posted, fault);
  return first;
}

function applyOnce(turn: Turn, posted: Posted, fault: WriteFault | null): Answer {
  const known = claim(turn, posted);
  if (known !== undefined) return known;
  switch (fault === null ? 'now' : WRITE_FAULTS[fault.kind]) {
    case 'later':
      return applyLater(turn, posted, fault);
    case 'accepted':
      return accept(turn, posted, fault);
    default: {
      const answer = make(turn, posted.call, alteredBy(fault, posted.body), false);
      const stored = fault?.kind === 'status_after_save_stored' ? failure(fault.status ?? 500) : undefined;
      settle(turn, posted, answer, stored?.kind === 'answer' ? stored.answer : answer);
      return answer;
    }
  }
}

/** The answer to a repeat, or undefined for a request that is to be carried out. */
function claim({ house }: Turn, posted: Posted): Answer | undefined {
  if (posted.key === null) return undefined;
  const claimed = house.book.claimKey({ ...posted, key: posted.key }, posted.digest, house.keyLifetimeMs);
  switch (claimed.kind) {
    case 'mine':
      return undefined;
    case 'running':
      return KEY_IN_USE;
    case 'other_body':
      return { status: 409, body: { error: 'key_reused' } };
    case 'done':
      return claimed.answer.status === 201 ? { ...claimed.answer, status: 200 } : claimed.answer;
  }
}

export const KEY_IN_USE: Answer = { status: 409, body: { error: 'key_in_use' } };

/** A refused request leaves its key free. */
function settle(
  { house }: Turn,
  { call, key, at }: Omit<KeyUse, 'key'> & { key: string | null },
  answer: Answer,
  stored = answer,
) {
  if (key === null) return;
  if (answer.status === 201) house.book.settleKey({ call, key, at }, stored);
  else house.book.releaseKey({ call, key, at });
}

function make(turn: Turn, call: Call, body: Body, refused: boolean): Answer {
  const { house, now } = turn;
  const status = refused ? CALLS[call].refused : CALLS[call].made;
  const slot = house.kind === 'unique' ? body.reference : null;
  const cancelUntil = now + house.cancelWithinMs;
  const record = house.book.save(call, { ...body, status, slot, createdAt: now, cancelUntil });
  if (record === undefined) return taken(house, call, body);
  if (call === 'cancellation' && !refused) {
    const refusal = cancel(turn, record);
    if (refusal !== undefined) return refusal;
  }
  turn.after.push(() => announce(house, call, record));
  const { account, environment } = record;
  return { status: 201, body: { account, environment, ...idField(house, call, record.id), status } };
}

/** Names the constraint that forbade a record. */
function taken(house: House, call: Call, { reference }: Body): Answer {
  const other = reference === null ? undefined : house.book.bySlot(call, reference);
  if (other === undefined) return { status: 409, body: { error: 'already_cancelled' } };
  return { status: 409, body: { error: 'reference_exists', ...idField(house, call, other.id) } };
}

/** The update decides; the look behind it only names why not. */
function cancel(turn: Turn, record: SavedRecord): Answer | undefined {
  const { house, now } = turn;
  const id = String(record.content['order_id']);
  const changed = house.book.cancelOrder(id, house, now);
  const order = house.book.byId('order', id);
  if (changed) {
    if (order !== undefined) turn.after.push(() => announce(house, 'order', order));
    return undefined;
  }
  house.book.unsave('cancellation', record.n);
  const ours = order?.account === house.account && order.environment === house.environment;
  if (!ours || order.status === 'rejected') return { status: 404, body: { error: 'no_such_order' } };
  return { status: 409, body: { error: order.status === 'cancelled' ? 'already_cancelled' : 'too_late' } };
}

function alteredBy(fault: WriteFault | null, body: Body): Body {
  switch (fault?.kind) {
    case 'wrong_account_saved':
      return { ...body, account: OTHER_ACCOUNT };
    case 'wrong_environment_saved':
      return { ...body, environment: OTHER_ENVIRONMENT };
    case 'altered_quantity':
      return { ...body, content: { ...body.content, lines: oneMore(body.content['lines']) } };
    default:
      return body;
  }
}

function oneMore(lines: unknown): unknown {
  const [first, ...rest] = lines as { quantity: string }[];
  const quantity = first?.quantity.replace(/^\d+/, (whole) => String(BigInt(whole) + 1n));
  return [{ ...first, quantity }, ...rest];
}

/** Its key is in use until then; its answer is cut off, so nobody reads what is returned here. */
function applyLater(turn: Turn, { call, body, key, at }: Posted, fault: WriteFault | null): Answer {
  saves.postpone(turn, { call, body, key, at, refused: false }, fault?.delayMs);
  return NOTHING;
}

/** The key is settled with the 202, whatever follows. */
function accept(turn: Turn, { call, body, key, at }: Posted, fault: WriteFault | null): Answer {
  const { account, environment } = body;
  const answer = { status: 202, body: { account, environment, status: 'accepted' } };
  if (key !== null) turn.house.book.settleKey({ call, key, at }, answer);
  if (fault?.kind === 'accepted_then_never') return answer;
  saves.postpone(
    turn,
    { call, body, key: null, at, refused: fault?.kind === 'accepted_then_rejected' },
    fault?.delayMs,
  );
  return answer;
}

type Late = Omit<Posted, 'digest'> & { readonly refused: boolean };

const saves = lateSaves<Late, House>((turn, late) => {
  const answer = isInTime(turn, late) ? make(turn, late.call, late.body, late.refused) : NOTHING;
  settle(turn, late, answer);
});
export const { resumePending } = saves;

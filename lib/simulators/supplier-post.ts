/** The POSTs of a supplier: what is refused, what is done, and what goes out on the wire. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { HONEST, type Misbehaviour, NOTHING, POST_MISBEHAVIOUR, STATUS } from './post-faults.ts';
import { type Body, CALLS, type Call, purchaseOrderSchema, readBody } from './supplier-calls.ts';
import { applyPost, KEY_IN_USE, type Posted } from './supplier-effect.ts';
import { WRITE_FAULTS, type WriteFaultKind } from './supplier-faults.ts';
import type { House, Turn } from './supplier-house.ts';
import { type Arrived, takeWhole } from './turn.ts';
import { type Answer, answer, invalid, type Wire } from './wire.ts';

/** Orders with more lines than this are not covered by keys: each POST is an order. */
const MAX_KEYED_LINES = 20;

export async function takePost(
  house: House,
  call: Call,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await takeWhole(house, request, response, (turn, arrived) => {
    return perform(turn, call, readPost(house, call, request, arrived), arrived);
  });
}

type ReadPost = Answer | { readonly body: Body; readonly key: string | null };

/** What is asked for, or the refusal; a refused POST plays no fault and leaves no record but its own. */
function readPost(house: House, call: Call, request: IncomingMessage, { refusal, value }: Arrived): ReadPost {
  if (refusal !== undefined) return refusal;
  const key = (request.headersDistinct['idempotency-key'] ?? []).join(', ');
  if (house.kind === 'keyed' && !/^[\x21-\x7e]{1,255}$/.test(key)) return invalid('idempotency-key');
  const body = readBody(call, house.kind, value);
  if (typeof body === 'string') return invalid(body);
  if (body.account !== house.account || body.environment !== house.environment) {
    return { status: 403, body: { error: 'wrong_account' } };
  }
  return { body, key: house.kind === 'keyed' && isKeyed(body) ? key : null };
}

function isKeyed({ content: { lines } }: Body): boolean {
  return !Array.isArray(lines) || lines.length <= MAX_KEYED_LINES;
}

/** POST, fault, effect and the answer to be given are stored together, before anything is answered. */
function perform(turn: Turn, call: Call, read: ReadPost, { value, at }: Arrived): Wire {
  const { book } = turn.house;
  const n = book.recordPost({ call, ...namesIn(value), at });
  if (!('key' in read)) {
    book.recordAnswer(n, read.status, null);
    return { kind: 'answer', answer: read };
  }
  const fault = book.playWriteFault(call, read.body.purchaseOrder);
  const digest = createHash('sha256').update(JSON.stringify(read.body)).digest('hex');
  const posted: Posted = { call, ...read, digest, at };
  const saves = fault === null || WRITE_FAULTS[fault.kind] !== 'never';
  const honest = saves ? applyPost(turn, posted, fault) : NOTHING;
  const wire: Wire =
    fault === null ? { kind: 'answer', answer: honest } : MISBEHAVIOUR[fault.kind](honest, fault, call);
  book.recordAnswer(n, 'answer' in wire ? wire.answer.status : null, fault?.kind ?? null);
  return wire;
}

function namesIn(value: unknown): { purchaseOrder: string; reference: string | null } {
  const named = z.object({ purchase_order: purchaseOrderSchema }).safeParse(value).data;
  const referred = z.object({ reference: z.string().max(128) }).safeParse(value).data;
  return { purchaseOrder: named?.purchase_order ?? '', reference: referred?.reference ?? null };
}

/** What each fault looks like from outside. */
const MISBEHAVIOUR: Readonly<
  Record<WriteFaultKind, (...sent: [...Parameters<Misbehaviour>, call: Call]) => Wire>
> = {
  ...POST_MISBEHAVIOUR,
  status_after_save_stored: STATUS,
  accepted_then_created: HONEST,
  accepted_then_rejected: HONEST,
  accepted_then_never: HONEST,
  no_id_after_save: ({ status, body }, _fault, call) =>
    answer(status, typeof body === 'string' ? body : { ...body, [CALLS[call].id]: undefined }),
  wrong_account_saved: HONEST,
  wrong_environment_saved: HONEST,
  altered_quantity: HONEST,
  key_in_use: () => ({ kind: 'answer', answer: KEY_IN_USE }),
};

/** The POSTs of a medium: what is refused, what is done, and what goes out on the wire. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { Asked } from './medium-book.ts';
import { applyPost } from './medium-effect.ts';
import type { WriteFaultKind } from './medium-faults.ts';
import type { House, Turn } from './medium-house.ts';
import { VISIBILITIES } from './medium-records.ts';
import { type ImageType, sizeOf } from './medium-uploads.ts';
import { HONEST, type Misbehaviour, POST_MISBEHAVIOUR } from './post-faults.ts';
import { type Arrived, commit, takeWhole } from './turn.ts';
import {
  type Answer,
  answer,
  firstField,
  invalid,
  put,
  refused,
  TOO_LARGE,
  type Wire,
  wholeBody,
} from './wire.ts';

/** An image that is in no post by then is dropped. */
const UNUSED_MEDIA_MS = 3_600_000;
const MAX_IMAGE_BYTES = 4_194_304;

/** Neither NUL nor lone surrogates: SQLite would not give them back as they came. In code points. */
export const textSchema = z.string().regex(/^[^\0\p{Cs}]{1,2000}$/u);
const idSchema = z.string().regex(/^[^\0\p{Cs}]{1,64}$/u);
const bodySchema = z.strictObject({
  account: idSchema,
  text: textSchema,
  parent: idSchema.nullable(),
  media: z
    .array(idSchema)
    .max(4)
    .refine((ids) => new Set(ids).size === ids.length),
  visibility: z.enum(VISIBILITIES),
});

export async function takePost(
  house: House,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await takeWhole(house, request, response, (turn, arrived) => {
    return perform(turn, arrived.refusal ?? read(turn, arrived.value), arrived);
  });
}

/** What is asked for, or the refusal; a refused POST plays no fault and leaves no record but its own. */
function read({ house: { book }, now }: Turn, value: unknown): Asked | Answer {
  book.dropUnusedImages(now - UNUSED_MEDIA_MS);
  const { success, data, error } = bodySchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  if (book.accountById(data.account) === undefined) return { status: 403, body: { error: 'wrong_account' } };
  const parent = data.parent === null ? undefined : book.postById(data.parent);
  if (data.parent !== null && (parent === undefined || parent.deleted || parent.visibility === 'draft')) {
    return { status: 404, body: { error: 'no_such_parent' } };
  }
  if (data.media.some((id) => book.imageById(id) === undefined)) return invalid('media');
  return data;
}

/** POST, fault, effect and the answer to be given are stored together, before anything is answered. */
function perform(turn: Turn, asked: Asked | Answer, { value, at }: Arrived): Wire {
  const { book } = turn.house;
  const n = book.recordRequest({ ...namesIn(value), at });
  if ('status' in asked) {
    book.recordAnswer(n, asked.status, null);
    return { kind: 'answer', answer: asked };
  }
  const applies = (kind: WriteFaultKind) => kind !== 'image_missing' || asked.media.length > 0;
  const fault = book.playWriteFault(asked.text, applies);
  const honest = applyPost(turn, { asked, at }, fault);
  const wire: Wire =
    fault === null ? { kind: 'answer', answer: honest } : MISBEHAVIOUR[fault.kind](honest, fault);
  book.recordAnswer(n, 'answer' in wire ? wire.answer.status : null, fault?.kind ?? null);
  return wire;
}

const namedSchema = z.object({
  account: idSchema.nullable().catch(null),
  text: textSchema.nullable().catch(null),
  parent: idSchema.nullable().catch(null),
});

function namesIn(value: unknown): z.infer<typeof namedSchema> {
  return namedSchema.safeParse(value).data ?? { account: null, text: null, parent: null };
}

/** What each fault looks like from outside. */
const MISBEHAVIOUR: Readonly<Record<WriteFaultKind, Misbehaviour>> = {
  ...POST_MISBEHAVIOUR,
  no_id_after_save: ({ status }) => answer(status, { post: {} }),
  wrong_author_saved: HONEST,
  wrong_parent_saved: HONEST,
  draft_saved: HONEST,
  image_missing: HONEST,
};

/** An image has no effect that anybody sees until a post has it. */
export async function takeImage(
  house: House,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await wholeBody(request, MAX_IMAGE_BYTES);
  if (body === 'gone') return;
  put(response, { kind: 'answer', answer: readImage(house, request, body) });
}

function readImage(house: House, request: IncomingMessage, body: Buffer | 'too_large'): Answer {
  if (body === 'too_large') return TOO_LARGE;
  const refusal = refused(request, house.writeToken, /^image\/(png|jpeg)$/);
  if (refusal !== undefined) return refusal;
  const contentType = request.headers['content-type'] as ImageType;
  const size = sizeOf(contentType, body);
  if (size === undefined) return invalid('body');
  const alt = (request.headersDistinct['x-alt'] ?? []).join(', ');
  if (alt.length > 1_000) return invalid('x-alt');
  return commit(house, ({ now }) => {
    house.book.dropUnusedImages(now - UNUSED_MEDIA_MS);
    const image = { contentType, body, ...size, alt: alt === '' ? null : alt, at: now };
    const { media_id, sha256 } = house.book.saveImage(image);
    return { status: 201, body: { media_id, sha256 } };
  });
}

/** Behind the medium's back: faults, rewrites, posts that nobody sent, what people change, the book. No token. */
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { isWriteFault, NEEDS_ANOTHER, planSchema } from './medium-faults.ts';
import type { House } from './medium-house.ts';
import { textSchema } from './medium-post.ts';
import { linksSchema, VISIBILITIES } from './medium-records.ts';
import { REWRITES, rewriteImages } from './medium-rewrites.ts';
import { commit } from './turn.ts';
import { type Answer, firstField, invalid, NOT_FOUND, parsed, wholeBody } from './wire.ts';

/** The path is what stands behind `/control/`. */
export async function control(house: House, request: IncomingMessage, path: string): Promise<Answer> {
  const bytes = await wholeBody(request);
  const value = typeof bytes === 'string' ? undefined : parsed(bytes);
  const [first, id = ''] = path.split('/');
  switch (`${request.method} ${path}`) {
    case 'GET book':
      return ok({ ...house.book.truth() });
    case 'PUT posts/faults':
      return plan(house, value);
    case 'DELETE posts/faults':
      house.book.clearFaults();
      return ok({});
    case 'PUT rewrites':
      return setRewrites(house, value);
    case 'POST posts':
      return addPost(house, value);
  }
  if (request.method === 'PATCH' && path === `posts/${id}`) return changePost(house, id, value);
  if (request.method === 'PATCH' && path === `${first}/${id}` && first === 'accounts') {
    return changeAccount(house, id, value);
  }
  return NOT_FOUND;
}

function ok(body: Record<string, unknown>, status = 200): Answer {
  return { status, body };
}

const planRequestSchema = z.strictObject({
  /** Without a text it is for every post. */
  match: z.strictObject({ text: textSchema.optional() }),
  plan: planSchema,
});

/** Replaces the plan of the same match; other plans stay, and of several the one made first has its turn first. */
function plan(house: House, value: unknown): Answer {
  const { success, data, error } = planRequestSchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  for (const fault of data.plan) {
    if (NEEDS_ANOTHER.has(fault.kind) && house.book.accountCount() < 2) return invalid('kind');
    if (isWriteFault(fault) && (fault.delayMs ?? 0) > house.applyDelayMs) return invalid('delayMs');
  }
  house.book.planFaults(data.match.text ?? '', data.plan);
  return ok({ match: data.match, plan: data.plan });
}

const rewritesSchema = z.array(z.enum(REWRITES));

function setRewrites(house: House, value: unknown): Answer {
  const { success, data } = rewritesSchema.safeParse(value);
  if (!success) return invalid('rewrites');
  house.book.setRewrites(data);
  return ok({ rewrites: data });
}

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const newPostSchema = z.strictObject({
  account: z.string(),
  text: textSchema,
  parent: z
    .string()
    .regex(/^\d{1,19}$/)
    .nullable()
    .default(null),
  /** Now unless told; the visibility lag counts from it, but never from later than now. */
  created_at: time.optional(),
  visibility: z.enum(VISIBILITIES).default('public'),
  media: z.array(z.string()).max(4).default([]),
  links: linksSchema.default([]),
});

/** The text is saved as it is given: rewrites are for what is sent. */
function addPost(house: House, value: unknown): Answer {
  const { success, data, error } = newPostSchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  return commit(house, ({ now }) => {
    const { book } = house;
    const { account: authorId, text, parent, visibility, links, created_at: createdAt = now } = data;
    if (book.accountById(authorId) === undefined) return { status: 404, body: { error: 'no_such_account' } };
    const images = data.media.flatMap((id) => book.imageById(id) ?? []);
    if (images.length < data.media.length) return invalid('media');
    for (const { media_id } of images) book.useImage(media_id);
    const media = rewriteImages(images, new Set());
    const content = { authorId, text, sentText: text, parent, visibility, media, links };
    const { id } = book.savePost({ ...content, createdAt, savedAt: Math.min(createdAt, now), sent: false });
    return ok({ id }, 201);
  });
}

const changeSchema = z.strictObject({
  deleted: z.boolean().optional(),
  text: textSchema.optional(),
  visibility: z.enum(VISIBILITIES).optional(),
  links: linksSchema.optional(),
});

function changePost(house: House, id: string, value: unknown): Answer {
  const { success, data, error } = changeSchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  const post = house.book.changePost(id, data);
  if (post === undefined) return NOT_FOUND;
  return ok({ id, deleted: post.deleted, text: post.text, visibility: post.visibility });
}

export const handleSchema = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/);
export const displayNameSchema = z.string().regex(/^[^\p{Cc}\p{Cs}]{1,100}$/u);
const accountChangeSchema = z.strictObject({
  handle: handleSchema.optional(),
  display_name: displayNameSchema.optional(),
});

function changeAccount(house: House, id: string, value: unknown): Answer {
  const { success, data, error } = accountChangeSchema.safeParse(value);
  if (!success) return invalid(firstField(error));
  if (house.book.accountById(id) === undefined) return NOT_FOUND;
  if (!house.book.changeAccount(id, data)) return { status: 409, body: { error: 'handle_taken' } };
  return ok({ account: house.book.accountById(id) });
}
